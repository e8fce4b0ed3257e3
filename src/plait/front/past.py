"""What a task has been through: its attempts, in order, as the journal tells them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plait.core.decisions import AttemptEnding, AttemptStarted, RetryGranted
from plait.core.events import Record
from plait.core.frozen import dataclass
from plait.core.reports import AttemptExited, AttemptLost, Outcome
from plait.core.status import Category, EndWhy
from plait.core.task import Attempt


@dataclass(frozen=True, slots=True)
class Try:
    """`outcome` None: it is at work. `then` says why the task went again after it."""

    attempt: Attempt
    agent: str
    started_at: float
    ended_at: float | None = None
    outcome: Outcome | None = None
    ending: EndWhy | None = None
    then: str = ""


def tries(records: Iterable[Record], batch: str, task: str) -> list[Try]:
    found: dict[Attempt, Try] = {}
    for record in records:
        match record.event:
            case AttemptStarted(attempt=name) as event if (name.batch, name.task) == (batch, task):
                found.setdefault(name, Try(name, event.agent, record.at))
            case AttemptEnding(attempt=name, why=why) if name in found:
                found[name] = replace(found[name], ending=found[name].ending or why)
            case AttemptExited(attempt=name, outcome=outcome) if name in found:
                _end(found, record.at, name, outcome)
            case AttemptLost(attempt=name, why=why) if name in found:
                _end(found, record.at, name, Outcome(Category.LOST, detail=why))
            case RetryGranted(batch=of, task=name, why=why) if (of, name) == (batch, task) and found:
                last = next(reversed(found))
                found[last] = replace(found[last], then=why)
            case _:
                pass
    return list(found.values())


def _end(found: dict[Attempt, Try], at: float, name: Attempt, outcome: Outcome) -> None:
    """A report may come twice; the first one counted."""
    if found[name].outcome is None:
        found[name] = replace(found[name], ended_at=at, outcome=outcome)


def label(attempt: Attempt) -> str:
    """`write-2`, as its folder is called."""
    return f"{attempt.step.value}-{attempt.n}"
