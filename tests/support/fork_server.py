"""`plait` processes as forks of one process that has done the imports: real processes, without their start-up time.

`python -P -m tests.support.fork_server FD` is that process. It forks one process per order; their parent is the process
that gave the order. A forked `plait run` forks once more before it does anything else, and that process becomes the
engine that it starts: it has the same parent and nothing of the parent's state, as after an exec.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import platform
import runpy
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

PROJECT_VARIABLE = "TEST_PROJECT"
_NO_PROJECT = "0" * 16  # as long as the id of a project, which replaces it
# Python and its libraries read these when they start.
_START_UP_VARIABLES = ("PYTHON", "LC_", "LANG", "TZ", "TERMINAL_WIDTH", "TYPER_", "FORCE_COLOR", "NO_COLOR", "GITHUB_")
_ENGINE = "plait.engine"
_ENGINE_STARTERS = frozenset({"run", "retry", "resume"})
_MAX_ORDER_BYTES = 1 << 18
_STREAMS = (0, 1, 2)
_CLONE_CALLS = {"x86_64": 56, "aarch64": 220}  # the numbers of clone(2)
_CLONE_PARENT = 0x8000
_connection_lock = Lock()


def can_fork(env: Mapping[str, str]) -> bool:
    """Whether a fork behaves as a new process would with these variables."""
    known = sys.platform == "linux" and platform.machine() in _CLONE_CALLS
    return known and _start_up_variables(env) == _start_up_variables(os.environ)


def _start_up_variables(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_START_UP_VARIABLES)}


@dataclass(frozen=True)
class Order:
    """What a forked process becomes: `python -P -m MODULE WORDS…` in a session of its own."""

    module: str
    words: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    has_terminal: bool = False  # its standard input becomes its controlling terminal

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()


class ForkedProcess(subprocess.Popen[str]):
    """A process of the fork server."""

    def __init__(self, order: Order, *, stdin: int, stdout: int, stderr: int) -> None:
        self._order = order
        super().__init__(["plait", *order.words], stdin=stdin, stdout=stdout, stderr=stderr, text=True)

    def _execute_child(self, *arguments: Any) -> None:  # Any: as Popen, of which this is the last step, passes them
        pipes = arguments[10:16]
        stdin, _, _, stdout, _, stderr = pipes
        try:
            self.pid = _start(self._order, (stdin, stdout, stderr))
            self._child_created = True
        finally:
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


@contextmanager
def forked_engines() -> Iterator[None]:
    """The engines that this process starts are forks."""
    spawn = _replace_spawn(_start)
    try:
        yield
    finally:
        os.posix_spawn = spawn


def _start(order: Order, streams: Sequence[int]) -> int:
    with _connection_lock:
        connection = _connect()
        socket.send_fds(connection, [order.encode()], list(streams))
        return int(connection.recv(32))


@cache
def _connect() -> socket.socket:
    """The connection to the server of this process, which exits when it is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
            env={**os.environ, PROJECT_VARIABLE: _NO_PROJECT},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


def _replace_spawn(start: Callable[[Order, Sequence[int]], int | None]) -> Any:  # Any: what it replaced
    """Let `start` start engines instead of os.posix_spawn, unless it returns None."""
    spawn = os.posix_spawn

    def posix_spawn(path: str, argv: list[str], env: Mapping[str, str], **options: Any) -> int:  # Any: as given
        if argv[1:4] != ["-P", "-m", _ENGINE] or not can_fork(env):
            return spawn(path, argv, env, **options)
        streams = dict(zip(_STREAMS, _STREAMS, strict=True))
        with ExitStack() as stack:
            for kind, *details in options["file_actions"]:
                if kind == os.POSIX_SPAWN_OPEN:
                    streams[details[0]] = os.open(*details[1:])
                    stack.callback(os.close, streams[details[0]])
                else:
                    assert kind == os.POSIX_SPAWN_DUP2
                    streams[details[1]] = streams.get(details[0], details[0])
            pid = start(Order(_ENGINE, argv[4:], str(Path.cwd()), env), list(streams.values()))
        return spawn(path, argv, env, **options) if pid is None else pid

    os.posix_spawn = posix_spawn  # type: ignore[assignment]
    return spawn


# -- in the server and its forks


def main(fd: int) -> None:
    preload()
    order = serve(socket.socket(fileno=fd))
    if _ENGINE_STARTERS & set(order.words):
        order = fork_spare() or order
    time.tzset()
    runpy.run_module(order.module, run_name="__main__", alter_sys=True)


def preload() -> None:
    """Import what a command, an engine or a server may need."""
    import plait

    skipped = ("plait.testing", "plait.runtime.model_job", "plait.observe.tracing")
    for found in pkgutil.walk_packages(plait.__path__, "plait."):
        if not found.name.startswith(skipped) and not found.name.endswith(".__main__"):
            importlib.import_module(found.name)
    _do_first_work()
    gc.collect()
    gc.freeze()


def _do_first_work() -> None:
    """What a process imports and compiles when it first needs it: otherwise every fork would do so."""
    import platformdirs.unix  # noqa: F401

    from plait.sources.markdown import Markdown
    from plait.store.codec import EVENT_TYPES, UnreadableEventError, decode_event

    assert Markdown("# Task").blocks
    for kind in EVENT_TYPES:
        with suppress(UnreadableEventError):
            decode_event(kind, b"{}")
    for each in gc.get_objects():
        if isinstance(each, type):
            getattr(vars(each).get("__init__"), "compile", int)()  # see plait.core.fast_dataclass


def serve(connection: socket.socket) -> Order:
    """Fork one process per order. Returns in the forked processes."""
    while True:
        data, streams, _, _ = socket.recv_fds(connection, _MAX_ORDER_BYTES, len(_STREAMS))
        if not data:
            os._exit(0)
        pid = _fork_sibling()
        if pid == 0:
            connection.detach()
            return _become(data, streams)
        connection.send(str(pid).encode())
        for fd in streams:
            os.close(fd)


def _fork_sibling() -> int:
    """As os.fork, but the new process is a child of this one's parent, which can wait for it."""
    ctypes.pythonapi.PyOS_BeforeFork()
    clone = _CLONE_CALLS[platform.machine()]
    pid: int = ctypes.PyDLL(None).syscall(clone, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    else:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
    assert pid >= 0
    return pid


def _become(data: bytes, streams: Sequence[int]) -> Order:
    order = Order(**json.loads(data))
    if os.getsid(0) != os.getpid():
        os.setsid()
    for target, fd in enumerate(streams):
        os.dup2(fd, target)
    os.closerange(3, 1024)
    if order.has_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(order.env)
    _show_project(order.env.get(PROJECT_VARIABLE, _NO_PROJECT))
    os.chdir(order.cwd)
    sys.stdin = open(0, encoding=sys.stdin.encoding, errors=sys.stdin.errors, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding=sys.stderr.encoding, errors=sys.stderr.errors, closefd=False)  # noqa: SIM115
    sys.argv = ["", *order.words]
    return order


def _show_project(project: str) -> None:
    """Show the project in /proc/PID/environ, where TempProject looks for it: a fork has the variables of the server."""
    start = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[47])
    place = Path("/proc/self/environ").read_bytes().index(f"{PROJECT_VARIABLE}=".encode())
    with open("/proc/self/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
        memory.seek(start + place + len(PROJECT_VARIABLE) + 1)
        memory.write(project.encode())


def fork_spare() -> Order | None:
    """In the new process: the order to become an engine, as soon as it is given. In this process: None."""
    inner, outer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    project = os.environ.get(PROJECT_VARIABLE, _NO_PROJECT)
    _show_project(_NO_PROJECT)  # the new process belongs to the project only if it becomes an engine
    pid = os.fork()
    if pid:
        _show_project(project)
        inner.close()
        spares = [pid]

        def start(order: Order, streams: Sequence[int]) -> int | None:
            if not spares:
                return None
            with outer:
                socket.send_fds(outer, [order.encode()], list(streams))
            return spares.pop()

        _replace_spawn(start)
        return None
    os.setsid()
    outer.close()
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in _STREAMS:
        os.dup2(nothing, fd)
    data, streams, _, _ = socket.recv_fds(inner, _MAX_ORDER_BYTES, len(_STREAMS))
    if not data:
        os._exit(0)  # it was not needed
    inner.detach()
    return _become(data, streams)


if __name__ == "__main__":
    main(int(sys.argv[1]))
