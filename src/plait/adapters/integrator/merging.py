"""A change put onto a commit: merged in memory and written as a commit with two parents, on no branch yet."""

from __future__ import annotations

from collections.abc import Sequence

from plait.adapters.integrator import commits, regenerate, trees
from plait.adapters.integrator.ancestry import Ancestry
from plait.adapters.integrator.commits import Commit, Maker, worded
from plait.adapters.integrator.faults import gone
from plait.adapters.integrator.line import Mark
from plait.adapters.integrator.private import Private
from plait.adapters.integrator.regenerate import Anew, Regenerate
from plait.adapters.integrator.threeway import Blend, blend
from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.frozen import dataclass
from plait.core.reports import Clash
from plait.kit import Blending
from plait.ports import ChangeGoneError, MergeWords
from plait.site.git import Git


@dataclass(frozen=True, slots=True)
class Made:
    commit: str


class Merging:
    """`git` is the repository's own: commits are made by whom its settings name. Merging itself is private."""

    def __init__(self, git: Git, private: Private, ancestry: Ancestry, regenerate: Regenerate | None) -> None:
        self._git = git
        self._private = private
        self._ancestry = ancestry
        self._regenerate = regenerate
        self._maker = Maker(git)

    def known(self, change: Change, onto: str, *refs: str) -> dict[str, Commit]:
        """The commits that a merge needs, each of which is there, and those of the refs that are."""
        whose = {
            onto: "the head of the batch branch,",
            change.base: f"the base of {change.task},",
            change.tip: f"the result of {change.task},",
        }
        found = commits.read(self._git, [*whose, *refs])
        for name, what in whose.items():
            if name not in found:
                raise gone(name, what, WorldError if name == onto else ChangeGoneError)
        return found

    def put(self, mark: Mark, onto: str, tip: Commit, words: MergeWords, blending: Blending) -> Made | Clash:
        """History holds the task's own commits where they grew from this line. Where they did not, it must not: what was
        taken out would be in it again, and merging it later would be "already up to date".
        """
        sides = self._ancestry.sides(mark.change, onto, tip)
        git = self._private.git(blending)
        anew = self._set_aside(git, blend(self._private, sides, blending), blending, onto)
        if anew.clashes:
            return Clash(mark.change.task, anew.clashes)
        merged = self._made_anew(git, anew, onto, tip)
        other = tip.id if sides.natural else self._maker.again(merged, (onto,), tip)
        tree = self._edited(git, merged, words)
        message = worded(words.message, _trailers(words, mark))
        commit = self._maker.make(tree, (onto, other), message, tip.date)
        self._ancestry.grew(onto, commit)
        return Made(commit)

    def attempt(
        self, change: Change, onto: str, blending: Blending, settings: Sequence[str]
    ) -> tuple[Git, Blend, tuple[str, ...]]:
        """The merge of a change, tried only; with the files that stand against it, and where its tree can be read."""
        sides = self._ancestry.sides(change, onto, self.known(change, onto)[change.tip])
        git = self._private.git(blending)
        tried = blend(self._private, sides, blending, settings)
        return git, tried, self._set_aside(git, tried, blending, onto).clashes

    def _set_aside(self, git: Git, tried: Blend, blending: Blending, onto: str) -> Anew:
        if self._regenerate is None:
            return Anew(tried.tree, {}, tried.files)
        return regenerate.set_aside(git, tried, blending, onto)

    def _made_anew(self, git: Git, anew: Anew, onto: str, tip: Commit) -> str:
        tree = anew.tree
        for command, files in anew.files.items():
            assert self._regenerate is not None
            commit = self._maker.make(tree, (onto,), "To be made anew\n", tip.date)
            made = self._regenerate(commit, command, files)
            tree = trees.write(git, tree, {path: made[path] for path in files if path in made})
        return tree

    def _edited(self, git: Git, tree: str, words: MergeWords) -> str:
        if words.edit is None:
            return tree
        return trees.write(git, tree, words.edit(lambda path: trees.read(git, tree, path)))


def _trailers(words: MergeWords, mark: Mark) -> tuple[tuple[str, str], ...]:
    """What the merge is recognised by comes from the order itself, whatever the words say."""
    own = dict(mark.trailers)
    return (*mark.trailers, *((name, value) for name, value in words.trailers if name not in own))
