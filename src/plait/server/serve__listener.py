"""Where the server listens: the socket is bound before anything else is done, so that what is wrong with it is told first."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from contextlib import suppress

from plait.core.errors import PlaitError, UserError

_WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound to


def bind_listener(host: str, port: int) -> socket.socket:
    """Raises UserError. Port 0: one that is free."""
    family, address = _resolve_host(host, port)
    # Named, since asyncio sends small answers at once only through what says to be TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A server that was killed leaves connections behind, and is started again on its port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)  # somebody else may bind it otherwise, and both would think it theirs
    except OSError as error:
        listener.close()
        raise _bind_error(host, port, error) from error
    return listener


def base_url(host: str, port: int, *, tls: bool) -> str:
    """As a browser on this machine names it."""
    name = _WILDCARD_HOSTS.get(host, host)
    return f"{'https' if tls else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine reaches it."""
    return ipaddress.ip_address(str(listener.getsockname()[0]).partition("%")[0]).is_loopback


def _resolve_host(host: str, port: int) -> tuple[int, tuple[object, ...]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise UserError(
            f"--host {host} is no address of this machine",
            hint="Say 127.0.0.1 to be reached from here alone, 0.0.0.0 from everywhere.",
        ) from error
    family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    return family, address


def _bind_error(host: str, port: int, error: OSError) -> PlaitError:
    match error.errno:
        case errno.EADDRINUSE:
            return UserError(
                f"port {port} is taken{_describe_port_owner(port)}",
                hint="Say another one: --port N, or --port 0 for any that is free.",
            )
        case errno.EACCES:
            return UserError(
                f"port {port} is not for everybody: {os.strerror(errno.EACCES)}",
                hint="Say one above 1023: --port 3001.",
            )
        case errno.EADDRNOTAVAIL:
            return UserError(
                f"--host {host} is no address of this machine",
                hint="Say 127.0.0.1 to be reached from here alone, 0.0.0.0 from everywhere.",
            )
        case _:
            return UserError(f"nobody can listen at {host}, port {port}: {error.strerror}")


def _describe_port_owner(port: int) -> str:
    """Whose it is, where the system tells: not of others' processes, and on some systems of none."""
    import psutil  # noqa: PLC0415 - only where something is wrong

    with suppress(psutil.Error, OSError):
        for each in psutil.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port and each.pid:
                words = psutil.Process(each.pid).cmdline()
                ours = "serve" in words and any("plait" in word for word in words)
                name = "another plait serve" if ours else psutil.Process(each.pid).name()
                return f" by {name} (process {each.pid})"
    return ""
