"""Instants as programs read them."""

from __future__ import annotations

from datetime import UTC, datetime

_MAX_TIMESTAMP = 253_402_300_799.0  # of the year 9999: what lies beyond can't be written


def to_iso(at: float) -> str:
    """`2026-11-15T10:00:00.000Z`"""
    told = datetime.fromtimestamp(min(max(at, 0.0), _MAX_TIMESTAMP), UTC)
    return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_iso_or_none(at: float | None) -> str | None:
    return None if at is None else to_iso(at)
