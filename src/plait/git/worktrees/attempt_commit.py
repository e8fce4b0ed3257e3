"""The message and identity of an attempt's commit, and making it with or without the repository's hooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from plait.core.errors import AgentError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.git.command import Git, GitError
from plait.git.interfaces import CommitInfo
from plait.git.worktrees.agent_worktree import AgentWorktree

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TRAILER = re.compile(r"[A-Za-z0-9-]+: \S")
_IDENT = re.compile(r"(?P<name>.*) <(?P<email>[^<>]*)> [0-9]+ [-+][0-9]+\Z")
_NOT_IN_NAMES = re.compile(r"[<>\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    email: str


_PLAIT = Identity("plait", "plait@localhost")


def format_commit_message(author: CommitInfo, attempt: Attempt) -> str:
    """The message as it is, with the trailers as the last paragraph."""
    output = _CONTROL.sub("", author.message.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [line.rstrip() for line in output.strip().split("\n")]
    message = "\n".join(lines) or f"Work on {' '.join(attempt.task.split())}"
    trailers = [f"{key}: {_CONTROL.sub('', ' '.join(value.split()))}" for key, value in author.trailers]
    if not trailers:
        return f"{message}\n"
    _, gap, last = message.rpartition("\n\n")
    together = gap and all(_TRAILER.match(line) for line in last.split("\n"))
    return message + ("\n" if together else "\n\n") + "\n".join(trailers) + "\n"


def identity_variables(author: CommitInfo, git: Git) -> dict[str, str]:
    """Author and committer as variables for git: the named author, else the user, else plait."""
    committer = _configured_user(git, "GIT_COMMITTER_IDENT")
    named = Identity(_clean_name(author.name), _clean_name(author.email))
    writer = named if named.name else _configured_user(git, "GIT_AUTHOR_IDENT") or committer or _PLAIT
    keeper = committer or (named if named.name else _PLAIT)
    return {
        "GIT_AUTHOR_NAME": writer.name,
        "GIT_AUTHOR_EMAIL": writer.email,
        "GIT_COMMITTER_NAME": keeper.name,
        "GIT_COMMITTER_EMAIL": keeper.email,
    }


def _configured_user(git: Git, name: str) -> Identity | None:
    """The user's identity as configured, never guessed from the machine."""
    output = git.with_options(settings=("user.useConfigOnly=true",)).run("var", name, codes=(0, 128))
    found = _IDENT.match(output.text) if output.code == 0 else None
    return Identity(found["name"], found["email"]) if found and found["name"] else None


def _clean_name(text: str) -> str:
    return " ".join(_NOT_IN_NAMES.sub(" ", text).split())


_MAX_LINES = 20
HOOKS_TIMEOUT_SECONDS = 600.0  # seconds for all hooks of one commit


class SigningError(WorldError):
    """The repository requires signed commits, and signing failed; the files were not changed."""


class HookRefusedError(AgentError):
    """A hook refused the commit; the change is saved, and the files were not changed."""


@dataclass(frozen=True, slots=True)
class CommitText:
    """The message, and the identity as variables."""

    message: str
    identity: Mapping[str, str]


def make_commit(worktree: AgentWorktree, tree: str, parents: Sequence[str], text: CommitText) -> str:
    """A commit that no ref holds yet; no hook is run."""
    git = worktree.git.with_options(variables=text.identity)
    sign = ["-S"] if git.read_bool("commit.gpgsign") else []
    try:
        return git.commit_tree(tree, parents, text.message.encode("utf-8", "replace"), *sign)
    except GitError as error:
        raise (_signing_error(error) if sign else error) from error


def commit_with_hooks(worktree: AgentWorktree, text: CommitText, scratch: Path) -> str:
    """Commit the worktree's index on its HEAD with all hooks, as a person would."""
    message_file = scratch / "message"
    message_file.write_bytes(text.message.encode("utf-8", "replace"))
    git = Git(
        worktree.path,
        environment=worktree.repository.environment,
        variables=text.identity,
        settings=(f"core.hooksPath={_find_hooks_path(worktree)}",),
        timeout=HOOKS_TIMEOUT_SECONDS,
    )
    try:
        git.run("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file", str(message_file))
    except GitError as error:
        if "failed to sign" in error.stderr:
            raise _signing_error(error) from error
        output = "\n".join(error.stderr.strip().splitlines()[-_MAX_LINES:])
        raise HookRefusedError(f"a hook of the repository refused the commit: {output or error.message}") from error
    return git.text("rev-parse", "--verify", "HEAD")


def _find_hooks_path(worktree: AgentWorktree) -> str:
    """The repository's hooks folder, ignoring plait's own setting that disables hooks."""
    output = worktree.git.run("config", "--show-scope", "-z", "--get-all", "core.hooksPath", codes=(0, 1)).fields
    paths = [path for scope, path in zip(output[::2], output[1::2], strict=False) if scope != "command"]
    return paths[-1] if paths else str(worktree.repository.common / "hooks")


def _signing_error(error: GitError) -> SigningError:
    lines = [line.strip() for line in error.stderr.splitlines() if line.strip()]
    hint = "Unlock the key, or set commit.gpgsign to false in this repository; then retry the task."
    return SigningError(f"the commit can't be signed: {lines[0] if lines else error.message}", hint=hint)
