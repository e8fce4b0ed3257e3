"""A remote of the user's repository, as git knows it. Only one that is set there is ever spoken to."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping

from plait.adapters.forge.address import Address, address
from plait.adapters.forge.scrub import scrubbed
from plait.core.frozen import dataclass
from plait.ports import ForgeError
from plait.site.git import Git, GitError

_HEAD = re.compile(r"^ref: refs/heads/(\S+)\tHEAD$", re.MULTILINE)
_ALIAS = re.compile(r"[a-z0-9][a-z0-9._-]*")
# Nobody is there to answer; a host that has fallen silent is not waited for.
_SSH = "ssh -oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=15 -oServerAliveCountMax=4"
_SLOW = ("http.lowSpeedLimit=1", "http.lowSpeedTime=60")
_AWAY = re.compile(
    r"could not resolve host|name or service not known|temporary failure in name resolution|connection refused"
    r"|connection timed out|operation timed out|network is unreachable|no route to host|connection reset"
    r"|failed to connect|operation too slow|the remote end hung up",
    re.IGNORECASE,
)
_STRANGER = re.compile(
    r"authentication failed|could not read (?:username|password)|terminal prompts disabled|permission denied"
    r"|host key verification failed|returned error: 40[13]|access denied",
    re.IGNORECASE,
)


class RemoteUnreachableError(ForgeError):
    """The remote could not be asked: no network, or nobody there."""


@dataclass(frozen=True, slots=True)
class Remote:
    """Its URLs, after the user's own rewriting."""

    name: str
    fetch: str
    push: str


def remote(git: Git, name: str) -> Remote:
    """A name, never a URL: what a repository's own settings say must not lead a push anywhere."""
    fetch = git.run("remote", "get-url", "--", name, codes=range(256))
    push = git.run("remote", "get-url", "--push", "--", name, codes=range(256))
    if fetch.code or push.code or not name:
        raise ForgeError(
            f"there is no remote called {scrubbed(name)!r} in {git.where}", hint="See: git remote -v"
        )
    return Remote(name, fetch.text, push.text)


def home(url: str, environment: Mapping[str, str]) -> Address:
    """Where a URL leads. A host may be a name that only the user's ssh knows."""
    found = address(url)
    if url.startswith(("http://", "https://")) or not _ALIAS.fullmatch(found.host):
        return found
    try:
        said = subprocess.run(  # noqa: S603 - a host's name, checked above
            ["ssh", "-G", "--", found.host],  # noqa: S607 - ssh as the person has it
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=10,
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return found
    real = re.search(r"^hostname (\S+)$", said, re.MULTILINE)
    return address(f"ssh://{real[1]}/{found.path}") if real else found


def online(git: Git) -> Git:
    """For commands that use the network: no questions, no windows, no endless silence. The user's ssh command is kept."""
    own = git.run("config", "--get", "core.sshCommand", codes=range(256)).text
    settings = _SLOW if own else (*_SLOW, f"core.sshCommand={_SSH}")
    return git.with_(
        variables={"SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never"},
        settings=settings,
    )


def default_branch(git: Git, name: str) -> str:
    """As the remote itself says; empty if it has none."""
    remote(git, name)
    return head(online(git), name)


def head(git: Git, name: str) -> str:
    try:
        found = _HEAD.search(git.text("ls-remote", "--symref", "--", name, "HEAD"))
    except GitError as error:
        raise told(error, name) from error
    return found[1] if found else ""


def told(error: GitError, name: str, hint: str = "") -> ForgeError:
    """What git says of the network, in a person's words."""
    said = scrubbed(error.said or error.message)
    if _STRANGER.search(error.said):
        way = hint or f"Try it yourself: git ls-remote {name} HEAD"
        return ForgeError(f"{name} does not let plait in: {said}", hint=way)
    if _AWAY.search(error.said):
        return RemoteUnreachableError(f"{name} can't be reached: {said}", hint=hint)
    return ForgeError(f"{name}: {said}", hint=hint or "See: git remote -v")
