"""Every test is run once, and every worker begins with slow ones."""

from __future__ import annotations

from hypothesis import given, strategies as st

from tests.support.worker_shares import order_tests

FOLDERS = st.sampled_from(["agents", "cli", "core", "server", "ui"])


@given(st.lists(FOLDERS), st.integers(1, 8))
def test_no_test_is_lost_or_run_twice(folders: list[str], workers: int) -> None:
    assert sorted(order_tests(folders, workers)) == list(range(len(folders)))


def test_each_worker_begins_with_an_equal_share_of_the_slow_tests_and_ends_with_quick_ones() -> None:
    folders = ["core"] * 300 + ["ui"] * 30
    ordered = [folders[place] for place in order_tests(folders, 3)]
    assert [ordered[start : start + 110] for start in (0, 110, 220)] == [["ui"] * 10 + ["core"] * 100] * 3
