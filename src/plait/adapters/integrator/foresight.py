"""Conflicts seen early: which changes would not go together if they were merged as they are now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from plait.adapters.integrator.ancestry import Ancestry
from plait.adapters.integrator.private import Private
from plait.adapters.integrator.threeway import Sides, blend, probe
from plait.kit import Blending
from plait.ports import Foreseen
from plait.site.git import Git

Pair = tuple[str, str]
Tips = Mapping[str, tuple[str, str]]


def foresee(
    private: Private, ancestry: Ancestry, onto: str, tips: Tips, blending: Blending
) -> list[Foreseen]:
    """Each change against the branch, and against those that changed the same files, or a file that is a folder there."""
    bare = private.git(blending)
    git = private.git(blending, private.attributes(bare, onto))
    natural = {task: tip for task, (base, tip) in tips.items() if ancestry.contains(onto, base)}
    found = _tried(git, {(task, ""): (onto, tip) for task, tip in natural.items()})
    for task in tips.keys() - natural.keys():
        base, tip = tips[task]
        found[task, ""] = frozenset(blend(private, Sides(base, onto, tip, natural=False), blending).files)
    changed = changed_by(git, tips)
    pairs = _tried(git, {pair: (tips[pair[0]][1], tips[pair[1]][1]) for pair in _overlapping(changed)})
    for (left, right), files in pairs.items():
        common = changed[left] & changed[right]
        with_branch = found[left, ""] | found[right, ""]
        found[left, right] = (files & common if common else files) - with_branch
    return [Foreseen(*pair, tuple(sorted(files))) for pair, files in sorted(found.items()) if files]


def _tried(git: Git, pairs: Mapping[Pair, Pair]) -> dict[Pair, frozenset[str]]:
    done = probe(git, list(pairs.values())) if pairs else []
    return {pair: frozenset(tried.files) for pair, tried in zip(pairs, done, strict=True)}


def changed_by(git: Git, tips: Tips) -> dict[str, frozenset[str]]:
    """The files of each task's own change, by one process."""
    feed = "".join(f"{tip} {base}\n" for base, tip in tips.values()).encode()
    told = iter(git.run("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", feed=feed).words)
    files: dict[str, set[str]] = defaultdict(set)
    tip = ""
    for word in told:
        if word.startswith(":"):
            files[tip].add(next(told))
        else:
            tip = word
    return {task: frozenset(files[tip]) for task, (_, tip) in tips.items()}


def _overlapping(changed: Mapping[str, frozenset[str]]) -> Iterator[Pair]:
    touching: dict[str, set[str]] = defaultdict(set)
    for task, files in changed.items():
        for path in files:
            touching[path].add(task)
    pairs = {pair for tasks in touching.values() for pair in combinations(sorted(tasks), 2)}
    for task, files in changed.items():
        clashing = {other for path in files for above in _above(path) for other in touching.get(above, ())}
        pairs |= {(min(task, other), max(task, other)) for other in clashing - {task}}
    return iter(sorted(pairs))


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
