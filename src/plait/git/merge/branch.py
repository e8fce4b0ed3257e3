"""A batch's branch, which is only moved from where plait left it, and the merges on it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git import refs
from plait.git.command import Git, GitError
from plait.git.merge.commits import Commit, read_commits

_STALE_SECONDS = 60.0  # git holds the lock of a ref for milliseconds, and only one engine moves these


class BatchBranch:
    def __init__(self, git: Git, git_dir: Path, batch: str, name: str) -> None:
        self._git = git
        self._git_dir = git_dir
        self._batch = batch
        self.name = name
        self.ref = f"refs/heads/{name}"

    def ensure_not_checked_out(self) -> None:
        """Raise WorldError if it is: the files of that checkout would seem to undo what was merged."""
        for admin in refs.find_admins_on(self._git_dir, self.ref):
            where = _find_checkout(admin)
            raise WorldError(
                f"branch {self.name} is checked out in {where}; plait does not change checkouts",
                hint=f"Run `git -C {where} switch --detach` to look at it; then resume or retry.",
            )

    def move(self, new: str, old: str | None, why: str) -> None:
        """Move the branch from exactly `old` (None: create it); GitError if it is anywhere else."""
        refs.remove_stale_lock(self._git_dir, self.ref, _STALE_SECONDS)
        self._git.run("update-ref", "-m", f"plait: {why}", self.ref, new, old or "0" * len(new))

    def save(self, commit: str, n: int) -> None:
        """Save the branch before its nth rebuild; the first one saved stays."""
        ref = refs.pre_rebuild_ref(self._batch, n)
        refs.remove_stale_lock(self._git_dir, ref, _STALE_SECONDS)
        try:
            self._git.create_ref(ref, commit)
        except GitError:
            if not self._git.read_ref(ref):
                raise

    def make_moved_error(self, at: str, expected: str) -> WorldError:
        return WorldError(
            f"branch {self.name} was moved: expected {expected[:12]}, found {at[:12]}",
            hint=f"Keep what is there under another name (`git branch NAME {at[:12]}`), put the branch back "
            f"(`git update-ref {self.ref} {expected}`), then resume or retry.",
        )

    def make_foreign_commits_error(self, at: str) -> WorldError:
        return WorldError(
            f"branch {self.name} has commits that plait did not make (up to {at[:12]}); refusing to rebuild it",
            hint=f"Move them to a branch of their own (`git branch NAME {at[:12]}`) and take them off this one.",
        )


def _find_checkout(admin: Path) -> str:
    with suppress(OSError):
        return str(Path((admin / "gitdir").read_text().strip()).parent)
    return str(admin.parent if admin.name == ".git" else admin)


@dataclass(frozen=True, slots=True)
class MergeTrailers:
    """The trailers by which plait recognises its merge of a change."""

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
        """Whether this is the merge of the change onto exactly that commit."""
        lines = {f"{name}: {' '.join(value.split())}" for name, value in self.trailers}
        return commit.parents[:1] == (onto,) and lines <= commit.trailers


def read_merges(git: Git, batch: str, head: str, base: str) -> dict[str, Commit] | None:
    """The merges from `base` to `head`, by their first parents; None if some of them are not plait's."""
    listed = git.text("rev-list", "--first-parent", head, f"^{base}").split() if head != base else []
    commits = read_commits(git, listed)
    mine = f"Plait-Batch: {' '.join(batch.split())}"
    if any(mine not in commit.trailers for commit in commits.values()):
        return None
    merges = {commit.parents[0]: commit for commit in commits.values() if commit.parents}
    return merges if head == base or base in merges else None
