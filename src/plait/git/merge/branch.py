"""A batch's branch: where it is, and moving it from where it is expected to be. It is never moved over anybody's work.

The merges that make a batch branch, as they stand in git: which change each of them is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git import refs
from plait.git.command import Git, GitError
from plait.git.merge.commits import Commit, read_commits

_STALE_SECONDS = 60.0  # seconds; git holds the lock of a ref for milliseconds, and only one engine moves these


class BatchBranch:
    def __init__(self, git: Git, git_dir: Path, batch: str) -> None:
        self._git = git
        self._git_dir = git_dir
        self._batch = batch
        self.name = refs.batch_branch(batch)
        self.ref = f"refs/heads/{self.name}"

    def ensure_not_checked_out(self) -> None:
        """Refuse to change what somebody has checked out: their files would seem to undo what was merged."""
        for head in self._head_files():
            with suppress(OSError):
                if head.read_text(errors="replace").strip() == f"ref: {self.ref}":
                    where = _find_checkout(head)
                    raise WorldError(
                        f"the branch {self.name} is checked out in {where}, and plait changes nobody's checkout",
                        hint=f"Run `git -C {where} switch --detach` to look at it; then resume or retry.",
                    )

    def move(self, new: str, old: str | None, why: str) -> None:
        """From exactly `old` (None: not there). Raises GitError if it is anywhere else."""
        _remove_stale_lock(self._git_dir / f"{self.ref}.lock")
        self._git.run("update-ref", "-m", f"plait: {why}", self.ref, new, old or "0" * len(new))

    def save(self, commit: str, n: int) -> None:
        """Save what the branch was before it is made anew for the nth time; the first saved one stays."""
        ref = refs.pre_rebuild_ref(self._batch, n)
        _remove_stale_lock(self._git_dir / f"{ref}.lock")
        try:
            self._git.run("update-ref", ref, commit, "0" * len(commit))
        except GitError:
            if not self._git.run("rev-parse", "-q", "--verify", ref, codes=(0, 1)).text:
                raise

    def make_moved_error(self, at: str, expected: str) -> WorldError:
        return WorldError(
            f"somebody moved the branch {self.name}: it is at {at[:12]}, and plait left it at {expected[:12]}",
            hint=f"Keep what is there under another name (`git branch NAME {at[:12]}`), put the branch back "
            f"(`git update-ref {self.ref} {expected}`), then resume or retry.",
        )

    def make_foreign_commits_error(self, at: str) -> WorldError:
        return WorldError(
            f"the branch {self.name} holds commits that plait did not make, up to {at[:12]}; it is not made anew over them",
            hint=f"Move them to a branch of their own (`git branch NAME {at[:12]}`) and take them off this one.",
        )

    def _head_files(self) -> Iterator[Path]:
        yield self._git_dir / "HEAD"
        with suppress(OSError):
            yield from (folder / "HEAD" for folder in (self._git_dir / "worktrees").iterdir())


def _find_checkout(head: Path) -> str:
    with suppress(OSError):
        return str(Path((head.parent / "gitdir").read_text().strip()).parent)
    return str(head.parent.parent if head.parent.name == ".git" else head.parent)


def _remove_stale_lock(lock: Path) -> None:
    """A git that was killed leaves its lock behind."""
    with suppress(OSError):
        if time.time() - lock.stat().st_mtime > _STALE_SECONDS:
            lock.unlink()


@dataclass(frozen=True, slots=True)
class MergeTrailers:
    """By what a merge of plait's is recognised, whatever its message says: its last lines."""

    batch: str
    change: Change

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        return (
            ("Plait-Batch", self.batch),
            ("Plait-Task", self.change.task),
            ("Plait-Change", f"{self.change.base}..{self.change.tip}"),
        )

    def matches(self, commit: Commit, onto: str) -> bool:
        """Is this the merge of that change onto exactly that commit?"""
        lines = {f"{name}: {' '.join(value.split())}" for name, value in self.trailers}
        return commit.parents[:1] == (onto,) and lines <= commit.trailers


def read_merges(git: Git, batch: str, head: str, base: str) -> dict[str, Commit] | None:
    """The merges from `base` to `head`, by the commit that each was made onto; None: not all of them are plait's."""
    listed = git.text("rev-list", "--first-parent", head, f"^{base}").split() if head != base else []
    commits = read_commits(git, listed)
    mine = f"Plait-Batch: {' '.join(batch.split())}"
    if any(mine not in commit.trailers for commit in commits.values()):
        return None
    made = {commit.parents[0]: commit for commit in commits.values() if commit.parents}
    return made if head == base or base in made else None
