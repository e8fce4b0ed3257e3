"""Durations, sizes and budgets as people write them. Parsing is strict: None for anything not fully understood."""

from __future__ import annotations

import re
from decimal import Decimal

from plait.core.lazy_pattern import pattern
from plait.core.settings import Budget

MAX_SECONDS = 1e9  # more is a typo
_MAX_BUDGET = 10**15

# Bounded, so that parsing takes linear time and no number is absurd.
_NUMBER = r"(\d{1,15}(?:\.\d{1,9})?) ?"
_DURATION = pattern(
    rf"(?:{_NUMBER}(?:d|days?) ?)?(?:{_NUMBER}(?:h|hrs?|hours?) ?)?"
    rf"(?:{_NUMBER}(?:m|mins?|minutes?) ?)?(?:{_NUMBER}(?:s|secs?|seconds?))?",
    re.IGNORECASE | re.ASCII,
)
_SECONDS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_SIZE = pattern(rf"{_NUMBER}(?P<unit>[kmgt]?)i?b?", re.IGNORECASE | re.ASCII)
_UNITS = {"t": 2**40, "g": 2**30, "m": 2**20, "k": 2**10, "": 1}
_AMOUNT = pattern(rf"(?P<dollar>\$)?{_NUMBER}(?P<unit>[a-z]{{0,9}})(?:,? |$)", re.IGNORECASE | re.ASCII)
_TOKENS = {"tok": 1, "tokens": 1, "ktok": 1_000, "mtok": 1_000_000}
_MICRO = 1_000_000


def parse_duration_setting(text: str) -> float | None:
    """Return the seconds of `60m`, `1h30m`, `2 days` or `90s`: the greater unit first, each at most once."""
    match = _DURATION.fullmatch(" ".join(text.split()))
    if not match or not any(match.groups()):
        return None
    sizes = (size for _, size in _SECONDS)
    return float(sum(Decimal(number or 0) * size for number, size in zip(match.groups(), sizes, strict=True)))


def format_duration_setting(seconds: float) -> str | float:
    """Return the shortest text that parses to the same duration; a fraction of a second stays a number."""
    left = int(seconds)
    if left != seconds:
        return seconds
    parts = []
    for unit, size in _SECONDS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def parse_size_setting(text: str) -> int | None:
    """Return the bytes of `64MB`, `64MiB`, `1.5G` or `4096`: a kilobyte is 1024 of them, however it is written."""
    match = _SIZE.fullmatch(" ".join(text.split()))
    if not match:
        return None
    exact = Decimal(match[1]) * _UNITS[match["unit"].lower()]
    return int(exact) if exact == int(exact) else None


def format_size_setting(value: int) -> str:
    unit = next(unit for unit, worth in _UNITS.items() if value % worth == 0 and (value or not unit))
    return f"{value // _UNITS[unit]}{unit.upper()}B"


def parse_budget_setting(written: str) -> Budget | None:
    """Return the budget of `20usd`, `$20`, `500ktok`, or one of each."""
    text = " ".join(written.split())
    bounds: dict[str, int] = {}
    position = 0
    while position < len(text):
        match = _AMOUNT.match(text, position)
        bound = _parse_amount(match) if match else None
        if not match or bound is None or bound[0] in bounds:
            return None
        bounds[bound[0]] = bound[1]
        position = match.end()
    return Budget(**bounds) if bounds else None


def _parse_amount(match: re.Match[str]) -> tuple[str, int] | None:
    number, unit = Decimal(match[2]), match["unit"].lower()
    if unit in ({"", "usd"} if match["dollar"] else {"usd"}):
        name, exact = "microusd", number * _MICRO
    elif unit in _TOKENS and not match["dollar"]:
        name, exact = "tokens", number * _TOKENS[unit]
    else:
        return None
    return (name, int(exact)) if exact == int(exact) and exact <= _MAX_BUDGET else None


def format_budget_setting(value: Budget) -> str:
    parts = []
    if value.microusd is not None:
        parts.append(f"{Decimal(value.microusd).scaleb(-6).normalize():f}usd")
    if value.tokens is not None:
        unit = next(name for name in ("mtok", "ktok", "tok") if value.tokens % _TOKENS[name] == 0)
        parts.append(f"{value.tokens // _TOKENS[unit]}{unit}")
    return " ".join(parts)
