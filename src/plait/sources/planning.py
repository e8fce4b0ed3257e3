"""From a pile and a selection to a checked plan."""

from __future__ import annotations

from collections.abc import Callable

from plait.core.dependencies import UnknownNeeds
from plait.core.fast_dataclass import dataclass
from plait.core.graph import PlanCheck, build_checked_plan
from plait.core.plan import Plan, Problem, Severity
from plait.core.task import Task
from plait.sources.selectors import Selection, add_needs, select_ids, select_tasks
from plait.sources.source_set import SourceSet


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a person asked for: which tasks, and what to do about needs that the selection does not meet.

    `ids` are exact: a program names tasks by them, where a person selects.
    """

    select: str | None = None
    with_needs: bool = False
    ignore_needs: bool = False
    resume: bool = False
    unknown: UnknownNeeds = UnknownNeeds.DONE
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan, or the reasons why there is none; `complete`: there is nothing left to do, and that is no mistake.

    `unreadable` tasks were asked for, and are in no plan: whoever runs the plan has not done all.
    """

    plan: Plan | None
    problems: tuple[Problem, ...]
    complete: bool = False
    unreadable: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return any(problem.severity is Severity.ERROR for problem in self.problems)


def plan_tasks(
    source_set: SourceSet, options: PlanOptions, durations: Callable[[Task], float] | None = None
) -> PlanResult:
    if any(problem.severity is Severity.ERROR for problem in source_set.problems) and not source_set.entries:
        return PlanResult(None, source_set.problems)
    selection = (
        select_ids(source_set, options.ids, resume=options.resume)
        if options.ids
        else select_tasks(source_set, options.select, resume=options.resume)
    )
    problems = source_set.problems + selection.problems
    if selection.failed or not selection.ids:
        return PlanResult(None, problems, complete=selection.complete and not selection.failed)
    checked = _build_checked(source_set, selection, options, durations)
    problems += checked.problems
    failed = any(problem.severity is Severity.ERROR for problem in problems)
    return PlanResult(None if failed else checked.plan, problems, unreadable=selection.unreadable)


def _build_checked(
    source_set: SourceSet,
    selection: Selection,
    options: PlanOptions,
    durations: Callable[[Task], float] | None,
) -> PlanCheck:
    ids = add_needs(source_set, selection.ids) if options.with_needs else selection.ids
    chosen = set(ids)
    return build_checked_plan(
        [source_set.build_task(entry) for entry in source_set.entries if entry.task.id in chosen],
        phases=source_set.phases,
        finished=source_set.finished_ids,
        known=source_set.by_id.keys() - source_set.finished_ids,
        unknown=options.unknown,
        ignore_needs=options.ignore_needs,
        durations=durations,
    )
