"""Lengths of time, sizes and budgets, as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.config import units
from plait.core.settings import Budget


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("60m", 3600),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("90s", 90),
        ("1.5h", 5400),
        ("2 days", 172800),
        ("1 day 2 hours 3 minutes 4 seconds", 93784),
        (" 5 Min ", 300),
    ],
)
def test_a_duration_is_parsed(said: str, seconds: float) -> None:
    assert units.parse_duration_setting(said) == seconds


@pytest.mark.parametrize(
    "said",
    [
        "",
        " ",
        "60",
        "m",
        "60 parsecs",
        "30m1h",
        "1h1h",
        "-5m",
        "1h and 5m",
        "1 2h",
        "1e3s",
        "1h30",
        "9" * 40 + "s",
        "٣m",
    ],
)
def test_other_text_is_no_duration(said: str) -> None:
    assert units.parse_duration_setting(said) is None


@given(st.integers(1, 10**9))
def test_a_formatted_duration_parses_to_the_same_value(seconds: int) -> None:
    spelt = units.format_duration_setting(float(seconds))
    assert isinstance(spelt, str)
    assert units.parse_duration_setting(spelt) == seconds


def test_a_fraction_of_a_second_stays_a_number() -> None:
    assert units.format_duration_setting(0.5) == 0.5


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("64MB", 64 * 2**20),
        ("64 MiB", 64 * 2**20),
        ("64m", 64 * 2**20),
        ("1.5G", 3 * 2**29),
        ("0.5KB", 512),
        ("4096", 4096),
        ("4096b", 4096),
        (" 2 TB ", 2**41),
    ],
)
def test_a_size_is_parsed(said: str, size: int) -> None:
    assert units.parse_size_setting(said) == size


@pytest.mark.parametrize("said", ["", " ", "MB", "64 MB 1KB", "-1MB", "64MBit", "1e3", "0.3KB", "9" * 40, "64 parsecs"])
def test_other_text_is_no_size(said: str) -> None:
    assert units.parse_size_setting(said) is None


@given(st.integers(0, 2**49))
def test_a_formatted_size_parses_to_the_same_value(size: int) -> None:
    assert units.parse_size_setting(units.format_size_setting(size)) == size


def test_a_size_is_formatted_in_the_largest_unit() -> None:
    assert [units.format_size_setting(size) for size in (2**26, 2**30, 1000, 0)] == [
        "64MB",
        "1GB",
        "1000B",
        "0B",
    ]


@pytest.mark.parametrize(
    ("said", "budget"),
    [
        ("20usd", Budget(microusd=20_000_000)),
        ("$20", Budget(microusd=20_000_000)),
        ("$0.1", Budget(microusd=100_000)),
        ("500ktok", Budget(tokens=500_000)),
        ("2mtok", Budget(tokens=2_000_000)),
        ("1.5 Mtok", Budget(tokens=1_500_000)),
        ("1234 tokens", Budget(tokens=1234)),
        ("20usd 500ktok", Budget(20_000_000, 500_000)),
        ("500ktok, 20 USD", Budget(20_000_000, 500_000)),
        ("0usd", Budget(microusd=0)),
    ],
)
def test_a_budget_is_parsed(said: str, budget: Budget) -> None:
    assert units.parse_budget_setting(said) == budget


@pytest.mark.parametrize(
    "said",
    [
        "",
        "20",
        "usd",
        "20eur",
        "20usd 30usd",
        "20usd500ktok",
        "-1usd",
        "$5ktok",
        "0.5tok",
        "0.0000001usd",
        "20usd,",
    ],
)
def test_other_text_is_no_budget(said: str) -> None:
    assert units.parse_budget_setting(said) is None


@given(st.none() | st.integers(0, 10**15), st.none() | st.integers(0, 10**15))
def test_a_formatted_budget_parses_to_the_same_value(microusd: int | None, tokens: int | None) -> None:
    budget = Budget(microusd, tokens)
    if budget != Budget():
        assert units.parse_budget_setting(units.format_budget_setting(budget)) == budget


@given(st.text(alphabet="0123456789.$ ,hmsdusdktok", max_size=30))
def test_no_text_raises(said: str) -> None:
    units.parse_duration_setting(said)
    units.parse_budget_setting(said)
