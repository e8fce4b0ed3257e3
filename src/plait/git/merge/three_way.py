"""Three-way merges in memory, whether the history of a change agrees with its base, and prediction of conflicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from plait.core.decisions import Change
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.interfaces import MergeRules, PredictedConflict
from plait.git.merge import commits
from plait.git.merge.commits import Commit
from plait.git.merge.private_gitdir import PrivateGitDirs

_USAGE_ERROR = 129


@dataclass(frozen=True, slots=True)
class MergeNote:
    """Git's note about some files. Kinds that begin with CONFLICT are conflicts."""

    paths: tuple[str, ...]
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ConflictStage:
    """A file in conflict on one side: 1 is the base, 2 ours, 3 theirs."""

    path: str
    number: int
    object: str
    mode: str


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The result of a merge: `ours` and `theirs` are the merged commits, `files` those in conflict: in `tree` they
    contain both sides.
    """

    ours: str
    theirs: str
    tree: str
    clean: bool
    files: tuple[str, ...] = ()
    notes: tuple[MergeNote, ...] = ()
    stages: tuple[ConflictStage, ...] = ()

    @property
    def changed_on_both(self) -> tuple[str, ...]:
        """List the files that both sides changed: those in conflict, and those that git merged by lines."""
        merged = (path for note in self.notes if note.kind == "Auto-merging" for path in note.paths)
        return tuple(dict.fromkeys((*self.files, *merged)))


@dataclass(frozen=True, slots=True)
class MergeSides:
    """The change from `base` to `tip`, to be merged onto `onto`. `history_agrees`: the merge base of `onto` and `tip`
    gives the same change.
    """

    base: str
    onto: str
    tip: str
    history_agrees: bool


def merge_three_way(
    private: PrivateGitDirs, sides: MergeSides, rules: MergeRules, settings: Sequence[str] = ()
) -> MergeResult:
    """Merge as `git merge` does in a checkout of `onto`, with the rules applied as well.

    The attributes of `onto` are read only if git had to merge contents: without a note, they did not matter.
    """
    bare = private.git_for(rules)
    ours, theirs = _choose_commits(bare, sides)
    result = run_merge_tree(bare.with_options(settings=settings), ours, theirs)
    if not result.notes and result.clean:
        return result
    files = private.read_attributes(bare, sides.onto)
    if not files:
        return result
    return run_merge_tree(private.git_for(rules, files).with_options(settings=settings), ours, theirs)


def _choose_commits(git: Git, sides: MergeSides) -> tuple[str, str]:
    """Return the commits to merge; if their history does not agree with `base`, synthetic ones with the same trees."""
    if sides.history_agrees:
        return sides.onto, sides.tip
    ours, theirs = (
        commits.make_synthetic_commit(git, f"{side}^{{tree}}", sides.base) for side in (sides.onto, sides.tip)
    )
    return ours, theirs


def run_merge_tree(git: Git, ours: str, theirs: str) -> MergeResult:
    output = git.run("merge-tree", "--write-tree", "-z", "--messages", ours, theirs, codes=(0, 1))
    return _parse_result(ours, theirs, iter(_split_fields(output.out)), clean=output.code == 0)


def run_merge_trees(git: Git, pairs: Sequence[tuple[str, str]]) -> list[MergeResult]:
    """Run many merges in one process; their trees are not used."""
    feed = "".join(f"{ours} {theirs}\n" for ours, theirs in pairs).encode()
    args = ("merge-tree", "--write-tree", "--allow-unrelated-histories", "--messages", "--stdin")
    try:
        output = _split_fields(git.run(*args, stdin=feed).out)
    except GitError as error:
        if error.code != _USAGE_ERROR:
            raise
        return [run_merge_tree(git, ours, theirs) for ours, theirs in pairs]  # git 2.38 has no --stdin
    fields = iter(output)
    return [_parse_result(ours, theirs, fields, clean=next(fields) == "1") for ours, theirs in pairs]


def _split_fields(out: bytes) -> list[str]:
    return out.decode("utf-8", "surrogateescape").split("\0")


def _parse_result(ours: str, theirs: str, fields: Iterator[str], *, clean: bool) -> MergeResult:
    tree = next(fields)
    stages = tuple(_parse_stage(stage_line) for stage_line in iter(lambda: next(fields, ""), ""))
    listed = dict.fromkeys(stage.path for stage in stages)
    notes = tuple(_parse_notes(fields))
    # Some conflicts are in no file's content: what a renamed folder means, for one.
    conflicting = (note.paths for note in notes if note.kind.startswith("CONFLICT"))
    others = dict.fromkeys(path for paths in conflicting if not listed.keys() & set(paths) for path in paths)
    return MergeResult(ours, theirs, tree, clean, () if clean else (*listed, *others), notes, stages)


def _parse_stage(line: str) -> ConflictStage:
    header, _, path = line.partition("\t")
    mode, name, n = header.split(" ")
    return ConflictStage(path, int(n), name, mode)


def _parse_notes(fields: Iterator[str]) -> Iterator[MergeNote]:
    """Parse the notes. Each starts with its number of paths; anything else ends the list."""
    while (count := next(fields, "")).isdigit():
        paths = tuple(next(fields) for _ in range(int(count)))
        yield MergeNote(paths, next(fields), next(fields).strip())


class Ancestry:
    def __init__(self, git: Git) -> None:
        self._git = git
        self._known_ancestors: dict[
            str, set[str]
        ] = {}  # by the newest head of each line: commits it is known to contain

    def find_sides(self, change: Change, onto: str, tip: Commit) -> MergeSides:
        """Find out whether the history agrees: it does if `base` is in the history of both.

        Otherwise a change that was dropped from the line may be in the history of the branch, or the agent rewrote it.
        """
        agrees = self.contains(onto, change.base) and (
            change.base in {tip.id, *tip.parents} or self._git.is_ancestor(change.base, tip.id)
        )
        return MergeSides(change.base, onto, tip.id, agrees)

    def record_merge(self, onto: str, head: str) -> None:
        self._known_ancestors[head] = {*self._known_ancestors.pop(onto, ()), onto}

    def contains(self, onto: str, base: str) -> bool:
        if onto == base or base in self._known_ancestors.get(onto, ()):
            return True
        is_ancestor = self._git.is_ancestor(base, onto)
        if is_ancestor:
            self._known_ancestors.setdefault(onto, set()).add(base)
        return is_ancestor


TaskPair = tuple[str, str]
Tips = Mapping[str, tuple[str, str]]


def predict_conflicts(
    private: PrivateGitDirs, ancestry: Ancestry, onto: str, tips: Tips, rules: MergeRules
) -> list[PredictedConflict]:
    """Try each change against the branch, and against changes of the same files (or a file that is a folder there)."""
    bare = private.git_for(rules)
    git = private.git_for(rules, private.read_attributes(bare, onto))
    descending = {task: tip for task, (base, tip) in tips.items() if ancestry.contains(onto, base)}
    conflicts = _try_merges(git, {(task, ""): (onto, tip) for task, tip in descending.items()})
    for task in tips.keys() - descending.keys():
        base, tip = tips[task]
        conflicts[task, ""] = frozenset(
            merge_three_way(private, MergeSides(base, onto, tip, history_agrees=False), rules).files
        )
    changed = list_files_by_task(git, tips)
    pairs = _try_merges(git, {pair: (tips[pair[0]][1], tips[pair[1]][1]) for pair in _find_overlapping(changed)})
    for (left, right), files in pairs.items():
        common = changed[left] & changed[right]
        with_branch = conflicts[left, ""] | conflicts[right, ""]
        conflicts[left, right] = (files & common if common else files) - with_branch
    return [PredictedConflict(*pair, tuple(sorted(files))) for pair, files in sorted(conflicts.items()) if files]


def _try_merges(git: Git, pairs: Mapping[TaskPair, TaskPair]) -> dict[TaskPair, frozenset[str]]:
    results = run_merge_trees(git, list(pairs.values())) if pairs else []
    return {pair: frozenset(result.files) for pair, result in zip(pairs, results, strict=True)}


def list_files_by_task(git: Git, tips: Tips) -> dict[str, frozenset[str]]:
    """Return the files of each task's change, from one process."""
    feed = "".join(f"{tip} {base}\n" for base, tip in tips.values()).encode()
    fields = iter(git.run("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", stdin=feed).fields)
    files: dict[str, set[str]] = defaultdict(set)
    tip = ""
    for field in fields:
        if field.startswith(":"):
            files[tip].add(next(fields))
        else:
            tip = field
    return {task: frozenset(files[tip]) for task, (_, tip) in tips.items()}


def _find_overlapping(changed: Mapping[str, frozenset[str]]) -> Iterator[TaskPair]:
    tasks_by_path: dict[str, set[str]] = defaultdict(set)
    for task, files in changed.items():
        for path in files:
            tasks_by_path[path].add(task)
    pairs = {pair for tasks in tasks_by_path.values() for pair in combinations(sorted(tasks), 2)}
    for task, files in changed.items():
        overlapping = {
            other for path in files for parent in _parent_folders(path) for other in tasks_by_path.get(parent, ())
        }
        pairs |= {(min(task, other), max(task, other)) for other in overlapping - {task}}
    return iter(sorted(pairs))


def _parent_folders(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
