"""From sources and a selection to a checked plan, and to the tasks that would start now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from plait.core.dependencies import UnknownNeeds
from plait.core.fast_dataclass import dataclass
from plait.core.graph import build_checked_plan
from plait.core.plan import Plan, Problem, has_errors
from plait.core.settings import Settings
from plait.core.task import Task
from plait.sources.selectors import add_needs, leave_out_dependents_of_stuck, select_ids, select_tasks
from plait.sources.source_model import SourceEntry, SourceStatus
from plait.sources.source_set import SourceSet


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a person asked for: which tasks, and what to do about needs that the selection does not meet.

    `ids` are exact: a program names tasks by them, where a person selects. `again`: include what earlier batches
    completed; None: only if `ids` names it.
    """

    select: str | None = None
    with_needs: bool = False
    ignore_needs: bool = False
    resume: bool = False
    unknown: UnknownNeeds = UnknownNeeds.DONE
    ids: tuple[str, ...] = ()
    again: bool | None = False


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan, or the reasons why there is none. `complete`: nothing is left to do.

    `unreadable` tasks were selected and are not in the plan. `unread_count`: open checkboxes that are no tasks.
    `has_deferred`: some tasks are left for later, or for never.
    """

    plan: Plan | None
    problems: tuple[Problem, ...]
    complete: bool = False
    unreadable: tuple[str, ...] = ()
    unread_count: int = 0
    has_deferred: bool = False

    def describe_complete(self, what: str = "Everything selected") -> str:
        """Say that nothing is left to do, but not that everything is complete while a checkbox in a source is open."""
        done = "complete or deferred" if self.has_deferred else "complete"
        if not self.unread_count:
            return f"{what} is {done}: there is nothing to do."
        count = self.unread_count
        boxes = (
            "1 open checkbox is not read as a task" if count == 1 else f"{count} open checkboxes are not read as tasks"
        )
        return f"Every task that was read is {done}, but {boxes}: see the notes."

    @property
    def failed(self) -> bool:
        return has_errors(self.problems)


def plan_tasks(
    source_set: SourceSet, options: PlanOptions, durations: Callable[[Task], float] | None = None
) -> PlanResult:
    if has_errors(source_set.problems) and not source_set.entries:
        return PlanResult(None, source_set.problems)
    selection = (
        select_ids(source_set, options.ids, resume=options.resume)
        if options.ids
        else select_tasks(source_set, options.select, resume=options.resume)
    )
    problems = source_set.problems + selection.problems
    ids = selection.ids
    if not (options.with_needs or options.ignore_needs):
        ids, notes = leave_out_dependents_of_stuck(source_set, ids)
        problems += tuple(notes)
    if selection.failed or not ids:
        complete = selection.complete and not selection.failed
        return PlanResult(
            None,
            problems,
            complete=complete,
            unread_count=source_set.unread_count,
            has_deferred=selection.has_deferred,
        )
    chosen = set(add_needs(source_set, ids) if options.with_needs else ids)
    entries = [entry for entry in source_set.entries if entry.task.id in chosen]
    if options.ids:  # a program names them in the order in which they shall run; what they need comes first
        order = {name: position for position, name in enumerate(ids)}
        entries.sort(key=lambda entry: order.get(entry.task.id, -1))
    checked = build_checked_plan(
        [source_set.build_task(entry) for entry in entries],
        phases=source_set.phases,
        finished=source_set.finished_ids,
        known=source_set.by_id.keys() - source_set.finished_ids,
        unknown=options.unknown,
        ignore_needs=options.ignore_needs,
        durations=durations,
    )
    problems += checked.problems
    return PlanResult(None if has_errors(problems) else checked.plan, problems, unreadable=selection.unreadable)


# Far apart from each other, whatever priorities the tasks themselves have.
_FIRST, _SECOND, _LATE, _LAST = -2000, -1000, 1000, 2000


@dataclass(frozen=True, slots=True)
class NextTask:
    """A task that would start now. `conflicts_with` are the tasks that share a file with it and would have to wait."""

    entry: SourceEntry
    reason: str
    conflicts_with: tuple[str, ...] = ()


def list_next_tasks(
    plan: Plan, entries: Mapping[str, SourceEntry], settings: Settings, now: datetime
) -> list[NextTask]:
    """Return all tasks that would start now, best first: those in progress, failed ones to retry, then the rest.

    A task that is stale or has no retries left comes last, so that it never hides the others.
    """
    from plait.core.estimate import find_initial_tasks  # for `plait next` alone

    ranks = {task.id: _rank_task(entries[task.id], settings, now) for task in plan.tasks}
    tasks = tuple(replace(task, priority=task.priority + ranks[task.id][0]) for task in plan.tasks)
    ids = find_initial_tasks(replace(plan, tasks=tasks), settings)
    sharing = _index_file_sharing(plan)
    return [NextTask(entries[name], ranks[name][1], sharing(name)) for name in ids]


def _rank_task(entry: SourceEntry, settings: Settings, now: datetime) -> tuple[int, str]:
    """Return the task's rank among those that could start, and the reason as text."""
    max_retries = settings.retries if entry.task.retries is None else entry.task.retries
    match entry.status:
        case SourceStatus.DOING if entry.since and (now - entry.since).total_seconds() > settings.timeout:
            return _LATE, "in progress, but stale"
        case SourceStatus.DOING:
            return _FIRST, "in progress"
        case SourceStatus.FAILED if entry.retries >= max_retries:
            return _LAST, "failed, no retries left"
        case SourceStatus.FAILED:
            return _SECOND, "failed, will be retried"
        case _ if entry.task.needs:
            return 0, "dependencies done"
        case _:
            return 0, "no dependencies"


def _index_file_sharing(plan: Plan) -> Callable[[str], tuple[str, ...]]:
    """Return a function that finds the other tasks that share a file with a task."""
    holds = {task.id: hold for task, hold in zip(plan.tasks, plan.holds, strict=True)}
    holders: dict[str, list[str]] = {}
    for name, hold in holds.items():
        for token in hold:
            holders.setdefault(token, []).append(name)

    def others(name: str) -> tuple[str, ...]:
        sharing = dict.fromkeys(other for token in holds[name] for other in holders[token])
        return tuple(other for other in sharing if other != name)

    return others
