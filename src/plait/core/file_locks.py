"""Holds: the tokens a task takes as a whole at its start and keeps until it is merged.

`file:PATH` comes from what it touches (see overlap), `group:NAME` from its exclusive group, `pair:A|B` from a conflict
with one other task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from plait.core.dependencies import DependencyRow, UnplannedTasks
from plait.core.file_locks__overlap import FILE_PREFIX, find_file_locks, normalize_touch
from plait.core.plan import Problem, Severity
from plait.core.task import Task

GROUP_PREFIX = "group:"
PAIR_PREFIX = "pair:"

LockNames = tuple[str, ...]

# With four at once, the default, a file that more than a quarter of the tasks share sets the length of the batch.
_MIN_CROWD = 5
_CROWD_DIVISOR = 4


def assign_locks(
    tasks: Sequence[Task], index: Mapping[str, int], outside: UnplannedTasks
) -> tuple[list[LockNames], list[Problem]]:
    """For each task its tokens, sorted; and what is wrong with what it touches or conflicts with."""
    pairs, problems = _pair_locks(tasks, index, outside)
    normals = {
        said: normalize_touch(said)
        for said in dict.fromkeys(chain.from_iterable(task.touches for task in tasks))
    }
    problems += _check_touched_paths(tasks, normals)
    taken = find_file_locks({touch for touch in normals.values() if touch is not None})
    of_said = {said: taken[touch] for said, touch in normals.items() if touch is not None}
    held: list[LockNames] = []
    for place, task in enumerate(tasks):
        if not (task.touches or task.exclusive or place in pairs):
            held.append(())
            continue
        mine = set(chain.from_iterable(of_said.get(said, ()) for said in task.touches))
        mine.update(pairs.get(place, ()))
        if task.exclusive:
            mine.add(GROUP_PREFIX + task.exclusive)
        held.append(tuple(sorted(mine)))
    return held, problems


def _pair_locks(
    tasks: Sequence[Task], index: Mapping[str, int], outside: UnplannedTasks
) -> tuple[dict[int, list[str]], list[Problem]]:
    pairs: dict[int, list[str]] = {}
    problems = []
    for place, task in enumerate(tasks):
        for other in task.conflicts_with:
            if other in index and other != task.id:
                token = PAIR_PREFIX + "|".join(sorted((task.id, other)))
                pairs.setdefault(place, []).append(token)
                pairs.setdefault(index[other], []).append(token)
            elif other not in index and other not in outside.known and other not in outside.finished:
                message = f"{task.id} conflicts with {other}, which no source knows"
                problems.append(Problem(Severity.WARNING, message, task.origin))
    return pairs, problems


def _check_touched_paths(tasks: Sequence[Task], normals: Mapping[str, str | None]) -> Iterator[Problem]:
    bad = {said for said, touch in normals.items() if touch is None}
    for task in tasks if bad else ():
        for said in dict.fromkeys(task.touches):
            if said in bad:
                message = f"{task.id} touches {said or 'a file without a name'}, which is not in the repository: ignored"
                hint = "Paths are written from the top of the repository, without / or .. in front."
                yield Problem(Severity.WARNING, message, task.origin, hint)


def file_of_lock(token: str) -> str | None:
    """The file, folder or glob that a token stands for, as people write it."""
    return token.removeprefix(FILE_PREFIX).removesuffix("/") if token.startswith(FILE_PREFIX) else None


def find_crowded_files(held: Sequence[LockNames], needs: Sequence[DependencyRow]) -> list[Problem]:
    """A warning when one file keeps many tasks from running side by side that nothing else keeps in order."""
    counts = Counter(chain.from_iterable(held))
    most = max(_MIN_CROWD, len(held) // _CROWD_DIVISOR + 1)
    crowded = {token: set[int]() for token, count in counts.items() if count >= most and file_of_lock(token)}
    for place, hold in enumerate(held) if crowded else ():
        for token in crowded.keys() & set(hold):
            crowded[token].add(place)
    loose = {
        token: sum(sharers.isdisjoint(needs[place]) for place in sharers)
        for token, sharers in crowded.items()
    }
    worst = max(loose, key=lambda token: loose[token], default="")
    if loose.get(worst, 0) < most:
        return []
    others = sum(count >= most for count in loose.values()) - 1
    more = (
        f", and so do {others} more files" if others > 1 else ", and so does another file" if others else ""
    )
    message = (
        f"{file_of_lock(worst)} keeps {len(crowded[worst])} of {len(held)} tasks one after another{more}"
    )
    return [
        Problem(
            Severity.WARNING, message, hint='If they can share it, set file_conflicts to "declared" or "off".'
        )
    ]
