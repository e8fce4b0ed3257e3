"""Whether a task's branch grew from the line it is merged into, remembering what was merged just now."""

from __future__ import annotations

from plait.core.decisions import Change
from plait.git.command import Git
from plait.git.merge.commits import Commit
from plait.git.merge.three_way import MergeSides


class Ancestry:
    def __init__(self, git: Git) -> None:
        self._git = git
        self._known_ancestors: dict[
            str, set[str]
        ] = {}  # by the newest head of each line: commits it is known to contain

    def find_sides(self, change: Change, onto: str, tip: Commit) -> MergeSides:
        """Natural if `base` is in the history of both: then history tells no other change than `base` does.

        If it is not, a change that was taken out of the line may be in the branch's history, or the agent rewrote it.
        """
        natural = self.contains(onto, change.base) and (
            change.base in {tip.id, *tip.parents} or self._is_ancestor(change.base, tip.id)
        )
        return MergeSides(change.base, onto, tip.id, natural)

    def record_merge(self, onto: str, head: str) -> None:
        self._known_ancestors[head] = {*self._known_ancestors.pop(onto, ()), onto}

    def contains(self, onto: str, base: str) -> bool:
        if onto == base or base in self._known_ancestors.get(onto, ()):
            return True
        found = self._is_ancestor(base, onto)
        if found:
            self._known_ancestors.setdefault(onto, set()).add(base)
        return found

    def _is_ancestor(self, base: str, commit: str) -> bool:
        return self._git.run("merge-base", "--is-ancestor", base, commit, codes=(0, 1)).code == 0
