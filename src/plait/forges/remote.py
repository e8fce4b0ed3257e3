"""A remote of the user's repository, as git knows it. Only one that is set there is ever spoken to.

Bringing a batch branch to its remote, and looking at what is there. Nothing else of the remote is ever written.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from shlex import quote

from plait.core.errors import Bug
from plait.core.fast_dataclass import dataclass
from plait.forges.address import RepoAddress, parse_address, redact_line
from plait.forges.interfaces import ForgeError
from plait.git.command import Git, GitError, GitOutput
from plait.git.refs import ref_component

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
        raise ForgeError(f"there is no remote called {redact_line(name)!r} in {git.cwd}", hint="See: git remote -v")
    return GitRemote(name, fetch.text, push.text)


def resolve_address(url: str, environment: Mapping[str, str]) -> RepoAddress:
    """Where a URL leads. A host may be a name that only the user's ssh knows."""
    found = parse_address(url)
    if url.startswith(("http://", "https://")) or not _HOST_ALIAS.fullmatch(found.host):
        return found
    try:
        said = subprocess.run(  # a host's name, checked above
            ["ssh", "-G", "--", found.host],  # ssh as the person has it
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


REMOTES_NAMESPACE = "refs/plait/remotes"


_BRANCH = re.compile(r"plait/batch-[a-z0-9+._-]+")


_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


_REJECTION = re.compile(r"^!\t\S+\t\[(remote rejected|rejected)\] \((.*)\)$", re.MULTILINE)


_LOST_RACE = re.compile(r"cannot lock ref|is at [0-9a-f]+ but expected")


_MAX_FETCHES = 5


class PushRejectedError(ForgeError):
    """The remote branch is not what plait left there; it stays as it is."""


@dataclass(frozen=True, slots=True)
class CommitDistance:
    """`ahead`: commits that the target lacks; `behind`: those of the target that are not in it."""

    ahead: int
    behind: int


def push_branch(git: Git, remote: str, branch: str, commit: str, *, expected: str = "") -> None:
    """The remote's `branch` is exactly `commit` on return. It may have been rewritten only where it was `expected`,
    which is what plait pushed last; without that, it is moved forward or not at all.
    """
    if not _BRANCH.fullmatch(branch) or not _COMMIT.fullmatch(commit):
        raise Bug(f"{branch} at {commit} is no batch branch to push")
    if expected and not _COMMIT.fullmatch(expected):
        raise Bug(f"{expected} is no commit that was pushed")
    find_remote(git, remote)
    wide = configure_for_network(git)
    if read_remote_head(wide, remote) == branch:
        raise ForgeError(
            f"{branch} is the default branch of {remote}, which plait does not push to",
            hint="Make another branch the default one there.",
        )
    _push_large_files(wide, remote, commit)
    _push_commit(wide, remote, branch, commit, expected)


def _push_commit(git: Git, remote: str, branch: str, commit: str, expected: str) -> None:
    ref = f"refs/heads/{branch}"
    lease = [f"--force-with-lease={ref}:{expected}"] if expected else []
    words = ["push", *lease, "--", remote, f"{commit}:{ref}"]
    hint = f"By hand: git {' '.join(map(quote, words))}"
    alone = git.with_options(settings=(f"remote.{remote}.mirror=false",))  # or git would want to push everything
    try:
        said = alone.run(
            *("push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", *words[1:]), codes=(0, 1)
        )
    except GitError as error:
        raise map_git_error(error, remote, hint) from error
    if said.code:
        raise _build_rejection_error(said, remote, branch, hint)


def _build_rejection_error(said: GitOutput, remote: str, branch: str, hint: str) -> ForgeError:
    verdict = _REJECTION.search(said.text)
    if verdict is not None and verdict[1] == "rejected":
        return PushRejectedError(
            f"{branch} on {remote} is not as plait left it: somebody has changed it or taken it away ({verdict[2]})",
            hint=f"See what is there: git fetch {quote(remote)} {branch} && git log FETCH_HEAD\n  {hint}",
        )
    told_by_remote = [line.removeprefix("remote:") for line in said.err.splitlines() if line.startswith("remote:")]
    reason = redact_line(" ".join([verdict[2] if verdict else "", *told_by_remote]) or said.err)
    return ForgeError(f"{remote} refused {branch}: {reason}", hint=hint)


def _push_large_files(git: Git, remote: str, commit: str) -> None:
    """Otherwise a hook does it, and hooks are off."""
    patterns = (":(top,glob)**/.gitattributes",)
    if git.run("grep", "-q", "filter=lfs", commit, "--", *patterns, codes=(0, 1)).code:
        return
    if git.run("lfs", "version", codes=range(256)).code:
        return  # who made the pointers without it has no files either
    try:
        git.run("lfs", "push", remote, commit)
    except GitError as error:
        raise map_git_error(error, remote, f"By hand: git lfs push {quote(remote)} {commit}") from error


def fetch_target(git: Git, remote: str, target: str) -> str:
    """The remote's `target` branch as it is now: its commit, fetched. No branch of the user's is moved for it."""
    find_remote(git, remote)
    if not target:
        raise ForgeError(f"{remote} has no branch that is its default one", hint="Name the one that the batch is for.")
    if git.run("check-ref-format", f"refs/heads/{target}", codes=range(256)).code:
        raise ForgeError(f"{redact_line(target)!r} is no name of a branch")
    wide, ref = (
        configure_for_network(git),
        f"{REMOTES_NAMESPACE}/{ref_component(remote)}/{ref_component(target)}",
    )
    for _ in range(_MAX_FETCHES):
        try:
            _fetch(wide, remote, f"+refs/heads/{target}:{ref}")
            return wide.text("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
        except GitError as error:
            if "couldn't find remote ref" in error.stderr:
                raise ForgeError(
                    f"{remote} has no branch {target}", hint=f"See: git ls-remote --heads {quote(remote)}"
                ) from error
            if not _LOST_RACE.search(error.stderr):
                raise map_git_error(error, remote) from error
    raise ForgeError(f"{remote} is being fetched by others all the time", hint="Try again in a moment.")


def _fetch(git: Git, remote: str, refspec: str) -> None:
    quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune", "--no-recurse-submodules")
    git.run("fetch", *quiet, "--no-auto-maintenance", "--refmap=", "--", remote, refspec)


def count_distance(git: Git, commit: str, target: str) -> CommitDistance:
    """Between two commits that are both here."""
    ahead, behind = git.text("rev-list", "--left-right", "--count", f"{commit}...{target}", "--").split()
    return CommitDistance(int(ahead), int(behind))
