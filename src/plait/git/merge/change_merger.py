"""A change put onto a commit: merged in memory and written as a commit with two parents, on no branch yet."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import RebuildConflict
from plait.git.command import Git
from plait.git.merge import change_merger__regenerate, commits, objects
from plait.git.merge.branch__line import MergeTrailers
from plait.git.merge.change_merger__faults import make_missing_commit_error
from plait.git.merge.change_merger__regenerate import Regenerate, RegenerationPlan
from plait.git.merge.commits import Commit, CommitMaker, format_merge_message
from plait.git.merge.private_gitdir import PrivateGitDirs
from plait.git.merge.three_way import MergeResult, merge_three_way
from plait.git.merge.three_way__ancestry import Ancestry
from plait.store.batch_inputs import MergeRules
from plait.store.interfaces import ChangeGoneError, MergeMessage


@dataclass(frozen=True, slots=True)
class MergedCommit:
    commit: str


class ChangeMerger:
    """`git` is the repository's own: commits are made by whom its settings name. Merging itself is private."""

    def __init__(
        self, git: Git, private: PrivateGitDirs, ancestry: Ancestry, regenerate: Regenerate | None
    ) -> None:
        self._git = git
        self._private = private
        self._ancestry = ancestry
        self._regenerate = regenerate
        self._maker = CommitMaker(git)

    def read_commits(self, change: Change, onto: str, *refs: str) -> dict[str, Commit]:
        """The commits that a merge needs, each of which is there, and those of the refs that are."""
        whose = {
            onto: "the head of the batch branch,",
            change.base: f"the base of {change.task},",
            change.tip: f"the result of {change.task},",
        }
        found = commits.read_commits(self._git, [*whose, *refs])
        for name, what in whose.items():
            if name not in found:
                raise make_missing_commit_error(name, what, WorldError if name == onto else ChangeGoneError)
        return found

    def merge_change(
        self, mark: MergeTrailers, onto: str, tip: Commit, words: MergeMessage, blending: MergeRules
    ) -> MergedCommit | RebuildConflict:
        """History holds the task's own commits where they grew from this line. Where they did not, it must not: what was
        taken out would be in it again, and merging it later would be "already up to date".
        """
        sides = self._ancestry.find_sides(mark.change, onto, tip)
        git = self._private.git_for(blending)
        anew = self._plan_regeneration(git, merge_three_way(self._private, sides, blending), blending, onto)
        if anew.conflicts:
            return RebuildConflict(mark.change.task, anew.conflicts)
        merged = self._regenerate_files(git, anew, onto, tip)
        other = tip.id if sides.history_agrees else self._maker.recommit(merged, (onto,), tip)
        tree = self._apply_edits(git, merged, words)
        message = format_merge_message(words.message, _merge_trailers(words, mark))
        commit = self._maker.make(tree, (onto, other), message, tip.date)
        self._ancestry.record_merge(onto, commit)
        return MergedCommit(commit)

    def try_merge(
        self, change: Change, onto: str, blending: MergeRules, settings: Sequence[str]
    ) -> tuple[Git, MergeResult, tuple[str, ...]]:
        """The merge of a change, tried only; with the files that stand against it, and where its tree can be read."""
        sides = self._ancestry.find_sides(change, onto, self.read_commits(change, onto)[change.tip])
        git = self._private.git_for(blending)
        tried = merge_three_way(self._private, sides, blending, settings)
        return git, tried, self._plan_regeneration(git, tried, blending, onto).conflicts

    def _plan_regeneration(
        self, git: Git, tried: MergeResult, blending: MergeRules, onto: str
    ) -> RegenerationPlan:
        if self._regenerate is None:
            return RegenerationPlan(tried.tree, {}, tried.files)
        return change_merger__regenerate.plan_regeneration(git, tried, blending, onto)

    def _regenerate_files(self, git: Git, anew: RegenerationPlan, onto: str, tip: Commit) -> str:
        tree = anew.tree
        for command, files in anew.files.items():
            assert self._regenerate is not None
            commit = self._maker.make(tree, (onto,), "To be made anew\n", tip.date)
            made = self._regenerate(commit, command, files)
            tree = objects.write_files(git, tree, {path: made[path] for path in files if path in made})
        return tree

    def _apply_edits(self, git: Git, tree: str, words: MergeMessage) -> str:
        if words.edit_files is None:
            return tree
        return objects.write_files(
            git, tree, words.edit_files(lambda path: objects.read_file(git, tree, path))
        )


def _merge_trailers(words: MergeMessage, mark: MergeTrailers) -> tuple[tuple[str, str], ...]:
    """What the merge is recognised by comes from the order itself, whatever the words say."""
    own = dict(mark.trailers)
    return (*mark.trailers, *((name, value) for name, value in words.trailers if name not in own))
