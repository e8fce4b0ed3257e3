"""The engines of a user: the lock that they share, and one file each, from which the others read how many slots it
uses.

A process that was stopped while it held the lock would stop every engine. So each holder writes its signature, and an
engine waits only a limited time for one holder: then it continues without the lock. It still sees what the others hold,
since entries are written whole; at worst two engines take the last slot at the same moment.

An engine also holds a lock on its own file as long as it lives. When it dies, its attempts keep running, and so their
share of its slots stays taken. Nothing is synced: the files are worthless after a reboot.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from plait.core.fast_dataclass import dataclass
from plait.system.atomic_files import make_private_folder, open_regular_file
from plait.system.decoders import decode_json
from plait.system.flock import flock_nowait, is_same_file
from plait.system.processes import boot_id, start_time

_SUFFIX = ".json"
LOCK_TIMEOUT_SECONDS = 2.0  # seconds; on a busy machine a holder may be slow
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.0002, 0.01
_SIGNATURE_BYTES = 40
# What decoding a damaged or foreign file raises.
DECODE_ERRORS = (msgspec.DecodeError, UnicodeError, RecursionError)
MAX_BYTES = 1 << 20  # no file of ours comes near it


class SharedLock:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._stuck = b""  # the signature of a turn that is not waited for any more
        self._depth = 0
        self._fd: int | None = None

    @property
    def is_held(self) -> bool:
        return self._fd is not None

    @property
    def stuck_holder(self) -> str:
        """The process that holds the lock and is no longer waited for; empty if there is none."""
        return self._stuck.split(b" ")[0].decode("ascii", "replace")

    def acquire(self) -> None:
        """Acquire the lock; then check `is_held`, because the holder may be stuck. Reentrant; release once for each
        call.

        Raises OSError if there can be no lock here.
        """
        self._depth += 1
        if self._depth == 1:
            self._fd = self._wait()

    def release(self) -> None:
        self._depth -= 1
        if self._depth == 0 and self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)

    def _wait(self) -> int | None:
        last_holder, since, pause = b"", time.monotonic(), _FIRST_PAUSE_SECONDS
        while True:
            fd, holder = self._try_acquire()
            if fd is not None:
                self._stuck = b""
                return fd
            if holder != last_holder:  # another process holds it now: the waiting time starts again
                last_holder, since = holder, time.monotonic()
            if holder == self._stuck or time.monotonic() - since > LOCK_TIMEOUT_SECONDS:
                self._stuck = holder
                return None
            time.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)

    def _try_acquire(self) -> tuple[int | None, bytes]:
        """Return the locked descriptor, or None and the signature of the holder."""
        fd = open_or_create(self.path, os.O_RDWR)
        try:
            if not flock_nowait(fd):
                holder = os.pread(fd, _SIGNATURE_BYTES, 0) or b"unknown"
            elif is_same_file(self.path, fd):
                self._write_signature(fd)
                return fd, b""
            else:
                holder = b"removed"  # the file was removed meanwhile
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return None, holder

    @staticmethod
    def _write_signature(fd: int) -> None:
        with suppress(OSError):  # a full disk; others take us for slow, at worst
            os.pwrite(fd, f"{os.getpid()} {time.monotonic_ns()}\n".ljust(_SIGNATURE_BYTES).encode(), 0)


def open_or_create(path: Path, flags: int) -> int:
    """Open a file, created with mode 0600; follows no link, and creates the folder if needed."""
    flags |= os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_private_folder(path.parent)
        return os.open(path, flags, 0o600)


def digest_words(*words: str) -> str:
    """Return a file name that is different for different words."""
    joined = "\0".join(f"{len(word)} {word}" for word in words)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def make_printable(text: str) -> str:
    """Return a name without characters that cannot be shown or encoded in JSON."""
    shown = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return shown.encode("utf-8", "replace").decode()


def overwrite_in_place(path: Path, data: bytes) -> None:
    """Overwrite a file, which is much cheaper than a new file."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        _overwrite(fd, data)
    finally:
        os.close(fd)


def _overwrite(fd: int, data: bytes) -> int:
    """Overwrite an open file in one write of at most a page, which no crash cuts short; padded if shorter than before."""
    return os.pwrite(fd, data.ljust(os.fstat(fd).st_size), 0)


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
        """The slots that stay taken after the engine's death: each attempt that ended gives back one."""
        alive = sum(attempt.is_alive for attempt in self.attempts)
        return max(min(alive, self.slots), self.slots - len(self.attempts) + alive) if alive else 0


@dataclass(frozen=True, slots=True)
class OtherEngine:
    id: str
    engine: str
    slots: int
    waiting: bool = False


class EngineRegistry:
    """The entries of the user's engines. `name` identifies this one: the next engine of that name replaces it."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = make_printable(name)
        self.id = digest_words(name)
        self._path = folder / f"{self.id}{_SUFFIX}"
        self._boot = boot_id()
        self._fd: int | None = None
        self._entry: EngineEntry | None = None  # as written to the file
        self._known: dict[int, ProcessIdentity] = {}

    def hold(self, slots: int, pids: Sequence[int], *, waiting: bool = False) -> None:
        """Write the slots that this engine uses, and their processes. Raises OSError if that fails."""
        known = self._known
        self._known = {
            pid: identity for pid in sorted({*pids}) if (identity := known.get(pid) or identify_process(pid))
        }
        entry = EngineEntry(self._name, os.getpid(), self._boot, slots, tuple(self._known.values()), waiting)
        if entry != self._entry or not self.is_registered:
            self.register()
            self._write(entry)

    @property
    def is_registered(self) -> bool:
        return self._fd is not None and is_same_file(self._path, self._fd)

    def register(self) -> None:
        """Lock this engine's entry, with the slots of the last engine of this name, which it adopts."""
        if self.is_registered:
            return
        self._close()
        fd = open_or_create(self._path, os.O_RDWR)
        try:
            _lock_entry(fd)
            previous = _read_entry(fd)
            if previous is None:
                os.ftruncate(fd, 0)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        if self._entry:  # the file was removed
            self._write(self._entry)
        elif previous and previous.boot == self._boot:
            self._entry = previous

    def list_others(self, *, clean_up: bool) -> Iterator[OtherEngine]:
        """Yield the engines that live or hold slots; `clean_up` removes the files of all others."""
        with os.scandir(self._folder) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(_SUFFIX)]
        for name in names:
            if name != self._path.name:
                with suppress(OSError):  # skip an entry that can't be read
                    yield from self._inspect(name, clean_up=clean_up)

    def unregister(self) -> None:
        """Close the entry; running attempts stay counted."""
        if self._fd is not None and not (self._entry and self._entry.remaining_slots):
            with suppress(OSError):
                if self.is_registered:
                    self._path.unlink()
        self._close()

    def _inspect(self, name: str, *, clean_up: bool) -> Iterator[OtherEngine]:
        path, engine_id = self._folder / name, name.removesuffix(_SUFFIX)
        fd = open_regular_file(path)
        try:
            alive, entry = not _is_unlocked(fd), _read_entry(fd)
            is_current = entry is not None and entry.boot == self._boot
            slots = entry.slots if entry and alive else entry.remaining_slots if entry and is_current else 0
            if alive or slots > 0:
                is_waiting = alive and is_current and entry is not None and entry.waiting
                yield OtherEngine(
                    engine_id, entry.engine if entry else "", max(0, slots) if is_current else 0, is_waiting
                )
            elif clean_up and is_same_file(path, fd):
                path.unlink()
        finally:
            os.close(fd)

    def _write(self, entry: EngineEntry) -> None:
        assert self._fd is not None
        data = msgspec.json.encode(entry)
        self._entry = None  # if writing fails, the others still see the old entry
        written = _overwrite(self._fd, data)
        if written < len(data):
            raise OSError(f"{self._path}: only {written} of {len(data)} bytes could be written")
        self._entry = entry

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _lock_entry(fd: int) -> None:
    if not flock_nowait(fd):
        raise OSError(errno.EBUSY, "another engine of the same name is running")


def _is_unlocked(fd: int) -> bool:
    if not flock_nowait(fd, shared=True):
        return False
    fcntl.flock(fd, fcntl.LOCK_UN)
    return True


def _read_entry(fd: int) -> EngineEntry | None:
    try:
        return decode_json(os.pread(fd, MAX_BYTES, 0), EngineEntry)
    except DECODE_ERRORS:
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
    """Identify a process; None if it is gone, or a zombie."""
    start = start_time(pid)
    return None if start is None else ProcessIdentity(pid, start)
