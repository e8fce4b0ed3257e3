"""Keeps new objects in the repository until a ref holds them, even if `git gc --prune=now` runs.

A prune marks what refs hold, and then deletes every other loose object: also one that was made in between, although a ref
may hold it by then. It deletes no pack that appeared after it began, and none with a .keep file. So, as `git fetch` does,
new objects are put into the repository as a pack with a .keep file, which is removed when the ref is moved.

Many small packs make git slow. So packs that plait added are combined, ten into one, and ten of those into one. Where there is
a multi-pack-index, which would be damaged without a pack that it names, that is left to `git maintenance`, which writes one.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from plait.git.command import Git, GitError
from plait.system.atomic_files import fsync_path, make_private_folder
from plait.system.flock import try_lock

PACKS_PER_LEVEL = 10  # git collects garbage by itself when there are more than 50
_ABANDONED_SECONDS = 3600.0  # a pack is made, and its ref moved, in moments
_MAX_TRIES = 5
_SCRATCH_PREFIX = "making-"
_MARKER = re.compile(r"(?P<level>\d+)-(?P<name>pack-[0-9a-f]+)\Z")
# Messages of git when an object, or a file that it was just writing, is missing.
_GONE = re.compile(
    r"bad object|bad tree|missing (?:blob|tree|object)|invalid object|nonexistent object|[Nn]ot a valid (?:object|commit)"
    r"|unable to read|could not read|failed to read|cannot read|unable to find|could not parse|not our ref"
    r"|error building trees|failed to (?:write|insert)|unable to (?:add|index)|tmp_(?:obj|pack|idx)|unable to (?:write|rename|open|create) |Failed to traverse"
)
_DISK_ERROR = re.compile(r"No space left|Disk quota|Permission denied|Read-only file system|insufficient permission")
_MAY_BE_PARTIAL = re.compile(rb"(?i)partialclone|promisor|include")
_SAYS_NOTHING = "revision walk setup failed"  # the line before it names the cause
_PACK_SUFFIXES = (".rev", ".pack", ".idx")  # in the order in which they may appear
_ALLOW_PROMISED = "--missing=allow-promisor"  # what a partial clone has not fetched is not missing

T = TypeVar("T")


def is_object_gone(error: GitError) -> bool:
    """Whether git failed because an object is missing, perhaps pruned while git worked."""
    output = f"{error.stderr} {error.message}"
    return _GONE.search(output) is not None and not _DISK_ERROR.search(output)


def retry_pruned(job: Callable[[int], T]) -> T:
    """Run the job and return its result. If objects were pruned before a ref held them, run it again; its argument is
    the number of the try, from 0.
    """
    for number in range(_MAX_TRIES):
        try:
            return job(number)
        except GitError as error:
            if number == _MAX_TRIES - 1 or not is_object_gone(error):
                raise
    raise AssertionError


def find_missing_objects(git: Git, tips: Sequence[str], held: Sequence[str]) -> str:
    """Return git's message about an object that the tips need and the repository lacks, ignoring what `held` commits
    lead to; empty if none is missing.
    """
    revisions = "".join([*(f"{tip}\n" for tip in tips), *(f"^{commit}\n" for commit in held)])
    # With the option, git from 2.45 on says nothing about a missing commit either, and a partial clone has all of them.
    walks = ((), ("--objects", _ALLOW_PROMISED)) if may_be_partial_clone(git) else (("--objects",),)
    for options in walks:
        output = git.run("rev-list", "--quiet", *options, "--stdin", stdin=revisions.encode(), codes=range(256))
        if output.code:
            lines = [line for line in output.err.splitlines() if line.startswith(("fatal: ", "error: "))]
            said = next((line for line in lines if line.startswith("fatal: ") and not line.endswith(_SAYS_NOTHING)), "")
            return (said or next(iter(lines), "")).partition(": ")[2] or f"exit status {output.code}"
    return ""


def may_be_partial_clone(git: Git) -> bool:
    """Whether the configuration mentions a partial clone. It is read as a file, because asking git takes a process."""
    place = git.find_variable("GIT_COMMON_DIR") or git.find_variable("GIT_DIR")
    try:
        return place is None or _MAY_BE_PARTIAL.search((Path(place) / "config").read_bytes()) is not None
    except OSError:
        return True


@contextmanager
def keep_objects(  # noqa: PLR0913 - where, what and how
    git: Git,
    common: Path,
    tips: Sequence[str],
    held: Sequence[str],
    sources: Sequence[Path] = (),
    *,
    combine: bool = True,
) -> Iterator[Path | None]:
    """Keep the tips' objects while the caller moves a ref to them: no prune can delete what they have and `held`
    commits have not.

    Yields the pack with these objects, which exists until packs are combined; None if there are none. `sources` are
    further object folders, to copy objects from. Without `combine`, packs are combined another time. Raises GitError if
    an object is missing. The cost grows with the change, not with the repository.
    """
    packs, objects = common / "plait" / "packs", common / "objects"
    make_private_folder(packs)
    revisions = "".join([*(f"{tip}\n" for tip in tips), *(f"^{commit}\n" for commit in held)])
    # Deltas are left to the next gc.
    options = ("--revs", "--sparse", "--window=0", _ALLOW_PROMISED)
    pack = _make_pack(git, packs, (objects, *sources), options, revisions)
    if pack is None:  # everything is held already
        yield None
        return
    try:
        with _hold_marked(pack, common, len(tips[0])) as kept:
            yield kept
    finally:
        shutil.rmtree(pack.parent, ignore_errors=True)
    if combine:
        _combine_quietly(git, common)


@contextmanager
def keep_pack(git: Git, common: Path, pack: Path) -> Iterator[None]:
    """Do the same as keep_objects for a pack on the repository's disk that has all objects and was synced by
    `sync_pack`.
    """
    with _hold_marked(pack, common, len(pack.stem) - len("pack-")):
        yield
    _combine_quietly(git, common)


def sync_pack(pack: Path) -> None:
    for suffix in _PACK_SUFFIXES:
        if (file := pack.with_suffix(suffix)).exists():
            fsync_path(file)


def list_pack(pack: Path, digits: int) -> frozenset[str]:
    """List the objects in a pack, by its index: https://git-scm.com/docs/gitformat-pack. Empty if only git can read
    that index.
    """
    data = pack.with_suffix(".idx").read_bytes()
    if not data.startswith(b"\xfftOc\0\0\0\2"):
        return frozenset()
    first, size = 8 + 4 * 256, digits // 2
    count = int.from_bytes(data[first - 4 : first])
    return frozenset(data[at : at + size].hex() for at in range(first, first + count * size, size))


@contextmanager
def _hold_marked(pack: Path, common: Path, digits: int) -> Iterator[Path]:
    """Do the same as hold_pack, under a name by which the pack is found again to be combined with others. Yields the
    pack's path in the repository.
    """
    name = f"pack-{uuid4().hex}{uuid4().hex}"[: len("pack-") + digits]
    (common / "plait" / "packs" / f"0-{name}").touch()
    with hold_pack(pack, common / "objects", name):
        yield common / "objects" / "pack" / f"{name}.pack"


def _combine_quietly(git: Git, common: Path) -> None:
    """Combine packs, ignoring errors: it only serves speed, and is tried again the next time."""
    with suppress(OSError, GitError):
        combine_packs(git, common)


@contextmanager
def hold_pack(pack: Path, objects: Path, name: str) -> Iterator[None]:
    """Move a pack into the repository and hold it there while the caller moves a ref to its objects: no prune deletes
    it.
    """
    keep = objects / "pack" / f"{name}.keep"
    try:
        keep.parent.mkdir(exist_ok=True)
        keep.write_text("plait is moving a ref to these objects\n")
        _install_pack(pack, objects / "pack" / name)
        yield
    finally:
        keep.unlink(missing_ok=True)


def new_object_folder(common: Path) -> Path:
    """Make an empty folder for new objects, on the repository's disk.

    No prune looks there; what a killed process leaves is removed after a while.
    """
    packs = common / "plait" / "packs"
    make_private_folder(packs)
    return Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX, dir=packs))


def object_variables(scratch: Path, *sources: Path) -> dict[str, str]:
    """Return variables that make git write objects to `scratch`, and read those in `sources` too."""
    quoted = ('"' + str(each).replace("\\", "\\\\").replace('"', '\\"') + '"' for each in sources)
    return {"GIT_OBJECT_DIRECTORY": str(scratch), "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(quoted)}


def _make_pack(git: Git, packs: Path, sources: Sequence[Path], options: Sequence[str], stdin: str) -> Path | None:
    """Make a pack in a folder of its own, where no prune deletes its temporary files; None if it would be empty.

    Git syncs it to the disk, as it does the refs that will hold it.
    """
    scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX, dir=packs))
    variables = object_variables(scratch, *sources)
    settings = ["pack.threads=1", "pack.compression=1", "pack.packSizeLimit=0", "pack.writeBitmaps=false"]
    args = ("pack-objects", "--quiet", "--non-empty", *options, str(scratch / "pack"))
    try:
        name = git.with_options(variables=variables, settings=settings).text(*args, stdin=stdin.encode())
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    if not name:
        shutil.rmtree(scratch, ignore_errors=True)
        return None
    return scratch / f"pack-{name}.pack"


def _install_pack(pack: Path, target: Path) -> None:
    """Put a pack into the repository. The index comes last, because git sees the pack as soon as its index is there."""
    for suffix in _PACK_SUFFIXES:
        source = pack.with_suffix(suffix)
        if not source.exists():
            continue
        try:
            source.rename(target.with_name(f"{target.name}{suffix}"))
        except OSError:  # the objects are on another disk
            copy = target.with_name(f"{target.name}{suffix}.plait")
            shutil.copyfile(source, copy)
            fsync_path(copy)
            copy.rename(target.with_name(f"{target.name}{suffix}"))


def combine_packs(git: Git, common: Path) -> None:
    """Combine ten packs that plait added into one, level by level. Also removes what killed processes left."""
    packs, folder = common / "plait" / "packs", common / "objects" / "pack"
    with try_lock(packs / "lock") as locked:
        if not locked:
            return
        if (folder / "multi-pack-index").exists() or (folder / "multi-pack-index.d").exists():
            return
        level = 0
        while len(names := _list_packs(packs, folder, level)) >= PACKS_PER_LEVEL:
            _combine(git, common, level, names)
            level += 1


def _list_packs(packs: Path, folder: Path, level: int) -> list[str]:
    """List the packs of a level, without those that a gc has replaced."""
    names = []
    for path in packs.iterdir():
        marker = _MARKER.match(path.name)
        is_old = time.time() - path.stat().st_mtime > _ABANDONED_SECONDS
        if marker is None:
            if is_old and path.name.startswith(_SCRATCH_PREFIX):
                shutil.rmtree(path, ignore_errors=True)
            continue
        keep = folder / f"{marker['name']}.keep"
        if is_old:
            keep.unlink(missing_ok=True)
        if int(marker["level"]) != level or keep.exists():
            continue
        if (folder / f"{marker['name']}.idx").exists():
            names.append(marker["name"])
        elif is_old:  # else it may be about to appear
            path.unlink(missing_ok=True)
    return names


def _combine(git: Git, common: Path, level: int, names: Sequence[str]) -> None:
    packs, folder = common / "plait" / "packs", common / "objects" / "pack"
    pack = _make_pack(
        git, packs, (common / "objects",), ("--stdin-packs",), "".join(f"{name}.pack\n" for name in names)
    )
    if pack is not None:
        name = f"pack-{uuid4().hex}{uuid4().hex}"[: len(names[0])]
        (packs / f"{level + 1}-{name}").touch()
        _install_pack(pack, folder / name)
        shutil.rmtree(pack.parent, ignore_errors=True)
    for name in names:
        for suffix in (".idx", ".rev", ".pack"):  # the index first: without it, git ignores the pack
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
        (packs / f"{level}-{name}").unlink(missing_ok=True)
