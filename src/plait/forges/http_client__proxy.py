"""Which proxy the environment names for a URL."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from plait.forges.address import is_loopback_host


def find_proxy(url: str, environment: Mapping[str, str]) -> str | None:
    """None: straight on. Loopback never goes through one: it may be plain http, and no proxy is told a token."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback_host(host):
        return None
    # Of a name in both cases, the lower one counts.
    names = sorted(name for name in environment if name.lower().endswith("_proxy"))
    proxies = {name.lower().removesuffix("_proxy"): environment[name] for name in names}
    if _is_excluded(host, proxies.get("no", "")):
        return None
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if not found or "://" in found else f"http://{found}"


def _is_excluded(host: str, hosts: str) -> bool:
    """Hosts with all that is below them, with or without a port or a leading dot; a star means every one."""
    for each in hosts.replace(",", " ").lower().split():
        name = each.partition(":")[0].removeprefix("*").removeprefix(".")
        if each == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
    return False
