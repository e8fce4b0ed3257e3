"""The engines of a user: a file each, which tells the others how many slots it has.

An engine keeps a lock on its own file for as long as it lives: the system gives it back, however the engine dies. Then its
attempts run on, and so does their share of its slots.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from plait.adapters.commons import files
from plait.adapters.commons.identity import Identity, identify
from plait.core.frozen import dataclass
from plait.site.processes import boot

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Entry:
    """An engine as the others see it. `boot` is the machine's, from its last start on."""

    engine: str
    pid: int
    boot: str
    slots: int = 0
    attempts: tuple[Identity, ...] = ()
    waiting: bool = False

    @property
    def left(self) -> int:
        """Slots that count on after its death. Which attempt had how many is not known: each that ended gives back one."""
        alive = sum(attempt.alive for attempt in self.attempts)
        return max(min(alive, self.slots), self.slots - len(self.attempts) + alive) if alive else 0


@dataclass(frozen=True, slots=True)
class Other:
    id: str
    engine: str
    slots: int
    waiting: bool = False


class Engines:
    """`name` is what people call this engine, and its identity: the next one of that name takes its place."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = files.clean(name)
        self.id = files.digest(name)
        self._path = folder / f"{self.id}{_SUFFIX}"
        self._boot = boot()
        self._fd: int | None = None
        self._entry: Entry | None = None  # as it stands in the file
        self._length = 0
        self._known: dict[int, Identity] = {}

    def hold(self, slots: int, pids: Sequence[int], *, waiting: bool = False) -> None:
        """Raise OSError if the others can't be told."""
        known = self._known
        self._known = {pid: each for pid in sorted({*pids}) if (each := known.get(pid) or identify(pid))}
        entry = Entry(self._name, os.getpid(), self._boot, slots, tuple(self._known.values()), waiting)
        if entry != self._entry or not self.entered:
            self.enter()
            self._write(entry)

    @property
    def entered(self) -> bool:
        return self._fd is not None and files.is_there(self._path, self._fd)

    def enter(self) -> None:
        """What the last engine of this name held counts as this one's until it says otherwise; it adopts its attempts."""
        if self.entered:
            return
        self._let_go()
        fd = files.open_new(self._path, os.O_RDWR)
        try:
            _keep(fd)
            left = _entry(fd)
            if left is None:
                os.ftruncate(fd, 0)
            self._length = os.fstat(fd).st_size
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        if self._entry:  # somebody removed the file
            self._write(self._entry)
        elif left and left.boot == self._boot:
            self._entry = left

    def others(self, *, tidy: bool) -> Iterator[Other]:
        """Those who have slots or live; `tidy`: the files of those who don't are removed."""
        with os.scandir(self._folder) as found:
            names = [each.name for each in found if each.name.endswith(_SUFFIX)]
        for name in names:
            if name != self._path.name:
                with suppress(OSError):  # one that can't be read costs itself
                    yield from self._look(name, tidy=tidy)

    def leave(self) -> None:
        """What runs on goes on being counted."""
        if self._fd is not None and not (self._entry and self._entry.left):
            with suppress(OSError):
                if self.entered:
                    self._path.unlink()
        self._let_go()

    def _look(self, name: str, *, tidy: bool) -> Iterator[Other]:
        path, its_id = self._folder / name, name.removesuffix(_SUFFIX)
        fd = files.open_there(path)
        try:
            alive, entry = not _free(fd), _entry(fd)
            here = entry is not None and entry.boot == self._boot
            slots = entry.slots if entry and alive else entry.left if entry and here else 0
            if alive or slots > 0:
                waits = alive and here and entry is not None and entry.waiting
                yield Other(its_id, entry.engine if entry else "", max(0, slots) if here else 0, waits)
            elif tidy and files.is_there(path, fd):
                path.unlink()
        finally:
            os.close(fd)

    def _write(self, entry: Entry) -> None:
        """In one piece: a page or less is never written in part, whoever dies. What is shorter than before is filled up."""
        assert self._fd is not None
        data = msgspec.json.encode(entry)
        self._entry = None  # until it is written, the others have been told nothing
        written = os.pwrite(self._fd, data.ljust(self._length), 0)
        self._length = max(self._length, written)
        if written < len(data):
            raise OSError(f"{self._path}: only {written} of {len(data)} bytes could be written")
        self._entry = entry

    def _let_go(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _keep(fd: int) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OSError(errno.EBUSY, "another engine of the same name is at work") from error


def _free(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(fd, fcntl.LOCK_UN)
    return True


def _entry(fd: int) -> Entry | None:
    try:
        return msgspec.json.decode(files.read(fd), type=Entry)
    except files.DAMAGED:
        return None
