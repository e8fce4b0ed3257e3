"""Starting a process that outlives this one: a session of its own, no input, its output in a log."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.system.process_identity import TAG_VARIABLE
from plait.system.state_paths import make_private_folder

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
