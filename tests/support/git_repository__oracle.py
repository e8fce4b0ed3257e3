"""What plain git makes of the merges that a journal tells of, in a checkout that shares the objects and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.support.git_repository import GitRepository

from plait.core.decisions import Change
from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """The tree in the end, what is in it, and what could not be merged."""

    tree: str
    kept: tuple[str, ...]
    clashes: tuple[str, ...]


class ReferenceMerger:
    """`git_dir` is only read."""

    def __init__(self, git_dir: Path, scratch: Path) -> None:
        self._repository = GitRepository(scratch)
        alternates = scratch / ".git" / "objects" / "info" / "alternates"
        alternates.write_text(f"{git_dir / 'objects'}\n")
        self._known: dict[tuple[str, Change], str | None] = {}

    def merge_tree(self, onto: str, change: Change) -> str | None:
        """The tree; None: a conflict. By `git merge` wherever nothing was taken out of the history of the branch."""
        if (onto, change) not in self._known:
            self._known[onto, change] = self._merge(onto, change)
        return self._known[onto, change]

    def replay(self, base: str, line: Sequence[Change]) -> ReferenceResult:
        """One after the other onto the base, without those that conflict."""
        head, kept, clashes = base, [], []
        for change in line:
            tree = self.merge_tree(head, change)
            if tree is None:
                clashes.append(change.task)
                continue
            kept.append(change.task)
            parents = ("-p", head, "-p", change.tip)
            head = self._repository.git("commit-tree", tree, *parents, "-m", f"replayed {change.task}")
        return ReferenceResult(self.tree(head), tuple(kept), tuple(clashes))

    def tree(self, commit: str) -> str:
        return self._repository.tree(commit)

    def parents(self, commit: str) -> list[str]:
        return self._repository.git("rev-list", "--parents", "--max-count=1", commit).split()[1:]

    def _merge(self, onto: str, change: Change) -> str | None:
        if self._contains(onto, change.base) and self._contains(change.tip, change.base):
            return self._repository.merge_tree(onto, change.tip)
        return self._repository.cherry_pick_tree(onto, change.base, change.tip)

    def _contains(self, commit: str, base: str) -> bool:
        return self._repository.run("merge-base", "--is-ancestor", base, commit).returncode == 0
