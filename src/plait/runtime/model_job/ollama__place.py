"""Places: whether a server is on this machine, and where Ollama is to be found."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

OLLAMA_PORT = 11434
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


def is_local(url: str) -> bool:
    return urlsplit(url).hostname in _LOCAL_HOSTS


def server_root(url: str) -> str:
    """The server itself: Ollama has an interface of its own beside the other one."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def is_ollama_address(url: str, environment: Mapping[str, str]) -> bool:
    """It is where this machine's Ollama is, or would be if it ran."""
    return is_local(url) and _port(url) == _parse_ollama_port(environment.get("OLLAMA_HOST", ""))


def ollama_host(url: str) -> str:
    """As Ollama is told where to be."""
    name = urlsplit(url).hostname or "127.0.0.1"
    return f"{'127.0.0.1' if name == 'localhost' else f'[{name}]' if ':' in name else name}:{_port(url)}"


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _parse_ollama_port(said: str) -> int:
    try:
        return urlsplit(said if "//" in said else f"//{said}").port or OLLAMA_PORT
    except ValueError:
        return OLLAMA_PORT
