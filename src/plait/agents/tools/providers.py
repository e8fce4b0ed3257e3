"""What a model's provider answers, as tools that pass its words on tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plait.agents.complaints import judged
from plait.agents.model import Refused, Signal
from plait.agents.tools.events import Error
from plait.agents.waits import Wait
from plait.core.status import Category

_STATUS = re.compile(r"(?:\w*error: ?){0,2}([45]\d\d)\b", re.IGNORECASE)
# In a tool's own error these are its provider's words; anywhere else anybody's.
_LIMITED = re.compile(r"rate.?limit|too many requests", re.IGNORECASE)
_SILENT = re.compile(
    r"empty response|no response was returned|ended without a finish reason|without sending any chunks",
    re.IGNORECASE,
)
_GONE = re.compile(
    r"terminated|socket hang ?up|could not connect|connection was closed|connection from|body from connection",
    re.IGNORECASE,
)


def error(said: str, status: int | None = None, wait: str = "") -> Error:
    """What went wrong between a tool and its provider; `wait` is what the provider's `Retry-After` says."""
    status = status or _status(said)
    told = f"{said} (retry-after: {wait})" if wait else said
    return Error(told, status, otherwise=_otherwise(said))


def refused(said: str, status: int | None = None, after: float | None = None) -> Iterator[Signal]:
    """The tool waits by itself and goes on: told only if it is a limit that it waits for."""
    found = judged(said, status or _status(said))
    limited = found.category is Category.RATE_LIMIT if found else _otherwise(said) is Category.RATE_LIMIT
    if limited:
        asked = found.wait if found else Wait()
        yield Refused(Wait(asked.after if after is None else after, asked.at))


def _status(said: str) -> int | None:
    found = _STATUS.match(said)
    return int(found[1]) if found else None


def _otherwise(said: str) -> Category:
    if _LIMITED.search(said):
        return Category.RATE_LIMIT
    if _SILENT.search(said):
        return Category.EMPTY
    return Category.NETWORK if _GONE.search(said) else Category.TASK
