"""Makes batch branches in memory: the merged commit first, and then the branch is moved to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from plait.adapters.integrator import commits, foresight
from plait.adapters.integrator.ancestry import Ancestry
from plait.adapters.integrator.branch import Branch
from plait.adapters.integrator.commits import Commit
from plait.adapters.integrator.conflict import STYLE, tell
from plait.adapters.integrator.faults import gone, telling
from plait.adapters.integrator.line import Mark, standing
from plait.adapters.integrator.merging import Made, Merging
from plait.adapters.integrator.private import Private
from plait.adapters.integrator.regenerate import Regenerate
from plait.core.decisions import Change, MergeStarted, RebuildStarted
from plait.core.reports import Clash, MergeConflicted, Merged, MergeDone, RebuildDone
from plait.kit import Blending
from plait.ports import Foreseen, MergeWords
from plait.site.git import Git, GitError

_NO_RULES = Blending()


class GitIntegrator:
    """The integrator of the repository whose common git dir is `git_dir`; `private` is plait's own folder.

    `regenerate` makes files anew in a checkout of a commit; without it, such files are merged like all others.
    """

    def __init__(
        self,
        git_dir: Path,
        private: Path,
        *,
        environment: Mapping[str, str] | None = None,
        regenerate: Regenerate | None = None,
    ) -> None:
        self._git_dir = git_dir.absolute()
        own = os.environ if environment is None else environment
        here = {"GIT_DIR": str(self._git_dir), "GIT_NO_REPLACE_OBJECTS": "1"}
        self._git = Git(self._git_dir, environment=own, variables=here)
        self._private = Private(self._git_dir, private.absolute(), own)
        self._ancestry = Ancestry(self._git)
        self._merging = Merging(self._git, self._private, self._ancestry, regenerate)

    def merge(
        self, order: MergeStarted, words: MergeWords, blending: Blending
    ) -> MergeDone | MergeConflicted:
        with telling(f"{order.task} could not be merged"):
            return self._merge(order, words, blending)

    def rebuild(
        self, order: RebuildStarted, base: str, words: Mapping[str, MergeWords], blending: Blending
    ) -> RebuildDone:
        with telling(f"the branch of batch {order.batch} could not be made anew"):
            return self._rebuild(order, base, words, blending)

    def conflict(self, order: MergeStarted, blending: Blending) -> str:
        with telling(f"the conflict of {order.task} could not be read"):
            git, tried, clashes = self._merging.attempt(_change(order), order.onto, blending, STYLE)
            return tell(git, tried, clashes)

    def foresee(
        self, onto: str, tips: Mapping[str, tuple[str, str]], blending: Blending = _NO_RULES
    ) -> list[Foreseen]:
        with telling("conflicts could not be foreseen"):
            here = commits.read(self._git, [onto, *(name for pair in tips.values() for name in pair)])
            known = {task: pair for task, pair in tips.items() if {onto, *pair} <= here.keys()}
            return foresight.foresee(self._private, self._ancestry, onto, known, blending) if known else []

    def _merge(
        self, order: MergeStarted, words: MergeWords, blending: Blending
    ) -> MergeDone | MergeConflicted:
        branch = Branch(self._git, self._git_dir, order.batch)
        mark = Mark(order.batch, _change(order))
        known = self._merging.known(mark.change, order.onto, branch.ref)
        at = known.get(branch.ref)
        if at is not None and at.id != order.onto:
            return _found(branch, mark, order, at)
        branch.guard()
        made = self._merging.put(mark, order.onto, known[order.tip], words, blending)
        if isinstance(made, Clash):
            return MergeConflicted(order.batch, order.task, order.n, made.files)
        try:
            branch.move(made.commit, at.id if at else None, f"merge {order.task}")
        except GitError:
            now = commits.read(self._git, [branch.ref]).get(branch.ref)
            if now is None or now.id == order.onto:
                raise
            return _found(branch, mark, order, now)
        return MergeDone(order.batch, order.task, order.n, made.commit)

    def _rebuild(
        self, order: RebuildStarted, base: str, words: Mapping[str, MergeWords], blending: Blending
    ) -> RebuildDone:
        """What stands on the same ground as before is kept: a commit that was tested stays that commit."""
        branch = Branch(self._git, self._git_dir, order.batch)
        known = commits.read(self._git, [branch.ref, base])
        if base not in known:
            raise gone(base, "the base of the batch,")
        at = known.get(branch.ref)
        old = standing(self._git, order.batch, at.id, base) if at else {}
        if at is not None and old is None:
            raise branch.foreign(at.id)
        head, line, clashes = base, [], []
        for change in order.line:
            mark = Mark(order.batch, change)
            made = _kept(mark, head, old or {}) or self._put(mark, head, words, blending)
            if isinstance(made, Clash):
                clashes.append(made)
            else:
                head = made.commit
                line.append(Merged(change.task, head))
        self._exchange(branch, at, head, order.n)
        return RebuildDone(order.batch, order.n, tuple(line), tuple(clashes))

    def _put(
        self, mark: Mark, onto: str, words: Mapping[str, MergeWords], blending: Blending
    ) -> Made | Clash:
        tip = self._merging.known(mark.change, onto)[mark.change.tip]
        said = words.get(mark.change.task) or MergeWords(f"Merge {mark.change.task}")
        return self._merging.put(mark, onto, tip, said, blending)

    def _exchange(self, branch: Branch, at: Commit | None, head: str, n: int) -> None:
        """The new line for the old one, which is saved first."""
        if at is not None and at.id == head:
            return
        branch.guard()
        if at is not None:
            branch.keep(at.id, n)
        branch.move(head, at.id if at else None, "made anew")


def _change(order: MergeStarted) -> Change:
    return Change(order.task, order.base, order.tip)


def _found(branch: Branch, mark: Mark, order: MergeStarted, at: Commit) -> MergeDone:
    """The branch is not where it was left: this very merge was made before a crash, or somebody else moved it."""
    if not mark.on(at, order.onto):
        raise branch.astray(at.id, order.onto)
    return MergeDone(order.batch, order.task, order.n, at.id)


def _kept(mark: Mark, onto: str, old: Mapping[str, Commit]) -> Made | None:
    was = old.get(onto)
    return Made(was.id) if was is not None and mark.on(was, onto) else None
