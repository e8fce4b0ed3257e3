"""The engine as a process that front ends start, find and wake, and the file in which it says what stops it.

That file is no record: it may say why the journal can't be written. So its space on disk is reserved when the engine
starts, and it is overwritten in place.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.engine.nodes_file import NODES_FILE, read_nodes
from plait.git.location import RepoLocation
from plait.store.project_files import JOURNAL_FILE, has_journal
from plait.system.atomic_files import make_private_folder, read_regular_file
from plait.system.process_identity import TAG_VARIABLE

if TYPE_CHECKING:
    from plait.runtime.executor import NodeStatus

LOG_FILE = "engine.log"
DOORBELL_FIFO = "doorbell"
HEALTH_FILE = "trouble"
HEALTH_FILE_BYTES = 1024  # at most a page, which is never written in part
HELD_FLAG = "--held"
GO_SIGNAL = b"g"
MAX_LOG_BYTES = 1 << 20  # a longer log is rotated when an engine starts
_OUTPUT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_DEFAULT_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
_started: list[int] = []


@dataclass(frozen=True, slots=True)
class HeldProcess:
    """An engine that waits to be released. It has changed nothing yet, and exits if the process that holds it does."""

    pid: int
    fd: int

    def start(self) -> int:
        with suppress(OSError):  # it has exited; waiting for it fails later
            os.write(self.fd, GO_SIGNAL)
        os.close(self.fd)
        return self.pid

    def discard(self) -> None:
        """End the process. It would exit by itself, but possibly after this process."""
        os.close(self.fd)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def _rotate_log(log: Path) -> None:
    make_private_folder(log.parent)
    with suppress(FileNotFoundError):
        if log.stat().st_size > MAX_LOG_BYTES:
            log.replace(log.with_name(f"{log.name}.1"))


def _spawn(argv: Sequence[str], stdin: tuple[object, ...], output: str) -> int:
    _reap_zombies()
    pid = os.posix_spawn(
        argv[0],
        list(argv),
        # An attempt may have started it, and must not end it.
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
    """Wait for engines that have exited, so that they don't stay zombies of a long-running server."""
    for pid in list(_started):
        with suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        _started.remove(pid)


class HealthFile:
    """The file that tells clients, outside of the journal, what stops the engine. Failing to write it is no error."""

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
    """Return what stops the engine; empty if nothing. Only valid while it runs: a killed one can't clear it."""
    try:
        return read_regular_file(path, HEALTH_FILE_BYTES).decode("utf-8", "ignore").strip()
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """The engine that holds the journal's lock, and since when. `trouble`: what stops it, if anything does; `nodes`:
    the nodes of the cluster that it uses.
    """

    pid: int
    since: float
    trouble: str = ""
    nodes: Sequence[NodeStatus] = ()


def find_engine(location: RepoLocation) -> EngineInfo | None:
    from plait.store import journal_lock  # only where there is a journal

    if not has_journal(location) or not journal_lock.is_locked(location.state / JOURNAL_FILE):
        return None

    try:
        lock_file = journal_lock.find_lock_file(location.state / JOURNAL_FILE)
        pid, since = int(lock_file.read_text() or 0), lock_file.stat().st_mtime
        return EngineInfo(
            pid, since, read_health(location.state / HEALTH_FILE), read_nodes(location.state / NODES_FILE)
        )
    except (OSError, ValueError):  # it has not written its pid yet
        return EngineInfo(0, 0.0)


def start_engine(location: RepoLocation) -> int:
    """Start an engine in a session of its own and return its pid at once; a second engine exits by itself."""
    log = location.state / LOG_FILE
    try:
        _rotate_log(log)
        return _spawn(_build_engine_command(location), (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), str(log))
    except OSError as error:
        raise WorldError(
            f"can't start the engine: {error}", hint=f"its log would be {log}; run plait doctor"
        ) from error


def spawn_held_engine(location: RepoLocation) -> HeldProcess | None:
    """Start an engine that gets ready and waits. None if that can't be done, which is no error: it only saves time."""
    inner, outer = os.pipe()
    argv = [*_build_engine_command(location), HELD_FLAG]
    try:
        return HeldProcess(_spawn(argv, (os.POSIX_SPAWN_DUP2, inner, 0), os.devnull), outer)
    except OSError:
        os.close(outer)
        return None
    finally:
        os.close(inner)


def wait_for_release(location: RepoLocation) -> bool:
    """Wait, in a held engine, until it may start; then send its output to the log. False if it is not needed."""
    if os.read(0, 1) != GO_SIGNAL:
        return False
    log = location.state / LOG_FILE
    _rotate_log(log)
    for fd, path, mode in ((0, os.devnull, os.O_RDONLY), (1, str(log), _OUTPUT_FLAGS), (2, str(log), _OUTPUT_FLAGS)):
        opened = os.open(path, mode | os.O_CLOEXEC, 0o600)
        os.dup2(opened, fd)
        os.close(opened)
    return True


def _build_engine_command(location: RepoLocation) -> list[str]:
    # -P: nothing is imported from the current folder.
    return [sys.executable, "-P", "-m", "plait.engine", str(location.state), str(location.top)]


def wake_engine(location: RepoLocation) -> None:
    """Wake the engine. It is no error if none runs: the next engine finds the request."""
    with suppress(OSError):
        fd = os.open(location.state / DOORBELL_FIFO, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(fd, b".")
        finally:
            os.close(fd)
