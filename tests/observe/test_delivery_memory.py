"""What was told is remembered, for each addressee; a file that can't be understood tells nothing."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from plait.observe.notifier import DELIVERY_LOG_FILE, DeliveryCursor, DeliveryLog


def test_a_cursor_is_read_back(tmp_path: Path) -> None:
    mark = DeliveryCursor(12, frozenset({(14, "failed"), (15, "limit")}))
    DeliveryLog(tmp_path, "j").record("a", mark)
    assert DeliveryLog(tmp_path, "j").find("a") == mark
    assert DeliveryLog(tmp_path, "j").find("b") is None
    assert stat.S_IMODE((tmp_path / DELIVERY_LOG_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [DELIVERY_LOG_FILE]


def test_the_cursors_of_another_journal_are_ignored(tmp_path: Path) -> None:
    DeliveryLog(tmp_path, "j").record("a", DeliveryCursor(12))
    assert DeliveryLog(tmp_path, "k").find("a") is None


def test_a_cursor_covers_what_was_sent() -> None:
    mark = DeliveryCursor(12, frozenset({(14, "failed")}))
    assert mark.covers((12, "limit"))
    assert mark.covers((14, "failed"))
    assert not mark.covers((14, "limit"))
    assert not mark.covers((13, "failed"))


@given(st.binary() | st.sampled_from([b"{}", b"[]", b'{"journal": "j", "told": {"a": {"upto": null, "also": []}}}']))
def test_an_invalid_delivery_log_is_empty(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("state")
    (folder / DELIVERY_LOG_FILE).write_bytes(data)
    assert DeliveryLog(folder, "j").find("a") is None


def test_a_cursor_that_can_not_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    memory = DeliveryLog(tmp_path / "gone", "j")
    with pytest.raises(OSError, match="No such file"):
        memory.record("a", DeliveryCursor(1))
    assert memory.find("a") == DeliveryCursor(1)
