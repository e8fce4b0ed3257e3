"""What people can ask for, and how often they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from plait.core.contest import REFEREE
from plait.core.plan import Plan
from plait.core.requests import (
    Approve,
    CancelBatch,
    CancelTask,
    ChangeEngineSettings,
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Request,
    Resume,
    Retry,
    SaveSettings,
    Ship,
    Stop,
    Submit,
    Unpause,
)
from plait.core.settings import Budget, EngineSettings, Publish
from plait.core.status import PauseCause
from plait.core.task import Task
from plait.testing.simulator.journal_view import BatchSight
from plait.testing.simulator.scenario import AGENTS
from plait.testing.simulator.users__changes import change_setting

# chance, the request's id, the batch, what is seen of it, a task of it
RequestMaker = Callable[[Random, str, str, BatchSight, str], Request]


def _approve(rng: Random, name: str, batch: str, _sight: BatchSight, task: str) -> Request:
    return Approve(name, batch, rng.choice((None, None, task)))


def _retry(rng: Random, name: str, batch: str, _sight: BatchSight, task: str) -> Request:
    return Retry(name, batch, task, rng.choice((None, None, None, *AGENTS, REFEREE)))


def _merge_again(rng: Random, name: str, batch: str, sight: BatchSight, _task: str) -> Request:
    return Retry(name, batch, rng.choice(sorted(sight.unmerged)), rng.choice((None, None, None, *AGENTS[:1])))


def _unpause(_rng: Random, name: str, batch: str, _sight: BatchSight, _task: str) -> Request:
    return Unpause(name, batch)


def _resume(_rng: Random, name: str, batch: str, _sight: BatchSight, _task: str) -> Request:
    return Resume(name, batch)


def _feedback(rng: Random, name: str, batch: str, _sight: BatchSight, task: str) -> Request:
    return Feedback(name, batch, task, "make it blue" if rng.random() < 0.95 else " ")


def _answer(_rng: Random, name: str, batch: str, sight: BatchSight, _task: str) -> Request:
    return Feedback(name, batch, min(sight.asking), "the second one")


def _cancel(_rng: Random, name: str, batch: str, _sight: BatchSight, task: str) -> Request:
    return CancelTask(name, batch, task)


def _cancel_all(_rng: Random, name: str, batch: str, _sight: BatchSight, _task: str) -> Request:
    return CancelBatch(name, batch)


def _pause(_rng: Random, name: str, batch: str, _sight: BatchSight, _task: str) -> Request:
    return Pause(name, batch)


def _drop(_rng: Random, name: str, batch: str, _sight: BatchSight, task: str) -> Request:
    return Drop(name, batch, task)


def _drop_entrant(rng: Random, name: str, batch: str, sight: BatchSight, task: str) -> Request:
    """An entrant while its contest is being decided, if there is one."""
    chosen = [other for other in sight.end_statuses if other.partition("@")[0] in sight.running]
    return Drop(name, batch, rng.choice(chosen) if chosen else task)


def _stop(rng: Random, name: str, batch: str, _sight: BatchSight, _task: str) -> Request:
    return Stop(name, batch, now=rng.random() < 0.3)


def _ship(rng: Random, name: str, batch: str, _sight: BatchSight, _task: str) -> Request:
    title = rng.choice((None, None, None, "", "Walls and a roof", " ", "two\nlines"))
    return Ship(
        name, batch, rng.choice(tuple(Publish)), title, rng.choice((None, None, "", "As was agreed."))
    )


def _raise_budget(rng: Random, name: str, batch: str, sight: BatchSight, _task: str) -> Request:
    budget = rng.choice((None, Budget(rng.choice((4_000_000, 20_000_000)))))
    return ChangeSettings(name, batch, replace(sight.settings, budget=budget), ("budget",))


def _change(rng: Random, name: str, batch: str, sight: BatchSight, _task: str) -> Request:
    new, field = change_setting(rng, sight.settings)
    return ChangeSettings(name, batch, new, (field,))


def _change_limits(rng: Random, name: str, _batch: str, _sight: BatchSight, _task: str) -> Request:
    limits = ((rng.choice(AGENTS), rng.choice((0, 1, 2))),)
    settings = EngineSettings(rng.choice((-1, 0, 1, 2, 5)), limits)
    return ChangeEngineSettings(name, settings, ("parallel_limit", "agent_limits"))


def _save_settings(rng: Random, name: str, _batch: str, _sight: BatchSight, _task: str) -> Request:
    named = rng.choice(("parallelLimit", "verify", "agent", ""))
    return SaveSettings(name, ((named, rng.choice((None, "2", '"make"'))), ("gate", None)))


def _submit_nonsense(rng: Random, name: str, _batch: str, sight: BatchSight, _task: str) -> Request:
    """A batch that is there already, a plan without tasks or with a circle, settings that can't be meant."""
    good = Plan((Task("a"), Task("b")), ((), (0,)), ((), ()), (2.0, 1.0))
    return rng.choice(
        (
            Submit(name, "b1", good, sight.settings),
            Submit(name, f"{name}-empty", Plan((), (), (), ()), sight.settings),
            Submit(name, f"{name}-circle", replace(good, needs=((1,), (0,))), sight.settings),
            Submit(name, f"{name}-negative", good, replace(sight.settings, retries=-1)),
        )
    )


_WEIGHTS: tuple[tuple[RequestMaker, float], ...] = (
    (_retry, 6),
    (_feedback, 4),
    (_change, 4),
    (_cancel, 3),
    (_pause, 2),
    (_unpause, 2),
    (_resume, 2),
    (_approve, 2),
    (_drop, 2),
    (_ship, 2),
    (_drop_entrant, 1),
    (_stop, 1),
    (_change_limits, 1),
    (_save_settings, 0.5),
    (_cancel_all, 0.15),
    (_submit_nonsense, 0.3),
)
WEIGHTED_REQUESTS = (tuple(act for act, _ in _WEIGHTS), tuple(weight for _, weight in _WEIGHTS))


def find_helpful_requests(sight: BatchSight) -> list[RequestMaker]:
    """What somebody would do who has read the journal and wants the batch to go on."""
    wants = (
        (PauseCause.STOP in sight.pause_causes, _resume),
        (bool(sight.pause_causes - {PauseCause.STOP}), _unpause),
        (PauseCause.BUDGET in sight.pause_causes, _raise_budget),
        (bool(sight.asking), _answer),
        (bool(sight.unmerged), _merge_again),
        (sight.needs_approval, _approve),
    )
    return [act for wanted, act in wants if wanted]
