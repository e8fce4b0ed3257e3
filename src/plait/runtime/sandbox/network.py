"""Runs a sandbox without network, with a filtering proxy as its only way out:

    python -I -S network.py PORT,PORT,… HOST,HOST,… bwrap --unshare-net …

The first port is the proxy's; the others are the ports of this machine that are listed. The proxy runs in this process, outside of the sandbox. Its listening socket is made in the sandbox's own network
namespace, so nothing in the sandbox has to forward anything. bwrap starts its command when the sockets are there; what
the proxy needs is imported when the first connection comes. Blocked hosts are written to standard error, which is the transcript. The exit
status is that of bwrap, as a shell says it.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence

_NS_GET_USERNS = 0xB701  # the user namespace that owns a namespace; linux/nsfs.h
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_BACKLOG = 128
_FIRST_PORT = 3128


def main(argv: Sequence[str]) -> int:
    ports, hosts, command = [int(port) for port in argv[0].split(",")], argv[1].split(","), argv[2:]
    # A signal to the whole group is for the command, whose end is awaited. KILL ends this process, and bwrap with it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)
    info_read, info_write = os.pipe()
    block_read, block_write = os.pipe()
    for fd in (info_write, block_read):
        os.set_inheritable(fd, True)  # noqa: FBT003 - it takes no keyword
    options = ("--info-fd", str(info_write), "--block-fd", str(block_read))
    # Not subprocess: importing it takes as long as starting bwrap. Python ignores SIGPIPE, which a command must not.
    process = os.posix_spawnp(
        command[0], (command[0], *options, *command[1:]), os.environ, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ)
    )
    os.close(info_write)
    os.close(block_read)
    with os.fdopen(info_read) as info:
        text = info.read()
    if text:  # else it said why
        try:
            listeners = listen_inside(parse_child_pid(text), ports)
        except OSError as error:
            write_line(f"can't open the sandbox's network: {error}")
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return 1
        os.write(block_write, b"1")
        pidfd = os.pidfd_open(process)
        if pidfd not in select.select((pidfd, *(listener.fileno() for listener in listeners)), (), ())[0]:
            serve_proxy(pidfd, hosts, listeners[0], dict(zip(ports[1:], listeners[1:], strict=True)))
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code if code >= 0 else 128 - code


def parse_child_pid(info: str) -> int:
    """From the object that bwrap writes; importing json would take longer than starting bwrap."""
    _, _, rest = info.partition('"child-pid"')
    return int(rest.partition(",")[0].strip(" :}\n"))


def build_network_command(hosts: Sequence[str]) -> tuple[str, ...]:
    """The words that go before a command of bwrap, for rules of `hosts.py`."""
    return (sys.executable, "-I", "-S", __file__, ",".join(map(str, pick_ports(hosts))), ",".join(hosts))


def build_environment(hosts: Sequence[str]) -> dict[str, str]:
    """The variables by which programs find the proxy. Ports of this machine need none."""
    url = f"http://127.0.0.1:{pick_ports(hosts)[0]}"
    values = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": "localhost,127.0.0.1,::1"}
    return {**values, **{name.lower(): value for name, value in values.items()}, "NODE_USE_ENV_PROXY": "1"}


def pick_ports(hosts: Sequence[str]) -> list[int]:
    """The proxy's own port, which no other needs, and the listed ports of this machine."""
    from plait.runtime.sandbox.hosts import parse_host_rule

    rules = [parse_host_rule(host) for host in hosts]
    local = list(dict.fromkeys(rule.port for rule in rules if rule.is_local))
    return [next(port for port in range(_FIRST_PORT, 65536) if port not in local), *local]


def listen_inside(pid: int, ports: Sequence[int]) -> list[socket.socket]:
    """Sockets that listen in the network namespace of a process. Another process enters it and sends them."""
    here, there = socket.socketpair()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _enter_network(pid)
            listeners = [_listen(port) for port in ports]
            socket.send_fds(there, [b"0"], [listener.fileno() for listener in listeners])
            status = 0
        except OSError as error:
            there.sendall(str(error).encode())
        finally:
            os._exit(status)
    there.close()
    message, fds, _, _ = socket.recv_fds(here, 4096, len(ports))
    here.close()
    os.waitpid(child, 0)
    if len(fds) != len(ports):
        raise OSError(message.decode(errors="replace") or "no answer")
    return [socket.socket(fileno=fd) for fd in fds]


def _enter_network(pid: int) -> None:
    """Enter the user namespace that owns the network first, which makes an ordinary user its administrator."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(network, _NS_GET_USERNS)
    is_own = os.fstat(owner).st_ino == os.stat("/proc/self/ns/user").st_ino  # noqa: PTH116 - pathlib is slow to import
    for fd, kind in ((owner, _CLONE_NEWUSER), (network, _CLONE_NEWNET)):
        if not (is_own and kind == _CLONE_NEWUSER) and libc.setns(fd, kind):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def _listen(port: int) -> socket.socket:
    """On all addresses of the sandbox, which has none but its loopback; that may not be up yet."""
    try:
        return socket.create_server(("::", port), family=socket.AF_INET6, backlog=_BACKLOG, dualstack_ipv6=True)
    except (OSError, ValueError):
        return socket.create_server(("0.0.0.0", port), backlog=_BACKLOG)  # noqa: S104 - in the sandbox


def serve_proxy(
    pidfd: int,
    hosts: Sequence[str],
    listener: socket.socket,
    forwards: Mapping[int, socket.socket],
) -> None:
    """Until the process of this descriptor has ended."""
    import asyncio
    import site

    site.main()  # this process was started without packages, which is faster
    from plait.runtime.sandbox.hosts import parse_host_rule
    from plait.runtime.sandbox.proxy import FilteringProxy

    async def serve() -> None:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(pidfd, ended.set)
        proxy = FilteringProxy(
            [parse_host_rule(host) for host in hosts if host], lambda host: write_line(f"blocked: {host}")
        )
        async with proxy.serve(listener, forwards):
            await ended.wait()
        asyncio.get_running_loop().remove_reader(pidfd)

    asyncio.run(serve())


def write_line(text: str) -> None:
    os.write(sys.stderr.fileno(), f"plait: {text}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
