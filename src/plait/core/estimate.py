"""Estimates: when a batch ends, and what a plan would start, take and cost.

The scheduler runs forward on simulated time, where every attempt succeeds in its usual time. It costs as much as the batch
has left to do, so call it rarely.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import mean, median

from plait.core import decisions, reports
from plait.core.contest import REFEREE
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan
from plait.core.requests import ChangeEngineSettings, Submit
from plait.core.scheduler.rules import decide_due, fold_incoming, list_outstanding
from plait.core.settings import EngineSettings, Mode, Settings, Spend
from plait.core.state import BatchState, State, copy_state
from plait.core.status import Category, EndWhy
from plait.core.task import Step, Task
from plait.core.text import join_names

VERIFY_SHARE = 0.1  # of the time for writing, until there is a history
OVERDUE_SHARE = 0.25  # an attempt is expected to run longer by at least this share of its time so far
MAX_GATE_SECONDS = 300.0
REFEREE_SECONDS = 60.0
_SCRIPT_AGENT = "shell"  # runs the scripts of tasks
_MAX_SOURCES = 3
STEPS_PER_TASK = 50  # with more steps than this, there is no forecast


@dataclass(frozen=True, slots=True)
class Forecast:
    """When each task will have ended, as far as no person is needed; `end` is None when one is."""

    tasks: Mapping[str, float]
    end: float | None


def guess_duration(state: State, task: Task, agent: str) -> float:
    """Guess how many seconds writing takes: what the task says, else what it took before, else the agent's usual pace
    times the weight, else the weight alone. Choosing from entrants takes as long as it did before, whatever the task.
    """
    pace = _find_pace(state, agent)
    if agent == REFEREE:
        return REFEREE_SECONDS if pace is None else pace * task.weight
    if task.estimate is None and task.key in state.task_durations:
        return state.task_durations[task.key]
    return task.expected_seconds if task.estimate is not None or pace is None else pace * task.weight


def _find_pace(state: State, agent: str) -> float | None:
    """Return the agent's usual seconds per unit of weight, or None if unknown."""
    stats = state.agent_stats.get(agent)
    return median(stats.seconds_per_weight) if stats is not None and stats.seconds_per_weight else None


def forecast_batch(state: State, batch_id: str, now: float) -> Forecast:
    copied = copy_state(state)
    for batch in copied.open.values():
        batch.settings = replace(batch.settings, auto_approve=True)
    simulation = _Simulation(copied, now)
    ends = simulation.run(batch_id, STEPS_PER_TASK * (1 + sum(len(batch.tasks) for batch in copied.open.values())))
    batch = copied.batches[batch_id]
    return Forecast(
        ends,
        simulation.now if batch.ended is not None and state.batches[batch_id].ended is None else batch.ended_at,
    )


class _Simulation:
    """Performs decisions in simulated time, without failures."""

    def __init__(self, state: State, now: float) -> None:
        self.state = state
        self.now = now
        self._scheduled: list[tuple[float, int, reports.Report]] = []
        self._scheduled_count = 0
        self._gate_seconds: dict[str, float] = {}
        for decision in list_outstanding(state):
            self._perform(decision)

    def run(self, batch_id: str, steps: int) -> dict[str, float]:
        ends: dict[str, float] = {}
        for _ in range(steps):
            records, wake = decide_due(self.state, self.now)
            for record in records:
                if isinstance(record.event, decisions.TaskEnded) and record.event.batch == batch_id:
                    ends[record.event.task] = self.now
                self._perform(record.event)  # type: ignore[arg-type]  # decide gives decisions only
            if self.state.batches[batch_id].ended is not None or not self._advance(wake):
                break
        return ends

    def _advance(self, wake: float | None) -> bool:
        """Go to the next event; return False if there is none."""
        if self._scheduled and (wake is None or self._scheduled[0][0] <= wake):
            at, _, report = heapq.heappop(self._scheduled)
            self.now = max(self.now, at)
            fold_incoming(self.state, [report], self.now)
            return True
        if wake is None:
            return False
        self.now = max(self.now, wake)
        return True

    def _perform(self, decision: decisions.Decision) -> None:
        match decision:
            case decisions.AttemptStarted():
                self._schedule(
                    self._attempt_end(decision),
                    reports.AttemptExited(decision.attempt, reports.Outcome(Category.OK, tip="written")),
                )
            case decisions.AttemptEnding(why=why) if why not in {EndWhy.TIMEOUT, EndWhy.IDLE}:
                self._schedule(self.now, reports.AttemptExited(decision.attempt, reports.Outcome(Category.KILLED)))
            case decisions.MergeStarted():
                self._schedule(self.now, reports.MergeDone(decision.batch, decision.task, decision.n, "ahead"))
            case decisions.RebuildStarted():
                self._schedule(self.now, _simulate_rebuild(self.state.batches[decision.batch], decision))
            case decisions.GateStarted():
                self._schedule(
                    self.now + self._guess_gate(decision.batch),
                    reports.GateDone(decision.batch, decision.n, passed=True),
                )
            case decisions.PublishStarted():
                self._schedule(self.now, reports.PublishDone(decision.batch, decision.n, "", decision.commit))
            case _:
                pass  # the rest is bookkeeping or about timeouts, which do not happen here

    def _schedule(self, at: float, report: reports.Report) -> None:
        self._scheduled_count += 1
        heapq.heappush(self._scheduled, (at, self._scheduled_count, report))

    def _guess_gate(self, batch_id: str) -> float:
        """Guess the seconds of a gate, which has no history: as long as a usual task, within reason."""
        batch = self.state.batches[batch_id]
        if batch_id not in self._gate_seconds:
            tasks = [each.task for each in batch.tasks]
            usual = median(guess_duration(self.state, task, task.agent or batch.settings.agents[0]) for task in tasks)
            self._gate_seconds[batch_id] = min(usual, MAX_GATE_SECONDS)
        return self._gate_seconds[batch_id]

    def _attempt_end(self, decision: decisions.AttemptStarted) -> float:
        name = decision.attempt
        batch = self.state.batches[name.batch]
        task = batch.tasks[batch.index[name.task]]
        duration = guess_duration(self.state, task.task, decision.agent)
        if name.step is Step.VERIFY:
            duration *= VERIFY_SHARE
        alive = batch.alive.get(name)
        began = alive.started_at if alive is not None else self.now
        return max(began + duration, self.now + OVERDUE_SHARE * (self.now - began))


def _simulate_rebuild(batch: BatchState, decision: decisions.RebuildStarted) -> reports.RebuildDone:
    names = (batch.tasks[entry.task_index].task.id for entry in batch.merges)
    line = tuple(reports.MergedTask(name, "ahead") for name in names if name not in decision.without)
    return reports.RebuildDone(batch.id, decision.n, line)


_PREVIEW_ID = "preview"


def find_initial_tasks(plan: Plan, settings: Settings) -> list[str]:
    """List the tasks that would start at once if only needs, phases and files held tasks back, best first."""
    state = State()
    free = replace(settings, max_parallel=0, mode=Mode.PARALLEL, budget=None, reserve=None)
    unlimited = ChangeEngineSettings("limits", EngineSettings(parallel_limit=0), ("parallel_limit",))
    fold_incoming(state, [unlimited, Submit(_PREVIEW_ID, _PREVIEW_ID, plan, free, base=_PREVIEW_ID)], 0.0)
    decided, _ = decide_due(state, 0.0)
    return [record.event.attempt.task for record in decided if isinstance(record.event, decisions.AttemptStarted)]


def estimate_task(state: State, settings: Settings, task: Task) -> float:
    """Estimate how many seconds writing this task takes, as far as history knows."""
    return guess_duration(state, task, task.agent or settings.agents[0])


def describe_basis(state: State, tasks: Iterable[Task], settings: Settings) -> str | None:
    """Say what estimates for these tasks are based on; None if the duration of one would be a mere guess."""
    sources: dict[str, None] = {}
    for task in tasks:
        agents = (task.agent,) if task.agent else settings.agents
        if task.estimate is not None:
            sources["the tasks' own estimates"] = None
        elif task.key in state.task_durations:
            sources["earlier runs of the same tasks"] = None
        elif all(_find_pace(state, agent) is not None for agent in agents):
            sources.update(dict.fromkeys(_describe_attempts(state, agent) for agent in agents))
        elif task.run is None or _find_pace(state, _SCRIPT_AGENT) is None:
            return None
        else:
            sources[_describe_attempts(state, _SCRIPT_AGENT)] = None
    if not sources:
        return None
    gate = ", the gate assumed to take as long as a task" if settings.gate else ""
    return f"by {join_names(list(sources), _MAX_SOURCES)}{gate}"


def _describe_attempts(state: State, agent: str) -> str:
    count = len(state.agent_stats[agent].seconds_per_weight)
    return f"{count} earlier attempt{'' if count == 1 else 's'} of {agent}"


def estimate_batch(state: State, plan: Plan, settings: Settings) -> float | None:
    """Estimate the seconds to the end of a batch submitted now, beside all that runs already; None if unknown."""
    copied = copy_state(state)
    fold_incoming(
        copied,
        [Submit(_PREVIEW_ID, _PREVIEW_ID, plan, replace(settings, mode=Mode.PARALLEL), base=_PREVIEW_ID)],
        state.now,
    )
    decide_due(copied, state.now)
    if _PREVIEW_ID not in copied.batches:
        return None
    end = forecast_batch(copied, _PREVIEW_ID, state.now).end
    return None if end is None else end - state.now


def estimate_cost(state: State, plan: Plan, settings: Settings) -> Spend | None:
    """Estimate the cost of one attempt at each task; None if an agent has no history or no costs are known."""
    agents_by_task = [(task.agent,) if task.agent else settings.agents for task in plan.tasks]
    usual = {agent: _median_spend(state, agent) for agents in agents_by_task for agent in agents}
    if None in usual.values():
        return None
    shares = [[spend for agent in agents if (spend := usual[agent]) is not None] for agents in agents_by_task]
    dollars, tokens = (sum(mean(spend[side] for spend in share) for share in shares) for side in (0, 1))
    return Spend(round(dollars), round(tokens)) or None


def _median_spend(state: State, agent: str) -> tuple[float, float] | None:
    stats = state.agent_stats.get(agent)
    if stats is None or not stats.spends:
        return None
    return median(spend.microusd for spend in stats.spends), median(spend.tokens for spend in stats.spends)
