"""Runs a sandbox without network, with a filtering proxy as its only way out:

    python -I -S -c START network.py's folder PORT,PORT,… HOST,HOST,… bwrap --unshare-net …

The first port is the proxy's; the others are the ports of this machine that are listed. The proxy runs in this process,
outside of the sandbox. Its listening socket is made in the sandbox's own network namespace, so nothing in the sandbox has
to forward anything. bwrap starts its command when the sockets are there. Blocked hosts are written to standard error, which
is the transcript, and to a file that the attempt doesn't have. The exit status is that of bwrap, as a shell says it.

Few attempts need such a process (proxy_server.py); it imports ctypes while bwrap mounts, and what the proxy needs when the
first connection comes.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
from collections.abc import Mapping, Sequence
from socket import (
    AF_INET,
    AF_INET6,
    AF_UNIX,
    CMSG_SPACE,
    IPPROTO_IPV6,
    IPV6_V6ONLY,
    SCM_RIGHTS,
    SO_REUSEADDR,
    SOCK_STREAM,
    SOL_SOCKET,
    socket,
    socketpair,
)

_NS_GET_USERNS = 0xB701  # the user namespace that owns a namespace; linux/nsfs.h
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_BACKLOG = 128
_FIRST_PORT = 3128
_FD_BYTES = 4
_MAX_MESSAGE_BYTES = 4096
IDLE_SECONDS = 1.0  # without a connection, until the proxy is loaded: then the disk is watched
# A file that is run is compiled each time, a module is not.
_START = "import sys; sys.path.insert(0, sys.argv[1]); import network; del sys.path[0]; network.run(sys.argv[2:])"


def run(argv: Sequence[str]) -> None:
    """End this process with the exit status of the command, without the time that Python takes to clean up."""
    os._exit(main(argv))


def main(argv: Sequence[str]) -> int:
    ports, hosts = [int(port) for port in argv[0].split(",")], argv[1].split(",")
    denials, command = argv[2], argv[3:]
    # A signal to the whole group is for the command, whose end is awaited. KILL ends this process, and bwrap with it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)
    info_read, info_write = os.pipe()
    block_read, block_write = os.pipe()
    for fd in (info_write, block_read):
        os.set_inheritable(fd, True)  # noqa: FBT003 - it takes no keyword
    options = ("--info-fd", str(info_write), "--block-fd", str(block_read))
    # Python ignores SIGPIPE, which a command must not.
    process = os.posix_spawnp(
        command[0], (command[0], *options, *command[1:]), os.environ, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ)
    )
    os.close(info_write)
    os.close(block_read)
    load_setns()  # bwrap works meanwhile
    with os.fdopen(info_read) as info:
        text = info.read()
    if text:  # else it said why
        try:
            listeners = NetworkHelper().listen(parse_child_pid(text), ports)
        except OSError as error:
            write_line(f"can't open the sandbox's network: {error}")
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return 1
        os.write(block_write, b"1")
        pidfd = os.pidfd_open(process)
        if wait_for_use(pidfd, listeners):
            serve_proxy(pidfd, hosts, dict(zip(ports, listeners, strict=True)), denials, parse_child_pid(text))
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code if code >= 0 else 128 - code


def parse_child_pid(info: str) -> int:
    """Parse the pid in the object that bwrap writes; importing json would take longer than starting bwrap."""
    _, _, rest = info.partition('"child-pid"')
    return int(rest.partition(",")[0].strip(" :}\n"))


def build_network_command(hosts: Sequence[str], denials: str = os.devnull) -> tuple[str, ...]:
    """Build the words that go before a command of bwrap, for rules of `hosts.py`. `denials`: the file for blocked
    hosts.
    """
    folder, ports = os.path.dirname(__file__), ",".join(map(str, pick_ports(hosts)))  # noqa: PTH120 - pathlib is slow
    return (sys.executable, "-I", "-S", "-c", _START, folder, ports, ",".join(hosts), denials)


def build_environment(hosts: Sequence[str]) -> dict[str, str]:
    """Build the variables by which programs find the proxy. Ports of this machine need none."""
    url = f"http://127.0.0.1:{pick_ports(hosts)[0]}"
    values = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": "localhost,127.0.0.1,::1"}
    return {**values, **{name.lower(): value for name, value in values.items()}, "NODE_USE_ENV_PROXY": "1"}


def pick_ports(hosts: Sequence[str]) -> list[int]:
    """Return the proxy's own port, which no other needs, and the listed ports of this machine."""
    from plait.runtime.sandbox.hosts import parse_host_rule

    rules = [parse_host_rule(host) for host in hosts]
    local = list(dict.fromkeys(rule.port for rule in rules if rule.is_local))
    return [next(port for port in range(_FIRST_PORT, 65536) if port not in local), *local]


class NetworkHelper:
    """A process that is forked ahead, and then enters a sandbox's network and sends listening sockets from there."""

    def __init__(self) -> None:
        self._socket, there = socketpair(AF_UNIX, SOCK_STREAM)
        self._pid = os.fork()
        if self._pid == 0:
            self._socket.close()
            _send_listeners(there)
        there.close()

    def listen(self, pid: int, ports: Sequence[int]) -> list[int]:
        """Return descriptors that listen in the network namespace of a process. Raises OSError. It can be called once."""
        here = self._socket
        here.sendall(" ".join(map(str, (pid, *ports))).encode())
        message, controls, _, _ = here.recvmsg(_MAX_MESSAGE_BYTES, CMSG_SPACE(_FD_BYTES * len(ports)))
        here.close()
        os.waitpid(self._pid, 0)
        data = b"".join(data for _, _, data in controls)
        if len(data) != _FD_BYTES * len(ports):
            number, _, text = message.decode(errors="replace").partition(" ")
            raise OSError(int(number or 0), text or "no answer")
        listeners = [int.from_bytes(data[at : at + _FD_BYTES], sys.byteorder) for at in range(0, len(data), _FD_BYTES)]
        for fd in listeners:
            os.set_inheritable(fd, False)  # noqa: FBT003 - it takes no keyword
        return listeners


def _send_listeners(there: socket) -> None:
    status = 1
    try:
        request = [int(word) for word in there.recv(_MAX_MESSAGE_BYTES).split()]
        if request:  # else the other process has ended
            _enter_network(request[0])
            data = b"".join(_listen(port).to_bytes(_FD_BYTES, sys.byteorder) for port in request[1:])
            there.sendmsg([b"0"], [(SOL_SOCKET, SCM_RIGHTS, data)])
            status = 0
    except OSError as error:
        there.sendall(f"{error.errno or 0} {error.strerror or error}".encode())
    finally:
        os._exit(status)


def _enter_network(pid: int) -> None:
    """Enter a process's network, after the user namespace that owns it, which makes an ordinary user its administrator."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(network, _NS_GET_USERNS)
    if os.fstat(owner).st_ino != os.stat("/proc/self/ns/user").st_ino:  # noqa: PTH116 - pathlib is slow to import
        _set_namespace(owner, _CLONE_NEWUSER)
    _set_namespace(network, _CLONE_NEWNET)


def load_setns() -> None:
    """Import now what is needed to enter a namespace before Python 3.12."""
    if not hasattr(os, "setns"):
        import ctypes  # noqa: F401


def _set_namespace(fd: int, kind: int) -> None:
    if hasattr(os, "setns"):  # since Python 3.12
        os.setns(fd, kind)
        return
    import ctypes

    if ctypes.CDLL(None, use_errno=True).setns(fd, kind):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _listen(port: int) -> int:
    """Listen on all addresses of the sandbox, which has none but its loopback; that may not be up yet."""
    try:
        listener = socket(AF_INET6, SOCK_STREAM)
        listener.setsockopt(IPPROTO_IPV6, IPV6_V6ONLY, 0)
        address: tuple[str, int] = ("::", port)
        _bind(listener, address)
    except OSError:
        listener = socket(AF_INET, SOCK_STREAM)
        _bind(listener, ("0.0.0.0", port))  # noqa: S104 - in the sandbox
    return listener.detach()


def _bind(listener: socket, address: tuple[str, int]) -> None:
    listener.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    listener.bind(address)
    listener.listen(_BACKLOG)


def wait_for_use(pidfd: int, listeners: Sequence[int]) -> bool:
    """Wait for the first connection, but not for long. False if the process of the descriptor ended before.

    Loading the proxy would slow the start of the command, and short commands need none.
    """
    return pidfd not in select.select((pidfd, *listeners), (), (), IDLE_SECONDS)[0]


def serve_proxy(
    pidfd: int, hosts: Sequence[str], listeners: Mapping[int, int], denials: str = os.devnull, root: int = 0
) -> None:
    """Serve the proxy until the process of this descriptor has ended.

    The listeners are descriptors by their ports; the proxy's is the first. `denials` is the file for blocked hosts, in
    the attempt's private folder; `root` the first process of the sandbox. The process of the descriptor is ended when
    the sandbox has written too much to the disk.
    """
    import asyncio
    import site
    from contextlib import suppress
    from pathlib import Path

    if "plait" not in sys.modules:
        site.main()  # this process was started without packages, which is faster
    from plait.runtime.sandbox.disk_watch import CHECK_SECONDS, DiskWatch
    from plait.runtime.sandbox.hosts import parse_host_rule
    from plait.runtime.sandbox.proxy import FilteringProxy

    def report_blocked(host: str) -> None:
        line = f"plait: blocked: {host}\n".encode()
        fd = os.open(denials, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.write(fd, line)
        os.close(fd)
        os.write(sys.stderr.fileno(), line)

    async def serve() -> None:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(pidfd, ended.set)
        watch = DiskWatch.load(Path(denials).parent, root)
        proxy = FilteringProxy([parse_host_rule(host) for host in hosts if host], report_blocked)
        listener, *forwards = ((port, socket(fileno=fd)) for port, fd in listeners.items())
        async with proxy.serve(listener[1], dict(forwards)):
            while not ended.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(ended.wait(), CHECK_SECONDS if watch is not None else None)
                if not ended.is_set() and watch is not None and watch.is_exceeded():
                    write_line(f"ended: it has written more than {watch.limit >> 20} MB (sandbox.disk)")
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                    watch = None
        asyncio.get_running_loop().remove_reader(pidfd)

    asyncio.run(serve())


def write_line(text: str) -> None:
    os.write(sys.stderr.fileno(), f"plait: {text}\n".encode())
