"""A plan before it is submitted: what would start at once, when it would be over, and what it would cost."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean, median

from plait.core.decisions import AttemptStarted
from plait.core.estimate import forecast_batch, guess_duration
from plait.core.plan import Plan
from plait.core.requests import ChangeEngineSettings, Submit
from plait.core.scheduler.rules__drive import decide_due, fold_incoming
from plait.core.settings import EngineSettings, Mode, Settings, Spend
from plait.core.state import State
from plait.core.state__fork import copy_state
from plait.core.task import Task

_PREVIEW_ID = "preview"


def find_initial_tasks(plan: Plan, settings: Settings) -> list[str]:
    """The tasks that would start at once if no limit but needs, phases and files stood in their way, best first."""
    state = State()
    free = replace(settings, max_parallel=0, mode=Mode.PARALLEL, budget=None, reserve=None)
    unlimited = ChangeEngineSettings("limits", EngineSettings(parallel_limit=0), ("parallel_limit",))
    fold_incoming(state, [unlimited, Submit(_PREVIEW_ID, _PREVIEW_ID, plan, free, base=_PREVIEW_ID)], 0.0)
    decided, _ = decide_due(state, 0.0)
    return [record.event.attempt.task for record in decided if isinstance(record.event, AttemptStarted)]


def estimate_task(state: State, settings: Settings, task: Task) -> float:
    """How long writing this task would take, as far as history knows."""
    return guess_duration(state, task, task.agent or settings.agents[0])


def has_agent_history(state: State, plan: Plan, settings: Settings) -> bool:
    """Whether history knows how long the agents of this plan take."""
    agents = {*settings.agents, *(task.agent for task in plan.tasks if task.agent)}
    return any(agent in state.agent_stats and state.agent_stats[agent].seconds_per_weight for agent in agents)


def estimate_batch(state: State, plan: Plan, settings: Settings) -> float | None:
    """Seconds from a submission now to the end of the batch, among all that runs already; None if that can't be told."""
    twin = copy_state(state)
    fold_incoming(
        twin,
        [Submit(_PREVIEW_ID, _PREVIEW_ID, plan, replace(settings, mode=Mode.PARALLEL), base=_PREVIEW_ID)],
        state.now,
    )
    decide_due(twin, state.now)
    if _PREVIEW_ID not in twin.batches:
        return None
    end = forecast_batch(twin, _PREVIEW_ID, state.now).end
    return None if end is None else end - state.now


def estimate_cost(state: State, plan: Plan, settings: Settings) -> Spend | None:
    """What an attempt at each task would cost, as those of its agents did lately; None where somebody has no history, or
    nobody has ever told of any cost.
    """
    crews = [(task.agent,) if task.agent else settings.agents for task in plan.tasks]
    usual = {agent: _median_spend(state, agent) for crew in crews for agent in crew}
    if None in usual.values():
        return None
    shares = [[said for agent in crew if (said := usual[agent]) is not None] for crew in crews]
    dollars, tokens = (sum(mean(each[side] for each in share) for share in shares) for side in (0, 1))
    return Spend(round(dollars), round(tokens)) or None


def _median_spend(state: State, agent: str) -> tuple[float, float] | None:
    known = state.agent_stats.get(agent)
    if known is None or not known.spends:
        return None
    return median(spend.microusd for spend in known.spends), median(spend.tokens for spend in known.spends)
