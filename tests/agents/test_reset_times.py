"""Times of day: the next such instant after it was said, wherever that is."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from plait.agents.retry_after import (
    JUST_PASSED_SECONDS,
    MAX_AHEAD_SECONDS,
    NO_RETRY_AFTER,
    RetryAfter,
    parse_retry_after,
)

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "Pacific/Apia")


@pytest.fixture(autouse=True)
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No zone that any text here names."""
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "Asia/Tokyo")
        clock.tzset()
        yield
    clock.tzset()


def at(*when: int, zone: str = "UTC") -> float:
    return datetime(*when, tzinfo=ZoneInfo(zone)).timestamp()  # type: ignore[arg-type,misc]  # year, month, day …


SAID = at(2025, 11, 14, 10, 0)  # a Friday; 11 in Berlin, 5 in New York, 19 in Tokyo


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("resets at 3pm (Europe/Berlin)", at(2025, 11, 14, 15, zone="Europe/Berlin")),
        (
            "You've hit your limit · resets 3am (America/New_York)",
            at(2025, 11, 15, 3, zone="America/New_York"),
        ),
        ("Your limit will reset at 11am (Europe/Berlin).", SAID),
        ("resets 11:30pm", at(2025, 11, 14, 23, 30, zone="Asia/Tokyo")),
        ("try again at 14:05 UTC", at(2025, 11, 14, 14, 5)),
        ("try again at 09:05 UTC", at(2025, 11, 15, 9, 5)),
        ("Try again at 3:05 PM.", at(2025, 11, 15, 15, 5, zone="Asia/Tokyo")),
        ("try again at Nov 18th, 2025 3:05 PM.", at(2025, 11, 18, 15, 5, zone="Asia/Tokyo")),
        ("resets Nov 18, 3am (America/New_York)", at(2025, 11, 18, 3, zone="America/New_York")),
        ("resets on 18 November at 3am (America/New_York)", at(2025, 11, 18, 3, zone="America/New_York")),
        ("resets Monday 9am (Europe/Berlin)", at(2025, 11, 17, 9, zone="Europe/Berlin")),
        ("resets Fri 9am (Europe/Berlin)", at(2025, 11, 21, 9, zone="Europe/Berlin")),
        ("available again tomorrow at 9:00 (Europe/Berlin)", at(2025, 11, 15, 9, zone="Europe/Berlin")),
        ("resets today at 9pm UTC", at(2025, 11, 14, 21)),
        ("resets at 12am UTC", at(2025, 11, 15, 0)),
        ("resets at 12pm UTC", at(2025, 11, 14, 12)),
        ("resets at midnight (UTC)", at(2025, 11, 15, 0)),
        ("resets at noon UTC", at(2025, 11, 14, 12)),
        ("resets at 15 (Europe/Berlin)", at(2025, 11, 14, 15, zone="Europe/Berlin")),
        ("resets at 21.", at(2025, 11, 14, 21, zone="Asia/Tokyo")),
        ("resets 16:00 +02:00", at(2025, 11, 14, 14)),
        ("resets 4 p.m. (UTC-5)", at(2025, 11, 14, 21)),
        ("resets 4pm PST", at(2025, 11, 15, 0)),
        ("resets 3pm (Middle/Earth)", at(2025, 11, 15, 15, zone="Asia/Tokyo")),
        ("resets 3pm (Europe)", at(2025, 11, 15, 15, zone="Asia/Tokyo")),
        ("resets\nat 3pm\n(Europe/Berlin)", at(2025, 11, 14, 15, zone="Europe/Berlin")),
    ],
)
def test_a_time_of_day_is_the_next_one(text: str, instant: float) -> None:
    assert parse_retry_after(text, SAID) == RetryAfter(at=instant)


def test_a_date_in_january_is_next_year() -> None:
    said = at(2025, 12, 30, 12)
    assert parse_retry_after("resets Jan 2, 3am (UTC)", said) == RetryAfter(at=at(2026, 1, 2, 3))


def test_a_time_that_just_passed_means_now() -> None:
    said = at(2025, 11, 14, 15, 3)
    assert parse_retry_after("resets at 3pm (UTC)", said) == RetryAfter(at=said)
    assert parse_retry_after("resets Nov 14, 3pm (UTC)", said) == RetryAfter(at=said)
    assert parse_retry_after("resets at 3pm (UTC)", said + 3600) == RetryAfter(at=at(2025, 11, 15, 15))


def test_a_skipped_time_of_day_is_after_the_clock_change() -> None:
    said = at(2025, 3, 30, 0, zone="Europe/Berlin")
    assert parse_retry_after("resets 2:30am (Europe/Berlin)", said) == RetryAfter(
        at=at(2025, 3, 30, 3, 30, zone="Europe/Berlin")
    )


def test_an_ambiguous_time_of_day_is_the_one_still_ahead() -> None:
    first = datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN).timestamp()
    assert parse_retry_after("resets 2:30am (Europe/Berlin)", first - 1800) == RetryAfter(at=first)
    assert parse_retry_after("resets 2:30am (Europe/Berlin)", first + 1800) == RetryAfter(at=first + 3600)


@pytest.mark.parametrize(
    "text",
    [
        "resets at 25:00 UTC",
        "resets at 3:75pm",
        "resets at 13pm",
        "resets at 0am",
        "retry at 5 attempts",
        "resets 20 requests",
        "resets at 2025-01-01",
        "resets Nov 31, 3am (UTC)",
        "resets Nov 1, 3am (UTC)",
        "resets Dec 24, 3am (UTC)",
        "resets Nov 18, 2024 3am (UTC)",
        "started at 3pm",
        "3pm",
        "resets soon",
    ],
)
def test_other_text_is_no_time_of_day(text: str) -> None:
    assert parse_retry_after(text, SAID) == NO_RETRY_AFTER


def test_without_the_time_of_printing_no_time_of_day_is_parsed() -> None:
    assert parse_retry_after("resets at 3pm (Europe/Berlin)") == NO_RETRY_AFTER


def test_a_timestamp_comes_before_a_time_of_day() -> None:
    assert parse_retry_after("resets at 3pm, reached|1735689600", SAID) == RetryAfter(at=1735689600.0)


@given(
    st.integers(1_700_000_000, 1_900_000_000),
    st.sampled_from(ZONES),
    st.integers(0, 23),
    st.integers(0, 59),
)
def test_the_result_is_the_next_occurrence_of_that_time(said: int, name: str, hour: int, minute: int) -> None:
    found = parse_retry_after(f"try again at {hour:02}:{minute:02} ({name})", said).at
    assert found is not None
    zone = ZoneInfo(name)
    told = datetime.fromtimestamp(found, zone)
    if found == said:
        earlier = [datetime.fromtimestamp(said - back, zone) for back in range(0, int(JUST_PASSED_SECONDS) + 60, 20)]
        assert (hour, minute) in {(each.hour, each.minute) for each in earlier}
        return
    minutes = (datetime.fromtimestamp(at, zone) for at in range(said - said % 60 + 60, int(found), 60))
    assert (hour, minute) not in {(each.hour, each.minute) for each in minutes}
    exists = _exists(told, zone, hour, minute)
    assert not exists or (told.hour, told.minute) == (hour, minute)


def _exists(told: datetime, zone: ZoneInfo, hour: int, minute: int) -> bool:
    """Whether clocks show that time on that day at all."""
    wanted = told.replace(hour=hour, minute=minute, fold=0)
    back = wanted.astimezone(UTC).astimezone(zone)
    return (back.hour, back.minute) == (hour, minute)


@given(
    st.text(alphabet="resets try again at monfritodaynv 0123456789apm:,()/+-UTCEuropeBerlin_.", max_size=200),
    st.floats(0, 4e9),
)
def test_a_time_of_day_is_always_ahead_and_near(text: str, said: float) -> None:
    found = parse_retry_after(f"resets {text} try again at {text}", said)
    assert found.at is None or said <= found.at <= said + MAX_AHEAD_SECONDS + 1 or found.at > 1.5e9


def test_a_time_without_a_day_is_within_a_day() -> None:
    for minutes in range(0, 24 * 60, 7):
        said = SAID + timedelta(minutes=minutes).total_seconds()
        found = parse_retry_after("resets at 3pm (Europe/Berlin)", said).at
        assert found is not None
        assert 0 <= found - said <= 86_400
