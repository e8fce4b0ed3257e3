"""How long a provider asks to wait: durations, timestamps, and times of day such as "resets at 3pm (Europe/Berlin)"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern

_MAX_WAIT_SECONDS = 40 * 86400.0
_HTTP_DATE_FORMAT = "%a, %d %b %Y %H:%M:%S GMT"
_EPOCH_RANGE = (1_500_000_000.0, 5_000_000_000.0)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

_DURATION_PART = pattern(
    r"(?P<number>\d{1,9}(?:\.\d{1,9})?) ?"
    r"(?P<unit>milliseconds?|millis|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])"
    r"(?:,? and |, | )?",
    re.IGNORECASE,
)

# What precedes a duration; "retrying in" is about a wait that is over.
_DURATION_PREFIX = pattern(
    r"(?:try(?:ing)? again|retry|wait|resets?|available(?: again)?)"
    r" (?:in|after|for)(?: about| approximately| another)? (?=\d)"
    r"|retry[-_ ]?delay[\"']?[:=] ?[\"']?(?=\d)",
    re.IGNORECASE,
)

_RETRY_AFTER_HEADER = pattern(
    r"retry[-_]after(?P<ms>[-_]ms)?[\"']?[:=] ?[\"']?(?P<number>\d{1,9}(?:\.\d{1,9})?)(?![\d-])",
    re.IGNORECASE,
)

_RETRY_DELAY_MS = pattern(r"retry_?delay_?ms[\"']?[:=] ?(?P<number>\d{1,9})", re.IGNORECASE)

_RETRY_AFTER_DATE = pattern(
    r"retry-after[\"']?: ?[\"']?(\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT)", re.IGNORECASE
)

_RESET_EPOCH = pattern(
    r"(?:reached\||reset(?:s|_?at|s_?at)?[\"']?[:= ]{1,2}[\"']?)(\d{10})(\d{3})?(?!\d)", re.IGNORECASE
)

_RESET_ISO = pattern(
    r"(?:resets?(?:_?at)?|retry(?:_?at)?|again|until|after)\W{1,4}(?:at )?"
    r"(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2}))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """When to retry: `after` is in seconds from when it was printed, `at` a timestamp."""

    after: float | None = None
    at: float | None = None

    def __bool__(self) -> bool:
        return self.after is not None or self.at is not None


NO_RETRY_AFTER = RetryAfter()


def parse_retry_after(text: str, printed_at: float | None = None) -> RetryAfter:
    """Return the longest of several durations, and a timestamp. Without `printed_at`, times of day are ignored."""
    line = " ".join(text.split())
    delays = [_parse_duration(line, match.end()) for match in _DURATION_PREFIX.finditer(line)]
    delays += [float(match["number"]) * (0.001 if match["ms"] else 1.0) for match in _RETRY_AFTER_HEADER.finditer(line)]
    delays += [float(match["number"]) * 0.001 for match in _RETRY_DELAY_MS.finditer(line)]
    at = _find_timestamp(line)
    if at is None and printed_at is not None:
        at = find_time_of_day(line, printed_at)
    return RetryAfter(max((delay for delay in delays if 0 < delay <= _MAX_WAIT_SECONDS), default=None), at)


def _parse_duration(text: str, position: int) -> float:
    """Return the seconds of `1h 30m`, `3 hours and 5 minutes` or `6m0s`."""
    total = 0.0
    while part := _DURATION_PART.match(text, position):
        unit = part["unit"].lower()
        total += float(part["number"]) * _UNITS["ms" if unit.startswith("mil") or unit == "ms" else unit[0]]
        position = part.end()
    return total


def _find_timestamp(text: str) -> float | None:
    try:
        if match := _RESET_EPOCH.search(text):
            at = float(match[1])
        elif match := _RESET_ISO.search(text):
            at = datetime.fromisoformat(match[1]).timestamp()
        elif match := _RETRY_AFTER_DATE.search(text):
            at = datetime.strptime(match[1], _HTTP_DATE_FORMAT).replace(tzinfo=UTC).timestamp()
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return at if _EPOCH_RANGE[0] < at < _EPOCH_RANGE[1] else None


MAX_AHEAD_SECONDS = 8 * 86_400.0  # a time of day is never further away
JUST_PASSED_SECONDS = 15 * 60.0  # a time that passed this recently means now
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMED_TIMES = {"noon": time(12), "midnight": time(0)}
_NOON_HOUR = 12

# Unambiguous abbreviations, in hours from UTC.
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


def find_time_of_day(text: str, printed_at: float) -> float | None:
    """Return the next such time (local without a zone), never before `printed_at`; None if there is none."""
    for match in _TIME_OF_DAY.finditer(text):
        at = _next_occurrence(match, text, printed_at)
        if at is not None:
            return at
    return None


def _next_occurrence(match: re.Match[str], text: str, printed_at: float) -> float | None:
    clock = _parse_clock(match, text)
    if clock is None:
        return None
    zone = _parse_zone((match["zone"] or "").strip(" ("))
    try:
        today = datetime.fromtimestamp(printed_at, zone).date()
        meant = sorted(at for day in _candidate_days(match, today) for at in _timestamps(day, clock, zone))
    except (ValueError, OverflowError, OSError):
        return None
    ahead = (at for at in meant if printed_at - JUST_PASSED_SECONDS <= at <= printed_at + MAX_AHEAD_SECONDS)
    at = next(ahead, None)
    return None if at is None else max(at, printed_at)


def _parse_clock(match: re.Match[str], text: str) -> time | None:
    if match["named"]:
        return _NAMED_TIMES[match["named"].lower()]
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if not half and match["minute"] is None and not _is_bare_hour(match, text):
        return None
    if half:
        if not 1 <= hour <= _NOON_HOUR:
            return None
        hour = hour % _NOON_HOUR + (_NOON_HOUR if half == "p" else 0)
    try:
        return time(hour, int(match["minute"] or 0), int(match["second"] or 0))
    except ValueError:
        return None


def _is_bare_hour(match: re.Match[str], text: str) -> bool:
    """Whether a number alone is an hour: nothing follows that it could count."""
    zone = (match["zone"] or "").strip(" (")
    return bool(_HOUR_END.match(text, match.end() if zone and _parse_zone(zone) is not None else match.end("hour")))


def _candidate_days(match: re.Match[str], today: date) -> Iterator[date]:
    around = [today + timedelta(days=days) for days in range(-1, 9)]
    month = match["month_1"] or match["month_2"]
    if month:
        number, day = _MONTHS.index(month.lower()) + 1, int(match["day_1"] or match["day_2"])
        year = match["year_1"] or match["year_2"]
        yield from (
            each for each in around if (each.month, each.day) == (number, day) and int(year or each.year) == each.year
        )
    elif match["weekday"]:
        yield from (each for each in around if each.weekday() == _WEEKDAYS.index(match["weekday"].lower()))
    elif match["near"]:
        yield today + timedelta(days=match["near"].lower() == "tomorrow")
    else:
        yield from around[:4]


def _timestamps(day: date, clock: time, zone: tzinfo | None) -> Iterator[float]:
    """Yield the timestamps of a time, which occurs twice when clocks are set back."""
    first, second = (datetime.combine(day, clock.replace(fold=fold), zone).timestamp() for fold in (0, 1))
    yield first
    if second > first:
        yield second


def _parse_zone(name: str) -> tzinfo | None:
    """Return the zone; None for the local one, and for unknown names."""
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        minutes = int(offset["hours"]) * 60 + int(offset["minutes"] or 0)
        delta = timedelta(minutes=-minutes if offset["sign"] == "-" else minutes)
        return timezone(delta) if abs(delta) < timedelta(hours=24) else None
    if name.lower() in _ZONE_OFFSET_HOURS:
        return timezone(timedelta(hours=_ZONE_OFFSET_HOURS[name.lower()]))
    if "/" not in name:
        return None
    from zoneinfo import ZoneInfo  # rarely needed

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
