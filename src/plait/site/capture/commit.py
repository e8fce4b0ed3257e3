"""A commit made of a tree, by git's own commit where the repository's hooks are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from plait.core.errors import AgentError, WorldError
from plait.core.frozen import dataclass
from plait.site.capture.worktree import Worktree
from plait.site.git import Git, GitError

_TAIL = 20


HOOKS = 600.0  # seconds for all hooks of one commit


class SigningError(WorldError):
    """The repository wants signed commits, and this one could not be signed; the files are as they were."""


class RefusedError(AgentError):
    """A hook of the repository refused the commit; what it would have held is saved, and the files are as they were."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What a commit says, and who it is by as variables."""

    message: str
    people: Mapping[str, str]


def make(worktree: Worktree, tree: str, parents: Sequence[str], wording: Wording) -> str:
    """A commit that no ref reaches yet; no hook is run."""
    git = worktree.git.with_(variables=wording.people)
    above = [word for parent in parents for word in ("-p", parent)]
    sign = ["-S"] if _signs(git) else []
    try:
        return git.text("commit-tree", tree, *above, *sign, feed=wording.message.encode("utf-8", "replace"))
    except GitError as error:
        raise (_unsigned(error) if sign else error) from error


def make_with_hooks(
    worktree: Worktree, wording: Wording, room: Path, environment: Mapping[str, str] | None
) -> str:
    """What is in the worktree's index, committed on top of its HEAD as a person would: with all hooks."""
    told = room / "message"
    told.write_bytes(wording.message.encode("utf-8", "replace"))
    git = Git(
        worktree.path,
        environment=environment,
        variables=wording.people,
        settings=(f"core.hooksPath={_hooks(worktree)}",),
        patience=HOOKS,
    )
    try:
        git.run("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file", str(told))
    except GitError as error:
        if "failed to sign" in error.said:
            raise _unsigned(error) from error
        said = "\n".join(error.said.strip().splitlines()[-_TAIL:])
        raise RefusedError(f"a hook of the repository refused the commit: {said or error.message}") from error
    return git.text("rev-parse", "--verify", "HEAD")


def _hooks(worktree: Worktree) -> str:
    """Where the repository has its hooks: plait's own setting, which turns them off, is not asked."""
    said = worktree.git.run("config", "--show-scope", "-z", "--get-all", "core.hooksPath", codes=(0, 1)).words
    set_ = [path for scope, path in zip(said[::2], said[1::2], strict=False) if scope != "command"]
    return set_[-1] if set_ else str(worktree.common / "hooks")


def _signs(git: Git) -> bool:
    return git.run("config", "--type=bool", "--get", "commit.gpgsign", codes=(0, 1)).text == "true"


def _unsigned(error: GitError) -> SigningError:
    lines = [line.strip() for line in error.said.splitlines() if line.strip()]
    hint = "Unlock the key, or set commit.gpgsign to false in this repository; then retry the task."
    return SigningError(f"the commit can't be signed: {lines[0] if lines else error.message}", hint=hint)
