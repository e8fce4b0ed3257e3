"""Parse a remote's URL, and clean text from remotes for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from plait.forges.forge import ForgeError, RepoAddress, is_loopback_host, load_forges

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
    """Raises ForgeError if the URL isn't a repository on a forge, or if a token must not be sent there."""
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


def _make_invalid_url_error(url: str) -> ForgeError:
    return ForgeError(
        f"the remote {_USERINFO.sub('', url)} isn't a repository on a forge",
        hint="A pull request needs a remote such as https://github.com/OWNER/NAME.git; see: git remote -v",
    )


def redact_line(text: str, secrets: Iterable[str] = ()) -> str:
    """One line of reasonable length, without the secrets, user names and passwords in URLs, and control characters."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    line = " ".join(_CONTROL.sub(" ", _USERINFO.sub("", text)).split())
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
