"""Imports what a sandboxed agent committed and staged in its view of the repository (sandbox_view.py).

Its objects are imported (their names are computed again), the commits on the task's branch become that branch, those of
other refs are saved, and what it staged is staged in the worktree's own index. Every file is regarded as hostile: links
are not followed, and paths, names and sizes are checked.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError, join_fields
from plait.git.objects import FILE_MODE, GITLINK_MODE, is_safe_path
from plait.git.refs import OBJECT_ID, has_ref_files, move_loose_ref, read_loose_ref
from plait.git.worktrees.agent_worktree import VIEW_FOLDER
from plait.git.worktrees.index_file import IndexEntries, IndexEntry, list_index, parse_index
from plait.git.worktrees.metadata import (
    format_head,
    is_real_folder,
    read_head,
    read_lease,
    read_small_file,
    read_worktree_path,
)
from plait.git.worktrees.replaced_repositories import disable_replaced_submodules
from plait.git.worktrees.saved_work import SavedRefs
from plait.git.worktrees.worktree import VALID_HEAD, Repository, new_worktree_id
from plait.system import log
from plait.system.atomic_files import make_private_folder, replace_file

_INDEX_COPY = "plait-sandbox-index"  # in the gitdir, where no agent can put a link
MAX_IMPORT_BYTES = 256 << 20  # of objects; a larger history is left behind, the files are captured as they are
MAX_INDEX_BYTES = 256 << 20
_MAX_STATE_BYTES = 1 << 20  # of one file of an unfinished operation
_MAX_OBJECT_BYTES = 1 << 30  # of one object, unpacked
_CHUNK_BYTES = 1 << 20
_MAX_DEPTH = 100  # of folders in a view
_MAX_SAVED_REFS = 100  # of one attempt, besides its own branch
_SHA1_DIGITS = 40
_MAX_COMPARED_FILES = 50  # more take longer than git does to read them again
_OBJECT_HEADER = re.compile(rb"(?:blob|tree|commit|tag) (?P<size>0|[1-9][0-9]{0,10})\0")
_MAX_HEADER_BYTES = 32
_OBJECT_FOLDER = re.compile(r"[0-9a-f]{2}\Z")
# What an unfinished operation consists of; capturing reads it.
_STATE_FILES = (
    "ORIG_HEAD",
    "MERGE_HEAD",
    "MERGE_MODE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "MERGE_AUTOSTASH",
)
_STATE_FOLDERS = {
    "rebase-merge": ("autostash", "orig-head", "head-name", "onto"),
    "rebase-apply": ("autostash", "orig-head", "head-name", "onto"),
    "sequencer": ("head",),
}


def absorb_view(repository: Repository, gitdir: Path) -> None:
    """Import what an agent that has ended committed and staged in its view, and remove the view.

    It can be killed at any instant and repeated: the view is removed last. A view that can't be read leaves the
    worktree as it is, with the agent's files. Raises WorldError if git could run programs of the agent there.
    """
    view = gitdir / VIEW_FOLDER
    if not is_real_folder(view):
        return
    view.chmod(0o700)  # or it could not be moved away
    own = view / "worktrees" / gitdir.name
    try:
        _remove_special_files(view)
        if _import_objects(repository, view / "objects"):
            left = _find_changed_refs(repository, gitdir, view, own)
            with _start_check(repository.git, left.tip) as wait_for_commit:
                _absorb_state(own, gitdir)
                _absorb_index(repository, gitdir, own)
                _absorb_refs(repository, gitdir, left, wait_for_commit())
    except (OSError, GitError) as error:
        log.write_line(f"warning: commits and staged files of the agent in {gitdir.name} are left out: {error}")
    disable_replaced_submodules(repository, gitdir)
    make_private_folder(repository.trash)
    view.rename(repository.trash / new_worktree_id())  # which is emptied when there is time


def list_refs(git: Git, *names: str) -> dict[str, str]:
    rows = git.text("for-each-ref", "--format=%(objectname) %(refname)", *names).split("\n")
    return {name: commit for commit, _, name in (row.partition(" ") for row in rows if row)}


def _import_objects(repository: Repository, objects: Path) -> bool:
    """Import the view's objects. False if they are too large: none is imported then."""
    size = sum(path.lstat().st_size for path in objects.rglob("*") if path.is_file() and path.parent.name != "info")
    if not size:
        return True
    if size > MAX_IMPORT_BYTES:
        log.write_line(f"warning: an agent committed {size >> 20} MB; its commits are left out, its files are not")
        return False
    if (objects / "pack").is_dir() and any((objects / "pack").iterdir()):
        _import_packs(repository, objects)
    else:
        _import_loose_objects(objects, repository.common / "objects")
    return True


def _import_loose_objects(objects: Path, target: Path) -> None:
    """Import loose objects without git, which is slower. An object whose content doesn't match its name is left out."""
    for folder in objects.iterdir():
        for file in folder.iterdir() if _OBJECT_FOLDER.match(folder.name) else ():
            place = target / folder.name / file.name
            if place.exists() or not OBJECT_ID.match(folder.name + file.name):
                continue
            data = _read_file(file, MAX_IMPORT_BYTES)
            if _has_name(data, folder.name + file.name):
                place.parent.mkdir(exist_ok=True)
                # The disk isn't waited for, as git doesn't for loose objects: capturing packs what becomes the result.
                replace_file(place, data, mode=0o444)


def _has_name(data: bytes, name: str) -> bool:
    """Whether the data is a complete object with this name, as git reads it: a wrong one would stay in the place of the
    real one.
    """
    decompressor = zlib.decompressobj()
    digest = hashlib.sha1(usedforsecurity=False) if len(name) == _SHA1_DIGITS else hashlib.sha256()
    size, rest, header = 0, data, b""
    try:
        while rest and size <= _MAX_OBJECT_BYTES:
            piece = decompressor.decompress(rest, _CHUNK_BYTES)
            digest.update(piece)
            header = header or piece[:_MAX_HEADER_BYTES]
            size += len(piece)
            rest = decompressor.unconsumed_tail
    except zlib.error:
        return False
    match = _OBJECT_HEADER.match(header)
    is_whole = match is not None and int(match["size"]) == size - match.end()
    return is_whole and decompressor.eof and not decompressor.unused_data and digest.hexdigest() == name


def _import_packs(repository: Repository, objects: Path) -> None:
    """Import all of the view's objects that the repository lacks: an agent's `git gc` copies the others, too."""
    (objects / "info" / "alternates").unlink(missing_ok=True)
    local = repository.git.with_options(variables={"GIT_OBJECT_DIRECTORY": str(objects)})
    args = ("cat-file", "--batch-all-objects", "--unordered")
    names = [name for name in local.text(*args, "--batch-check=%(objectname)").split() if OBJECT_ID.match(name)]
    rows = repository.git.text("cat-file", "--batch-check=%(objectname)", stdin=_join_lines(names)).splitlines()
    missing = [row.removesuffix(" missing") for row in rows if row.endswith(" missing")]
    if not missing:
        return
    borrowing = repository.git.with_options(
        variables={
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repository.common / "objects"),
        }
    )
    options = ("--quiet", "--stdout", "--delta-base-offset")
    pack = borrowing.run("pack-objects", *options, stdin=_join_lines(missing)).out
    repository.git.run("index-pack", "--stdin", stdin=pack)  # it computes the name of each object from its content


def _join_lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _remove_special_files(view: Path) -> None:
    """Remove links, sockets and other special files: each folder of the view may have been replaced by one.

    Raises OSError if folders are nested deeper than those of any repository.
    """
    folders = [(view, 0)]
    while folders:
        folder, depth = folders.pop()
        if depth > _MAX_DEPTH:
            raise OSError(errno.ENAMETOOLONG, "too many nested folders", str(folder))
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append((Path(entry.path), depth + 1))
            elif not entry.is_file(follow_symlinks=False):
                Path(entry.path).unlink()


@dataclass(frozen=True, slots=True)
class _ChangedRefs:
    """The refs that differ in a view: the task's branch, what it was at and is at now ("": unchanged, or no branch of
    plait's), other refs that were changed, HEAD if it was changed, and all refs.
    """

    branch: str
    before: str
    tip: str
    others: Mapping[str, str]
    head: str
    refs: Mapping[str, str]


def _find_changed_refs(repository: Repository, gitdir: Path, view: Path, own: Path) -> _ChangedRefs:
    branch, refs = read_head(repository.common, gitdir), _read_refs(view)
    known = _read_known_refs(repository, {branch, *refs})
    changed = {name: commit for name, commit in refs.items() if known.get(name) != commit}
    tip = changed.pop(branch, "") if branch.startswith("refs/heads/plait/") else ""
    head = read_small_file(own / "HEAD")
    is_moved = VALID_HEAD.match(head) and head != format_head(branch)
    return _ChangedRefs(branch, known.get(branch, ""), tip, changed, head if is_moved else "", refs)


@contextmanager
def _start_check(git: Git, commit: str) -> Iterator[Callable[[], bool | None]]:
    """Yield a function that waits for whether everything that a commit leads to exists: a ref to an incomplete one
    breaks `git gc`.

    It returns None if a ref of the repository leads to it, which may then be no commit. For "" it returns
    False at once.
    """
    if not commit:
        yield lambda: False
        return
    args = ("rev-list", "--objects", commit, "--ignore-missing", "--not", "--glob=refs/*")
    with git.start(*args, codes=(0, 1, 128)) as wait:

        def find_answer() -> bool | None:
            output = wait()
            return False if output.code else output.out.startswith(f"{commit}\n".encode()) or None

        yield find_answer


def _absorb_refs(repository: Repository, gitdir: Path, left: _ChangedRefs, is_whole: bool | None) -> None:  # noqa: FBT001
    """Set the task's branch and HEAD as the agent left them; save what only its other refs hold."""
    git, lease, changed = repository.git, read_lease(gitdir), left.others
    is_moved = is_whole and move_loose_ref(repository.common, left.branch, left.before, left.tip)
    if is_whole is not False and not is_moved:
        # Nothing but a commit can be written to a branch.
        git.run("update-ref", "-m", "plait: committed in its sandbox", left.branch, left.tip, codes=(0, 1, 128))
    if left.head:
        name = left.head.strip().removeprefix("ref: ")
        commit = git.resolve_commit(left.refs.get(name, name))
        if commit is not None and commit in {*left.refs.values(), name}:
            repository.git_at(gitdir, gitdir).run("update-ref", "--no-deref", "-m", "plait", "HEAD", commit)
    if lease is not None and lease.task and changed:
        saved, whole = SavedRefs(repository, lease.batch, lease.task), _list_whole_commits(git, changed.values())
        others = list(dict.fromkeys(commit for commit in changed.values() if commit in whole))
        for commit in others[:_MAX_SAVED_REFS]:
            saved.keep_unreachable(commit)
        if len(others) > _MAX_SAVED_REFS:
            log.write_line(
                f"warning: an agent left {len(others)} branches and tags; {_MAX_SAVED_REFS} of them are saved"
            )


def _list_whole_commits(git: Git, names: Iterable[str]) -> set[str]:
    """Return those of the objects that are commits, with all that they lead to: a ref to an incomplete one breaks `git
    gc`.
    """
    options = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    rows = git.text(*options, stdin=_join_lines(dict.fromkeys(names))).splitlines()
    commits = {row.removesuffix(" commit") for row in rows if row.endswith(" commit")}
    if not commits or _are_whole(git, commits):
        return commits
    return {commit for commit in sorted(commits)[:_MAX_SAVED_REFS] if _are_whole(git, (commit,))}


def _are_whole(git: Git, commits: Iterable[str]) -> bool:
    args = ("--objects", "--quiet", "--ignore-missing", "--stdin", "--not", "--glob=refs/*")
    return git.run("rev-list", *args, stdin=_join_lines(commits), codes=(0, 1, 128)).code == 0


def _read_known_refs(repository: Repository, names: Collection[str]) -> dict[str, str]:
    """Return those of the refs that the repository has. It may have many others, of other tasks."""
    if not has_ref_files(repository.common):
        return list_refs(repository.git)
    packed = _read_packed_refs(repository.common)
    return {name: read_loose_ref(repository.common, name) or packed.get(name, "") for name in names}


def _read_packed_refs(folder: Path) -> dict[str, str]:
    """Read the refs in packed-refs, without names that no path can have."""
    rows = (row.partition(" ") for row in _read_file(folder / "packed-refs").decode("utf-8", "replace").splitlines())
    return {
        name: commit
        for commit, _, name in rows
        if OBJECT_ID.match(commit) and name.startswith("refs/") and "\0" not in name
    }


def _read_refs(folder: Path) -> dict[str, str]:
    """Read all refs from files, packed ones included, without following links."""
    refs = _read_packed_refs(folder)
    for path, _, names in os.walk(folder / "refs"):
        relative = os.path.relpath(path, folder)
        if relative.startswith("refs/plait"):
            continue
        for name in names:
            commit = read_small_file(Path(path, name)).strip()
            if OBJECT_ID.match(commit):
                refs[f"{relative}/{name}"] = commit
    return refs


def _absorb_state(own: Path, gitdir: Path) -> None:
    """Copy the records of an unfinished operation."""
    names = [*_STATE_FILES, *(f"{folder}/{name}" for folder, names in _STATE_FOLDERS.items() for name in names)]
    for name in names:
        folder = (own / name).parent
        if folder != own and not is_real_folder(folder):
            continue
        with suppress(OSError):
            data = _read_file(own / name)
            if data:
                (gitdir / name).parent.mkdir(exist_ok=True)
                (gitdir / name).write_bytes(data)


def _read_file(path: Path, limit: int = _MAX_STATE_BYTES) -> bytes:
    """Read a file; empty if it is missing, a link, not a regular file, or too long."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(fd, "rb") as file:  # noqa: PTH123 - opened without following links
        status = os.fstat(fd)
        return file.read() if stat.S_ISREG(status.st_mode) and status.st_size <= limit else b""


def _absorb_index(repository: Repository, gitdir: Path, own: Path) -> None:
    """Stage what the agent staged. Only paths, modes and names of objects of its index are used.

    Its times and sizes could make git regard a file as unchanged, and its paths could lead out of the worktree.
    """
    data, before = (_read_file(folder / "index", MAX_INDEX_BYTES) for folder in (own, gitdir))
    if not data or data == before:
        return
    git = repository.git_at(gitdir, gitdir, settings=("core.splitIndex=false", "core.bare=false"))
    theirs = _list_entries(git, data, gitdir / _INDEX_COPY)
    ours = _list_entries(git, before, gitdir / _INDEX_COPY) if before else list_index(git)
    if theirs is None or ours is None:
        return
    changed = {
        path: rows
        for path, rows in theirs.items()
        if rows != ours.get(path) and is_safe_path(path) and not _adds_repository(rows, ours.get(path, ()))
    }
    as_in_files = _add_files(repository, gitdir, changed, ours)
    removed = [path for path in (*(ours.keys() - theirs.keys()), *changed) if path not in as_in_files]
    digits = next((len(blob) for _, blob, _ in chain.from_iterable((*ours.values(), *theirs.values()))), 0)
    feed = [f"0 {'0' * digits}\t{path}" for path in removed]
    for path, rows in changed.items():
        if path not in as_in_files:
            feed += [f"{mode} {blob} {stage}\t{path}" for mode, blob, stage in sorted(rows, key=lambda row: row[2])]
    if feed:
        git.run("update-index", "-z", "--index-info", stdin=join_fields(feed))


def _add_files(
    repository: Repository, gitdir: Path, changed: Mapping[str, IndexEntries], before: Mapping[str, IndexEntries]
) -> Collection[str]:
    """Stage the paths whose files are the same as what was staged, and return them. Git records their times, so that
    capturing needn't read them again.
    """
    folder = read_worktree_path(gitdir)
    if folder is None or len(changed) > _MAX_COMPARED_FILES:
        return ()
    top = Path(os.path.realpath(folder))
    paths = [path for path, rows in changed.items() if _is_as_staged(top, path, rows, before.get(path, ()))]
    if not paths:
        return ()
    git = repository.git_at(gitdir, top, settings=("core.splitIndex=false", "core.bare=false"))
    options = ("--add", "--replace", "-z", "--stdin")
    return () if git.run("update-index", *options, stdin=join_fields(paths), codes=(0, 1, 128)).code else paths


def _is_as_staged(top: Path, path: str, rows: IndexEntries, before: IndexEntries) -> bool:
    """Whether the path is an ordinary file with the staged content, before any filter."""
    if len(rows) != 1 or rows[0][0] != FILE_MODE or any(row[0] != FILE_MODE for row in before):
        return False
    _, blob, stage = rows[0]
    file = top / path
    data = _read_file(file) if os.path.realpath(file.parent) == str(file.parent) else b""
    if not data or stage != "0" or len(blob) != _SHA1_DIGITS or file.lstat().st_mode & stat.S_IXUSR:
        return False
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == blob


def _list_entries(git: Git, data: bytes, copy: Path) -> Mapping[str, IndexEntries] | None:
    """List the entries of an index by path; None if it can't be read. `copy` is written for git if git has to read it."""
    entries = parse_index(data)
    if entries is None:
        replace_file(copy, data)
        try:
            entries = list_index(git.with_options(variables={"GIT_INDEX_FILE": str(copy)}))
        finally:
            copy.unlink(missing_ok=True)
    return entries


def _adds_repository(rows: Iterable[IndexEntry], before: Iterable[IndexEntry]) -> bool:
    """Whether these entries add a repository that the agent made. It is captured as files: git would run what its
    settings name.
    """
    return any(mode == GITLINK_MODE for mode, _, _ in rows) and all(mode != GITLINK_MODE for mode, _, _ in before)
