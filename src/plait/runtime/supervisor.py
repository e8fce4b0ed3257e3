"""Supervisors: their files, launching one in a session of its own, finding it again, and waiting for its exit.

A supervisor owns an attempt by its pidfile. The exit status that it leaves is three digits and a newline, written over
four blanks that reserved the space.
"""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import Popen

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.runtime.executor import AttemptSpec, Reactor, Timer
from plait.system import processes
from plait.system.atomic_files import make_private_folder
from plait.system.process_identity import TAG_VARIABLE, Process
from plait.system.state_paths import AttemptFolder

SHELL = "/bin/sh"
# The supervisor's name on its command line, by which later engines, also of other versions of plait, adopt what it runs.
PROCESS_NAME = "plait-warden"
EXIT_CLAIMED = 75  # of a supervisor that found another's pidfile
EXIT_CANNOT_WRITE = 74  # of a supervisor that could not write its files
_COMPLETE_STATUS = re.compile(rb"[0-9]{3}\n\Z")
_MAX_BYTES = 256  # of one of its files
_OUTPUT_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT

_command_paths: dict[tuple[str, str], str] = {}


@dataclass(frozen=True, slots=True)
class PidFile:
    """The content of a pidfile: a pid and the signature that the supervisor was launched with, which is also on its
    command line.

    `pid` 0: not written yet. The supervisor is about to write it, or has died, or the file was made to prevent a
    launch.
    """

    pid: int = 0
    signature: str = ""

    @property
    def since(self) -> int:
        """Return a time before which the supervisor didn't start, in the unit of `Process.start`."""
        since, _, _ = self.signature.partition(" ")
        return int(since) if since.isdecimal() else 0

    @property
    def is_from_another_boot(self) -> bool:
        """Whether the machine was restarted since: none of its processes can be left then."""
        _, _, boot = self.signature.partition(" ")
        return boot not in {"", processes.boot_id()}


def make_signature() -> str:
    """Make a signature that distinguishes a supervisor launched now from earlier and later processes with its pid."""
    boot = processes.boot_id()
    return f"{processes.clock_ticks()} {boot}" if boot else ""


def read_pidfile(path: Path) -> PidFile | None:
    """Read a pidfile; None if there is none. Raises OSError if it can't be read."""
    data = _read_small_file(path)
    return None if data is None else parse_pidfile(data)


def _read_small_file(path: Path) -> bytes | None:
    """Read a small file; None if there is none. Never waits, even if something else than a file is there."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return os.read(fd, _MAX_BYTES)
    finally:
        os.close(fd)


def parse_pidfile(data: bytes) -> PidFile:
    line, end, _ = data.decode("ascii", "replace").partition("\n")
    pid, _, signature = line.partition(" ")
    whole = end and pid.isdecimal() and len(pid) < 10
    return PidFile(int(pid), signature) if whole else PidFile()


def block_launch(path: Path) -> bool:
    """Make an empty pidfile, so that a supervisor that starts late does not run. False if there was one already."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def read_exit_status(path: Path) -> int | None:
    """Read an exit status; None if there is none, or it is incomplete. Raises OSError if it can't be read."""
    data = _read_small_file(path)
    return int(data) if data is not None and _COMPLETE_STATUS.match(data) else None


@cache
def read_script() -> str:
    """Return the supervisor's script, without comments: it is part of a command line."""
    lines = Path(__file__).with_name("supervisor.sh").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def launch_supervisor(spec: AttemptSpec, folder: AttemptFolder, tag: str) -> int:
    """Launch a supervisor as a child of this process, and return its pid."""
    if not spec.argv:
        raise WorldError(f"{spec.attempt} has no command to run")
    if not os.path.isdir(spec.workspace):  # noqa: PTH112 - faster
        raise WorldError(
            f"the workspace {spec.workspace} does not exist",
            hint="it was moved or removed; restore it and retry the task",
        )
    command = (_find_command(spec.argv[0], spec.env.get("PATH", os.defpath)), *spec.argv[1:])
    argv = [SHELL, "-c", read_script(), PROCESS_NAME, str(folder.path), spec.workspace, make_signature(), *command]
    environment = {
        TAG_VARIABLE: tag,
        **{k: v for k, v in spec.env.items() if k != TAG_VARIABLE},
    }
    try:
        return _spawn(argv, environment, spec.stdin or os.devnull, str(folder.transcript))
    except OSError as error:
        raise _make_launch_error(spec, folder, error) from error
    except ValueError as error:  # a NUL, a name with "=", invalid text
        raise WorldError(f"can't start {spec.attempt}: its command or environment has {error}") from error


def _find_command(name: str, path: str) -> str:
    """Return the absolute path of a command, unless that depends on the current folder. It is searched for once."""
    folders = path.split(os.pathsep)
    if "/" in name or not all(folder.startswith("/") for folder in folders):
        return name
    if (name, path) not in _command_paths:
        whole = (f"{folder}/{name}" for folder in folders)
        found = next((each for each in whole if os.path.isfile(each) and os.access(each, os.X_OK)), None)  # noqa: PTH113
        if found is None:
            return name
        _command_paths[name, path] = found
    return _command_paths[name, path]


def make_attempt_folder(folder: AttemptFolder) -> None:
    """Make the attempt's folder, accessible to its owner only. Raises WorldError."""
    try:
        make_private_folder(folder.path)
    except OSError as error:
        raise WorldError(
            f"can't make the folder {folder.path}: {error.strerror or error}",
            hint="free some space, or check the owner and mode of its parent folders, and retry the task",
        ) from error


def _spawn(argv: list[str], environment: Mapping[str, str], stdin: str, output: str) -> int:
    _close_descriptors_on_exec()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, output, _OUTPUT_FLAGS, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    try:
        return os.posix_spawn(
            argv[0],
            argv,
            environment,
            file_actions=actions,
            setsid=True,
            setsigmask=(),
            setsigdef=_resettable_signals(),
        )
    except NotImplementedError:
        return _popen(argv, environment, stdin, output)


def _close_descriptors_on_exec() -> None:
    """Close the descriptors that this process was started with in new processes: a folder's leads out of every sandbox."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - faster
        with suppress(OSError):
            if int(name) > 2 and os.get_inheritable(int(name)):
                os.set_inheritable(int(name), False)  # noqa: FBT003 - it takes no keyword


def _popen(argv: list[str], environment: Mapping[str, str], stdin: str, output: str) -> int:
    """Launch a process where posix_spawn has no setsid. Popen's `restore_signals` is enough: handlers do not survive
    exec.
    """
    with Path(stdin).open("rb") as read, os.fdopen(os.open(output, _OUTPUT_FLAGS, 0o600), "wb") as write:
        process = Popen(argv, env=environment, stdin=read, stdout=write, stderr=write, start_new_session=True)
    process.returncode = 0  # ExitWatcher waits for it, not this object
    return process.pid


@cache
def _resettable_signals() -> list[int]:
    """List all signals that can be reset: Python ignores some, and sh can't reset signals that it inherits as ignored."""
    return [number for number in signal.valid_signals() if number not in {signal.SIGKILL, signal.SIGSTOP}]


def _make_launch_error(spec: AttemptSpec, folder: AttemptFolder, error: OSError) -> WorldError:
    what = f"can't start {spec.attempt}"
    match error.errno:
        case errno.E2BIG:
            return WorldError(
                f"{what}: its command and environment are too long for the system",
                hint="pass the prompt on standard input or by {prompt_file} instead of as an argument",
            )
        case errno.ENOSPC | errno.EDQUOT:
            return WorldError(
                f"{what}: no space on the disk of {folder.path}", hint="free some space and retry the task"
            )
        case errno.EAGAIN | errno.ENOMEM:
            return WorldError(
                f"{what}: too many processes, or no memory ({error.strerror})",
                hint="lower max_parallel, or raise the limit (ulimit -u)",
            )
        case errno.ENOENT | errno.EACCES if spec.stdin and not os.access(spec.stdin, os.R_OK):
            return WorldError(f"{what}: can't read its input {spec.stdin}")
    return WorldError(
        f"{what}: {error.strerror or error}",
        hint=f"check {SHELL} and the folder {folder.path}",
    )


@dataclass(frozen=True, slots=True)
class Supervisor:
    """A running supervisor. `fd`, where the system has pidfds, becomes readable when it exits; ExitWatcher closes it."""

    pid: int
    start: int
    fd: int | None


def supervisor_of_child(pid: int) -> Supervisor:
    """Return the supervisor that was just launched: its pid can't be reused before it is waited for."""
    fd = processes.open_pidfd(pid)
    process = processes.read_process(pid) if fd is None else None
    return Supervisor(pid, process.start if process else 0, fd)


def find_supervisor(folder: AttemptFolder, claim: PidFile, tag: str) -> Supervisor | None:
    """Find an attempt's supervisor; None if it has exited. A reused pid, a dead process or another user's process is
    never mistaken for it.
    """
    if claim.pid:
        return None if claim.is_from_another_boot else _open_supervisor(folder, claim, tag)
    # It has not written its pid yet, or never will.
    for process in processes.list_processes():
        if process.tag == tag and process.pid == process.session:
            signature = processes.command_line(process.pid)[6:7]
            found = _open_supervisor(folder, PidFile(process.pid, *signature), tag)
            if found is not None:
                return found
    return None


def _open_supervisor(folder: AttemptFolder, claim: PidFile, tag: str) -> Supervisor | None:
    fd = processes.open_pidfd(claim.pid)  # first: then the pid can't be reused
    process = processes.read_process(claim.pid)
    if process is not None and _is_supervisor(process, folder, claim, tag):
        return Supervisor(process.pid, process.start, fd)
    if fd is not None:
        os.close(fd)
    return None


def _is_supervisor(process: Process, folder: AttemptFolder, claim: PidFile, tag: str) -> bool:
    """Whether a process is the supervisor, by its start time, its command line, and its tag if the system reveals it."""
    if process.start < claim.since or process.tag not in {"", tag}:
        return False
    argv = processes.command_line(process.pid)  # a dead process has none
    return [*argv[3:5], *argv[6:7]] == [PROCESS_NAME, str(folder.path), claim.signature]


_FIRST_WATCH_PAUSE, _MAX_WATCH_PAUSE = 0.01, 0.2  # seconds between two polls without a pidfd
ExitCallback = Callable[[int | None], None]


class ExitWatcher:
    """Waits for supervisors. Calls `over` once, with the exit status (minus the signal's number), which is known only
    of this process's child.
    """

    def __init__(self, reactor: Reactor, supervisor: Supervisor, over: ExitCallback) -> None:
        self._reactor = reactor
        self._pid = supervisor.pid
        self._start = supervisor.start
        self._fd = supervisor.fd
        self._over: ExitCallback | None = over
        self._timer: Timer | None = None
        self._pause = _FIRST_WATCH_PAUSE
        if supervisor.fd is None:
            self._wait()
        else:
            reactor.watch(supervisor.fd, self._ended)

    def stop(self) -> None:
        self._over = None
        if self._timer is not None:
            self._timer.cancel()
        if self._fd is not None:
            self._reactor.unwatch(self._fd)
            os.close(self._fd)
            self._fd = None

    def _wait(self) -> None:
        self._timer = self._reactor.call_later(self._pause, self._look)
        self._pause = min(_MAX_WATCH_PAUSE, self._pause * 1.5)

    def _look(self) -> None:
        code, is_child = _reap(self._pid)
        if code is not None:
            self._notify(code)
        elif is_child or _is_alive(self._pid, self._start):
            self._wait()
        else:
            self._notify(None)

    def _ended(self) -> None:
        self._notify(_reap(self._pid)[0])

    def _notify(self, code: int | None) -> None:
        over = self._over
        self.stop()
        if over is not None:
            over(code)


def _reap(pid: int) -> tuple[int | None, bool]:
    """Return the exit status of a child (None: it runs), and whether the process is this one's child."""
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None, False
    return (os.waitstatus_to_exitcode(status) if found else None), True


def _is_alive(pid: int, start: int) -> bool:
    try:
        process = processes.read_process(pid)
    except OSError:
        return True  # ask again later
    return process is not None and not process.is_zombie and process.start == start
