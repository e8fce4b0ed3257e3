"""Conflicts seen early: which changes would not go together if they were merged as they are now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from plait.git.command import Git
from plait.git.merge.private_gitdir import PrivateGitDirs
from plait.git.merge.three_way import MergeSides, merge_three_way, run_merge_trees
from plait.git.merge.three_way__ancestry import Ancestry
from plait.store.batch_inputs import MergeRules
from plait.store.interfaces import PredictedConflict

TaskPair = tuple[str, str]
Tips = Mapping[str, tuple[str, str]]


def predict_conflicts(
    private: PrivateGitDirs, ancestry: Ancestry, onto: str, tips: Tips, blending: MergeRules
) -> list[PredictedConflict]:
    """Each change against the branch, and against those that changed the same files, or a file that is a folder there."""
    bare = private.git_for(blending)
    git = private.git_for(blending, private.read_attributes(bare, onto))
    natural = {task: tip for task, (base, tip) in tips.items() if ancestry.contains(onto, base)}
    found = _try_merges(git, {(task, ""): (onto, tip) for task, tip in natural.items()})
    for task in tips.keys() - natural.keys():
        base, tip = tips[task]
        found[task, ""] = frozenset(
            merge_three_way(private, MergeSides(base, onto, tip, history_agrees=False), blending).files
        )
    changed = list_files_by_task(git, tips)
    pairs = _try_merges(
        git, {pair: (tips[pair[0]][1], tips[pair[1]][1]) for pair in _find_overlapping(changed)}
    )
    for (left, right), files in pairs.items():
        common = changed[left] & changed[right]
        with_branch = found[left, ""] | found[right, ""]
        found[left, right] = (files & common if common else files) - with_branch
    return [PredictedConflict(*pair, tuple(sorted(files))) for pair, files in sorted(found.items()) if files]


def _try_merges(git: Git, pairs: Mapping[TaskPair, TaskPair]) -> dict[TaskPair, frozenset[str]]:
    done = run_merge_trees(git, list(pairs.values())) if pairs else []
    return {pair: frozenset(tried.files) for pair, tried in zip(pairs, done, strict=True)}


def list_files_by_task(git: Git, tips: Tips) -> dict[str, frozenset[str]]:
    """The files of each task's own change, by one process."""
    feed = "".join(f"{tip} {base}\n" for base, tip in tips.values()).encode()
    told = iter(git.run("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", stdin=feed).fields)
    files: dict[str, set[str]] = defaultdict(set)
    tip = ""
    for word in told:
        if word.startswith(":"):
            files[tip].add(next(told))
        else:
            tip = word
    return {task: frozenset(files[tip]) for task, (_, tip) in tips.items()}


def _find_overlapping(changed: Mapping[str, frozenset[str]]) -> Iterator[TaskPair]:
    touching: dict[str, set[str]] = defaultdict(set)
    for task, files in changed.items():
        for path in files:
            touching[path].add(task)
    pairs = {pair for tasks in touching.values() for pair in combinations(sorted(tasks), 2)}
    for task, files in changed.items():
        clashing = {
            other for path in files for above in _parent_folders(path) for other in touching.get(above, ())
        }
        pairs |= {(min(task, other), max(task, other)) for other in clashing - {task}}
    return iter(sorted(pairs))


def _parent_folders(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
