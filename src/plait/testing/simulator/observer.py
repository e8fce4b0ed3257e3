"""Observes every record of a simulated run; a checker of the core's laws can replace the plain observer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NoReturn, Protocol

from plait.core.events import Record
from plait.core.reducers import evolve
from plait.core.state import State
from plait.core.status import TaskStatus
from plait.store.codec import kind_of


class Violation(AssertionError):  # noqa: N818 - it is the core that erred
    """A law was broken: `law` names it; `story` has the last records of the task or batch."""

    def __init__(self, law: str, message: str, story: Iterable[Record] = ()) -> None:
        self.law = law
        self.message = message
        self.records = tuple(story)
        super().__init__("\n".join((f"{law}: {message}", *map(format_record, self.records))))


def format_record(record: Record) -> str:
    """Format a record as one line."""
    event = record.event
    said = repr(event).partition("(")[2][:-1]
    if len(said) > 230:
        said = f"{said[:230]}…"
    return f"  {record.seq:>5} {record.at % 1_000_000:>10.2f} {kind_of(event):<17} {said}"


class Observer(Protocol):
    """Observes a run. Raises Violation when a record, or the lack of one, is wrong."""

    kinds: Counter[str]

    def observe(self, record: Record) -> None: ...

    def check_idle(self, at: float, wake: float | None, state: State) -> None:
        """Check that the core decides nothing more until `wake`; `state` is what it decided on."""

    def fail_stuck(self, why: str) -> NoReturn:
        """Raise Violation, because the run is over, and not everything has ended."""

    @property
    def is_finished(self) -> bool: ...

    def end_statuses(self) -> Mapping[tuple[str, str], TaskStatus | None]:
        """Return how every task ended, by batch and task."""


class PlainObserver:
    """Waits until the `expected` batches have come and ended, and checks no laws."""

    def __init__(self, expected: Collection[str] = ()) -> None:
        self.kinds: Counter[str] = Counter()
        self._expected = tuple(expected)
        self._state = State()

    def observe(self, record: Record) -> None:
        evolve(self._state, record)
        self.kinds[kind_of(record.event)] += 1

    def check_idle(self, at: float, wake: float | None, state: State) -> None:
        pass

    def fail_stuck(self, why: str) -> NoReturn:
        raise Violation("stuck", f"{why}, and these batches have not ended: {sorted(self._state.open)}")

    @property
    def is_finished(self) -> bool:
        batches = self._state.batches
        return all(name in batches for name in self._expected) and all(
            batch.ended is not None and batch.publishing is None for batch in batches.values()
        )

    def end_statuses(self) -> dict[tuple[str, str], TaskStatus | None]:
        return {
            (name, task.task.id): task.status for name, batch in self._state.batches.items() for task in batch.tasks
        }
