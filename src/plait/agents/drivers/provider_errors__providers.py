"""What a model's provider answers, as tools that pass its words on tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plait.agents.error_patterns import classify_error
from plait.agents.interface import AgentEvent, ProviderRefused
from plait.agents.output_parser import ToolError
from plait.agents.retry_after__waits import RetryAfter
from plait.core.status import Category

_LEADING_STATUS = re.compile(r"(?:\w*error: ?){0,2}([45]\d\d)\b", re.IGNORECASE)
# In a tool's own error these are its provider's words; anywhere else anybody's.
_RATE_LIMIT = re.compile(r"rate.?limit|too many requests", re.IGNORECASE)
_EMPTY_RESPONSE = re.compile(
    r"empty response|no response was returned|ended without a finish reason|without sending any chunks",
    re.IGNORECASE,
)
_CONNECTION_LOST = re.compile(
    r"terminated|socket hang ?up|could not connect|connection was closed|connection from|body from connection",
    re.IGNORECASE,
)


def make_provider_error(said: str, status: int | None = None, wait: str = "") -> ToolError:
    """What went wrong between a tool and its provider; `wait` is what the provider's `Retry-After` says."""
    status = status or _find_status(said)
    told = f"{said} (retry-after: {wait})" if wait else said
    return ToolError(told, status, fallback=_guess_provider_category(said))


def report_refusal(said: str, status: int | None = None, after: float | None = None) -> Iterator[AgentEvent]:
    """The tool waits by itself and goes on: told only if it is a limit that it waits for."""
    found = classify_error(said, status or _find_status(said))
    limited = (
        found.category is Category.RATE_LIMIT
        if found
        else _guess_provider_category(said) is Category.RATE_LIMIT
    )
    if limited:
        asked = found.wait if found else RetryAfter()
        yield ProviderRefused(RetryAfter(asked.after if after is None else after, asked.at))


def _find_status(said: str) -> int | None:
    found = _LEADING_STATUS.match(said)
    return int(found[1]) if found else None


def _guess_provider_category(said: str) -> Category:
    if _RATE_LIMIT.search(said):
        return Category.RATE_LIMIT
    if _EMPTY_RESPONSE.search(said):
        return Category.EMPTY
    return Category.NETWORK if _CONNECTION_LOST.search(said) else Category.TASK
