"""A remote of the user's repository, as git knows it. Only one that is set there is ever spoken to."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping

from plait.core.fast_dataclass import dataclass
from plait.forges.address import RepoAddress, parse_address
from plait.forges.address__scrub import redact_line
from plait.git.command import Git, GitError
from plait.store.interfaces import ForgeError

_HEAD_REF = re.compile(r"^ref: refs/heads/(\S+)\tHEAD$", re.MULTILINE)
_HOST_ALIAS = re.compile(r"[a-z0-9][a-z0-9._-]*")
# Nobody is there to answer; a host that has fallen silent is not waited for.
_SSH_COMMAND = "ssh -oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=15 -oServerAliveCountMax=4"
_LOW_SPEED_OPTIONS = ("http.lowSpeedLimit=1", "http.lowSpeedTime=60")
_UNREACHABLE = re.compile(
    r"could not resolve host|name or service not known|temporary failure in name resolution|connection refused"
    r"|connection timed out|operation timed out|network is unreachable|no route to host|connection reset"
    r"|failed to connect|operation too slow|the remote end hung up",
    re.IGNORECASE,
)
_UNAUTHORIZED = re.compile(
    r"authentication failed|could not read (?:username|password)|terminal prompts disabled|permission denied"
    r"|host key verification failed|returned error: 40[13]|access denied",
    re.IGNORECASE,
)


class RemoteUnreachableError(ForgeError):
    """The remote could not be asked: no network, or nobody there."""


@dataclass(frozen=True, slots=True)
class GitRemote:
    """Its URLs, after the user's own rewriting."""

    name: str
    fetch: str
    push: str


def find_remote(git: Git, name: str) -> GitRemote:
    """A name, never a URL: what a repository's own settings say must not lead a push anywhere."""
    fetch = git.run("remote", "get-url", "--", name, codes=range(256))
    push = git.run("remote", "get-url", "--push", "--", name, codes=range(256))
    if fetch.code or push.code or not name:
        raise ForgeError(
            f"there is no remote called {redact_line(name)!r} in {git.cwd}", hint="See: git remote -v"
        )
    return GitRemote(name, fetch.text, push.text)


def resolve_address(url: str, environment: Mapping[str, str]) -> RepoAddress:
    """Where a URL leads. A host may be a name that only the user's ssh knows."""
    found = parse_address(url)
    if url.startswith(("http://", "https://")) or not _HOST_ALIAS.fullmatch(found.host):
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
    return parse_address(f"ssh://{real[1]}/{found.path}") if real else found


def configure_for_network(git: Git) -> Git:
    """For commands that use the network: no questions, no windows, no endless silence. The user's ssh command is kept."""
    own = git.run("config", "--get", "core.sshCommand", codes=range(256)).text
    settings = _LOW_SPEED_OPTIONS if own else (*_LOW_SPEED_OPTIONS, f"core.sshCommand={_SSH_COMMAND}")
    return git.with_options(
        variables={"SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never"},
        settings=settings,
    )


def find_default_branch(git: Git, name: str) -> str:
    """As the remote itself says; empty if it has none."""
    find_remote(git, name)
    return read_remote_head(configure_for_network(git), name)


def read_remote_head(git: Git, name: str) -> str:
    try:
        found = _HEAD_REF.search(git.text("ls-remote", "--symref", "--", name, "HEAD"))
    except GitError as error:
        raise map_git_error(error, name) from error
    return found[1] if found else ""


def map_git_error(error: GitError, name: str, hint: str = "") -> ForgeError:
    """What git says of the network, in a person's words."""
    said = redact_line(error.stderr or error.message)
    if _UNAUTHORIZED.search(error.stderr):
        way = hint or f"Try it yourself: git ls-remote {name} HEAD"
        return ForgeError(f"{name} does not let plait in: {said}", hint=way)
    if _UNREACHABLE.search(error.stderr):
        return RemoteUnreachableError(f"{name} can't be reached: {said}", hint=hint)
    return ForgeError(f"{name}: {said}", hint=hint or "See: git remote -v")
