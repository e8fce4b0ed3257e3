"""The bare repository that a machine of a cluster keeps of the engine's, and makes its worktrees from.

Commits arrive in bundles and are kept by refs/plait/bases/<commit>; the file plait/bases/<commit> is as old as the last use, and
names the pack that the commit came in. A damaged mirror is repaired in place, since agents may be working in its worktrees: a
bundle with everything is stored beside what is there, and git reads the intact copy of an object. Only what is no repository
any more is set aside.
"""

from __future__ import annotations

import os
import time
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
from plait.git.object_reader import share_readers
from plait.git.refs import BASES, OBJECT_ID, SAVED, read_loose_ref
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.disk import remove_tree
from plait.system.flock import hold_lock

_INCOMING_PREFIX, _DAMAGED_PREFIX = "incoming-", "damaged-"
_HEAD = b"ref: refs/heads/none\n"
MAX_TIPS = 256
MAX_PACKS = 50  # before they are joined, as git's own gc does: each makes every git process slower
UNUSED_SECONDS = 30 * 86400.0  # until a commit that no attempt has started from is forgotten

# Mirrors in which git was seen to work, and their configuration then.
_usable: dict[Path, tuple[str, int, int, int]] = {}


def open_node_mirror(path: Path, object_format: str = "sha1", shallow: Sequence[str] = ()) -> Path:
    """Open the mirror at this path. It is made if it is missing; if it is no repository any more, it is set aside and
    made again.

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
    """Whether git works here. HEAD, which git needs and a crash may empty, is written again if necessary."""
    with suppress(OSError):
        if not (path / "HEAD").read_bytes().startswith(b"ref: "):
            replace_file(path / "HEAD", _HEAD, mode=0o666)
        if _read_shallow(path) != {*shallow} or not all((path / name).is_dir() for name in ("objects", "refs")):
            return False
        config = (path / "config").stat()
        facts = (object_format, config.st_mtime_ns, config.st_size, config.st_ino)
        if _usable.get(path) == facts:  # git has checked these before, and reads nothing else
            return True
        output = open_git(path).run("rev-parse", "--is-bare-repository", "--show-object-format", codes=range(256))
        if output.code == 0 and output.text == f"true\n{object_format}":
            _usable[path] = facts
            return True
    return False


def _create(path: Path, object_format: str, shallow: Sequence[str]) -> None:
    """Make the mirror under another name and rename it when complete, so that a killed process leaves no partial one."""
    make_private_folder(path.parent)
    for leftover in path.parent.glob(f"{path.name}.{_INCOMING_PREFIX}*"):
        remove_tree(leftover)
    incoming = path.with_name(f"{path.name}.{_INCOMING_PREFIX}{token_hex(4)}")
    options = ("--quiet", "--bare", "--template=", "--initial-branch=none", f"--object-format={object_format}")
    files = {"GIT_DEFAULT_REF_FORMAT": "files"}  # which are read here; git before 2.45 has no others
    Git(path.parent, variables=files).run("init", *options, "--", str(incoming))
    with (incoming / "config").open("a") as config:  # agents run git here, and it must not collect garbage
        config.write("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
        # The disk isn't waited for. If the power fails, the node's attempts are lost in any case, and run again.
        config.write("[core]\n\tfsync = none\n")
    if shallow:
        (incoming / "shallow").write_text("".join(f"{commit}\n" for commit in sorted(shallow)))
    incoming.rename(path)


def _read_shallow(path: Path) -> set[str]:
    try:
        return {*(path / "shallow").read_text().split()}
    except FileNotFoundError:
        return set()


def has_saved_work(git_dir: Path) -> bool:
    """Whether a ref holds work that no engine may have fetched yet."""
    try:
        is_packed = f" {SAVED}/".encode() in (git_dir / "packed-refs").read_bytes()
    except OSError:
        is_packed = False
    return is_packed or any(path.is_file() for path in (git_dir / SAVED).rglob("*"))


def list_tips(git_dir: Path, limit: int = MAX_TIPS) -> tuple[str, ...]:
    """List the commits of a mirror's refs, the newest first; none if it is missing or damaged."""
    args = ("for-each-ref", "--sort=-committerdate", "--format=%(objectname) %(objecttype)", "refs/")
    try:
        rows = open_git(git_dir).text(*args).splitlines()
    except GitError:  # a ref without its object: a bundle with everything repairs that
        return ()
    commits = dict.fromkeys(row.removesuffix(" commit") for row in rows if row.endswith(" commit"))
    return tuple(commits)[:limit]


def tidy_mirror(path: Path) -> None:
    """Forget commits that were not used for long, and join the packs if there are many.

    No attempt may be running in its worktrees; processes that store commits here wait. Raises GitError or OSError.
    """
    with hold_lock(_lock_file(path)):
        git, now = open_git(path), time.time()
        bases = [each for each in (path / "plait" / "bases").glob("*") if OBJECT_ID.match(each.name)]
        if unused := [each for each in bases if now - each.stat().st_mtime > UNUSED_SECONDS]:
            git.run("update-ref", "--stdin", stdin="".join(f"delete {BASES}/{each.name}\n" for each in unused).encode())
            for each in unused:
                each.unlink()
        if len([*(path / "objects" / "pack").glob("*.pack")]) > MAX_PACKS:
            git.run("repack", "-a", "-d", "-q")
            git.run("prune", "--expire=now")


def receive_commits(git_dir: Path, data: bytes, refs: Mapping[str, str]) -> None:
    """Store the commits of a bundle, and set these refs, which may exist already. Without data (b""), only set the
    refs.

    It can be killed at any instant and repeated; several calls may run at once. Raises MissingCommitsError if the
    mirror lacks what the bundle builds on, perhaps since it is damaged: a bundle with everything is needed then. Other
    errors of a bundle are BundleError; a full disk is a WorldError.
    """
    git = open_git(git_dir)
    with hold_lock(_lock_file(git_dir), shared=True):
        if not data:
            with share_readers():
                is_known = all(
                    _has_pack(git_dir, ref, commit) or git.resolve_commit(ref) == commit for ref, commit in refs.items()
                )
            if is_known:  # it was complete when the refs were set
                _mark_used(git_dir, refs)
            else:
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
                mark = f"{pack.name} {pack.stat().st_size}\n"
                with hold_pack(pack, git_dir / "objects", pack.stem):
                    _set_refs(git_dir, git, refs, mark)
            except BundleError as error:
                if header.prerequisites:  # what it builds on may be damaged here
                    raise MissingCommitsError(error.message, header.prerequisites) from error
                raise
            finally:
                remove_tree(scratch)


def _require_commits(git: Git, commits: Collection[str], held: Collection[str]) -> None:
    """Raise MissingCommitsError unless everything that the commits lead to exists; what `held` commits lead to is not
    checked.
    """
    if not commits:
        return
    if why := find_missing_objects(git, [*commits], [*held]):
        raise MissingCommitsError(f"the mirror {git.cwd} is not complete: {why}", commits)


def _set_refs(git_dir: Path, git: Git, refs: Mapping[str, str], mark: str = "") -> None:
    feed = "".join(f"update {ref}\0{commit}\0\0" for ref, commit in refs.items())
    if feed:
        git.run("update-ref", "--stdin", "-z", stdin=feed.encode())
    _mark_used(git_dir, refs, mark)


def _mark_used(git_dir: Path, refs: Collection[str], mark: str = "") -> None:
    """Record that the commits of these refs were used now. `mark` is the name and the size of the pack that they came
    in.
    """
    make_private_folder(git_dir / "plait" / "bases")
    for ref in refs:
        if ref.startswith(f"{BASES}/"):
            file = git_dir / "plait" / "bases" / ref.removeprefix(f"{BASES}/")
            replace_file(file, mark.encode()) if mark else file.touch()


def _has_pack(git_dir: Path, ref: str, commit: str) -> bool:
    """Whether the ref holds the commit, and the pack that it came in still exists. Files are read, because asking git
    takes a process.
    """
    try:
        name, size = (git_dir / "plait" / "bases" / ref.removeprefix(f"{BASES}/")).read_text().split()
        pack = git_dir / "objects" / "pack" / name
        has_pack = pack.with_suffix(".idx").exists() and pack.stat().st_size == int(size)
    except (OSError, ValueError):
        return False
    return has_pack and read_loose_ref(git_dir, ref) == commit
