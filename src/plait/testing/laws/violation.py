"""A broken law, with the records that led to it."""

from __future__ import annotations

from collections.abc import Iterable

from plait.core.events import Record
from plait.store.codec import kind_of


class Violation(AssertionError):  # noqa: N818 - it is the core that erred
    """`law` names what was broken; `story` has the last records of the task or batch."""

    def __init__(self, law: str, message: str, story: Iterable[Record] = ()) -> None:
        self.law = law
        self.message = message
        self.records = tuple(story)
        super().__init__("\n".join((f"{law}: {message}", *map(format_record, self.records))))


def format_record(record: Record) -> str:
    """One record as a line."""
    event = record.event
    said = repr(event).partition("(")[2][:-1]
    if len(said) > 230:
        said = f"{said[:230]}…"
    return f"  {record.seq:>5} {record.at % 1_000_000:>10.2f} {kind_of(event):<17} {said}"
