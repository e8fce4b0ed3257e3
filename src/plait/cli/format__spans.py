"""Lengths of time on the screen."""

from __future__ import annotations

import time

_CLOCK_ONLY_SECONDS = 18 * 3600  # seconds; further away, the time of day alone is not clear


def format_elapsed(seconds: float) -> str:
    """`45s`, `3m 02s`, `1h 06m`, `2d 04h`: two units, of an even width within each."""
    whole = int(max(0.0, seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    if whole < 86_400:
        return f"{whole // 3600}h {whole // 60 % 60:02}m"
    return f"{whole // 86_400}d {whole // 3600 % 24:02}h"


def format_provider_limit(provider: str, until: float, now: float) -> str:
    """`anthropic refuses until 15:00, 1h 12m left`"""
    day = "" if until - now < _CLOCK_ONLY_SECONDS else "%a "
    return f"{provider} refuses until {time.strftime(f'{day}%H:%M', time.localtime(until))}, {format_elapsed(until - now)} left"
