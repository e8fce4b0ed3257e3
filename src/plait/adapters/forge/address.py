"""Where a remote is, as its URL tells it, and which kind of forge stands there."""

from __future__ import annotations

import re
from enum import StrEnum
from ipaddress import ip_address
from urllib.parse import quote, unquote, urlsplit

from plait.adapters.forge.scrub import bare
from plait.core.frozen import dataclass
from plait.ports import ForgeError


class Kind(StrEnum):
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


_ODD = re.compile(r"[\x00-\x20\x7f]")  # URLs have none, and some readers would leave them out
_SCP = re.compile(r"(?:[^@/:]+@)?(\[[0-9A-Fa-f:.]+\]|[^:/@\[\]]+):(?!//)(.+)")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")
_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^\x00-\x20\x7f/\\]+")
_OVER_SSH = frozenset({"ssh", "git+ssh", "ssh+git", "git"})
# Where they take ssh on port 443.
_DOORS = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
_KNOWN = {
    "github.com": Kind.GITHUB,
    "gitlab.com": Kind.GITLAB,
    "codeberg.org": Kind.GITEA,
    "gitea.com": Kind.GITEA,
}
_LIKELY = {
    "github": Kind.GITHUB,
    "ghe": Kind.GITHUB,
    "gitlab": Kind.GITLAB,
    "gitea": Kind.GITEA,
    "forgejo": Kind.GITEA,
}


@dataclass(frozen=True, slots=True)
class Address:
    """A repository on a host. `path` is its full name there: owner and name, or groups and name."""

    host: str
    path: str
    port: int | None = None
    scheme: str = "https"

    @property
    def place(self) -> str:
        """The host as URLs name it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def root(self) -> str:
        return f"{self.scheme}://{self.place}"

    @property
    def web(self) -> str:
        return f"{self.root}/{quote(self.path)}"

    @property
    def owner(self) -> str:
        return self.path.partition("/")[0]

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address(url: str) -> Address:
    """Raises ForgeError for what no token may be sent to, and for what is no forge."""
    if _ODD.search(url):
        raise _no_forge(url)
    if "://" in url:
        found = _of_url(url)
    elif scp := _SCP.fullmatch(url):
        found = Address(scp[1].strip("[]").lower(), _path(scp[2], url))
    else:
        raise _no_forge(url)
    if not _HOST.fullmatch(found.host):
        raise _no_forge(url)
    if found.scheme == "http" and not found.loopback:
        raise ForgeError(
            f"{found.root} is not safe: a token would cross the network in the clear",
            hint=f"Use https: git remote set-url REMOTE https://{found.host}/{found.path}.git",
        )
    host = _DOORS.get(found.host)
    return Address(host, found.path) if host else found


def _of_url(url: str) -> Address:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _no_forge(url) from error
    scheme = parts.scheme.lower()
    if scheme in {"http", "https"}:
        usual = 443 if scheme == "https" else 80
        return Address(host, _path(unquote(parts.path), url), None if port == usual else port, scheme)
    if scheme in _OVER_SSH:  # the port is that of ssh, not of the web
        return Address(host, _path(unquote(parts.path), url))
    raise _no_forge(url)


def _path(path: str, url: str) -> str:
    name = path.strip("/").removesuffix(".git").rstrip("/")
    segments = name.split("/")
    if len(segments) < 2 or not all(map(_SEGMENT.fullmatch, segments)):
        raise _no_forge(url)
    return name


def _no_forge(url: str) -> ForgeError:
    return ForgeError(
        f"the remote {bare(url)} names no repository on a forge",
        hint="A pull request needs a remote such as https://github.com/OWNER/NAME.git; see: git remote -v",
    )


def kind_of(where: Address, named: str = "") -> Kind:
    """`named` is what a person said of a host that nobody knows; a host that everybody knows is what it is."""
    known = Kind.GITHUB if where.host.endswith(".ghe.com") else _KNOWN.get(where.host)
    said = _named(named) if named else None
    if known is not None and said not in {None, known}:
        raise ForgeError(
            f"{where.host} is of kind {known}, not {said}", hint="Leave the kind of forge unset."
        )
    kind = known or said or next((_LIKELY[word] for word in _words(where.host) if word in _LIKELY), None)
    if kind is None:
        raise ForgeError(
            f"nobody knows what kind of forge {where.host} is",
            hint=f"Say which one it is: {', '.join(Kind)}.",
        )
    if kind is not Kind.GITLAB and where.path.count("/") != 1:
        raise ForgeError(f"{where.path} is no repository's name on {where.host}: it should be OWNER/NAME")
    return kind


def _named(word: str) -> Kind:
    try:
        return Kind(word.strip().lower())
    except ValueError as error:
        raise ForgeError(
            f"there is no kind of forge called {word!r}", hint=f"There are {', '.join(Kind)}."
        ) from error


def _words(host: str) -> list[str]:
    return re.split(r"[.-]", host)
