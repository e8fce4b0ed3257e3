"""Which hosts a sandboxed attempt may reach: rules such as `api.anthropic.com`, `*.npmjs.org`, `registry.corp:8443` or
`127.0.0.1:11434`.

A host that no rule names is blocked, and so is an IP address. A listed name may not lead to this machine or to its
metadata service either: otherwise the owner of the name would choose what is reached.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from plait.core.fast_dataclass import dataclass

DEFAULT_PORTS = (443, 80)
_LOCALHOST = "localhost"
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_RULE = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(:(?P<port>[0-9]{1,5}))?")

Address = IPv4Address | IPv6Address
# Services of clouds that give a machine its credentials, besides 169.254.169.254.
_METADATA = frozenset(map(ip_address, ("fd00:ec2::254", "168.63.129.16", "100.100.100.200", "192.0.0.192")))
_TRANSLATED = IPv6Network("64:ff9b::/96")  # by a NAT64 gateway


@dataclass(frozen=True, slots=True)
class HostRule:
    """A rule that allows a host. `host` is a name, an IP address, or `*.` and a domain, whose subdomains it means.
    `port` 0: the ports of HTTP.
    """

    host: str
    port: int = 0

    def covers(self, host: str, port: int) -> bool:
        if port != self.port and (self.port or port not in DEFAULT_PORTS):
            return False
        return host.endswith(self.host[1:]) if self.is_wildcard else host == self.host

    @property
    def is_wildcard(self) -> bool:
        return self.host.startswith("*.")

    @property
    def is_local(self) -> bool:
        """Whether the host is this machine itself."""
        address = parse_address(self.host)
        return self.host == _LOCALHOST or (address is not None and address.is_loopback)

    def allows_address(self, address: Address) -> bool:
        """Whether the host may have this address. An address in a private network is allowed only for a name without
        wildcard.
        """
        if self.is_local:
            return address.is_loopback
        if parse_address(self.host) == address:
            return True
        if address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast:
            return False
        if address in _METADATA:
            return False
        inner = _find_translated(address)
        if inner is not None and not self.allows_address(inner):
            return False
        return address.is_global or not self.is_wildcard


def parse_host_rule(text: str) -> HostRule:
    """Parse a rule. Raises ValueError, with what is wrong with it."""
    match = _RULE.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r} is not a host: write a name or an address, with or without a port")
    host, port = normalize_host(match["host"]), int(match["port"] or 0)
    name = host.removeprefix("*.")
    if parse_address(host) is None and (_NAME.fullmatch(name) is None or (name != host and "." not in name)):
        raise ValueError(f"{text!r} is not a host name: write one such as example.org or *.example.org")
    if match["port"] and not 0 < port < 65536:
        raise ValueError(f"{text!r} has no valid port: use 1 to 65535")
    if parse_address(host) is None and name.replace(".", "").isdigit():
        raise ValueError(f"{text!r} is not an IP address")
    rule = HostRule(host, port)
    if rule.is_local and not port:
        raise ValueError(f"{text!r} is this machine: name the port, too, for example {host}:11434")
    return rule


def normalize_host(host: str) -> str:
    """Return a host as rules are written: lower case, without brackets and a final dot; an address in its shortest
    form.
    """
    bare = host.strip().lower().removeprefix("[").removesuffix("]").removesuffix(".")
    address = parse_address(bare)
    return bare if address is None else str(address)


def parse_address(text: str) -> Address | None:
    """Parse an address; None if it is none. An IPv4 address that is written as an IPv6 one becomes IPv4."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _find_translated(address: Address) -> IPv4Address | None:
    """Return the IPv4 address that a NAT64 or 6to4 gateway makes of this one; None if none does."""
    if isinstance(address, IPv6Address):
        return IPv4Address(int(address) & 0xFFFFFFFF) if address in _TRANSLATED else address.sixtofour
    return None


def find_rule(rules: Iterable[HostRule], host: str, port: int) -> HostRule | None:
    """Find the rule by which a host may be reached: one that names it, rather than a wildcard; None if there is none."""
    found = [rule for rule in rules if rule.covers(normalize_host(host), port)]
    return min(found, key=lambda rule: rule.is_wildcard, default=None)
