from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from plait.runtime import supervisor

BLANK, WHOLE = b"    ", b"137\n"


def test_a_complete_exit_status_is_read(tmp_path: Path) -> None:
    for code in range(256):
        (tmp_path / "exit").write_bytes(b"%03d\n" % code)
        assert supervisor.read_exit_status(tmp_path / "exit") == code


def test_a_missing_file_is_no_exit_status(tmp_path: Path) -> None:
    assert supervisor.read_exit_status(tmp_path / "exit") is None
    assert supervisor.read_exit_status(tmp_path / "exit" / "exit") is None


def test_a_truncated_file_is_no_exit_status(tmp_path: Path) -> None:
    for length in range(len(WHOLE)):
        (tmp_path / "exit").write_bytes(WHOLE[:length])
        assert supervisor.read_exit_status(tmp_path / "exit") is None


@pytest.mark.parametrize("before", [BLANK, b"\0\0\0\0"])
def test_a_partly_written_file_is_no_exit_status(tmp_path: Path, before: bytes) -> None:
    for chosen in product((False, True), repeat=4):
        mixed = bytes(new if is_new else old for is_new, old, new in zip(chosen, before, WHOLE, strict=True))
        (tmp_path / "exit").write_bytes(mixed)
        assert supervisor.read_exit_status(tmp_path / "exit") == (137 if all(chosen) else None)


@pytest.mark.parametrize("other", [b"137\n\n", b"-37\n", b" 37\n", b"137 ", b"1e2\n", b"\xd9\xa1\xd9\xa2\n", b"0137\n"])
def test_any_other_content_is_no_exit_status(tmp_path: Path, other: bytes) -> None:
    (tmp_path / "exit").write_bytes(other)
    assert supervisor.read_exit_status(tmp_path / "exit") is None
