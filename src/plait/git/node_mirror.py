"""The bare repository that a machine of a cluster keeps of the engine's, and makes its worktrees from.

Commits arrive in bundles and are kept by refs/plait/bases/<commit>; the file plait/bases/<commit> is as old as the last use. A
damaged mirror is repaired in place, since agents may be working in its worktrees: a bundle with everything is stored beside
what is there, and git reads the intact copy of an object. Only what is no repository any more is set aside.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from plait.core.errors import WorldError
from plait.git.bundles import (
    BundleError,
    MissingCommitsError,
    filter_commits,
    index_pack,
    open_bundle,
    open_git,
    read_header,
    read_pack_count,
)
from plait.git.command import Git, GitError
from plait.git.kept_objects import find_missing_objects, hold_pack, new_object_folder, object_variables
from plait.git.refs import BASES
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.disk import remove_tree
from plait.system.flock import hold_lock

_INCOMING_PREFIX, _DAMAGED_PREFIX = "incoming-", "damaged-"
_HEAD = b"ref: refs/heads/none\n"
MAX_TIPS = 256


def open_node_mirror(path: Path, object_format: str = "sha1", shallow: Sequence[str] = ()) -> Path:
    """The mirror at this path: made if it is missing, or set aside and made again if it is no repository any more.

    `shallow` are the commits whose parents the engine's repository lacks. Concurrent calls wait for each other.
    """
    try:
        with hold_lock(_lock_file(path)):
            if os.path.lexists(path) and not _is_usable(path, object_format, shallow):
                path.rename(path.with_name(f"{path.name}.{_DAMAGED_PREFIX}{token_hex(4)}"))
            if not os.path.lexists(path):
                _create(path, object_format, shallow)
    except OSError as error:
        raise WorldError(f"can't make the mirror {path}: {error.strerror or error}") from error
    return path


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _is_usable(path: Path, object_format: str, shallow: Sequence[str]) -> bool:
    """Whether git works here. HEAD, which git needs and a crash may empty, is written again."""
    with suppress(OSError):
        if not (path / "HEAD").read_bytes().startswith(b"ref: "):
            replace_file(path / "HEAD", _HEAD, mode=0o666)
        if _read_shallow(path) != {*shallow}:
            return False
        output = open_git(path).run("rev-parse", "--is-bare-repository", "--show-object-format", codes=range(256))
        return output.code == 0 and output.text == f"true\n{object_format}"
    return False


def _create(path: Path, object_format: str, shallow: Sequence[str]) -> None:
    """Under another name first, so that a killed process leaves no half of one."""
    make_private_folder(path.parent)
    for leftover in path.parent.glob(f"{path.name}.{_INCOMING_PREFIX}*"):
        remove_tree(leftover)
    incoming = path.with_name(f"{path.name}.{_INCOMING_PREFIX}{token_hex(4)}")
    options = ("--quiet", "--bare", "--template=", "--initial-branch=none", f"--object-format={object_format}")
    Git(path.parent).run("init", *options, "--", str(incoming))
    with (incoming / "config").open("a") as config:  # agents run git here, and none of theirs may collect garbage
        config.write("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
    if shallow:
        (incoming / "shallow").write_text("".join(f"{commit}\n" for commit in sorted(shallow)))
    incoming.rename(path)


def _read_shallow(path: Path) -> set[str]:
    try:
        return {*(path / "shallow").read_text().split()}
    except FileNotFoundError:
        return set()


def list_tips(git_dir: Path, limit: int = MAX_TIPS) -> tuple[str, ...]:
    """What a mirror can say that it has: the commits of its refs, the newest first; none if it is missing or damaged."""
    args = ("for-each-ref", "--sort=-committerdate", "--format=%(objectname) %(objecttype)", "refs/")
    try:
        rows = open_git(git_dir).text(*args).splitlines()
    except GitError:  # a ref without its object: a bundle with everything repairs that
        return ()
    commits = dict.fromkeys(row.removesuffix(" commit") for row in rows if row.endswith(" commit"))
    return tuple(commits)[:limit]


def receive_commits(git_dir: Path, data: bytes | Path, refs: Mapping[str, str]) -> None:
    """Store the commits of a bundle, and set these refs, which may be there already. Empty data: only set the refs.

    Can be killed at any instant and done again; several may run at once. Raises MissingCommitsError if the mirror lacks what
    the bundle builds on, perhaps since it is damaged: then a bundle with everything is needed. Other errors of a bundle are
    BundleError; a full disk is a WorldError.
    """
    git = open_git(git_dir)
    with hold_lock(_lock_file(git_dir), shared=True):
        if data == b"":
            _require_commits(git, refs.values(), list_tips(git_dir))
            _set_refs(git_dir, git, refs)
            return
        with open_bundle(git_dir, data) as file:
            header = read_header(file)
            if not {*refs.values()} <= {*header.refs.values()}:
                raise BundleError("the bundle does not have the commits that were asked for")
            if lacking := {*header.prerequisites} - filter_commits(git, header.prerequisites):
                raise MissingCommitsError(f"the mirror {git_dir} lacks a commit", lacking)
            if not read_pack_count(file):
                _require_commits(git, refs.values(), header.prerequisites)
                _set_refs(git_dir, git, refs)
                return
            scratch = new_object_folder(git_dir)
            try:
                # A bundle with everything must not rely on objects that are here, and perhaps damaged.
                sources = (git_dir / "objects",) if header.prerequisites else ()
                quarantine = git.with_options(variables=object_variables(scratch, *sources))
                options = () if header.prerequisites else ("--check-self-contained-and-connected",)
                pack = index_pack(quarantine, file, scratch, *options)
                if header.prerequisites:
                    _require_commits(quarantine, refs.values(), header.prerequisites)
                with hold_pack(pack, git_dir / "objects", pack.stem):
                    _set_refs(git_dir, git, refs)
            except BundleError as error:
                if header.prerequisites:  # what it builds on may be damaged here
                    raise MissingCommitsError(error.message, header.prerequisites) from error
                raise
            finally:
                remove_tree(scratch)


def _require_commits(git: Git, commits: Collection[str], held: Collection[str]) -> None:
    """Raises MissingCommitsError unless all that they lead to is there; what `held` commits lead to is taken for granted."""
    if not commits:
        return
    if why := find_missing_objects(git, [*commits], [*held]):
        raise MissingCommitsError(f"the mirror {git.cwd} is not complete: {why}", commits)


def _set_refs(git_dir: Path, git: Git, refs: Mapping[str, str]) -> None:
    feed = "".join(f"update {ref}\0{commit}\0\0" for ref, commit in refs.items())
    if feed:
        git.run("update-ref", "--stdin", "-z", stdin=feed.encode())
    for ref in refs:
        _mark_used(git_dir, ref)


def _mark_used(git_dir: Path, ref: str) -> None:
    if ref.startswith(f"{BASES}/"):
        make_private_folder(git_dir / "plait" / "bases")
        (git_dir / "plait" / "bases" / ref.removeprefix(f"{BASES}/")).touch()
