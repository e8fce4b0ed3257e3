"""A plan as programs see it. The shape is relied upon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.client.api_errors import problem_json
from plait.client.batch_json import cost_json
from plait.core.graph__shape import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.plan import Plan, Problem
from plait.core.settings import Spend
from plait.core.task import Need, Phase, Task
from plait.sources.source_model import SourceEntry

Json = dict[str, object]


def plan_json(
    plan: Plan | None,
    entries: Mapping[str, SourceEntry],
    problems: Sequence[Problem],
    eta: float | None = None,
    cost: Spend | None = None,
) -> Json:
    """Without a plan there are no tasks, and the problems say why."""
    levels = group_waves(plan) if plan else []
    wave = {name: number for number, ids in enumerate(levels, 1) for name in ids}
    needs: dict[str, list[Json]] = {}
    for task, need in list_edges(plan) if plan else ():
        needs.setdefault(task.id, []).append(_plan_need_json(need))
    return {
        "tasks": [
            _plan_task_json(task, entries[task.entrant or task.id], needs.get(task.id, []), wave[task.id])
            for task in (plan.tasks if plan else ())
        ],
        "waves": levels,
        "conflicts": [
            {"file": shared.file, "tasks": shared.tasks}
            for shared in (find_file_conflicts(plan) if plan else ())
        ],
        "criticalPath": find_critical_path(plan) if plan else [],
        "phases": [_phase_json(phase) for phase in (plan.phases if plan else ())],
        "eta": eta,
        "cost": None if cost is None else cost_json(cost),
        "problems": [problem_json(problem) for problem in problems],
    }


def _plan_task_json(task: Task, entry: SourceEntry, needs: list[Json], wave: int) -> Json:
    return {
        "id": task.id,
        "title": task.title,
        "status": entry.status.value,
        "source": str(task.origin) if task.origin else None,
        "needs": needs,
        "touches": task.touches,
        "phase": task.phase,
        "wave": wave,
        "weight": task.weight,
        "agent": task.agent,
        "entrantOf": task.entrant,
    }


def _plan_need_json(need: Need) -> Json:
    at = str(need.at) if need.at else None
    return {"id": need.on, "kind": need.kind.value, "reason": need.reason, "at": at}


def _phase_json(phase: Phase) -> Json:
    return {
        "id": phase.key,
        "title": phase.title,
        "after": phase.after,
        "total": phase.total,
        "settled": phase.settled,
        "gate": phase.gate,
        "opensWith": phase.opens_with,
    }
