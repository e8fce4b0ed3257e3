"""The engines of a user: one file each, from which the others read how many slots it uses.

An engine holds a lock on its file as long as it lives. When it dies, its attempts keep running, and so their share of its
slots stays taken.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from plait.core.fast_dataclass import dataclass
from plait.system import locks, shared_files
from plait.system.atomic_files import open_regular_file
from plait.system.processes import boot_id, start_time

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """An engine as the others see it. `boot` is the machine's boot id."""

    engine: str
    pid: int
    boot: str
    slots: int = 0
    attempts: tuple[ProcessIdentity, ...] = ()
    waiting: bool = False

    @property
    def remaining_slots(self) -> int:
        """Slots that stay taken after its death: each attempt that ended gives back one."""
        alive = sum(attempt.is_alive for attempt in self.attempts)
        return max(min(alive, self.slots), self.slots - len(self.attempts) + alive) if alive else 0


@dataclass(frozen=True, slots=True)
class OtherEngine:
    id: str
    engine: str
    slots: int
    waiting: bool = False


class EngineRegistry:
    """`name` is the engine's name and identity: the next engine of that name replaces it."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = shared_files.make_printable(name)
        self.id = shared_files.digest_words(name)
        self._path = folder / f"{self.id}{_SUFFIX}"
        self._boot = boot_id()
        self._fd: int | None = None
        self._entry: EngineEntry | None = None  # as written to the file
        self._length = 0
        self._known: dict[int, ProcessIdentity] = {}

    def hold(self, slots: int, pids: Sequence[int], *, waiting: bool = False) -> None:
        """Raises OSError if the entry cannot be written."""
        known = self._known
        self._known = {pid: each for pid in sorted({*pids}) if (each := known.get(pid) or identify_process(pid))}
        entry = EngineEntry(self._name, os.getpid(), self._boot, slots, tuple(self._known.values()), waiting)
        if entry != self._entry or not self.is_registered:
            self.register()
            self._write(entry)

    @property
    def is_registered(self) -> bool:
        return self._fd is not None and locks.is_same_file(self._path, self._fd)

    def register(self) -> None:
        """What the last engine of this name held counts as held by this one, which adopts its attempts."""
        if self.is_registered:
            return
        self._close()
        fd = shared_files.open_or_create(self._path, os.O_RDWR)
        try:
            _lock_entry(fd)
            left = _read_entry(fd)
            if left is None:
                os.ftruncate(fd, 0)
            self._length = os.fstat(fd).st_size
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        if self._entry:  # the file was removed
            self._write(self._entry)
        elif left and left.boot == self._boot:
            self._entry = left

    def list_others(self, *, clean_up: bool) -> Iterator[OtherEngine]:
        """The engines that live or hold slots; `clean_up` removes the files of all others."""
        with os.scandir(self._folder) as found:
            names = [each.name for each in found if each.name.endswith(_SUFFIX)]
        for name in names:
            if name != self._path.name:
                with suppress(OSError):  # skip an entry that can't be read
                    yield from self._inspect(name, clean_up=clean_up)

    def unregister(self) -> None:
        """Running attempts stay counted."""
        if self._fd is not None and not (self._entry and self._entry.remaining_slots):
            with suppress(OSError):
                if self.is_registered:
                    self._path.unlink()
        self._close()

    def _inspect(self, name: str, *, clean_up: bool) -> Iterator[OtherEngine]:
        path, its_id = self._folder / name, name.removesuffix(_SUFFIX)
        fd = open_regular_file(path)
        try:
            alive, entry = not _is_unlocked(fd), _read_entry(fd)
            here = entry is not None and entry.boot == self._boot
            slots = entry.slots if entry and alive else entry.remaining_slots if entry and here else 0
            if alive or slots > 0:
                waits = alive and here and entry is not None and entry.waiting
                yield OtherEngine(its_id, entry.engine if entry else "", max(0, slots) if here else 0, waits)
            elif clean_up and locks.is_same_file(path, fd):
                path.unlink()
        finally:
            os.close(fd)

    def _write(self, entry: EngineEntry) -> None:
        """In one write of at most a page, which no crash cuts short; padded if shorter than before."""
        assert self._fd is not None
        data = msgspec.json.encode(entry)
        self._entry = None  # if writing fails, the others still see the old entry
        written = os.pwrite(self._fd, data.ljust(self._length), 0)
        self._length = max(self._length, written)
        if written < len(data):
            raise OSError(f"{self._path}: only {written} of {len(data)} bytes could be written")
        self._entry = entry

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _lock_entry(fd: int) -> None:
    if not locks.flock_nowait(fd):
        raise OSError(errno.EBUSY, "another engine of the same name is running")


def _is_unlocked(fd: int) -> bool:
    if not locks.flock_nowait(fd, shared=True):
        return False
    fcntl.flock(fd, fcntl.LOCK_UN)
    return True


def _read_entry(fd: int) -> EngineEntry | None:
    try:
        return msgspec.json.decode(os.pread(fd, shared_files.MAX_BYTES, 0), type=EngineEntry)
    except shared_files.DECODE_ERRORS:
        return None


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A pid with its start time; valid on this machine until it reboots."""

    pid: int
    start: int

    @property
    def is_alive(self) -> bool:
        return identify_process(self.pid) == self


def identify_process(pid: int) -> ProcessIdentity | None:
    """None if the process is gone, or a zombie."""
    start = start_time(pid)
    return None if start is None else ProcessIdentity(pid, start)
