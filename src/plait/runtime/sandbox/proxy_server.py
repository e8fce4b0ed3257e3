"""Starts the proxies of strict attempts without delay: a process that has imported everything forks one ahead of each
request.

The engine starts the process when it is first needed, and sends requests over a socket that no other process has. It
ends with the engine. A proxy that has its request belongs to its attempt: it outlives the engine, and ends with the
sandbox, or soon if none comes.

bwrap is started by the attempt's supervisor, as without a filtered network. A shell opens the proxy's pipes for it: one
on which bwrap reports its first process, and one on which it waits until the proxy's sockets are in its network.
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
from plait.runtime.sandbox.network import (
    NetworkHelper,
    load_setns,
    parse_child_pid,
    serve_proxy,
    wait_for_use,
    write_line,
)
from plait.system.process_identity import TAG_VARIABLE

_READY = b"ready"
_MAX_MESSAGE_BYTES = 1 << 16
_ANSWER_SECONDS = 5.0
_PAUSE_SECONDS = (
    0.05  # until the next proxy is forked, unless a request comes: the attempt that has one starts meanwhile
)
_CHECK_SECONDS = 1.0  # between two looks whether the attempt still has its folder
_ORPHANED_SECONDS = 60.0  # from the end of an engine to the start of a sandbox whose supervisor it launched
_CONTROL_FD = 3
_INFO_FD, _BLOCK_FD = 3, 4  # of bwrap


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request for a proxy. `private` is a folder that is removed when the attempt has ended; `denials`, a file in it,
    gets blocked hosts.
    """

    ports: Sequence[int]
    hosts: Sequence[str]
    transcript: str
    private: str
    denials: str = os.devnull


class ProxyServer:
    """The engine's side of the process. Several threads may call it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._control: socket.socket | None = None
        self._is_ready = False
        self.pid = 0

    def start_proxy(self, request: ProxyRequest, bubblewrap: Sequence[str]) -> tuple[tuple[str, ...], str] | None:
        """Start a proxy; None if the process isn't ready yet.

        Returns a command of bwrap with the proxy as its only way out, which can be run once, and the redirection by
        which a shell opens the proxy's pipes.
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
        return (bubblewrap[0], *options, *bubblewrap[1:]), pipes

    def close(self) -> None:
        """End the process. The proxies that it forked continue."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)  # the pid is not reused: only this process waits for it
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
        """Return the numbers of the proxy and of its pipes; "" if the process is still starting."""
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
    """Keep one proxy waiting for the next request, until the engine has ended."""
    os.chdir("/")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forked processes are not waited for
    control.send(_READY)
    next_request = poll()
    next_request.register(control, POLLIN)
    while _fork_proxy(control):
        next_request.poll(_PAUSE_SECONDS * 1000)


def _fork_proxy(control: socket.socket) -> bool:
    """Fork a proxy and wait until it gets a request. False if the engine has ended."""
    taken_read, taken_write = os.pipe()
    if os.fork() == 0:
        try:
            os.close(taken_read)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _serve_attempt(control, taken_write)
        finally:
            os._exit(0)
    os.close(taken_write)
    with os.fdopen(taken_read, "rb") as taken:
        return taken.read(1) != b""


def _serve_attempt(control: socket.socket, taken: int) -> None:
    helper = NetworkHelper()
    info_read, info_write = os.pipe()
    block_read, block_write = os.pipe()
    message = control.recv(_MAX_MESSAGE_BYTES)
    if not message:
        return
    os.write(taken, b"1")  # before the answer, after which the engine may end the process that reads it
    os.close(taken)
    control.send(f"{os.getpid()} {info_write} {block_read}".encode())
    request = ProxyRequest(**json.loads(message))
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
        listeners = helper.listen(pid, request.ports)
    except OSError as error:
        write_line(f"can't open the sandbox's network: {error}")
        signal.pidfd_send_signal(sandbox, signal.SIGKILL)
        return
    os.write(block_write, b"1")
    os.close(block_write)
    if wait_for_use(sandbox, listeners):
        serve_proxy(sandbox, request.hosts, dict(zip(request.ports, listeners, strict=True)), request.denials, pid)


def _wait_for_start(control: socket.socket, info: int, private: str) -> bool:
    """Wait until the sandbox starts. False if its attempt has ended, or its engine has without launching a supervisor."""
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

    load_setns()
    main(socket.socket(fileno=_CONTROL_FD))
