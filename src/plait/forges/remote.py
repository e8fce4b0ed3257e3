"""Find a remote, push a batch branch to it and fetch its target branch. plait writes nothing else to a remote."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from shlex import quote

from plait.core.errors import Bug
from plait.core.fast_dataclass import dataclass
from plait.forges.forge import ForgeError, RepoAddress, parse_address, redact_line
from plait.git.command import Git, GitError, GitOutput
from plait.git.refs import is_batch_branch, ref_component

_HEAD_REF = re.compile(r"^ref: refs/heads/(\S+)\tHEAD$", re.MULTILINE)
_HOST_ALIAS = re.compile(r"[a-z0-9][a-z0-9._-]*")
# No prompts, and a timeout for hosts that stop answering.
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


@dataclass(frozen=True, slots=True)
class GitRemote:
    """A remote's URLs, after git's url.insteadOf."""

    name: str
    fetch: str
    push: str


def find_remote(git: Git, name: str) -> GitRemote:
    """Find a remote by its name. URLs are refused: a repository's settings must not decide where a push goes."""
    fetch = git.run("remote", "get-url", "--", name, codes=range(256))
    push = git.run("remote", "get-url", "--push", "--", name, codes=range(256))
    if fetch.code or push.code or not name:
        raise ForgeError(
            f"no remote named {redact_line(name)!r} in {git.cwd}", hint="Add one with git remote add, or set pr.remote."
        )
    return GitRemote(name, fetch.text, push.text)


def resolve_address(url: str, environment: Mapping[str, str]) -> RepoAddress:
    """Return the address behind a URL. A host may be an alias from the user's ssh configuration."""
    address = parse_address(url)
    if url.startswith(("http://", "https://")) or not _HOST_ALIAS.fullmatch(address.host):
        return address
    try:
        options = subprocess.run(
            ["ssh", "-G", "--", address.host],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=10,
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return address
    real = re.search(r"^hostname (\S+)$", options, re.MULTILINE)
    return parse_address(f"ssh://{real[1]}/{address.path}") if real else address


def configure_for_network(git: Git) -> Git:
    """Configure git for commands that use the network: no prompts, no dialogs, a timeout. Keeps the user's ssh command."""
    ssh_command = git.run("config", "--get", "core.sshCommand", codes=range(256)).text
    settings = _LOW_SPEED_OPTIONS if ssh_command else (*_LOW_SPEED_OPTIONS, f"core.sshCommand={_SSH_COMMAND}")
    return git.with_options(
        variables={"SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never"},
        settings=settings,
    )


def find_default_branch(git: Git, name: str) -> str:
    """Return the remote's own default branch; empty if it has none."""
    find_remote(git, name)
    return read_remote_head(configure_for_network(git), name)


def read_remote_head(git: Git, name: str) -> str:
    try:
        match = _HEAD_REF.search(git.text("ls-remote", "--symref", "--", name, "HEAD"))
    except GitError as error:
        raise map_git_error(error, name) from error
    return match[1] if match else ""


def map_git_error(error: GitError, name: str, hint: str = "") -> ForgeError:
    """Turn git's network errors into messages for people."""
    detail = redact_line(error.stderr or error.message)
    if _UNAUTHORIZED.search(error.stderr):
        return ForgeError(
            f"{name} rejected plait's credentials: {detail}", hint=hint or f"Try it yourself: git ls-remote {name} HEAD"
        )
    if _UNREACHABLE.search(error.stderr):
        return ForgeError(f"{name} can't be reached: {detail}", hint=hint)
    return ForgeError(f"{name}: {detail}", hint=hint or "See: git remote -v")


REMOTES_NAMESPACE = "refs/plait/remotes"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REJECTION = re.compile(r"^!\t\S+\t\[(remote rejected|rejected)\] \((.*)\)$", re.MULTILINE)
_LOST_RACE = re.compile(r"cannot lock ref|is at [0-9a-f]+ but expected")
_MAX_FETCHES = 5


class PushRejectedError(ForgeError):
    """The remote branch isn't what plait pushed last, so plait does not change it."""


def push_branch(git: Git, remote: str, branch: str, commit: str, *, expected: str = "") -> None:
    """Make the remote's `branch` exactly `commit`. It is rewritten only if it is at `expected`, which plait pushed last;
    without `expected`, only a fast-forward is allowed.
    """
    if not is_batch_branch(branch) or not _COMMIT.fullmatch(commit):
        raise Bug(f"{branch} at {commit} is not a batch branch to push")
    if expected and not _COMMIT.fullmatch(expected):
        raise Bug(f"{expected} is not a pushed commit")
    find_remote(git, remote)
    network_git = configure_for_network(git)
    if read_remote_head(network_git, remote) == branch:
        raise ForgeError(
            f"{branch} is the default branch of {remote}, which plait does not push to",
            hint="Change the default branch there.",
        )
    _push_large_files(network_git, remote, commit)
    _push_commit(network_git, remote, branch, commit, expected)


def _push_commit(git: Git, remote: str, branch: str, commit: str, expected: str) -> None:
    ref = f"refs/heads/{branch}"
    lease = [f"--force-with-lease={ref}:{expected}"] if expected else []
    args = ["push", *lease, "--", remote, f"{commit}:{ref}"]
    hint = f"By hand: git {' '.join(map(quote, args))}"
    alone = git.with_options(settings=(f"remote.{remote}.mirror=false",))  # otherwise git pushes every ref
    try:
        output = alone.run(
            *("push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", *args[1:]), codes=(0, 1)
        )
    except GitError as error:
        raise map_git_error(error, remote, hint) from error
    if output.code:
        raise _build_rejection_error(output, remote, branch, hint)


def _build_rejection_error(output: GitOutput, remote: str, branch: str, hint: str) -> ForgeError:
    verdict = _REJECTION.search(output.text)
    if verdict is not None and verdict[1] == "rejected":
        return PushRejectedError(
            f"{branch} on {remote} isn't what plait pushed: it was changed or deleted there ({verdict[2]})",
            hint=f"See what is there: git fetch {quote(remote)} {branch} && git log FETCH_HEAD\n  {hint}",
        )
    remote_lines = [line.removeprefix("remote:") for line in output.err.splitlines() if line.startswith("remote:")]
    reason = redact_line(" ".join([verdict[2] if verdict else "", *remote_lines]) or output.err)
    return ForgeError(f"{remote} refused {branch}: {reason}", hint=hint)


def _push_large_files(git: Git, remote: str, commit: str) -> None:
    """Push the files of git-lfs, which otherwise does this in a hook: plait disables hooks."""
    patterns = (":(top,glob)**/.gitattributes",)
    if git.run("grep", "-q", "filter=lfs", commit, "--", *patterns, codes=(0, 1)).code:
        return
    if git.run("lfs", "version", codes=range(256)).code:
        return  # without git-lfs there are only pointers, and no files to push
    try:
        git.run("lfs", "push", remote, commit)
    except GitError as error:
        raise map_git_error(error, remote, f"By hand: git lfs push {quote(remote)} {commit}") from error


def fetch_target(git: Git, remote: str, target: str) -> str:
    """Fetch the remote's `target` branch and return its commit. No branch of the user's moves."""
    find_remote(git, remote)
    if not target:
        raise ForgeError(f"{remote} has no default branch", hint="Set pr.target to a branch.")
    if git.run("check-ref-format", f"refs/heads/{target}", codes=range(256)).code:
        raise ForgeError(f"{redact_line(target)!r} is not a branch name")
    network_git, ref = (
        configure_for_network(git),
        f"{REMOTES_NAMESPACE}/{ref_component(remote)}/{ref_component(target)}",
    )
    for _ in range(_MAX_FETCHES):
        try:
            _fetch(network_git, remote, f"+refs/heads/{target}:{ref}")
            return network_git.text("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
        except GitError as error:
            if "couldn't find remote ref" in error.stderr:
                raise ForgeError(
                    f"{remote} has no branch {target}", hint=f"See: git ls-remote --heads {quote(remote)}"
                ) from error
            if not _LOST_RACE.search(error.stderr):
                raise map_git_error(error, remote) from error
    raise ForgeError(f"{remote} is being fetched by other processes", hint="Try again in a moment.")


def _fetch(git: Git, remote: str, refspec: str) -> None:
    quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune", "--no-recurse-submodules")
    git.run("fetch", *quiet, "--no-auto-maintenance", "--refmap=", "--", remote, refspec)


def count_new_commits(git: Git, commit: str, target: str) -> int:
    """Count the commits of `commit` that the local commit `target` lacks."""
    return int(git.text("rev-list", "--count", f"{target}..{commit}", "--"))
