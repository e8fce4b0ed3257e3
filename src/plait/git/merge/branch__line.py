"""The merges that make a batch branch, as they stand in git: which change each of them is."""

from __future__ import annotations

from plait.core.decisions import Change
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git
from plait.git.merge.commits import Commit, read_commits


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
