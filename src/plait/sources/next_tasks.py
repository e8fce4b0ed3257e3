"""What would start now, and why: first what is in progress, then what failed and may be tried again, then the rest.

One task that is stale or has used up its tries never hides the others: it comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from plait.core.estimate import find_initial_tasks
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan
from plait.core.settings import Settings
from plait.sources.source_model import SourceEntry, SourceStatus

# Far apart from each other, whatever priorities the tasks themselves have.
_FIRST, _SECOND, _LATE, _LAST = -2000, -1000, 1000, 2000


@dataclass(frozen=True, slots=True)
class NextTask:
    """A task that would start now. `conflicts_with` are the tasks that share a file with it and would have to wait."""

    entry: SourceEntry
    reason: str
    conflicts_with: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()


def list_next_tasks(
    plan: Plan, entries: Mapping[str, SourceEntry], settings: Settings, now: datetime
) -> list[NextTask]:
    """All of them, best first; whoever shows them takes as many as wanted."""
    standing = {task.id: _rank_task(entries[task.id], settings, now) for task in plan.tasks}
    tasks = tuple(replace(task, priority=task.priority + standing[task.id][0]) for task in plan.tasks)
    ids = find_initial_tasks(replace(plan, tasks=tasks), settings)
    sharing = _index_file_sharing(plan)
    return [NextTask(entries[name], standing[name][1], sharing(name)) for name in ids]


def _rank_task(entry: SourceEntry, settings: Settings, now: datetime) -> tuple[int, str]:
    """How far ahead of the others a task comes, and the words for it."""
    match entry.status:
        case SourceStatus.DOING if _is_stale(entry, settings, now):
            return _LATE, "in progress, but not heard of for longer than an attempt may take"
        case SourceStatus.DOING:
            return _FIRST, "in progress"
        case SourceStatus.FAILED if entry.tries >= _max_retries(entry, settings):
            return _LAST, "failed, and its tries are used up"
        case SourceStatus.FAILED:
            return _SECOND, "failed before, and may be tried again"
        case _ if entry.task.needs:
            return 0, "all that it needs is done"
        case _:
            return 0, "it needs nothing"


def _max_retries(entry: SourceEntry, settings: Settings) -> int:
    return settings.retries if entry.task.retries is None else entry.task.retries


def _is_stale(entry: SourceEntry, settings: Settings, now: datetime) -> bool:
    return entry.since is not None and (now - entry.since).total_seconds() > settings.timeout


def _index_file_sharing(plan: Plan) -> Callable[[str], tuple[str, ...]]:
    """The other tasks that hold a file of this one, looked up by file."""
    holds = {task.id: hold for task, hold in zip(plan.tasks, plan.holds, strict=True)}
    holders: dict[str, list[str]] = {}
    for name, hold in holds.items():
        for token in hold:
            holders.setdefault(token, []).append(name)

    def others(name: str) -> tuple[str, ...]:
        found = dict.fromkeys(other for token in holds[name] for other in holders[token])
        return tuple(other for other in found if other != name)

    return others
