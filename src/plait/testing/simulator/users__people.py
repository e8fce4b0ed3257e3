"""People: they act at random moments, with sense or without, and some press a button twice."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from plait.core.requests import Request
from plait.testing.simulator.event_queue import Timeline
from plait.testing.simulator.fault_rates import Weather
from plait.testing.simulator.journal_view import Onlooker, Sight
from plait.testing.simulator.seeded_random import Chance
from plait.testing.simulator.users import ANY, helpful


class People:
    """They stop at the horizon; `ask` puts a request into the inbox."""

    def __init__(
        self,
        time: Timeline,
        chance: Chance,
        weather: Weather,
        seen: Onlooker,
        ask: Callable[[Request], None],
    ) -> None:
        self._time = time
        self._rng = chance.rng("people")
        self._weather = weather
        self._seen = seen
        self._ask = ask
        self._count = 0
        self._next()

    def _next(self) -> None:
        if self._weather.people > 0:
            self._time.after(self._rng.expovariate(self._weather.people / 3600), self._act)

    def _act(self) -> None:
        if self._time.now >= self._weather.horizon:
            return
        self._next()
        if not self._seen.batches:
            return
        self._count += 1
        request = self._request(f"p{self._count}", self._rng.choice(tuple(self._seen.batches)))
        self._ask(request)
        if self._rng.random() < 0.1:
            self._time.after(self._rng.choice((0.0, 1.0, 60.0)), lambda: self._ask(request))

    def _request(self, name: str, batch: str) -> Request:
        rng = self._rng
        sight = self._seen.batches[batch]
        acts, weights = ANY
        act = rng.choices(acts, weights)[0]
        if rng.random() < self._weather.nonsense:
            return act(rng, name, rng.choice((batch, "nowhere")), sight, rng.choice(("nobody", *sight.tasks)))
        sensible = helpful(sight)
        if sensible and rng.random() < 0.4:
            act = rng.choice(sensible)
        return act(rng, name, batch, sight, _somebody(rng, sight))


def _somebody(rng: Random, sight: Sight) -> str:
    """Mostly a task that something can be done about."""
    groups = [sorted(sight.running), sorted(sight.asking), sorted(sight.over), list(sight.tasks)]
    return rng.choice(rng.choice([group for group in groups if group]))
