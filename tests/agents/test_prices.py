from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.agents.interface import Price
from plait.agents.prices import Tokens, compute_spend, find_price
from plait.core.settings import Spend

GPT = Price("gpt-5*", input=1.25, output=10.0, cached=0.125)
ANY = Price("*", input=1.0, output=2.0)


@pytest.mark.parametrize(("model", "found"), [("gpt-5", GPT), ("GPT-5-mini", GPT), ("llama", ANY), ("", ANY)])
def test_the_first_price_that_matches_a_model_counts(model: str, found: Price) -> None:
    assert find_price((GPT, ANY), model) == found


def test_a_model_without_a_price_costs_tokens_only() -> None:
    assert find_price((GPT,), "llama") is None
    assert compute_spend(Tokens(100, 20), None) == Spend(0, 120)


def test_a_million_tokens_cost_what_the_price_says() -> None:
    assert compute_spend(Tokens(1_000_000, 1_000_000), GPT) == Spend(11_250_000, 2_000_000)


def test_cached_tokens_cost_less() -> None:
    assert compute_spend(Tokens(1_000_000, 0, cached=400_000), GPT).microusd == 600_000 * 1.25 + 400_000 * 0.125
    assert compute_spend(Tokens(1_000_000, 0, cached=400_000), ANY).microusd == 1_000_000


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**10))
def test_no_number_of_tokens_has_a_negative_cost(read: int, written: int, cached: int) -> None:
    assert compute_spend(Tokens(read, written, cached), GPT).is_valid
