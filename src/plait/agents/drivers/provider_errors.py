"""What a model's provider answers, as tools that pass its words on tell it.

What tools say, out of what it is wrapped in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import loads

from plait.agents.error_patterns import classify_error
from plait.agents.interface import AgentEvent, ProviderRefused
from plait.agents.output_parser import ToolError
from plait.agents.retry_after import RetryAfter
from plait.core.lazy_pattern import pattern
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
    limited = found.category is Category.RATE_LIMIT if found else _guess_provider_category(said) is Category.RATE_LIMIT
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


_API_ERROR = pattern(r"\[API Error: (?P<inside>.*)\](?P<after>\s*(?:Please wait .*)?)", re.DOTALL)

# What tools say of their provider that would mean something else in anybody else's mouth.
_CATEGORY_HINTS: Mapping[Category, re.Pattern[str]] = {
    category: pattern(phrases, re.IGNORECASE)
    for category, phrases in {
        Category.EMPTY: r"empty response (?:text|with no)",
        Category.NETWORK: (
            r"API Error: terminated|other side closed|socket hang up|malformed response|incomplete json|premature close"
            r"|without a finish reason"
        ),
        Category.USAGE: r"model[ _]not[ _]found|\bmodel \S+ does not exist|unknown model",
        Category.QUOTA: r"quota exceeded|spending limit|check your plan and billing",
        Category.AUTH: r"no auth type is selected|\b401 unauthorized\b|please (?:log ?in|sign in)\b",
    }.items()
}

# How a command line that can't be read is answered.
USAGE_ERROR_PREFIXES = (
    "Unknown argument",
    "Invalid values:",
    "Not enough arguments",
    "Missing required argument",
)

_MAX_ERROR_DEPTH = 4


def extract_api_error(said: str) -> str | None:
    """What is inside of `[API Error: …]`, if a text ends with it."""
    begin = said.rfind("[API Error: ")
    found = _API_ERROR.fullmatch(said.rstrip(), begin) if begin >= 0 else None
    return f"API Error: {unwrap_error(found['inside'])}" if found else None


def guess_category(said: str) -> Category:
    """What an error is whose words name no cause that anybody would know."""
    return next((category for category, cause in _CATEGORY_HINTS.items() if cause.search(said)), Category.TASK)


def unwrap_error(said: str) -> str:
    """A provider's answer as its message, with the code or status it gives it; anything else as it is."""
    begin = said.find("{")
    if begin < 0:
        return said
    try:
        tree = loads(said[begin:])
    except (ValueError, RecursionError):
        return said
    for _ in range(_MAX_ERROR_DEPTH):
        inner = tree.get("error") if isinstance(tree, dict) else None
        tree = inner if isinstance(inner, dict) else tree
    message = tree.get("message") if isinstance(tree, dict) else None
    if not isinstance(message, str):
        return said
    codes = (tree.get("code"), tree.get("status"), tree.get("type"))
    told = " ".join(str(code) for code in codes if isinstance(code, str | int) and code)
    return f"{message} ({told})" if told else message
