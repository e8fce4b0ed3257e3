"""The janitor: after the horizon somebody comes by regularly and lets everything finish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from plait.core.requests import Approve, ChangeSettings, Feedback, Request, Resume, Unpause
from plait.core.status import PauseCause
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.journal_view import BatchSight, JournalView

ROUND_SECONDS = 45.0


class FinalUser:
    """Asks only for what the journal shows to be needed, and stops when every batch has ended and nobody's request is left:
    one that an engine has not seen yet may open a batch again. `pending`: there are such requests, or more to come.
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
