"""What tasks have been through: their attempts, in order, as the journal tells them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plait.core.decisions import AttemptEnding, AttemptStarted, RetryGranted
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reports import AttemptExited, AttemptLost, Outcome
from plait.core.status import Category, EndWhy
from plait.core.task import Attempt


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """`base` is the commit it began from. `outcome` None: it is at work. `then` says why the task went again after it."""

    attempt: Attempt
    agent: str
    started_at: float
    ended_at: float | None = None
    outcome: Outcome | None = None
    ending: EndWhy | None = None
    then: str = ""
    base: str = ""


class AttemptHistory:
    """The attempts of one batch; records of others pass by."""

    def __init__(self, batch: str) -> None:
        self._batch = batch
        self._attempts: dict[Attempt, PastAttempt] = {}
        self._names: dict[str, list[Attempt]] = {}

    def list_attempts(self, task: str) -> list[PastAttempt]:
        return [self._attempts[name] for name in self._names.get(task, ())]

    def apply(self, record: Record) -> None:
        tries = self._attempts
        match record.event:
            case AttemptStarted(attempt=name) as event if name.batch == self._batch and name not in tries:
                tries[name] = PastAttempt(name, event.agent, record.at, base=event.base)
                self._names.setdefault(name.task, []).append(name)
            case AttemptEnding(attempt=name, why=why) if name in tries:
                tries[name] = replace(tries[name], ending=tries[name].ending or why)
            case AttemptExited(attempt=name, outcome=outcome) if name in tries:
                self._apply_exit(record.at, name, outcome)
            case AttemptLost(attempt=name, why=why) if name in tries:
                self._apply_exit(record.at, name, Outcome(Category.LOST, detail=why))
            case RetryGranted(batch=self._batch, task=task, why=why) if task in self._names:
                last = self._names[task][-1]
                tries[last] = replace(tries[last], then=why)
            case _:
                pass

    def _apply_exit(self, at: float, name: Attempt, outcome: Outcome) -> None:
        """A report may come twice; the first one counted."""
        known = self._attempts[name]
        if known.outcome is None:
            self._attempts[name] = replace(known, ended_at=at, outcome=outcome)


def find_attempts(records: Iterable[Record], batch: str, task: str) -> list[PastAttempt]:
    past = AttemptHistory(batch)
    for record in records:
        past.apply(record)
    return past.list_attempts(task)


def format_attempt_label(attempt: Attempt) -> str:
    """`write-2`, as its folder is called."""
    return f"{attempt.step.value}-{attempt.n}"
