"""Simulated users: requests at random moments, sensible or not, some sent twice.

After the horizon a final user unblocks every batch so that each can end.
"""

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
    Recheck,
    Request,
    Resolve,
    Resume,
    Retry,
    SaveSettings,
    Ship,
    Stop,
    Submit,
    Unpause,
)
from plait.core.settings import (
    Backoff,
    Budget,
    EngineSettings,
    Isolation,
    Mode,
    OnConflict,
    Order,
    Publish,
    Settings,
    Spend,
)
from plait.core.status import PauseCause, TaskStatus
from plait.core.task import Task
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.fault_rates import FaultRates
from plait.testing.simulator.journal_view import BatchSight, JournalView
from plait.testing.simulator.scenario import AGENTS, PROVIDERS
from plait.testing.simulator.seeded_random import SeededRandom


class RandomUsers:
    """Users who stop at the horizon; `ask` puts a request into the inbox."""

    def __init__(
        self,
        time: EventQueue,
        chance: SeededRandom,
        weather: FaultRates,
        seen: JournalView,
        ask: Callable[[Request], None],
    ) -> None:
        self._time = time
        self._rng = chance.stream("people")
        self._weather = weather
        self._seen = seen
        self._ask = ask
        self._count = 0
        self._schedule_request()

    def _schedule_request(self) -> None:
        if self._weather.user_requests > 0:
            self._time.schedule_in(self._rng.expovariate(self._weather.user_requests / 3600), self._send_request)

    def _send_request(self) -> None:
        if self._time.now >= self._weather.horizon:
            return
        self._schedule_request()
        if not self._seen.batches:
            return
        self._count += 1
        request = self._request(f"p{self._count}", self._rng.choice(tuple(self._seen.batches)))
        self._ask(request)
        if self._rng.random() < 0.1:
            self._time.schedule_in(self._rng.choice((0.0, 1.0, 60.0)), lambda: self._ask(request))

    def _request(self, name: str, batch: str) -> Request:
        rng = self._rng
        sight = self._seen.batches[batch]
        acts, weights = WEIGHTED_REQUESTS
        act = rng.choices(acts, weights)[0]
        if rng.random() < self._weather.invalid_request:
            return act(rng, name, rng.choice((batch, "nowhere")), sight, rng.choice(("nobody", *sight.tasks)))
        sensible = find_helpful_requests(sight)
        if sensible and rng.random() < 0.4:
            act = rng.choice(sensible)
        return act(rng, name, batch, sight, _choose_task(rng, sight))


def _choose_task(rng: Random, sight: BatchSight) -> str:
    """Choose a task, mostly one that a request can apply to."""
    groups = [sorted(sight.running), sorted(sight.asking), sorted(sight.end_statuses), list(sight.tasks)]
    return rng.choice(rng.choice([group for group in groups if group]))


# chance, the request's id, the batch, what is seen of it, a task of it
RequestMaker = Callable[[Random, str, str, BatchSight, str], Request]


def _approve(rng: Random, name: str, batch: str, _sight: BatchSight, task: str) -> Request:
    return Approve(name, batch, rng.choice((None, None, task)))


def _retry(rng: Random, name: str, batch: str, _sight: BatchSight, task: str) -> Request:
    return Retry(name, batch, task, rng.choice((None, None, None, *AGENTS, REFEREE)))


def _retry_failed(rng: Random, name: str, batch: str, sight: BatchSight, _task: str) -> Request:
    return Retry(name, batch, rng.choice(sorted(sight.worth_retrying)), rng.choice((None, None, None, *AGENTS[:1])))


def _recheck(rng: Random, name: str, batch: str, sight: BatchSight, task: str) -> Request:
    """Recheck a task, mostly one that may have finished work."""
    ended = sorted(name for name, status in sight.end_statuses.items() if status is not TaskStatus.DONE)
    return Recheck(name, batch, rng.choice((task, *ended)))


def _resolve(rng: Random, name: str, batch: str, sight: BatchSight, task: str) -> Request:
    """Resolve a conflict, mostly one that exists now; some users looked at it too long."""
    conflicted = sorted(name for name, status in sight.end_statuses.items() if status is TaskStatus.CONFLICTED)
    task = rng.choice((task, *conflicted))
    onto, tip = sight.head, sight.tips.get(task, "")
    if rng.random() < 0.1:
        onto, tip = rng.choice(((sight.base, tip), (onto, f"{batch}:{task}:m1")))
    return Resolve(name, batch, task, onto, tip, f"{batch}:{task}:resolved-{name}", rng.choice((None, (1, 2, 3))))


def _feedback(rng: Random, name: str, batch: str, _sight: BatchSight, task: str) -> Request:
    return Feedback(name, batch, task, "make it blue" if rng.random() < 0.95 else " ")


def _answer(_rng: Random, name: str, batch: str, sight: BatchSight, _task: str) -> Request:
    return Feedback(name, batch, min(sight.asking), "the second one")


def _for_batch(request: Callable[[str, str], Request]) -> RequestMaker:
    return lambda _rng, name, batch, _sight, _task: request(name, batch)


def _for_task(request: Callable[[str, str, str], Request]) -> RequestMaker:
    return lambda _rng, name, batch, _sight, task: request(name, batch, task)


_unpause, _resume = _for_batch(Unpause), _for_batch(Resume)


def _drop_entrant(rng: Random, name: str, batch: str, sight: BatchSight, task: str) -> Request:
    """Drop an entrant while its contest is being decided, if there is one."""
    chosen = [other for other in sight.end_statuses if other.partition("@")[0] in sight.running]
    return Drop(name, batch, rng.choice(chosen) if chosen else task)


def _stop(rng: Random, name: str, batch: str, _sight: BatchSight, _task: str) -> Request:
    return Stop(name, batch, now=rng.random() < 0.3)


def _ship(rng: Random, name: str, batch: str, _sight: BatchSight, _task: str) -> Request:
    title = rng.choice((None, None, None, "", "Walls and a roof", " ", "two\nlines"))
    return Ship(name, batch, rng.choice(tuple(Publish)), title, rng.choice((None, None, "", "As was agreed.")))


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
    """Submit a batch that exists already, a plan without tasks or with a cycle, or invalid settings."""
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
    (_for_task(CancelTask), 3),
    (_for_batch(Pause), 2),
    (_unpause, 2),
    (_resume, 2),
    (_approve, 2),
    (_for_task(Drop), 2),
    (_ship, 2),
    (_drop_entrant, 1),
    (_stop, 1),
    (_change_limits, 1),
    (_save_settings, 0.5),
    (_for_batch(CancelBatch), 0.15),
    (_submit_nonsense, 0.3),
    (_recheck, 2),
    (_resolve, 1),
)
WEIGHTED_REQUESTS = (tuple(act for act, _ in _WEIGHTS), tuple(weight for _, weight in _WEIGHTS))


def find_helpful_requests(sight: BatchSight) -> list[RequestMaker]:
    """Return what a user requests who has read the journal and wants the batch to continue."""
    wants = (
        (PauseCause.STOP in sight.pause_causes, _resume),
        (bool(sight.pause_causes - {PauseCause.STOP}), _unpause),
        (PauseCause.BUDGET in sight.pause_causes, _raise_budget),
        (bool(sight.asking), _answer),
        (bool(sight.worth_retrying), _retry_failed),
        (TaskStatus.CONFLICTED in sight.end_statuses.values(), _resolve),
        (sight.needs_approval, _approve),
    )
    return [act for wanted, act in wants if wanted]


# Their order matters: a seed chooses by position.
# fmt: off
CHANGEABLE_FIELDS = (
    "max_parallel", "mode", "auto_approve", "order", "isolation", "verify", "gate", "timeout", "idle_timeout",
    "verify_timeout", "gate_timeout", "retries", "repairs", "backoff", "stop_on_fail", "on_conflict", "phase_gate",
    "budget", "task_budget", "reserve", "fallback", "agents", "providers", "publish", "no_such_field",
)
# fmt: on


def change_setting(rng: Random, old: Settings) -> tuple[Settings, str]:
    """Return new settings, and the name of the field to take from them; some must be refused."""
    new = replace(
        old,
        max_parallel=rng.choice((-1, 0, 1, 2, 5)),
        mode=rng.choice(tuple(Mode)),
        auto_approve=not old.auto_approve,
        order=rng.choice(tuple(Order)),
        isolation=rng.choice(tuple(Isolation)),
        verify=rng.choice((None, "make check")),
        gate=rng.choice((None, "make gate")),
        timeout=rng.choice((-1.0, 50.0, 600.0)),
        idle_timeout=rng.choice((40.0, 500.0)),
        verify_timeout=rng.choice((30.0, 500.0)),
        gate_timeout=rng.choice((30.0, 500.0)),
        retries=rng.randrange(5),
        repairs=rng.randrange(3),
        backoff=rng.choice((Backoff(2.0, 1.0), Backoff(30.0, 2.0, 300.0, 0.0))),
        stop_on_fail=not old.stop_on_fail,
        on_conflict=rng.choice(tuple(OnConflict)),
        phase_gate=rng.choice((0.0, 0.6, 1.0, 2.0)),
        budget=rng.choice((Budget(100_000), Budget(5_000_000), Budget(None, 50_000))),
        reserve=rng.choice((None, Spend(50_000, 500))),
        task_budget=rng.choice((None, Budget(100_000), Budget(2_000_000))),
        fallback=tuple(rng.sample(AGENTS, k=rng.choice((0, 1, 2)))),
        publish=rng.choice(tuple(Publish)),
        agents=tuple(rng.sample(AGENTS, k=rng.choice((0, 1, 2)))),
        providers=rng.choice((PROVIDERS, (("dune", "north"),))),
    )
    return new, rng.choice(CHANGEABLE_FIELDS)


ROUND_SECONDS = 45.0


class FinalUser:
    """Requests only what the journal shows to be needed, and stops when every batch has ended and no request is left:
    one that no engine has seen yet may reopen a batch. `pending`: there are such requests, or more to come.
    """

    def __init__(
        self,
        time: EventQueue,
        begins: float,
        seen: JournalView,
        ask: Callable[[Request], None],
        pending: Callable[[], bool],
    ) -> None:
        self._time = time
        self._seen = seen
        self._ask = ask
        self._pending = pending
        self._count = 0
        time.schedule_at(begins, self._visit_batches)

    def _visit_batches(self) -> None:
        for batch, sight in self._seen.batches.items():
            if not sight.is_ended:
                self._unblock_batch(batch, sight)
        if not self._is_finished():
            self._time.schedule_in(ROUND_SECONDS, self._visit_batches)

    def _is_finished(self) -> bool:
        return not self._pending() and all(sight.is_ended for sight in self._seen.batches.values())

    def _unblock_batch(self, batch: str, sight: BatchSight) -> None:
        if sight.settings.budget is not None and PauseCause.BUDGET in sight.pause_causes:
            free = replace(sight.settings, budget=None)
            self._ask(ChangeSettings(self._next_request_id(), batch, free, ("budget",)))
        if sight.settings.task_budget is not None and sight.asking:
            free = replace(sight.settings, task_budget=None)
            self._ask(ChangeSettings(self._next_request_id(), batch, free, ("task_budget",)))
        else:
            for task in sorted(sight.asking):
                self._ask(Feedback(self._next_request_id(), batch, task, "the first one"))
        if PauseCause.STOP in sight.pause_causes:
            self._ask(Resume(self._next_request_id(), batch))
        elif sight.pause_causes - {PauseCause.BUDGET}:
            self._ask(Unpause(self._next_request_id(), batch))
        if sight.needs_approval:
            self._ask(Approve(self._next_request_id(), batch))

    def _next_request_id(self) -> str:
        self._count += 1
        return f"j{self._count}"
