"""The git folder that a sandboxed agent sees instead of the repository's: commits, stashes and settings of its own.

The view is a small repository in the worktree's gitdir. It borrows the objects of the real one, which the sandbox mounts
read-only, and has copies of its refs, its configuration and the worktree's index. In the sandbox it is mounted in the place
of the repository's git folder, so the worktree's `.git` leads to it, and nothing that the agent writes there is read by a
git outside. What it committed and staged there is taken over when it has ended (view_absorption.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.refs import OBJECT_ID, has_ref_files
from plait.git.worktrees.agent_worktree import VIEW_FOLDER
from plait.git.worktrees.metadata import (
    format_head,
    is_real_folder,
    read_head,
    read_lease,
    read_small_file,
)
from plait.git.worktrees.view_absorption import absorb_view, list_refs
from plait.git.worktrees.worktree import Repository
from plait.system.disk import remove_tree

BORROWED_OBJECTS = "base-objects"  # where the sandbox mounts the repository's objects, in the view
# Each takes time. Tools put hooks into the empty folder of them; those never run outside.
_VIEW_FOLDERS = ("", "objects", "objects/info", "refs", "info", "hooks", "worktrees", BORROWED_OBJECTS)
_CHUNK_BYTES = 1 << 20
_MAX_PACKED_BYTES = 64 << 10  # of packed refs, which are read and written again
_REF_FOLDERS = ("heads", "tags", "remotes")
_COMMON_FILES = ("HEAD", "config", "shallow", "info/exclude", "info/attributes", "info/sparse-checkout")
_WORKTREE_FILES = (
    "HEAD", "index", "commondir", "gitdir", "ORIG_HEAD", "logs/HEAD", "info/sparse-checkout", "config.worktree", "plait-outfit",
)  # fmt: skip
_REF_STORAGE = re.compile(r"\brefstorage[ \t]*=[^\n]*", re.IGNORECASE)
_ADDRESS_LOGIN = re.compile(rb"(https?://)[^/\s\"@]*@", re.IGNORECASE)
_HEADER_SETTING = re.compile(rb"\bextraheader[ \t]*=(?:\\.|[^\\\n])*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class GitView:
    """A sandboxed agent's view. `folder` is to be mounted in the place of `common`, writable; each of `readable` at the
    path that it is given with.
    """

    common: str
    folder: str
    readable: tuple[tuple[str, str], ...]


def build_view(common: Path, gitdir: Path, sides: Collection[Path] = ()) -> GitView:
    """Make a new view for the worktree of this gitdir. One that was never absorbed is absorbed first. Raises OSError.

    `sides` are gitdirs of checkouts beside it, for processes of the same attempt: git works there, and nothing is
    absorbed.
    """
    view = gitdir / VIEW_FOLDER
    if view.exists():
        _absorb_leftover(common, gitdir)
    for folder in _VIEW_FOLDERS:
        os.mkdir(f"{view}/{folder}")  # noqa: PTH102 - faster
    for each in (gitdir, *sides):
        own = view / "worktrees" / each.name
        for path in (own, *(own / name for name in ("logs", "info") if (each / name).is_dir())):
            path.mkdir()
        _copy_files(each, own, _WORKTREE_FILES)
        _copy_time(each / "index", own / "index")
    _copy_files(common, view, _COMMON_FILES)
    for config in (view / "config", *view.glob("worktrees/*/config.worktree")):
        _remove_credentials(config)
    _copy_refs(common, view, read_head(common, gitdir))
    if not has_ref_files(common):
        _write_heads(common, view, (gitdir, *sides))
    alternates = _read_alternates(common / "objects")
    lines = [f"../{BORROWED_OBJECTS}", *map(str, alternates)]
    (view / "objects" / "info" / "alternates").write_text(
        "".join(f"{line}\n" for line in lines), "utf-8", "surrogateescape"
    )
    mounts = [(common / "objects", common / BORROWED_OBJECTS), *((path, path) for path in alternates)]
    for name in ("hooks", "modules"):
        if _has_more_than_examples(common / name):
            (view / name).mkdir(exist_ok=True)
            mounts.append((common / name, common / name))
    # An agent that could point the objects elsewhere could have other repositories' objects imported.
    mounts.append((view / "objects" / "info", common / "objects" / "info"))
    if is_real_folder(gitdir / "modules"):
        (view / "worktrees" / gitdir.name / "modules").mkdir()
        mounts.append((gitdir / "modules", common / "worktrees" / gitdir.name / "modules"))
    return GitView(str(common), str(view), tuple((str(source), str(target)) for source, target in mounts))


def _has_more_than_examples(folder: Path) -> bool:
    """Whether a folder has other hooks than git's examples, which needn't be mounted."""
    return is_real_folder(folder) and not all(name.endswith(".sample") for name in os.listdir(folder))  # noqa: PTH208 - faster


def discard_view(gitdir: Path) -> None:
    """Remove a view without absorbing anything from it."""
    if is_real_folder(gitdir / VIEW_FOLDER):
        remove_tree(gitdir / VIEW_FOLDER)


def _absorb_leftover(common: Path, gitdir: Path) -> None:
    """Absorb the view of an attempt whose end was never captured; a gate leaves nothing to keep."""
    lease = read_lease(gitdir)
    if lease is not None and lease.task:
        absorb_view(Repository(common), gitdir)
    remove_tree(gitdir / VIEW_FOLDER)


def _copy_files(source: Path, target: Path, names: Iterable[str]) -> None:
    for name in names:
        with suppress(FileNotFoundError):
            _copy_file(f"{source}/{name}", f"{target}/{name}")


def _copy_file(source: str, target: str) -> None:
    """Copy a file in the fewest system calls, because a view has many small files. Raises FileNotFoundError if there is
    none.
    """
    with open(source, "rb", buffering=0) as read, open(target, "xb", buffering=0) as write:  # noqa: PTH123
        while data := read.read(_CHUNK_BYTES):
            write.write(data)


def _copy_time(source: Path, target: Path) -> None:
    """Copy a file's time: git compares the time of an index with those of the files."""
    with suppress(FileNotFoundError):
        modified = source.stat().st_mtime_ns
        os.utime(target, ns=(modified, modified))


def _remove_credentials(config: Path) -> None:
    """Remove passwords and tokens in addresses and in headers, where `actions/checkout` keeps its token."""
    with suppress(FileNotFoundError):
        text = config.read_bytes()
        clean = _HEADER_SETTING.sub(b"", _ADDRESS_LOGIN.sub(rb"\1", text))
        if clean != text:
            config.write_bytes(clean)


def _write_heads(common: Path, view: Path, gitdirs: Iterable[Path]) -> None:
    """Write the HEADs into the view: where refs are in tables, the copied files don't contain them."""
    for gitdir, own in ((common, view), *((each, view / "worktrees" / each.name) for each in gitdirs)):
        (own / "HEAD").write_text(format_head(read_head(common, gitdir)), "utf-8", "surrogateescape")


def _copy_refs(common: Path, view: Path, own: str) -> None:
    """Copy branches, tags and remote branches; of plait's own branches, only that of the task."""
    if not has_ref_files(common):  # the view has files
        _write_packed_refs(common, view, own)
        return
    loose: dict[str, str] = {}
    for kind in _REF_FOLDERS:
        for folder, _, names in os.walk(common / "refs" / kind):
            relative = os.path.relpath(folder, common)
            if relative == "refs/heads/plait" or relative.startswith("refs/heads/plait/"):
                names = [name for name in names if f"{relative}/{name}" == own]  # noqa: PLW2901
            for name in names:
                commit = "" if name.endswith(".lock") else read_small_file(Path(folder, name)).strip()
                if OBJECT_ID.match(commit):
                    loose[f"{relative}/{name}"] = commit
                elif commit:  # a symbolic one
                    (view / relative).mkdir(parents=True, exist_ok=True)
                    _copy_file(f"{folder}/{name}", f"{view}/{relative}/{name}")
    packed = common / "packed-refs"
    if packed.exists() and packed.stat().st_size > _MAX_PACKED_BYTES:
        _copy_file(str(packed), f"{view}/packed-refs")
        for name, commit in loose.items():
            (view / name).parent.mkdir(parents=True, exist_ok=True)
            (view / name).write_text(f"{commit}\n")
    else:
        _pack_refs(packed, loose, view / "packed-refs")


def _pack_refs(packed: Path, loose: Mapping[str, str], target: Path) -> None:
    """Write all refs to one file, which takes less time than one for each."""
    lines: dict[str, str] = {}
    with suppress(FileNotFoundError):
        name = ""
        for line in packed.read_text("utf-8", "surrogateescape").split("\n"):
            if line.startswith("^"):  # what the tag before it leads to
                lines[name] += f"{line}\n"
            elif line and not line.startswith("#"):
                name = line.partition(" ")[2]
                lines[name] = f"{line}\n"
    lines |= {name: f"{commit} {name}\n" for name, commit in loose.items()}
    text = "".join(line for _, line in sorted(lines.items(), key=lambda item: os.fsencode(item[0])))
    target.write_text(f"# pack-refs with: sorted\n{text}", "utf-8", "surrogateescape")


def _write_packed_refs(common: Path, view: Path, own: str) -> None:
    refs = list_refs(Repository(common).git, *(f"refs/{kind}" for kind in _REF_FOLDERS))
    shown = [name for name in refs if name == own or not name.startswith("refs/heads/plait/")]
    rows = "".join(f"{refs[name]} {name}\n" for name in sorted(shown, key=os.fsencode))
    (view / "packed-refs").write_text(f"# pack-refs with: sorted\n{rows}", "utf-8", "surrogateescape")
    config = (view / "config").read_text("utf-8", "surrogateescape")
    (view / "config").write_text(_REF_STORAGE.sub("", config), "utf-8", "surrogateescape")


def _read_alternates(objects: Path) -> list[Path]:
    """List the folders that the repository itself borrows objects from."""
    with suppress(OSError):
        lines = (objects / "info" / "alternates").read_text("utf-8", "surrogateescape").splitlines()
        paths = (Path(os.path.normpath(objects / line)) for line in lines if line and not line.startswith("#"))
        return [path for path in paths if path.is_dir()]
    return []
