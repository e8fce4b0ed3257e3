"""Starting a process that outlives this one: a session of its own, no input, its output in a log.

Trouble: what keeps an engine from going on, in a file that fronts look at.

It is no record: the journal that it would stand in is what can't be written. So the file has its room on the disk from the
engine's first moment on, and is written over in place.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.store.project_files import JOURNAL_FILE, has_journal
from plait.system.atomic_files import make_private_folder, read_regular_file
from plait.system.process_identity import TAG_VARIABLE

GO_SIGNAL = b"g"


_OUTPUT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND


_DEFAULT_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)


_started: list[int] = []


@dataclass(frozen=True, slots=True)
class HeldProcess:
    """A process that has not been told to go yet. It has touched nothing, and ends if it is dropped, or we do."""

    pid: int
    fd: int

    def start(self) -> int:
        with suppress(OSError):  # it is gone already, and whoever waits for it will see that
            os.write(self.fd, GO_SIGNAL)
        os.close(self.fd)
        return self.pid

    def discard(self) -> None:
        """Nobody needs it. It would end by itself; but whoever leaves leaves nothing behind."""
        os.close(self.fd)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def spawn_daemon(argv: Sequence[str], log: Path, *, max_log_bytes: int) -> int:
    """Its process id. A log longer than `most` bytes is put aside first."""
    try:
        make_private_folder(log.parent)
        rotate_log(log, max_log_bytes)
        return _spawn(argv, (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), str(log))
    except OSError as error:
        raise WorldError(
            f"the engine can't be started: {error}",
            hint=f"its log would be {log}; plait doctor tells more",
        ) from error


def spawn_held(argv: Sequence[str]) -> HeldProcess | None:
    """Start it, to make itself ready and wait; None where that can't be done: it is no more than a head start."""
    inner, outer = os.pipe()
    try:
        return HeldProcess(_spawn(argv, (os.POSIX_SPAWN_DUP2, inner, 0), os.devnull), outer)
    except OSError:
        os.close(outer)
        return None
    finally:
        os.close(inner)


def wait_for_go_signal(log: Path, *, max_log_bytes: int) -> bool:
    """In the process that is held: whether it may go. Its output is in the log from then on."""
    if os.read(0, 1) != GO_SIGNAL:
        return False
    make_private_folder(log.parent)
    rotate_log(log, max_log_bytes)
    for fd, path, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, str(log), _OUTPUT_FLAGS),
        (2, str(log), _OUTPUT_FLAGS),
    ):
        opened = os.open(path, mode | os.O_CLOEXEC, 0o600)
        os.dup2(opened, fd)
        os.close(opened)
    return True


def rotate_log(log: Path, max_bytes: int) -> None:
    with suppress(FileNotFoundError):
        if log.stat().st_size > max_bytes:
            log.replace(log.with_name(f"{log.name}.1"))


def _spawn(argv: Sequence[str], stdin: tuple[object, ...], output: str) -> int:
    _reap_zombies()
    pid = os.posix_spawn(
        argv[0],
        list(argv),
        # An attempt may have started it, and is not to end it.
        {name: value for name, value in os.environ.items() if name != TAG_VARIABLE},
        file_actions=[
            stdin,
            (os.POSIX_SPAWN_OPEN, 1, output, _OUTPUT_FLAGS, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=[],
        setsigdef=_DEFAULT_SIGNALS,
    )
    _started.append(pid)
    return pid


def _reap_zombies() -> None:
    """Those that have ended are not kept as zombies by a front that lives long."""
    for pid in list(_started):
        with suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        _started.remove(pid)


HEALTH_FILE_BYTES = 1024  # bytes; a page or less is never written in part


class EngineHealthFile:
    """A Trouble. Where it can't be told, nothing else suffers from it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.clear()

    def write(self, what: str) -> None:
        self._write(what.encode("utf-8", "replace")[:HEALTH_FILE_BYTES].ljust(HEALTH_FILE_BYTES))

    def clear(self) -> None:
        self._write(b" " * HEALTH_FILE_BYTES)

    def _write(self, data: bytes) -> None:
        with suppress(OSError):
            make_private_folder(self._path.parent)
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                os.pwrite(fd, data, 0)
            finally:
                os.close(fd)


def read_health(path: Path) -> str:
    """Empty if there is none. It is an engine's only while that engine lives: one that was killed could not clear it."""
    try:
        return read_regular_file(path, HEALTH_FILE_BYTES).decode("utf-8", "ignore").strip()
    except OSError:
        return ""


LOG_FILE = "engine.log"


DOORBELL_FIFO = "doorbell"


HEALTH_FILE = "trouble"


HELD_FLAG = "--held"


MAX_LOG_BYTES = 1 << 20  # bytes; a longer log is put aside when an engine starts


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Who holds the lease, and since when. `trouble` is what keeps it from going on, if anything does."""

    pid: int
    since: float
    trouble: str = ""


def find_engine(place: RepoLocation) -> EngineInfo | None:
    from plait.store import journal_lock  # only where there is a journal

    if not has_journal(place) or not journal_lock.is_locked(place.state / JOURNAL_FILE):
        return None

    try:
        beside = journal_lock.find_lock_file(place.state / JOURNAL_FILE)
        pid, since = int(beside.read_text() or 0), beside.stat().st_mtime
        return EngineInfo(pid, since, read_health(place.state / HEALTH_FILE))
    except (OSError, ValueError):  # it is about to sign
        return EngineInfo(0, 0.0)


def start_engine(place: RepoLocation) -> int:
    """In a session of its own, so that no terminal ends it; the pid, at once. A second one leaves by itself."""
    return spawn_daemon(_build_engine_command(place), place.state / LOG_FILE, max_log_bytes=MAX_LOG_BYTES)


def spawn_held_engine(place: RepoLocation) -> HeldProcess | None:
    """One that is ready to start, and touches nothing until it is told to go."""
    return spawn_held([*_build_engine_command(place), HELD_FLAG])


def wait_for_release(place: RepoLocation) -> bool:
    """In such a one: wait for the word."""
    return wait_for_go_signal(place.state / LOG_FILE, max_log_bytes=MAX_LOG_BYTES)


def _build_engine_command(place: RepoLocation) -> list[str]:
    # Nothing that lies in the current folder is imported.
    return [sys.executable, "-P", "-m", "plait.engine", str(place.state), str(place.top)]


def wake_engine(place: RepoLocation) -> None:
    """If nobody hears it, an engine finds the request when it comes."""
    with suppress(OSError):
        fd = os.open(place.state / DOORBELL_FIFO, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(fd, b".")
        finally:
            os.close(fd)
