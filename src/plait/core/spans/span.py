"""Span: one stretch of work as tracers show it. Its ids follow from its name, so that telling it twice tells it once."""

from __future__ import annotations

from hashlib import sha256

from plait.core.frozen import dataclass
from plait.core.reports import Outcome
from plait.core.settings import Spend
from plait.core.status import Category

Value = str | int | float
Attributes = dict[str, Value]

LONGEST = 1000  # characters of a text that others wrote
FILES_SHOWN = 20
_FINE = frozenset({Category.OK, Category.QUESTION})  # who asks something has not failed


@dataclass(frozen=True, slots=True)
class Span:
    """`parent` None: a batch. `error` says what went wrong; `links` are the spans that it goes on from."""

    trace: int
    id: int
    parent: int | None
    name: str
    start: float
    end: float
    attributes: tuple[tuple[str, Value], ...] = ()
    error: str | None = None
    links: tuple[int, ...] = ()


def trace_id(journal: str, batch: str) -> int:
    """Of 128 bits, and never 0, which means none."""
    return _number(16, journal, batch)


def span_id(journal: str, *name: str | int) -> int:
    """Of 64 bits, and never 0."""
    return _number(8, journal, *map(str, name))


def _number(size: int, *words: str) -> int:
    # Each with its length: the words of two names must not run into each other.
    spelt = "".join(f"{len(word)}:{word}" for word in words)
    return int.from_bytes(sha256(spelt.encode(errors="surrogatepass")).digest()[:size]) or 1


def said(text: str) -> str:
    """Text that others wrote, within bounds, and such that it can be sent."""
    return text[:LONGEST].encode(errors="replace").decode()


def some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - FILES_SHOWN} more" if len(names) > FILES_SHOWN else ""
    return ", ".join(names[:FILES_SHOWN]) + more


def of_spend(spend: Spend) -> Attributes:
    """What nobody told is left out."""
    told: Attributes = {"plait.cost.usd": spend.microusd / 1e6, "plait.cost.tokens": spend.tokens}
    return {name: value for name, value in told.items() if value}


def of_outcome(outcome: Outcome) -> Attributes:
    told: Attributes = {"plait.category": outcome.category.value}
    if outcome.exit_code is not None:
        told["process.exit.code"] = outcome.exit_code
    if outcome.tip:
        told["plait.commit"] = outcome.tip
    if outcome.peak:
        told["plait.memory.peak_bytes"] = outcome.peak
    if outcome.diffstat is not None:
        names = ("plait.diff.files", "plait.diff.added", "plait.diff.removed")
        told.update(zip(names, outcome.diffstat, strict=True))
    return told


def error_of(outcome: Outcome) -> str | None:
    if outcome.category in _FINE:
        return None
    return f"{outcome.category.value}: {outcome.detail}" if outcome.detail else outcome.category.value
