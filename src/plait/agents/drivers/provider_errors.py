"""What tools say, out of what it is wrapped in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from json import loads

from plait.agents.error_patterns import find_error
from plait.core.lazy_pattern import pattern
from plait.core.status import Category

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
_CLOSING_BRACKETS = {"{": "}", "[": "]"}


def repair_json(line: str) -> str:
    """An object whose end was cut off inside of a text: the text ends there, and so does all that is around it."""
    open_: list[str] = []
    quoted = escaped = False
    for char in line:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = quoted
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in _CLOSING_BRACKETS:
            open_.append(_CLOSING_BRACKETS[char])
        elif not quoted and char in "}]" and open_:
            open_.pop()
    whole = line[:-1] if escaped else re.sub(r"\\u[0-9a-fA-F]{0,3}$", "", line)
    return "".join((whole, '"' if quoted else "", *reversed(open_)))


def extract_api_error(said: str) -> str | None:
    """What is inside of `[API Error: …]`, if a text ends with it."""
    begin = said.rfind("[API Error: ")
    found = _API_ERROR.fullmatch(said.rstrip(), begin) if begin >= 0 else None
    return f"API Error: {unwrap_error(found['inside'])}" if found else None


def guess_category(said: str) -> Category:
    """What an error is whose words name no cause that anybody would know."""
    return next(
        (category for category, cause in _CATEGORY_HINTS.items() if cause.search(said)), Category.TASK
    )


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


def strip_events(tail: str) -> str:
    """What was said in words, and the last event if it complains: no person reads the others, and what they complained of
    it got over.
    """
    lines = tail.split("\n")
    events = [place for place, line in enumerate(lines) if line.lstrip().startswith('{"')]
    if events and find_error(lines[events[-1]]):
        events.pop()
    return "\n".join(line for place, line in enumerate(lines) if place not in events)


def last_nonempty_line(said: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(said.split("\n")) if line.strip()), "")
