"""Parses the URL of a remote repository, and decides which URLs share a mirror.

Two spellings share a mirror if git and every server take them for the same: the case of the host, the default port, slashes,
a trailing `.git`, a user name for HTTP. ssh and HTTPS need not lead to the same repository, and do not.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import unquote

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.system.state_paths import safe_filename

_DEFAULT_PORTS = {"https": "443", "http": "80", "ssh": "22", "git": "9418"}
PROTOCOLS = ("file", *_DEFAULT_PORTS)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_HELPER = re.compile(r"[\w+.-]*::")
_SCP = re.compile(r"(?:(?P<user>[^/@:]+)@)?(?P<host>\[[^/\]]+\]|[^/:\[\]]+):(?P<path>.+)", re.DOTALL)
_HOST = re.compile(r"\w[\w.-]*|\[[0-9A-Fa-f:.]+\]")
_USER = re.compile(r"\w[\w.+-]*")
_PASSWORD = re.compile(r"[^/@:]*:[^/@]*@[^/]")
_MAX_NAME_LENGTH = 40


@dataclass(frozen=True, slots=True)
class RemoteUrl:
    """The URL of a remote repository. `url` never contains a secret; `key` is the same for all spellings; `user` is
    passed to credential helpers.
    """

    url: str
    key: str
    name: str
    user: str = ""

    @property
    def folder(self) -> str:
        return f"{self.name}-{hashlib.sha256(self.key.encode()).hexdigest()[:10]}"


def parse_remote_url(text: str) -> RemoteUrl:
    """Parse a URL. Raises UserError for anything that is not a repository URL, or must not be passed to git."""
    address = text.strip()
    if not address or _CONTROL.search(address):
        raise _make_invalid_error(address, "is not a repository address")
    if address.startswith("-"):
        raise _make_invalid_error(address, "looks like an option, not like the address of a repository")
    if _HELPER.match(address):
        raise _make_invalid_error(address, "would make git run a program")
    scheme, separator, rest = address.partition("://")
    if separator:
        return _parse_url(address, scheme.lower(), rest)
    if _PASSWORD.match(address):
        raise _make_secret_error(address)
    scp = _SCP.fullmatch(address)
    return _parse_scp(address, scp) if scp and not address.startswith(("/", "~", ".")) else _parse_path(address)


def _parse_url(address: str, scheme: str, rest: str) -> RemoteUrl:
    if scheme == "file":
        return _parse_path(unquote(rest if rest.startswith("/") else f"/{rest.partition('/')[2]}"))
    if scheme not in _DEFAULT_PORTS:
        raise _make_invalid_error(address, f"has the scheme {scheme}; plait supports {', '.join(PROTOCOLS)}")
    authority, _, path = rest.partition("/")
    user, _, host_port = authority.rpartition("@")
    slash_in_password = ":" in authority and "@" in path
    if ":" in user or slash_in_password or (scheme.startswith("http") and re.search(r"[?#]", rest)):
        raise _make_secret_error(address)
    host, port = _split_host_port(address, scheme, host_port)
    if user and (scheme == "git" or not _USER.fullmatch(user)):
        raise _make_invalid_error(address, "has an invalid user name")
    path = path.rstrip("/")
    if not path:
        raise _make_invalid_error(address, "names no repository")
    netloc = f"{host}:{port}" if port else host
    user_prefix = f"{user}@" if user and scheme == "ssh" else ""
    return RemoteUrl(
        f"{scheme}://{user_prefix}{netloc}/{path}",
        f"{scheme}://{user_prefix}{netloc}/{_normalize_path(f'/{unquote(path)}').removeprefix('/')}",
        _repository_name(path),
        user if scheme.startswith("http") else "",
    )


def _parse_scp(address: str, match: re.Match[str]) -> RemoteUrl:
    """Parse `user@host:path`, where the path is relative to the user's home folder."""
    user, path = match["user"] or "", match["path"].rstrip("/")
    host = _split_host_port(address, "ssh", match["host"])[0]
    if (user and not _USER.fullmatch(user)) or not path or path.startswith("-"):
        raise _make_invalid_error(address, "is not a repository address")
    user_prefix = f"{user}@" if user else ""
    home = path if path.startswith(("/", "~")) else f"~/{path}"
    return RemoteUrl(
        f"{user_prefix}{host}:{path}",
        f"ssh://{user_prefix}{host}/{_normalize_path(home).removeprefix('/')}",
        _repository_name(path),
    )


def _parse_path(address: str) -> RemoteUrl:
    path = Path(os.path.realpath(Path(address).expanduser()))
    with_suffix = path.with_name(f"{path.name}.git")
    if not path.is_dir() and with_suffix.is_dir():
        path = with_suffix
    if not path.is_dir():
        raise UserError(
            f"there is no repository at {path}",
            hint="Name a folder on this machine, or a URL: https://…, ssh://…",
        )
    path = path.parent if path.name == ".git" else path
    return RemoteUrl(str(path), path.as_uri(), _repository_name(str(path)))


def _split_host_port(address: str, scheme: str, host_port: str) -> tuple[str, str]:
    """Split the host from the port; the default port becomes empty."""
    match = re.fullmatch(rf"(?P<host>{_HOST.pattern})(?::(?P<port>[0-9]{{1,5}})?)?", host_port)
    if match is None:
        raise _make_invalid_error(address, "has no valid host")
    port = (match["port"] or "").lstrip("0")
    return match["host"].lower(), "" if port == _DEFAULT_PORTS[scheme] else port


def _normalize_path(path: str) -> str:
    """Remove meaningless differences from a path; `/~/x` is how a URL writes `~/x`."""
    normalized = re.sub(r"/{2,}", "/", path).rstrip("/").removesuffix(".git").rstrip("/")
    return normalized.removeprefix("/") if normalized.startswith("/~") else normalized


def _repository_name(path: str) -> str:
    last = unquote(path).rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
    return safe_filename(last[:_MAX_NAME_LENGTH]) if last else "repository"


def hide_url_secrets(text: str) -> str:
    """Return the URL without anything that could be a secret."""
    before, at_sign, after = text.rpartition("@")
    scheme, separator, _ = before.partition("://")
    clean = (f"{scheme}://…@{after}" if separator else f"…@{after}") if at_sign and ":" in before else text
    return re.sub(r"[?#].*", "?…", clean, flags=re.DOTALL)


def _make_invalid_error(address: str, problem: str) -> UserError:
    return UserError(
        f"{hide_url_secrets(address)!r} {problem}",
        hint="Use one of these forms: https://host/owner/name, ssh://git@host/owner/name, git@host:owner/name, or a folder.",
    )


def _make_secret_error(address: str) -> UserError:
    return UserError(
        f"{hide_url_secrets(address)!r} contains a password or a token, which others could read",
        hint="Leave it out: git asks its credential helpers (git config credential.helper) or the program in "
        "GIT_ASKPASS; ssh asks ssh-agent.",
    )
