"""Where a remote is, as its URL tells it, and which kind of forge stands there.

What must not be told: secrets, and whatever would steer the place where a message is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from ipaddress import ip_address
from urllib.parse import quote, unquote, urlsplit

from plait.core.fast_dataclass import dataclass
from plait.forges.interfaces import ForgeError


class ForgeProvider(StrEnum):
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


_INVALID_CHARS = re.compile(r"[\x00-\x20\x7f]")  # URLs have none, and some readers would leave them out


_SCP = re.compile(r"(?:[^@/:]+@)?(\[[0-9A-Fa-f:.]+\]|[^:/@\[\]]+):(?!//)(.+)")


_HOST = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")


_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^\x00-\x20\x7f/\\]+")


_SSH_SCHEMES = frozenset({"ssh", "git+ssh", "ssh+git", "git"})


# Where they take ssh on port 443.
_SSH_HOST_ALIASES = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}


_KNOWN_HOSTS = {
    "github.com": ForgeProvider.GITHUB,
    "gitlab.com": ForgeProvider.GITLAB,
    "codeberg.org": ForgeProvider.GITEA,
    "gitea.com": ForgeProvider.GITEA,
}


_HOST_HINTS = {
    "github": ForgeProvider.GITHUB,
    "ghe": ForgeProvider.GITHUB,
    "gitlab": ForgeProvider.GITLAB,
    "gitea": ForgeProvider.GITEA,
    "forgejo": ForgeProvider.GITEA,
}


@dataclass(frozen=True, slots=True)
class RepoAddress:
    """A repository on a host. `path` is its full name there: owner and name, or groups and name."""

    host: str
    path: str
    port: int | None = None
    scheme: str = "https"

    @property
    def authority(self) -> str:
        """The host as URLs name it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def web_url(self) -> str:
        return f"{self.base_url}/{quote(self.path)}"

    @property
    def owner(self) -> str:
        return self.path.partition("/")[0]

    @property
    def is_loopback(self) -> bool:
        return is_loopback_host(self.host)


def is_loopback_host(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def parse_address(url: str) -> RepoAddress:
    """Raises ForgeError for what no token may be sent to, and for what is no forge."""
    if _INVALID_CHARS.search(url):
        raise _build_no_forge_error(url)
    if "://" in url:
        found = _parse_url(url)
    elif scp := _SCP.fullmatch(url):
        found = RepoAddress(scp[1].strip("[]").lower(), _parse_path(scp[2], url))
    else:
        raise _build_no_forge_error(url)
    if not _HOST.fullmatch(found.host):
        raise _build_no_forge_error(url)
    if found.scheme == "http" and not found.is_loopback:
        raise ForgeError(
            f"{found.base_url} is not safe: a token would cross the network in the clear",
            hint=f"Use https: git remote set-url REMOTE https://{found.host}/{found.path}.git",
        )
    host = _SSH_HOST_ALIASES.get(found.host)
    return RepoAddress(host, found.path) if host else found


def _parse_url(url: str) -> RepoAddress:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _build_no_forge_error(url) from error
    scheme = parts.scheme.lower()
    if scheme in {"http", "https"}:
        usual = 443 if scheme == "https" else 80
        return RepoAddress(host, _parse_path(unquote(parts.path), url), None if port == usual else port, scheme)
    if scheme in _SSH_SCHEMES:  # the port is that of ssh, not of the web
        return RepoAddress(host, _parse_path(unquote(parts.path), url))
    raise _build_no_forge_error(url)


def _parse_path(path: str, url: str) -> str:
    name = path.strip("/").removesuffix(".git").rstrip("/")
    segments = name.split("/")
    if len(segments) < 2 or not all(map(_SEGMENT.fullmatch, segments)):
        raise _build_no_forge_error(url)
    return name


def _build_no_forge_error(url: str) -> ForgeError:
    return ForgeError(
        f"the remote {strip_userinfo(url)} names no repository on a forge",
        hint="A pull request needs a remote such as https://github.com/OWNER/NAME.git; see: git remote -v",
    )


def detect_provider(where: RepoAddress, named: str = "") -> ForgeProvider:
    """`named` is what a person said of a host that nobody knows; a host that everybody knows is what it is."""
    known = ForgeProvider.GITHUB if where.host.endswith(".ghe.com") else _KNOWN_HOSTS.get(where.host)
    said = _parse_provider(named) if named else None
    if known is not None and said not in {None, known}:
        raise ForgeError(f"{where.host} is of kind {known}, not {said}", hint="Leave the kind of forge unset.")
    kind = known or said or next((_HOST_HINTS[word] for word in _split_host(where.host) if word in _HOST_HINTS), None)
    if kind is None:
        raise ForgeError(
            f"nobody knows what kind of forge {where.host} is",
            hint=f"Say which one it is: {', '.join(ForgeProvider)}.",
        )
    if kind is not ForgeProvider.GITLAB and where.path.count("/") != 1:
        raise ForgeError(f"{where.path} is no repository's name on {where.host}: it should be OWNER/NAME")
    return kind


def _parse_provider(word: str) -> ForgeProvider:
    try:
        return ForgeProvider(word.strip().lower())
    except ValueError as error:
        raise ForgeError(
            f"there is no kind of forge called {word!r}", hint=f"There are {', '.join(ForgeProvider)}."
        ) from error


def _split_host(host: str) -> list[str]:
    return re.split(r"[.-]", host)


_USERINFO = re.compile(r"(?<=://)[^/@\s]*(?:@[^/@\s]*)*@")


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


_MAX_LENGTH = 300


MASK = "***"


def strip_userinfo(text: str) -> str:
    """Without the names and passwords that URLs may hold."""
    return _USERINFO.sub("", text)


def redact_line(text: str, secrets: Iterable[str] = ()) -> str:
    """One line of reasonable length, without any of the secrets."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    told = " ".join(_CONTROL.sub(" ", strip_userinfo(text)).split())
    return told if len(told) <= _MAX_LENGTH else f"{told[: _MAX_LENGTH - 1]}…"
