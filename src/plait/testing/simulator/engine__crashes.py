"""When the engine dies: after which record, and how much of what it had decided was already under way."""

from __future__ import annotations

from typing import Protocol

from plait.testing.simulator.seeded_random import SeededRandom


class CrashPlan(Protocol):
    def next_crash(self, length: int) -> int | None:
        """The next length of the journal, from `length` on, at which the engine dies; None: never again."""

    def performed_share(self, length: int) -> float:
        """The share of the last group's decisions that it still performs, if the whole group is durable."""


class NoCrashes:
    def next_crash(self, length: int) -> int | None:  # noqa: ARG002 - the protocol's
        return None

    def performed_share(self, length: int) -> float:  # noqa: ARG002
        return 1.0


class CrashOnce:
    """Dies once, after record `at`."""

    def __init__(self, at: int, performed: float = 0.0) -> None:
        self._at = at
        self._performed = performed

    def next_crash(self, length: int) -> int | None:
        return self._at if length <= self._at else None

    def performed_share(self, length: int) -> float:  # noqa: ARG002
        return self._performed


class RandomCrashes:
    """Dies `rate` times per thousand records."""

    def __init__(self, chance: SeededRandom, rate: float) -> None:
        self._chance = chance
        self._rate = rate
        self._next = 0

    def next_crash(self, length: int) -> int | None:
        if self._rate <= 0:
            return None
        if self._next < length:
            gap = self._chance.stream("crash", length).expovariate(self._rate / 1000)
            self._next = length + 1 + int(gap)
        return self._next

    def performed_share(self, length: int) -> float:
        return self._chance.stream("performed", length).choice((0.0, 0.5, 1.0))
