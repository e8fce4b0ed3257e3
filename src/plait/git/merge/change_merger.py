"""Files that are made anew by a command instead of being merged line by line: lock files, for one.

A change put onto a commit: merged in memory and written as a commit with two parents, on no branch yet.

From what git says to what a person should be told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import RebuildConflict
from plait.git.command import Git, GitError
from plait.git.interfaces import ChangeGoneError, MergeMessage, MergeRules
from plait.git.merge import commits, objects
from plait.git.merge.branch import MergeTrailers
from plait.git.merge.commits import Commit, CommitMaker, format_merge_message
from plait.git.merge.private_gitdir import REGENERATE_ATTRIBUTE, PrivateGitDirs
from plait.git.merge.three_way import Ancestry, MergeResult, merge_three_way

# A commit to check out, the command to run there, and the files it makes: what they hold afterwards.
Regenerate = Callable[[str, str, tuple[str, ...]], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True)
class RegenerationPlan:
    """A merged tree in which `files`, by the command that makes them, are still as the branch had them."""

    tree: str
    files: Mapping[str, tuple[str, ...]]
    conflicts: tuple[str, ...]


def plan_regeneration(git: Git, blend: MergeResult, blending: MergeRules, onto: str) -> RegenerationPlan:
    """Take the branch's version of each file that is made anew; `clashes` are the conflicts that are left."""
    rules = _match_rules(git, blend.changed_on_both, blending)
    clashes = tuple(path for path in blend.files if path not in rules)
    tree = objects.update_entries(
        git, blend.tree, {path: objects.find_entry(git, f"{onto}^{{tree}}", path) for path in rules}
    )
    commands = dict.fromkeys(rules.values())
    files = {command: tuple(sorted(path for path in rules if rules[path] == command)) for command in commands}
    return RegenerationPlan(tree, files, clashes)


def _match_rules(git: Git, paths: tuple[str, ...], blending: MergeRules) -> dict[str, str]:
    if not paths or not blending.regenerate:
        return {}
    feed = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    told = git.run("check-attr", "-z", "--stdin", REGENERATE_ATTRIBUTE, stdin=feed).fields
    numbers = {path: value for path, value in zip(told[::3], told[2::3], strict=True) if value.isdigit()}
    return {
        path: blending.regenerate[int(value)][1]
        for path, value in numbers.items()
        if int(value) < len(blending.regenerate)
    }


@dataclass(frozen=True, slots=True)
class MergedCommit:
    commit: str


class ChangeMerger:
    """`git` is the repository's own: commits are made by whom its settings name. Merging itself is private."""

    def __init__(self, git: Git, private: PrivateGitDirs, ancestry: Ancestry, regenerate: Regenerate | None) -> None:
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

    def _plan_regeneration(self, git: Git, tried: MergeResult, blending: MergeRules, onto: str) -> RegenerationPlan:
        if self._regenerate is None:
            return RegenerationPlan(tried.tree, {}, tried.files)
        return plan_regeneration(git, tried, blending, onto)

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
        return objects.write_files(git, tree, words.edit_files(lambda path: objects.read_file(git, tree, path)))


def _merge_trailers(words: MergeMessage, mark: MergeTrailers) -> tuple[tuple[str, str], ...]:
    """What the merge is recognised by comes from the order itself, whatever the words say."""
    own = dict(mark.trailers)
    return (*mark.trailers, *((name, value) for name, value in words.trailers if name not in own))


_HINTS = (
    (("No space left on device", "Disk quota exceeded", "File too large"), "Free some space on the disk."),
    (
        (
            "unable to read",
            "inflate:",
            "corrupt",
            "missing blob",
            "bad object",
            "bad tree",
            "not a valid object",
            "could not read",
        ),
        "An object of the repository is missing or damaged: `git fsck` tells which.",
    ),
    (("Permission denied", "Read-only file system", "insufficient permission"), "Check who may write there."),
    (("exists; cannot create",), "Rename the branch that stands in the way."),
    (
        ("gpg failed to sign", "Couldn't sign", "failed to write commit object"),
        "Check how git signs commits.",
    ),
)


@contextmanager
def map_errors(what: str) -> Iterator[None]:
    """Whatever goes wrong inside is told with what was being done, and with the way out where it is known."""
    try:
        yield
    except GitError as error:
        heard = f"{error.stderr} {error.message}"
        way = next((way for signs, way in _HINTS if any(sign in heard for sign in signs)), error.hint)
        raise WorldError(f"{what}: {error.message}", hint=way) from error
    except OSError as error:
        raise WorldError(f"{what}: {error}", hint="Look at the disk and at who may write there.") from error


def make_missing_commit_error(commit: str, whose: str, error: type[WorldError] = WorldError) -> WorldError:
    return error(
        f"{whose} {commit[:12] if commit.isalnum() else repr(commit)} is not in the repository any more",
        hint="If it was pruned or never fetched, fetch it again, or retry the task.",
    )
