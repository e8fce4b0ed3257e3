"""The janitor: after the horizon somebody comes by regularly and lets everything finish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from plait.core.requests import Approve, ChangeSettings, Feedback, Request, Resume, Unpause
from plait.core.status import PauseCause
from plait.testing.simulator.event_queue import Timeline
from plait.testing.simulator.journal_view import Onlooker, Sight

ROUND = 45.0


class Janitor:
    """Asks only for what the journal shows to be needed, and stops when every batch has ended and nobody's request is left:
    one that an engine has not seen yet may open a batch again. `pending`: there are such requests, or more to come.
    """

    def __init__(
        self,
        time: Timeline,
        begins: float,
        seen: Onlooker,
        ask: Callable[[Request], None],
        pending: Callable[[], bool],
    ) -> None:
        self._time = time
        self._seen = seen
        self._ask = ask
        self._pending = pending
        self._count = 0
        time.at(begins, self._round)

    def _round(self) -> None:
        for batch, sight in self._seen.batches.items():
            if not sight.ended:
                self._tend(batch, sight)
        if not self._over():
            self._time.after(ROUND, self._round)

    def _over(self) -> bool:
        return not self._pending() and all(sight.ended for sight in self._seen.batches.values())

    def _tend(self, batch: str, sight: Sight) -> None:
        if sight.settings.budget is not None and PauseCause.BUDGET in sight.held:
            free = replace(sight.settings, budget=None)
            self._ask(ChangeSettings(self._name(), batch, free, ("budget",)))
        if sight.settings.task_budget is not None and sight.asking:
            free = replace(sight.settings, task_budget=None)
            self._ask(ChangeSettings(self._name(), batch, free, ("task_budget",)))
        else:
            for task in sorted(sight.asking):
                self._ask(Feedback(self._name(), batch, task, "the first one"))
        if PauseCause.STOP in sight.held:
            self._ask(Resume(self._name(), batch))
        elif sight.held - {PauseCause.BUDGET}:
            self._ask(Unpause(self._name(), batch))
        if sight.queue:
            self._ask(Approve(self._name(), batch))

    def _name(self) -> str:
        self._count += 1
        return f"j{self._count}"
