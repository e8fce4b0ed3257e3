"""Places: whether a server is on this machine, and where Ollama is to be found."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

PORT = 11434
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def here(url: str) -> bool:
    return urlsplit(url).hostname in _HERE


def root(url: str) -> str:
    """The server itself: Ollama has an interface of its own beside the other one."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def ollamas(url: str, environment: Mapping[str, str]) -> bool:
    """It is where this machine's Ollama is, or would be if it ran."""
    return here(url) and _port(url) == _told(environment.get("OLLAMA_HOST", ""))


def host(url: str) -> str:
    """As Ollama is told where to be."""
    name = urlsplit(url).hostname or "127.0.0.1"
    return f"{'127.0.0.1' if name == 'localhost' else f'[{name}]' if ':' in name else name}:{_port(url)}"


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _told(said: str) -> int:
    try:
        return urlsplit(said if "//" in said else f"//{said}").port or PORT
    except ValueError:
        return PORT
