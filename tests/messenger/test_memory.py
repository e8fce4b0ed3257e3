"""What was told is remembered, for each addressee; a file that can't be understood tells nothing."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from plait.adapters.messenger.memory import FILE, Mark, Memory


def test_a_mark_is_read_back(tmp_path: Path) -> None:
    mark = Mark(12, frozenset({(14, "failed"), (15, "limit")}))
    Memory(tmp_path, "j").note("a", mark)
    assert Memory(tmp_path, "j").of("a") == mark
    assert Memory(tmp_path, "j").of("b") is None
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_what_was_told_of_another_journal_says_nothing_of_this_one(tmp_path: Path) -> None:
    Memory(tmp_path, "j").note("a", Mark(12))
    assert Memory(tmp_path, "k").of("a") is None


def test_a_mark_has_what_was_told() -> None:
    mark = Mark(12, frozenset({(14, "failed")}))
    assert mark.has((12, "limit"))
    assert mark.has((14, "failed"))
    assert not mark.has((14, "limit"))
    assert not mark.has((13, "failed"))


@given(
    st.binary()
    | st.sampled_from([b"{}", b"[]", b'{"journal": "j", "told": {"a": {"upto": null, "also": []}}}'])
)
def test_a_file_of_anything_is_no_reason_to_fail(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("state")
    (folder / FILE).write_bytes(data)
    assert Memory(folder, "j").of("a") is None


def test_what_can_t_be_kept_is_known_all_the_same(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "gone", "j")
    with pytest.raises(OSError, match="No such file"):
        memory.note("a", Mark(1))
    assert memory.of("a") == Mark(1)
