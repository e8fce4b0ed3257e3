"""The names that the server is known by, and limits on requests."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_WILDCARD_HOSTS = frozenset({"0.0.0.0", "[::]"})  # noqa: S104 - recognised, not bound to
_HOST_PORT_PATTERN = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?)(?::([0-9]{1,5}))?")
SCHEME_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """`hosts` without ports; `origins` as browsers write them, besides the server's own; `allow_any_ip`: IP addresses are safe
    from DNS rebinding.
    """

    hosts: frozenset[str] = LOOPBACK_HOSTS
    origins: frozenset[str] = frozenset()
    allow_any_ip: bool = False
    max_body_bytes: int = 1 << 20
    body_seconds: float = 30.0
    drain_bytes: int = 32 << 20  # of a rejected body that are read and discarded
    drain_seconds: float = 2.0
    max_url_bytes: int = 16 << 10
    max_header_bytes: int = 32 << 10
    max_header_count: int = 100
    max_auth_failures: int = 10
    auth_failure_seconds: float = 60.0
    recheck_seconds: float = 1.0
    """Between two checks whether a stream's credentials are still valid."""


@dataclass(frozen=True, slots=True)
class HostPort:
    """An IPv6 address is in brackets; `port` None: the scheme's default."""

    host: str
    port: int | None

    def to_origin(self, scheme: str) -> str:
        """As browsers write origins: without the scheme's default port."""
        plain = self.port is None or self.port == SCHEME_PORTS.get(scheme)
        return f"{scheme}://{self.host}" if plain else f"{scheme}://{self.host}:{self.port}"


def parse_host_port(text: str) -> HostPort | None:
    """None if it is invalid; nothing is guessed or repaired."""
    shape = _HOST_PORT_PATTERN.fullmatch(text.lower())
    if shape is None or int(shape[2] or 1) not in range(1, 65_536):
        return None
    return HostPort(shape[1], int(shape[2]) if shape[2] else None)


def is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def create_policy(host: str = "127.0.0.1", allowed: Iterable[str] = ()) -> RequestPolicy:
    """For `--host` and `--allow-host`: names, or origins like https://plait.example.org of a reverse proxy with TLS.

    Raises UserError for an invalid one.
    """
    bound = f"[{host}]" if ":" in host and not host.startswith("[") else host
    names, origins = {_check_bind_host(bound)}, set()
    for each in allowed:
        scheme, mark, rest = each.rstrip("/").rpartition("://")
        place = parse_host_port(rest)
        if place is None or (mark and scheme not in SCHEME_PORTS):
            raise UserError(
                f"--allow-host {each} is not a host",
                hint="Use the form plait.example.org, or https://plait.example.org.",
            )
        names.add(place.host)
        origins |= {place.to_origin(scheme)} if mark else set()
    everywhere = bool(names & _WILDCARD_HOSTS)
    return RequestPolicy(LOOPBACK_HOSTS | names, frozenset(origins), allow_any_ip=everywhere)


def _check_bind_host(host: str) -> str:
    place = parse_host_port(host)
    if place is None or place.port is not None:
        raise UserError(f"--host {host} is not a host", hint="Use the form 127.0.0.1; the port is --port.")
    return place.host
