"""Errors of providers as tools pass them on: unwrapping and classifying them."""

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

# For `make_provider_error` and `report_refusal` (all other tools): errors that a tool reports as its provider's. Elsewhere
# these words may come from anyone.
_PROVIDER_ERROR_PHRASES: Mapping[Category, re.Pattern[str]] = {
    Category.RATE_LIMIT: pattern(r"rate.?limit|too many requests", re.IGNORECASE),
    Category.EMPTY: pattern(
        r"empty response|no response was returned|ended without a finish reason|without sending any chunks",
        re.IGNORECASE,
    ),
    Category.NETWORK: pattern(
        r"terminated|socket hang ?up|could not connect|connection was closed|connection from|body from connection",
        re.IGNORECASE,
    ),
}


def make_provider_error(text: str, status: int | None = None, wait: str = "") -> ToolError:
    """Make the error between a tool and its provider; `wait` is the provider's `Retry-After`."""
    status = status or _find_status(text)
    message = f"{text} (retry-after: {wait})" if wait else text
    return ToolError(message, status, fallback=_find_category(text, _PROVIDER_ERROR_PHRASES))


def report_refusal(text: str, status: int | None = None, after: float | None = None) -> Iterator[AgentEvent]:
    """Report a rate limit, for a tool that waits by itself; nothing if it waits for another reason."""
    match = classify_error(text, status or _find_status(text))
    limited = (
        match.category is Category.RATE_LIMIT
        if match
        else _find_category(text, _PROVIDER_ERROR_PHRASES) is Category.RATE_LIMIT
    )
    if limited:
        wait = match.wait if match else RetryAfter()
        yield ProviderRefused(RetryAfter(wait.after if after is None else after, wait.at))


def _find_status(text: str) -> int | None:
    match = _LEADING_STATUS.match(text)
    return int(match[1]) if match else None


def _find_category(text: str, phrases_by_category: Mapping[Category, re.Pattern[str]]) -> Category:
    return next((category for category, phrases in phrases_by_category.items() if phrases.search(text)), Category.TASK)


_API_ERROR = pattern(r"\[API Error: (?P<inside>.*)\](?P<after>\s*(?:Please wait .*)?)", re.DOTALL)

# For `guess_category` (claude, codex, gemini, qwen): errors in the tool's own words.
_API_ERROR_PHRASES: Mapping[Category, re.Pattern[str]] = {
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

# How yargs reports an invalid command line.
USAGE_ERROR_PREFIXES = (
    "Unknown argument",
    "Invalid values:",
    "Not enough arguments",
    "Missing required argument",
)

_MAX_ERROR_DEPTH = 4


def extract_api_error(text: str) -> str | None:
    """Return the content of `[API Error: …]` at the end of a text, or None."""
    begin = text.rfind("[API Error: ")
    match = _API_ERROR.fullmatch(text.rstrip(), begin) if begin >= 0 else None
    return f"API Error: {unwrap_error(match['inside'])}" if match else None


def guess_category(text: str) -> Category:
    """Return the category of an error that matches no general pattern."""
    return _find_category(text, _API_ERROR_PHRASES)


def unwrap_error(text: str) -> str:
    """Return the message of a provider's JSON answer, with its code or status; any other text unchanged."""
    begin = text.find("{")
    if begin < 0:
        return text
    try:
        tree = loads(text[begin:])
    except (ValueError, RecursionError):
        return text
    for _ in range(_MAX_ERROR_DEPTH):
        inner = tree.get("error") if isinstance(tree, dict) else None
        tree = inner if isinstance(inner, dict) else tree
    message = tree.get("message") if isinstance(tree, dict) else None
    if not isinstance(message, str):
        return text
    codes = (tree.get("code"), tree.get("status"), tree.get("type"))
    details = " ".join(str(code) for code in codes if isinstance(code, str | int) and code)
    return f"{message} ({details})" if details else message
