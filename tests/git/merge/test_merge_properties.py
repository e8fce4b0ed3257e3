"""Random repositories, random edits by fake agents, random order, drops and retries: the line is what git would make."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from plait.core.decisions import Change
from plait.core.reports import MergeConflicted, MergeDone
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import GitRepository
from tests.support.random_agent import make_initial_files, make_random_agent

SEEDS = range(3)


class Story:
    """Tasks begin on the line as it is then, end in any order, and every step is compared with git in a checkout."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._rng = Random(seed)
        self.repository = GitRepository(folder / "repository")
        self.line = MergedBranch(self.repository, self.repository.commit(make_initial_files(self._rng)))
        self.running: list[Change] = []
        self._begun = 0

    def begin(self) -> None:
        self._begun += 1
        base = self.line.head
        tip = self.repository.commit(make_random_agent(self._rng), base)
        if self._rng.random() < 0.3:
            tip = self.repository.commit(make_random_agent(self._rng), tip)
        self.running.append(Change(f"t{self._begun}", base, tip))

    def end(self) -> None:
        change = self.running.pop(self._rng.randrange(len(self.running)))
        onto = self.line.head
        grown = self.repository.run("merge-base", "--is-ancestor", change.base, onto).returncode == 0
        done = self.line.merge(change.task, change.tip, change.base)
        applied = self.repository.cherry_pick_tree(onto, change.base, change.tip)
        assert self._tree(done) == applied
        if grown:
            assert applied == self.repository.merge_tree(onto, change.tip)

    def drop(self) -> Change:
        dropped = self._rng.choice(self.line.changes)
        before = [change for change in self.line.changes if change != dropped]
        done = self.line.rebuild(self.line.make_rebuild(dropped.task))
        head, kept = self.line.base, []
        for change in before:
            tree = self.repository.cherry_pick_tree(head, change.base, change.tip)
            if tree is not None:
                kept.append(change)
                head = self.repository.git("commit-tree", tree, "-p", head, "-m", "replayed")
        assert self.line.changes == kept
        assert [clash.task for clash in done.clashes] == [x.task for x in before if x not in kept]
        assert self.repository.tree(self.line.read_head) == self.repository.tree(head)
        return dropped

    def retry(self, dropped: Change) -> None:
        """On the branch that it left, or on a new one."""
        if self._rng.random() < 0.5:
            tip = self.repository.commit(make_random_agent(self._rng), dropped.tip)
            self.running.append(Change(dropped.task, dropped.base, tip))
        else:
            self.begin()

    def _tree(self, done: MergeDone | MergeConflicted) -> str | None:
        assert self.line.read_head in {self.line.head, ""}
        return self.repository.tree(done.commit) if isinstance(done, MergeDone) else None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_batch_branch_equals_the_same_branches_merged_by_git(tmp_path: Path, seed: int) -> None:
    story = Story(tmp_path, seed)
    for _ in range(3):
        story.begin()
    for _ in range(4):
        story.end()
        story.begin()
    while story.running:
        story.end()


@pytest.mark.parametrize("seed", SEEDS)
def test_after_drops_and_retries_the_branch_contains_the_remaining_changes(tmp_path: Path, seed: int) -> None:
    story = Story(tmp_path, 1000 + seed)
    for _ in range(3):
        story.begin()
    for _ in range(3):
        story.end()
        story.begin()
        if story.line.changes:
            story.retry(story.drop())
    while story.running:
        story.end()
    if story.line.changes:
        story.drop()
