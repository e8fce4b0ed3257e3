"""Times of day at which a provider takes work again: "resets at 3pm (Europe/Berlin)", as the next such instant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, timezone, tzinfo

from plait.core.lazy_pattern import pattern

MAX_AHEAD_SECONDS = 8 * 86_400.0  # seconds; a time of day is never further away
JUST_PASSED_SECONDS = 15 * 60.0  # seconds; what is past by so little is meant as now

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMED_TIMES = {"noon": time(12), "midnight": time(0)}
_NOON_HOUR = 12
# Abbreviations that mean one thing, in hours from UTC; of those that mean several, nobody knows which.
_ZONE_OFFSET_HOURS = {
    name: hours
    for hours, names in (
        (-8, "pst"),
        (-7, "pdt mst"),
        (-6, "mdt cst"),
        (-5, "cdt est"),
        (-4, "edt"),
        (0, "utc gmt z"),
        (1, "cet bst"),
        (2, "cest"),
        (9, "jst"),
    )
    for name in names.split()
}

_MONTH = rf"(?P<{{0}}>{'|'.join(_MONTHS)})[a-z]{{{{0,6}}}}\.?"
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|:)"
_TIME_OF_DAY = pattern(
    r"(?:resets?(?:[ _]?(?:at|time))?|try(?:ing)? again|retry|available(?: again)?|until|back)\b"
    r"\W{0,4}(?:(?:on|at|by)\b:? ?)?"
    r"(?:(?:"
    rf"(?P<weekday>{'|'.join(_WEEKDAYS)})[a-z]{{0,6}}"
    r"|(?P<near>today|tomorrow)"
    rf"|{_MONTH.format('month_1')} {_DAY.format('day_1')}(?:,? (?P<year_1>\d{{4}}))?"
    rf"|{_DAY.format('day_2')} {_MONTH.format('month_2')}(?:,? (?P<year_2>\d{{4}}))?"
    r"),? ?)?"
    r"(?P<at>at )?"
    r"(?:(?P<named>noon|midnight)\b"
    r"|(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?(?!\d) ?(?:(?P<half>[ap])\.?m\b\.?)?)"
    r"(?P<zone> ?\(?(?:(?:utc|gmt)? ?[+-]\d{1,2}(?::?\d{2})?\b|[a-z]{1,5}\b(?!/)|[a-z_]{2,20}(?:/[a-z0-9_+-]{1,30}){1,2}))?",
    re.IGNORECASE,
)
_OFFSET = pattern(r"(?:utc|gmt)? ?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?", re.IGNORECASE)
_HOUR_END = pattern(r"\s*(?:$|[.,;:)\u00b7|\"'!])")


def find_time_of_day(said: str, printed_at: float) -> float | None:
    """The next time that is meant, never before `said_at`; None: none is told. In no zone, it is the local one's."""
    for found in _TIME_OF_DAY.finditer(said):
        at = _next_occurrence(found, said, printed_at)
        if at is not None:
            return at
    return None


def _next_occurrence(found: re.Match[str], said: str, printed_at: float) -> float | None:
    clock = _parse_clock(found, said)
    if clock is None:
        return None
    zone = _parse_zone((found["zone"] or "").strip(" ("))
    try:
        today = datetime.fromtimestamp(printed_at, zone).date()
        meant = sorted(at for day in _candidate_days(found, today) for at in _timestamps(day, clock, zone))
    except (ValueError, OverflowError, OSError):
        return None
    ahead = (at for at in meant if printed_at - JUST_PASSED_SECONDS <= at <= printed_at + MAX_AHEAD_SECONDS)
    at = next(ahead, None)
    return None if at is None else max(at, printed_at)


def _parse_clock(found: re.Match[str], said: str) -> time | None:
    if found["named"]:
        return _NAMED_TIMES[found["named"].lower()]
    hour, half = int(found["hour"]), (found["half"] or "").lower()
    if not half and found["minute"] is None and not _is_bare_hour(found, said):
        return None
    if half:
        if not 1 <= hour <= _NOON_HOUR:
            return None
        hour = hour % _NOON_HOUR + (_NOON_HOUR if half == "p" else 0)
    try:
        return time(hour, int(found["minute"] or 0), int(found["second"] or 0))
    except ValueError:
        return None


def _is_bare_hour(found: re.Match[str], said: str) -> bool:
    """A number alone is an hour where nothing follows that it could count."""
    told = (found["zone"] or "").strip(" (")
    return bool(
        _HOUR_END.match(said, found.end() if told and _parse_zone(told) is not None else found.end("hour"))
    )


def _candidate_days(found: re.Match[str], today: date) -> Iterator[date]:
    around = [today + timedelta(days=days) for days in range(-1, 9)]
    month = found["month_1"] or found["month_2"]
    if month:
        number, day = _MONTHS.index(month.lower()) + 1, int(found["day_1"] or found["day_2"])
        year = found["year_1"] or found["year_2"]
        yield from (
            each
            for each in around
            if (each.month, each.day) == (number, day) and int(year or each.year) == each.year
        )
    elif found["weekday"]:
        yield from (each for each in around if each.weekday() == _WEEKDAYS.index(found["weekday"].lower()))
    elif found["near"]:
        yield today + timedelta(days=found["near"].lower() == "tomorrow")
    else:
        yield from around[:4]


def _timestamps(day: date, clock: time, zone: tzinfo | None) -> Iterator[float]:
    """When clocks are set back, a time comes twice; one that is left out when they are set forward, comes after that."""
    first, second = (datetime.combine(day, clock.replace(fold=fold), zone).timestamp() for fold in (0, 1))
    yield first
    if second > first:
        yield second


def _parse_zone(name: str) -> tzinfo | None:
    """None: the local one, also for a name that nobody knows."""
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        minutes = int(offset["hours"]) * 60 + int(offset["minutes"] or 0)
        told = timedelta(minutes=-minutes if offset["sign"] == "-" else minutes)
        return timezone(told) if abs(told) < timedelta(hours=24) else None
    if name.lower() in _ZONE_OFFSET_HOURS:
        return timezone(timedelta(hours=_ZONE_OFFSET_HOURS[name.lower()]))
    if "/" not in name:
        return None
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - few refusals name a zone

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
