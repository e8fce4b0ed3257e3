"""A plan before it is submitted: what would start at once, and when it would be over."""

from __future__ import annotations

from dataclasses import replace

from plait.core.decisions import AttemptStarted
from plait.core.drive import decide, take
from plait.core.estimate import forecast, guess
from plait.core.fork import fork
from plait.core.plan import Plan
from plait.core.requests import ChangeEngineSettings, Submit
from plait.core.settings import EngineSettings, Mode, Settings
from plait.core.state import State
from plait.core.task import Task

_NAME = "preview"


def starting(plan: Plan, settings: Settings) -> list[str]:
    """The tasks that would start at once if no limit but needs, phases and files stood in their way, best first."""
    state = State()
    free = replace(settings, max_parallel=0, mode=Mode.PARALLEL, budget=None, reserve=None)
    unlimited = ChangeEngineSettings("limits", EngineSettings(parallel_limit=0), ("parallel_limit",))
    take(state, [unlimited, Submit(_NAME, _NAME, plan, free, base=_NAME)], 0.0)
    decided, _ = decide(state, 0.0)
    return [record.event.attempt.task for record in decided if isinstance(record.event, AttemptStarted)]


def duration(state: State, settings: Settings, task: Task) -> float:
    """How long writing this task would take, as far as history knows."""
    return guess(state, task, task.agent or settings.agents[0])


def experienced(state: State, plan: Plan, settings: Settings) -> bool:
    """Whether history knows how long the agents of this plan take."""
    agents = {*settings.agents, *(task.agent for task in plan.tasks if task.agent)}
    return any(agent in state.experience and state.experience[agent].paces for agent in agents)


def length(state: State, plan: Plan, settings: Settings) -> float | None:
    """Seconds from a submission now to the end of the batch, among all that runs already; None if that can't be told."""
    twin = fork(state)
    take(twin, [Submit(_NAME, _NAME, plan, replace(settings, mode=Mode.PARALLEL), base=_NAME)], state.now)
    decide(twin, state.now)
    if _NAME not in twin.batches:
        return None
    end = forecast(twin, _NAME, state.now).end
    return None if end is None else end - state.now
