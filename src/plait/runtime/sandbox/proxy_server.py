"""Proxies of strict attempts that are there at once: a process that has imported everything forks one for each.

The engine starts the process when it is first needed, and asks it over a socket that nobody else has. It ends with the
engine. A forked proxy belongs to its attempt: it outlives the engine, and ends with the sandbox, or soon if none comes.

bwrap is started by the attempt's supervisor, as without a filtered network. A shell opens the proxy's pipes for it: one on
which bwrap says what its first process is, and one on which it waits until the proxy's sockets are in its network.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from select import POLLIN, poll
from threading import Lock

from plait.core.fast_dataclass import dataclass
from plait.runtime.sandbox.network import listen_inside, parse_child_pid, serve_proxy, write_line
from plait.runtime.sandbox.seccomp import redirect
from plait.system.process_identity import TAG_VARIABLE

_READY = b"ready"
_MAX_MESSAGE_BYTES = 1 << 16
_ANSWER_SECONDS = 5.0
_CHECK_SECONDS = 1.0  # between two looks whether the attempt still has its folder
_ORPHANED_SECONDS = 60.0  # from the end of an engine to the start of a sandbox whose supervisor it launched
_CONTROL_FD = 3
_INFO_FD, _BLOCK_FD = 3, 4  # of bwrap


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """`private` is a folder that is removed when the attempt has ended."""

    ports: Sequence[int]
    hosts: Sequence[str]
    transcript: str
    private: str


class ProxyServer:
    """The engine's side. It can be called by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._control: socket.socket | None = None
        self._is_ready = False
        self.pid = 0

    def start_proxy(
        self, request: ProxyRequest, bubblewrap: Sequence[str], redirection: str = ""
    ) -> tuple[str, ...] | None:
        """A command of bwrap with a proxy as its only way out, which can be run once; None: the process isn't ready yet.

        `redirection`: what its shell opens besides.
        """
        with self._lock:
            try:
                if self._control is None:
                    self._launch()
                answer = self._ask(request)
            except OSError:
                self.close()
                return None
        if not answer:
            return None
        pid, info, block = answer.split()
        pipes = f"{_INFO_FD}>/proc/{pid}/fd/{info} {_BLOCK_FD}</proc/{pid}/fd/{block}"
        options = ("--info-fd", str(_INFO_FD), "--block-fd", str(_BLOCK_FD))
        return redirect(f"{redirection} {pipes}", (bubblewrap[0], *options, *bubblewrap[1:]))

    def close(self) -> None:
        """End the process. What it forked goes on."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)  # it is still ours: nobody else waits for it
            os.waitpid(self.pid, 0)
            self.pid = 0

    def _launch(self) -> None:
        self._control, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(0)
        self._is_ready = False
        with there:
            environment = {name: value for name, value in os.environ.items() if name != TAG_VARIABLE}
            # Inheritable in that process only: others are started at the same time.
            actions = (
                (os.POSIX_SPAWN_DUP2, there.fileno(), _CONTROL_FD),
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
            )
            argv = (sys.executable, "-I", "-m", __name__)
            self.pid = os.posix_spawn(sys.executable, argv, environment, file_actions=actions, setsid=True)

    def _ask(self, request: ProxyRequest) -> str:
        """The numbers of the proxy and of its pipes; "": the process is still starting."""
        assert self._control is not None
        if not self._is_ready:
            try:
                message = self._control.recv(len(_READY))
            except BlockingIOError:
                return ""
            if message != _READY:
                raise ConnectionResetError
            self._is_ready = True
            self._control.settimeout(_ANSWER_SECONDS)
        self._control.send(json.dumps(asdict(request)).encode())
        answer = self._control.recv(_MAX_MESSAGE_BYTES).decode()
        if not answer:
            raise ConnectionResetError
        return answer


def main(control: socket.socket) -> None:
    """Fork a proxy for each request, until the engine has ended."""
    os.chdir("/")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forked
    control.send(_READY)
    while message := control.recv(_MAX_MESSAGE_BYTES):
        if os.fork() == 0:
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _serve_attempt(control, ProxyRequest(**json.loads(message)))
            finally:
                os._exit(0)


def _serve_attempt(control: socket.socket, request: ProxyRequest) -> None:
    info_read, info_write = os.pipe()
    block_read, block_write = os.pipe()
    control.send(f"{os.getpid()} {info_write} {block_read}".encode())
    if not _wait_for_start(control, info_read, request.private):
        return
    for fd in (info_write, block_read, control.detach()):
        os.close(fd)
    fd = os.open(request.transcript, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
    os.dup2(fd, sys.stderr.fileno())
    os.close(fd)
    with os.fdopen(info_read) as info:
        text = info.read()
    if not text:  # bwrap said why
        return
    pid = parse_child_pid(text)
    sandbox = os.pidfd_open(pid)
    try:
        listeners = listen_inside(pid, request.ports)
    except OSError as error:
        write_line(f"can't open the sandbox's network: {error}")
        signal.pidfd_send_signal(sandbox, signal.SIGKILL)
        return
    os.write(block_write, b"1")
    os.close(block_write)
    serve_proxy(sandbox, request.hosts, listeners[0], dict(zip(request.ports[1:], listeners[1:], strict=True)))


def _wait_for_start(control: socket.socket, info: int, private: str) -> bool:
    """Whether the sandbox starts; not if its attempt has ended, or its engine has without launching a supervisor."""
    watched, deadline = poll(), float("inf")
    watched.register(info, POLLIN)
    watched.register(control, 0)  # its end
    while time.monotonic() < deadline and os.path.isdir(private):  # noqa: PTH112 - it is a name, no more
        for fd, _ in watched.poll(_CHECK_SECONDS * 1000):
            if fd == info:
                return True
            watched.unregister(control)
            deadline = time.monotonic() + _ORPHANED_SECONDS
    return False


if __name__ == "__main__":
    import plait.runtime.sandbox.proxy  # noqa: F401 - for those that are forked

    main(socket.socket(fileno=_CONTROL_FD))
