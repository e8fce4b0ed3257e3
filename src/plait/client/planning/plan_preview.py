"""From what was said on the command line to a checked plan: what `plait plan` shows and `plait run` submits.

A plan as programs see it. The shape is relied upon.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from plait.client.agent_specs import find_default_agent
from plait.client.api_errors import problem_json
from plait.client.json_encoding import cost_json
from plait.client.project_sources import LoadedSources, load_sources
from plait.client.project_state import PastBatches, read_past_batches
from plait.config.config import Config
from plait.core.fast_dataclass import dataclass
from plait.core.graph import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.plan import Plan, Problem
from plait.core.settings import Settings, Spend
from plait.core.task import Need, Phase, Task
from plait.sources.planning import PlanOptions, PlanResult, plan_tasks
from plait.sources.source_model import SourceEntry

_BYTES_PER_AGENT = 1 << 30  # bytes: what a large agent takes with the tools it starts


@dataclass(frozen=True)
class PlanPreview:
    """A plan, or why there is none, with all it was made from. `planned` has every problem that was met on the way."""

    survey: LoadedSources
    history: PastBatches
    settings: Settings
    planned: PlanResult

    @cached_property
    def eta(self) -> float | None:
        """Seconds to the end of the batch, where history knows; it costs as much as the batch has tasks."""
        return self.history.estimate_length(self.planned.plan, self.settings) if self.planned.plan else None

    @property
    def cost(self) -> Spend | None:
        """What the batch would cost, where history knows."""
        return self.history.estimate_cost(self.planned.plan, self.settings) if self.planned.plan else None


def load_plan_preview(
    where: Path,
    named: Sequence[str],
    wish: PlanOptions,
    flags: Mapping[str, object],
    check_config: Callable[[Config], None] | None = None,
) -> PlanPreview:
    seen = load_sources(where, named, flags=flags, vet=check_config)
    return build_plan_preview(seen, read_past_batches(seen.place), wish)


def build_plan_preview(seen: LoadedSources, past: PastBatches, wish: PlanOptions) -> PlanPreview:
    config, size = seen.config, measure_agent_capacity()
    here = () if config.default_agents else find_default_agent(config)
    wish = replace(wish, unknown=config.sources.unknown_needs)
    # Who would work is known before the plan, how many at once only after it.
    agents = config.batch_settings(tasks=len(seen.pile.entries), cores=size, agents=here)
    planned = plan_tasks(seen.pile, wish, past.build_duration_estimate(agents))
    problems = dict.fromkeys((*seen.problems, *planned.problems, *past.problems))
    tasks = len(planned.plan.tasks) if planned.plan else len(seen.pile.entries)
    settings = config.batch_settings(tasks=tasks, cores=size, agents=here)
    return PlanPreview(seen, past, settings, replace(planned, problems=tuple(problems)))


def measure_agent_capacity() -> int:
    """For how many agents this machine is made: its cores, or fewer where memory is scarcer than they are."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):  # a system that does not tell
        memory = 0
    cores = os.cpu_count() or 1
    return min(cores, memory // _BYTES_PER_AGENT) if memory > 0 else cores


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
            {"file": shared.file, "tasks": shared.tasks} for shared in (find_file_conflicts(plan) if plan else ())
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
