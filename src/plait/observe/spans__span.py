"""Span: one stretch of work as tracers show it. Its ids follow from its name, so that telling it twice tells it once."""

from __future__ import annotations

from hashlib import sha256

from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.settings import Spend
from plait.core.status import Category

AttributeValue = str | int | float
Attributes = dict[str, AttributeValue]

MAX_TEXT_CHARS = 1000  # characters of a text that others wrote
MAX_NAMES_SHOWN = 20
_OK_CATEGORIES = frozenset({Category.OK, Category.QUESTION})  # who asks something has not failed


@dataclass(frozen=True, slots=True)
class Span:
    """`parent` None: a batch. `error` says what went wrong; `links` are the spans that it goes on from."""

    trace: int
    id: int
    parent: int | None
    name: str
    start: float
    end: float
    attributes: tuple[tuple[str, AttributeValue], ...] = ()
    error: str | None = None
    links: tuple[int, ...] = ()


def make_trace_id(journal: str, batch: str) -> int:
    """Of 128 bits, and never 0, which means none."""
    return _hash_number(16, journal, batch)


def make_span_id(journal: str, *name: str | int) -> int:
    """Of 64 bits, and never 0."""
    return _hash_number(8, journal, *map(str, name))


def _hash_number(size: int, *words: str) -> int:
    # Each with its length: the words of two names must not run into each other.
    spelt = "".join(f"{len(word)}:{word}" for word in words)
    return int.from_bytes(sha256(spelt.encode(errors="surrogatepass")).digest()[:size]) or 1


def clean_text(text: str) -> str:
    """Text that others wrote, within bounds, and such that it can be sent."""
    return text[:MAX_TEXT_CHARS].encode(errors="replace").decode()


def join_limited(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
    return ", ".join(names[:MAX_NAMES_SHOWN]) + more


def spend_attributes(spend: Spend) -> Attributes:
    """What nobody told is left out."""
    told: Attributes = {"plait.cost.usd": spend.microusd / 1e6, "plait.cost.tokens": spend.tokens}
    return {name: value for name, value in told.items() if value}


def outcome_attributes(outcome: Outcome) -> Attributes:
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


def outcome_error(outcome: Outcome) -> str | None:
    if outcome.category in _OK_CATEGORIES:
        return None
    return f"{outcome.category.value}: {outcome.detail}" if outcome.detail else outcome.category.value
