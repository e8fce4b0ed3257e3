"""The interface of a forge, and which one a remote's URL belongs to; see docs/adding-a-forge.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass as standard_dataclass, field, replace
from functools import cache
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote, urlsplit

from plait.config.git_keys import ForgeKind
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.text import shorten
from plait.core.views import NOT_A_FORGE

if TYPE_CHECKING:
    from plait.forges.http_client import ForgeHttpClient


@dataclass(frozen=True, slots=True)
class PullRequestSpec:
    """The pull request that a branch should have. `renamed`: replace the title even if a person changed it there."""

    branch: str
    target: str
    title: str
    body: str
    draft: bool = False
    renamed: bool = False


@dataclass(frozen=True, slots=True)
class PullRequestResult:
    """A published pull request. `created` False: it existed. `note` says what differs from the specification."""

    url: str
    created: bool = True
    note: str = ""


class ForgeError(WorldError):
    """The forge refused or can't be used; the hint says how a person can open the pull request."""


class NotAForgeError(ForgeError):
    """The remote is no forge that plait knows: its branches can be pushed, but not proposed as pull requests."""

    def __init__(self, *, hint: str) -> None:
        super().__init__(NOT_A_FORGE, hint=hint)


@dataclass(frozen=True, slots=True)
class RepoAddress:
    """A repository on a host. `path` is its full name there: owner and name, or groups and name."""

    host: str
    path: str
    port: int | None = None
    scheme: str = "https"

    @property
    def authority(self) -> str:
        """Host and port, as in a URL."""
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


def is_loopback_host(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@standard_dataclass(frozen=True, slots=True)
class ForgeToken:
    """A token for a forge. `source` says where it was found. `user` is only known from git's credentials."""

    value: str = field(repr=False)
    source: str
    user: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ForgeRepository:
    """A repository under its current name, which may differ from the one in the remote's URL."""

    id: int
    path: str

    @property
    def owner(self) -> str:
        return self.path.partition("/")[0]


@dataclass(frozen=True, slots=True)
class PullRequestRoute:
    """The two ends of a pull request: from a branch of `source` to `target`, usually the same repository."""

    target: ForgeRepository
    source: ForgeRepository
    branch: str

    @property
    def is_fork(self) -> bool:
        return self.source.id != self.target.id


@dataclass(frozen=True, slots=True)
class PullRequestContent:
    title: str
    body: str
    is_draft: bool = False


@dataclass(frozen=True, slots=True)
class OpenPullRequest:
    """An open pull request. `draft_prefix` starts its title where the forge marks drafts like this."""

    number: int
    url: str
    title: str
    body: str
    target: str
    draft_prefix: str = ""

    def split_draft_prefix(self, pattern: re.Pattern[str]) -> OpenPullRequest:
        prefix = pattern.match(self.title)
        return replace(self, draft_prefix=prefix[0], title=self.title[prefix.end() :]) if prefix else self


class Forge(Protocol):
    """One kind of forge: how to recognise it, find a token for it, and use its pull request API.

    API methods raise what the HTTP client raises. Strings are plain text; callers quote them for the shell.
    """

    kind: ForgeKind
    hosts: tuple[str, ...]  # hosts that are certainly of this kind; ".example.org" stands for every subdomain
    host_words: tuple[str, ...]  # words in a host's name that suggest this kind
    ssh_hosts: Mapping[str, str]  # hosts that only take ssh, and the host they belong to
    has_nested_groups: bool  # whether a repository's path may have more than OWNER/NAME
    login_command: str  # the command that logs in, or ""
    token_command: tuple[str, ...]  # the command that prints a token for the host added to it; empty if there is none

    def list_token_variables(self, address: RepoAddress, environment: Mapping[str, str]) -> tuple[str, ...]:
        """List the environment variables that may hold a token for this host, best first."""

    def build_compare_link(self, target: RepoAddress, source: RepoAddress, spec: PullRequestSpec) -> str:
        """Return the address of the page on which a person opens the pull request."""

    def build_create_command(self, target: RepoAddress, source: RepoAddress, spec: PullRequestSpec) -> list[str]:
        """Return the command with which a person opens the pull request, without its title."""

    def find_api_url(self, address: RepoAddress) -> str: ...

    def build_headers(self, token: ForgeToken) -> Mapping[str, str]: ...

    def get_repository(self, client: ForgeHttpClient, path: str) -> ForgeRepository: ...

    def find_pull_requests(self, client: ForgeHttpClient, route: PullRequestRoute) -> list[OpenPullRequest]:
        """Find the open pull requests from the route's branch, whatever their target."""

    def create_pull_request(
        self, client: ForgeHttpClient, route: PullRequestRoute, target: str, content: PullRequestContent
    ) -> OpenPullRequest: ...

    def update_pull_request(
        self, client: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, content: PullRequestContent
    ) -> OpenPullRequest: ...


@cache
def load_forges() -> dict[ForgeKind, Forge]:
    """Load all forges. Every kind in the settings is implemented by the module of that name, whose FORGE is a Forge."""
    return {kind: import_module(f"plait.forges.{kind.value}").FORGE for kind in ForgeKind if kind is not ForgeKind.AUTO}


def find_forge(address: RepoAddress, kind: ForgeKind = ForgeKind.AUTO) -> Forge:
    """Return the forge at this address. `kind`, from the settings, decides only for hosts that plait doesn't know."""
    forges = load_forges()
    known = next((forge for forge in forges.values() if _is_known_host(address.host, forge)), None)
    chosen = forges.get(kind)
    if known is not None and chosen not in {None, known}:
        raise ForgeError(f"{address.host} is a {known.kind} host, not {kind}", hint="Leave pr.forge unset.")
    host_words = re.split(r"[.-]", address.host)
    by_name = (forge for word in host_words for forge in forges.values() if word in forge.host_words)
    forge = known or chosen or next(by_name, None)
    if forge is None:
        raise NotAForgeError(hint=f"If {address.host} is one of them, set pr.forge to one of: {', '.join(forges)}.")
    if not forge.has_nested_groups and address.path.count("/") != 1:
        raise ForgeError(f"{address.path} isn't a repository name on {address.host}: it should be OWNER/NAME")
    return forge


def _is_known_host(host: str, forge: Forge) -> bool:
    return any(host == name or (name.startswith(".") and host.endswith(name)) for name in forge.hosts)


_INVALID_CHARS = re.compile(r"[\x00-\x20\x7f]")  # never in a URL, and some parsers would drop them
_SCP = re.compile(r"(?:[^@/:]+@)?(\[[0-9A-Fa-f:.]+\]|[^:/@\[\]]+):(?!//)(.+)")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")
_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^\x00-\x20\x7f/\\]+")
_SSH_SCHEMES = frozenset({"ssh", "git+ssh", "ssh+git", "git"})

_USERINFO = re.compile(r"(?<=://)[^/@\s]*(?:@[^/@\s]*)*@")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
_MAX_LENGTH = 300
MASK = "***"


def parse_address(url: str) -> RepoAddress:
    """Parse a URL; raises ForgeError if it isn't a repository on a forge, or if a token must not be sent there."""
    if _INVALID_CHARS.search(url):
        raise _make_invalid_url_error(url)
    if "://" in url:
        address = _parse_url(url)
    elif scp := _SCP.fullmatch(url):
        address = RepoAddress(scp[1].strip("[]").lower(), _parse_path(scp[2], url))
    else:
        raise _make_invalid_url_error(url)
    if not _HOST.fullmatch(address.host):
        raise _make_invalid_url_error(url)
    if address.scheme == "http" and not is_loopback_host(address.host):
        raise ForgeError(
            f"{address.base_url} is not safe: the token would be sent unencrypted",
            hint=f"Use https: git remote set-url REMOTE https://{address.host}/{address.path}.git",
        )
    for forge in load_forges().values():
        if address.host in forge.ssh_hosts:
            return RepoAddress(forge.ssh_hosts[address.host], address.path)
    return address


def _parse_url(url: str) -> RepoAddress:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _make_invalid_url_error(url) from error
    scheme = parts.scheme.lower()
    if scheme in {"http", "https"}:
        default_port = 443 if scheme == "https" else 80
        return RepoAddress(host, _parse_path(unquote(parts.path), url), None if port == default_port else port, scheme)
    if scheme in _SSH_SCHEMES:  # its port is that of ssh, not of the web
        return RepoAddress(host, _parse_path(unquote(parts.path), url))
    raise _make_invalid_url_error(url)


def _parse_path(path: str, url: str) -> str:
    name = path.strip("/").removesuffix(".git").rstrip("/")
    segments = name.split("/")
    if len(segments) < 2 or not all(map(_SEGMENT.fullmatch, segments)):
        raise _make_invalid_url_error(url)
    return name


def _make_invalid_url_error(url: str) -> NotAForgeError:
    shown = redact_line(url)
    return NotAForgeError(
        hint=f"It is {shown}; a pull request needs a remote such as https://github.com/OWNER/NAME.git."
    )


def redact_line(text: str, secrets: Iterable[str] = ()) -> str:
    """Return one line of limited length, without secrets, URLs' user names and passwords, and control characters."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return shorten(" ".join(_CONTROL.sub(" ", _USERINFO.sub("", text)).split()), _MAX_LENGTH)
