"""People: they act at random moments, with sense or without, and some press a button twice."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from plait.core.requests import Request
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.fault_rates import FaultRates
from plait.testing.simulator.journal_view import BatchSight, JournalView
from plait.testing.simulator.seeded_random import SeededRandom
from plait.testing.simulator.users import WEIGHTED_REQUESTS, find_helpful_requests


class RandomUsers:
    """They stop at the horizon; `ask` puts a request into the inbox."""

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
            self._time.schedule_in(
                self._rng.expovariate(self._weather.user_requests / 3600), self._send_request
            )

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
    """Mostly a task that something can be done about."""
    groups = [sorted(sight.running), sorted(sight.asking), sorted(sight.end_statuses), list(sight.tasks)]
    return rng.choice(rng.choice([group for group in groups if group]))
