from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.agents.retry_after import NO_RETRY_AFTER, RetryAfter, parse_retry_after


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Retry-After: 30", 30),
        ('{"headers": {"retry-after": "7"}}', 7),
        ("retry-after-ms: 1500", 1.5),
        ("retry_after=2.5", 2.5),
        ("retryDelayMs: 1000,", 1),
        ('"retryDelay": "34s"', 34),
        ("Please try again in 20s.", 20),
        ("Please try again in 6m0s.", 360),
        ("try again in 1.5s", 1.5),
        ("try again in 500ms", 0.5),
        ("You can try again in 3 hours 22 minutes.", 3 * 3600 + 22 * 60),
        ("or try again in 3 days, 4 hours and 5 minutes", 3 * 86400 + 4 * 3600 + 300),
        ("Suggested retry after 1s.", 1),
        ("please wait for about 2 minutes", 120),
        ("limit resets in 1h30m", 5400),
        ("try again\nin 20\nseconds", 20),
        ("Retry-After: 5 … Please try again in 20s.", 20),
    ],
)
def test_a_duration_is_parsed(text: str, seconds: float) -> None:
    assert parse_retry_after(text) == RetryAfter(after=seconds)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("Claude AI usage limit reached|1735689600", 1735689600.0),
        ('"resets_at": 1735689600', 1735689600.0),
        ("reset: 1735689600000", 1735689600.0),
        ("resets at 2025-01-01T00:00:00Z", 1735689600.0),
        ("Try again at 2025-01-01T01:00:00+01:00.", 1735689600.0),
        ('"resetAt": "2025-01-01T00:00:00.000Z"', 1735689600.0),
        ("Retry-After: Wed, 01 Jan 2025 00:00:00 GMT", 1735689600.0),
    ],
)
def test_a_timestamp_is_parsed(text: str, instant: float) -> None:
    assert parse_retry_after(text) == RetryAfter(at=instant)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Retrying in 32.0 seconds...",
        "retrying after 5922ms",
        "your limit resets at 3pm (Europe/Berlin)",
        "try again later",
        "try again in a moment",
        "try again in 20 parsecs",
        "Retry-After: 0",
        "Retry-After: 999999999",
        "try again in 400 days",
        "resets at 2025-01-01",
        "resets at 2025-13-41T99:00:00Z",
        "Retry-After: Foo, 99 Bar 2025 00:00:00 GMT",
        "reset: 9999999999",
        "took 20s",
    ],
)
def test_other_text_is_no_wait(text: str) -> None:
    assert parse_retry_after(text) == NO_RETRY_AFTER
    assert not parse_retry_after(text)


@given(st.text(alphabet="try again in 0123456789.,:-|smhdTZ\"'", max_size=300))
def test_a_wait_is_always_positive_and_bounded(text: str) -> None:
    found = parse_retry_after(f"Retry-After: {text} reached|{text} try again in {text}")
    assert found.after is None or 0 < found.after <= 40 * 86400
    assert found.at is None or 1.5e9 < found.at < 5e9
