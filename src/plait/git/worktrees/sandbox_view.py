"""The git folder that a sandboxed agent sees instead of the repository's: commits, stashes and settings of its own.

The view is a small repository in the worktree's gitdir. It borrows the objects of the real one, which the sandbox mounts
read-only, and has copies of its refs, its configuration and the worktree's index. In the sandbox it is mounted in the place
of the repository's git folder, so the worktree's `.git` leads to it, and nothing that the agent writes there is read by a
git outside.

When the agent has ended, the view is absorbed: its objects are imported (their names are computed again), the commits on
the task's branch become that branch, those of other refs are saved, and what it staged is staged in the worktree's own
index. Every file is taken for hostile: links are not followed, and paths, names and sizes are checked.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError, join_fields
from plait.git.objects import is_safe_path
from plait.git.worktrees.metadata import (
    is_real_folder,
    read_gitdir_link,
    read_lease,
    read_small_file,
    read_worktree_path,
)
from plait.git.worktrees.saved_work import SavedRefs
from plait.git.worktrees.worktree import VALID_HEAD, Repository, new_worktree_id
from plait.system import log
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.disk import remove_tree

VIEW_FOLDER = "plait-sandbox"  # in the gitdir
_INDEX_COPY = "plait-sandbox-index"  # in the gitdir, where no agent can put a link
BORROWED_OBJECTS = "base-objects"  # where the sandbox mounts the repository's objects, in the view
MAX_IMPORT_BYTES = 256 << 20  # of objects; a larger history is left behind, the files are captured as they are
MAX_INDEX_BYTES = 256 << 20
_MAX_STATE_BYTES = 1 << 20  # of one file of an unfinished operation
_MAX_OBJECT_BYTES = 1 << 30  # of one object, unpacked
_CHUNK_BYTES = 1 << 20
_MAX_DEPTH = 100  # of folders in a view
_MAX_SAVED_REFS = 100  # of one attempt, besides its own branch
_SHA1_DIGITS = 40
_OBJECT_HEADER = re.compile(rb"(?:blob|tree|commit|tag) (?P<size>0|[1-9][0-9]{0,10})\0")
_MAX_HEADER_BYTES = 32
_OBJECT_FOLDER = re.compile(r"[0-9a-f]{2}\Z")
_REF_FOLDERS = ("heads", "tags", "remotes")
_COMMON_FILES = ("HEAD", "config", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/sparse-checkout")
_WORKTREE_FILES = (
    "HEAD", "index", "commondir", "gitdir", "ORIG_HEAD", "logs/HEAD", "info/sparse-checkout", "config.worktree", "plait-outfit",
)  # fmt: skip
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
_ADDRESS_LOGIN = re.compile(rb"(https?://)[^/\s\"@]*@", re.IGNORECASE)
_HEADER_SETTING = re.compile(rb"\bextraheader[ \t]*=(?:\\.|[^\\\n])*", re.IGNORECASE | re.DOTALL)
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_INDEX_ROW = re.compile(r"(?P<mode>[0-7]{6}) (?P<blob>[0-9a-f]{40,64}) (?P<stage>[0-3])\t(?P<path>.+)\Z", re.DOTALL)
_GITLINK_MODE = "160000"
# In an index: that mode, and the names of the extensions of a shared and of a sparse one; gitformat-index(5).
_SUBMODULE_MARKS = (int(_GITLINK_MODE, 8).to_bytes(4, "big"), b"link", b"sdir")
IndexRow = tuple[str, str, str]  # mode, object, stage


@dataclass(frozen=True, slots=True)
class GitView:
    """`folder` is to be mounted in the place of `common`, writable; each of `readable` at the path that it is given with."""

    common: str
    folder: str
    readable: tuple[tuple[str, str], ...]


def build_view(common: Path, gitdir: Path, sides: Iterable[Path] = ()) -> GitView:
    """A new view for the worktree of this gitdir. One that was never absorbed is absorbed first. Raises OSError.

    `sides` are gitdirs of checkouts beside it, for processes of the same attempt: git works there, and nothing is absorbed.
    """
    view = gitdir / VIEW_FOLDER
    if view.exists():
        _absorb_leftover(common, gitdir)
    for folder in (
        "objects/info",
        "objects/pack",
        "refs/heads",
        "refs/tags",
        "info",
        "hooks",
        "modules",
        BORROWED_OBJECTS,
    ):
        (view / folder).mkdir(parents=True, exist_ok=True)
    for each in (gitdir, *sides):
        own = view / "worktrees" / each.name
        for folder in ("logs", "info", "modules"):
            (own / folder).mkdir(parents=True)
        _copy_files(each, own, _WORKTREE_FILES)
    _copy_files(common, view, _COMMON_FILES)
    for config in (view / "config", *view.glob("worktrees/*/config.worktree")):
        _remove_credentials(config)
    _copy_refs(common, view, read_small_file(gitdir / "HEAD"))
    alternates = _read_alternates(common / "objects")
    lines = [f"../{BORROWED_OBJECTS}", *map(str, alternates)]
    (view / "objects" / "info" / "alternates").write_text(
        "".join(f"{line}\n" for line in lines), "utf-8", "surrogateescape"
    )
    mounts = [(common / "objects", common / BORROWED_OBJECTS), *((path, path) for path in alternates)]
    mounts += [(common / name, common / name) for name in ("hooks", "modules") if is_real_folder(common / name)]
    # An agent that could point the objects elsewhere could have other repositories' objects imported.
    mounts.append((view / "objects" / "info", common / "objects" / "info"))
    if is_real_folder(gitdir / "modules"):
        mounts.append((gitdir / "modules", common / "worktrees" / gitdir.name / "modules"))
    return GitView(str(common), str(view), tuple((str(source), str(target)) for source, target in mounts))


def _absorb_leftover(common: Path, gitdir: Path) -> None:
    """Of an attempt whose end was never captured; a gate leaves nothing to keep."""
    lease = read_lease(gitdir)
    if lease is not None and lease.task:
        absorb_view(Repository(common), gitdir)
    remove_tree(gitdir / VIEW_FOLDER)


def _copy_files(source: Path, target: Path, names: Iterable[str]) -> None:
    for name in names:
        with suppress(FileNotFoundError):  # with its time: git compares that of the index with the files'
            shutil.copy2(source / name, target / name)


def _remove_credentials(config: Path) -> None:
    """Passwords and tokens in addresses and in headers, as `actions/checkout` keeps its token."""
    with suppress(FileNotFoundError):
        text = config.read_bytes()
        clean = _HEADER_SETTING.sub(b"", _ADDRESS_LOGIN.sub(rb"\1", text))
        if clean != text:
            config.write_bytes(clean)


def _copy_refs(common: Path, view: Path, head: str) -> None:
    """Branches, tags and remote branches. Of plait's own branches, only that of the task."""
    if (common / "reftable").is_dir():  # of git 2.45; the view has files
        _write_packed_refs(common, view)
        return
    own = head.strip().removeprefix("ref: ")
    for kind in _REF_FOLDERS:
        top = common / "refs" / kind
        for folder, _, names in os.walk(top):
            relative = os.path.relpath(folder, common)
            if relative == "refs/heads/plait" or relative.startswith("refs/heads/plait/"):
                names = [name for name in names if f"{relative}/{name}" == own]  # noqa: PLW2901
            for name in names:
                if not name.endswith(".lock"):
                    (view / relative).mkdir(parents=True, exist_ok=True)
                    with suppress(FileNotFoundError):
                        shutil.copyfile(f"{folder}/{name}", view / relative / name)


def _write_packed_refs(common: Path, view: Path) -> None:
    git = Repository(common).git
    names = [f"refs/{kind}" for kind in _REF_FOLDERS]
    rows = git.text("for-each-ref", "--format=%(objectname) %(refname)", *names)
    (view / "packed-refs").write_text(f"# pack-refs with: sorted\n{rows}\n" if rows else "", "utf-8", "surrogateescape")
    config = (view / "config").read_text("utf-8", "surrogateescape")
    kept = [line for line in config.splitlines() if not line.strip().lower().startswith("refstorage")]
    (view / "config").write_text("\n".join([*kept, ""]), "utf-8", "surrogateescape")


def _read_alternates(objects: Path) -> list[Path]:
    """The folders that the repository itself borrows objects from."""
    with suppress(OSError):
        lines = (objects / "info" / "alternates").read_text("utf-8", "surrogateescape").splitlines()
        paths = (Path(os.path.normpath(objects / line)) for line in lines if line and not line.startswith("#"))
        return [path for path in paths if path.is_dir()]
    return []


def absorb_view(repository: Repository, gitdir: Path) -> None:
    """Take over what an agent that has ended committed and staged in its view, and remove the view.

    It can be killed at any instant and done again: the view is removed last. A view that can't be read leaves the
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
            _absorb_refs(repository, gitdir, view, own)
            _absorb_state(own, gitdir)
            _absorb_index(repository, gitdir, own)
    except (OSError, GitError) as error:
        log.write_line(f"warning: commits and staged files of the agent in {gitdir.name} are left out: {error}")
    _disable_replaced_submodules(repository, gitdir)
    make_private_folder(repository.trash)
    view.rename(repository.trash / new_worktree_id())  # which is emptied when there is time


def _import_objects(repository: Repository, objects: Path) -> bool:
    """False: there are too many of them, and none was imported."""
    size = sum(path.lstat().st_size for path in objects.rglob("*") if path.is_file() and path.parent.name != "info")
    if not size:
        return True
    if size > MAX_IMPORT_BYTES:
        log.write_line(f"warning: an agent committed {size >> 20} MB; its commits are left out, its files are not")
        return False
    if any((objects / "pack").iterdir()):
        _import_packs(repository, objects)
    else:
        _import_loose_objects(objects, repository.common / "objects")
    return True


def _import_loose_objects(objects: Path, target: Path) -> None:
    """Without git, which is slower. An object whose content doesn't have its name is left out."""
    for folder in objects.iterdir():
        for file in folder.iterdir() if _OBJECT_FOLDER.match(folder.name) else ():
            place = target / folder.name / file.name
            if place.exists() or not _OBJECT_ID.match(folder.name + file.name):
                continue
            data = _read_file(file, MAX_IMPORT_BYTES)
            if _has_name(data, folder.name + file.name):
                place.parent.mkdir(exist_ok=True)
                replace_file(place, data, mode=0o444, durable=True)


def _has_name(data: bytes, name: str) -> bool:
    """Whether it is a whole object of this name, as git reads it: another one would stay in the place of the real one."""
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
    """All of the view's objects that the repository lacks: an agent's `git gc` copies the others, too."""
    (objects / "info" / "alternates").unlink(missing_ok=True)
    local = repository.git.with_options(variables={"GIT_OBJECT_DIRECTORY": str(objects)})
    args = ("cat-file", "--batch-all-objects", "--unordered")
    names = [name for name in local.text(*args, "--batch-check=%(objectname)").split() if _OBJECT_ID.match(name)]
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
    """Remove links, sockets and the like, wherever they are: each folder of the view may have been replaced by one.

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


def _absorb_refs(repository: Repository, gitdir: Path, view: Path, own: Path) -> None:
    """The task's branch and HEAD are as the agent left them; what only its other refs hold is saved."""
    head, before, lease = read_small_file(own / "HEAD"), read_small_file(gitdir / "HEAD"), read_lease(gitdir)
    branch = before.strip().removeprefix("ref: ")
    refs, known = _read_refs(view), _read_refs(repository.common)
    changed = {name: commit for name, commit in refs.items() if known.get(name) != commit}
    if not changed and head == before:
        return
    git, tip = repository.git, changed.pop(branch, "")
    if branch.startswith("refs/heads/plait/") and tip and _are_whole(git, (tip,)):
        # Nothing but a commit can be written to a branch.
        git.run("update-ref", "-m", "plait: committed in its sandbox", branch, tip, codes=(0, 1, 128))
    if VALID_HEAD.match(head) and head != before:
        name = head.strip().removeprefix("ref: ")
        commit = repository.git.resolve_commit(refs.get(name, name))
        if commit is not None and commit in {*refs.values(), name}:
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
    """Those of the objects that are commits, with all that they lead to: a ref to another one breaks `git gc`."""
    options = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    rows = git.text(*options, stdin=_join_lines(dict.fromkeys(names))).splitlines()
    commits = {row.removesuffix(" commit") for row in rows if row.endswith(" commit")}
    if not commits or _are_whole(git, commits):
        return commits
    return {commit for commit in sorted(commits)[:_MAX_SAVED_REFS] if _are_whole(git, (commit,))}


def _are_whole(git: Git, commits: Iterable[str]) -> bool:
    args = ("--objects", "--quiet", "--ignore-missing", "--stdin", "--not", "--glob=refs/*")
    return git.run("rev-list", *args, stdin=_join_lines(commits), codes=(0, 1, 128)).code == 0


def _read_refs(folder: Path) -> dict[str, str]:
    """All refs in files, packed ones included, without following links."""
    refs: dict[str, str] = {}
    for row in _read_file(folder / "packed-refs").decode("utf-8", "replace").splitlines():
        commit, _, name = row.partition(" ")
        if _OBJECT_ID.match(commit) and name.startswith("refs/"):
            refs[name] = commit
    for path, _, names in os.walk(folder / "refs"):
        relative = os.path.relpath(path, folder)
        if relative.startswith("refs/plait"):
            continue
        for name in names:
            commit = read_small_file(Path(path, name)).strip()
            if _OBJECT_ID.match(commit):
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
    """Empty if it is missing, a link, no regular file, or too long."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(fd, "rb") as file:  # noqa: PTH123 - opened without following links
        status = os.fstat(fd)
        return file.read() if stat.S_ISREG(status.st_mode) and status.st_size <= limit else b""


def _absorb_index(repository: Repository, gitdir: Path, own: Path) -> None:
    """Stage what the agent staged. Of its index only paths, modes and names of objects are used.

    Its times and sizes could make git take a file for unchanged, and its paths could lead out of the worktree.
    """
    data = _read_file(own / "index", MAX_INDEX_BYTES)
    if not data or data == _read_file(gitdir / "index", MAX_INDEX_BYTES):
        return
    git = repository.git_at(gitdir, gitdir, settings=("core.splitIndex=false", "core.bare=false"))
    copy = gitdir / _INDEX_COPY
    replace_file(copy, data)
    theirs = _list_index(git.with_options(variables={"GIT_INDEX_FILE": str(copy)}))
    copy.unlink()
    ours = _list_index(git)
    if theirs is None or ours is None:
        return
    changed = {
        path: rows
        for path, rows in theirs.items()
        if rows != ours.get(path) and is_safe_path(path) and not _adds_repository(rows, ours.get(path, frozenset()))
    }
    feed = [_format_removal(path) for path in ours.keys() - theirs.keys()]
    for path, rows in changed.items():
        feed.append(_format_removal(path))
        feed += [f"{mode} {blob} {stage}\t{path}" for mode, blob, stage in sorted(rows, key=lambda row: row[2])]
    if feed:
        git.run("update-index", "-z", "--index-info", stdin=join_fields(feed))


def _format_removal(path: str) -> str:
    return f"0 {'0' * 40}\t{path}"


def _adds_repository(rows: Iterable[IndexRow], before: Iterable[IndexRow]) -> bool:
    """A repository that the agent made is captured as files: git would run what its settings name."""
    return any(mode == _GITLINK_MODE for mode, _, _ in rows) and all(mode != _GITLINK_MODE for mode, _, _ in before)


def _disable_replaced_submodules(repository: Repository, gitdir: Path) -> None:
    """Where an agent put a repository of its own in a submodule's place, rename it: git would run what its settings name."""
    worktree = read_worktree_path(gitdir)
    index = (_may_have_submodules(gitdir) and _list_index(repository.git_at(gitdir, gitdir))) or {}
    paths = [path for path, rows in index.items() if any(mode == _GITLINK_MODE for mode, _, _ in rows)]
    if worktree is None or not paths:
        return
    top, modules = Path(os.path.realpath(worktree)), (gitdir / "modules").resolve()
    for path in paths:
        # Git follows no links to a submodule, and what they lead to is not the agent's.
        if is_real_folder(top / path) and os.path.realpath(top / path) == str(top / path):
            try:
                _rename_repositories(top / path, modules)
            except (OSError, RecursionError) as error:
                raise WorldError(f"the submodule {path} can't be checked for what the agent left: {error}") from error


def _may_have_submodules(gitdir: Path) -> bool:
    """False if no entry of its index has the mode of one, which is found out faster than by git.

    A shared index has entries in another file, a sparse one only their folders.
    """
    data = (gitdir / "index").read_bytes() if (gitdir / "index").exists() else b""
    return any(mark in data for mark in _SUBMODULE_MARKS)


def _rename_repositories(submodule: Path, modules: Path) -> None:
    """In a submodule's folder, those whose git folder is not in `modules`. Raises OSError if it can't be read whole."""

    def fail(error: OSError) -> None:
        raise error

    for folder, names, _ in os.walk(submodule, onerror=fail):
        names[:] = [name for name in names if name != ".git"]
        link = Path(folder, ".git")
        target = read_gitdir_link(Path(folder))
        if os.path.lexists(link) and (target is None or not target.resolve().is_relative_to(modules)):
            link.rename(link.with_name(f".git-replaced-{os.urandom(4).hex()}"))


def _list_index(git: Git) -> Mapping[str, frozenset[IndexRow]] | None:
    """The entries of an index by path; None if it can't be read."""
    output = git.run("ls-files", "--stage", "-z", codes=(0, 1, 128))
    if output.code:
        return None
    found: dict[str, set[IndexRow]] = {}
    for match in _match_rows(output.fields):
        found.setdefault(match["path"], set()).add((match["mode"], match["blob"], match["stage"]))
    return {path: frozenset(rows) for path, rows in found.items()}


def _match_rows(rows: Iterable[str]) -> Iterator[re.Match[str]]:
    for row in rows:
        match = _INDEX_ROW.match(row)
        if match is not None:
            yield match
