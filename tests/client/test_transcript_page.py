"""Pages of a transcript: from any offset, over holes, and never a secret."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from plait.agents.redaction import Redactor
from plait.client.logs.transcript_page import (
    CONTEXT_AFTER_BYTES,
    CONTEXT_BEFORE_BYTES,
    TranscriptPage,
    read_page,
)
from plait.runtime.attempt_files import FileTranscript

MAX_BYTES = 64 << 10


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "transcript"


def pages(path: Path, *, ended: bool = True, max_bytes: int = MAX_BYTES) -> list[TranscriptPage]:
    found = [read_page(FileTranscript(path), 0, max_bytes, ended=ended)]
    while not found[-1].last and found[-1].next > found[-1].offset:
        found.append(read_page(FileTranscript(path), found[-1].next, max_bytes, ended=ended))
    return found


def test_a_missing_transcript_has_no_pages(path: Path) -> None:
    assert read_page(FileTranscript(path), 0, MAX_BYTES, ended=True) == TranscriptPage(0, 0, b"", last=True)
    assert read_page(FileTranscript(path), 7, MAX_BYTES, ended=False).next == 0


@cache
def random_text() -> str:
    return "".join(Random(1).choices("abcü🧵 ", k=3 * CONTEXT_BEFORE_BYTES + 6))


@given(
    lines=st.lists(st.integers(0, 3 * CONTEXT_BEFORE_BYTES), max_size=6),
    end=st.sampled_from([b"", b"\n"]),
    max_bytes=st.integers(4 << 10, 3 * MAX_BYTES),
)
@settings(max_examples=40)
def test_all_pages_together_are_the_whole_transcript(
    tmp_path_factory: pytest.TempPathFactory, lines: list[int], end: bytes, max_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("pages") / "transcript"
    whole = b"\n".join(random_text()[start : start + size].encode() for start, size in enumerate(lines)) + end
    path.write_bytes(whole)
    found = pages(path, max_bytes=max_bytes)
    assert all(len(each.raw) <= max_bytes for each in found)
    assert all(each.offset == before.next for before, each in pairwise(found))
    assert [each.last for each in found] == [False] * (len(found) - 1) + [True]
    assert "".join(each.redact_text(Redactor()) for each in found) == whole.decode()


def test_a_page_begins_at_the_requested_byte(path: Path) -> None:
    path.write_bytes(b"first\nsecond\nthird\n")
    for start, offset in ((0, 0), (3, 3), (5, 5), (6, 6), (12, 12), (-1, 18), (-4, 15), (-100, 0)):
        found = read_page(FileTranscript(path), start, MAX_BYTES, ended=True)
        assert (found.offset, found.next, found.last) == (offset, 19, True)
        assert found.redact_text(Redactor()) == "first\nsecond\nthird\n"[offset:]
    assert read_page(FileTranscript(path), 19, MAX_BYTES, ended=True) == TranscriptPage(19, 19, b"", last=True)


def test_the_lines_of_a_page_are_those_that_begin_there(path: Path) -> None:
    path.write_bytes(b"first\nsecond\nthird\n")
    assert [*read_page(FileTranscript(path), 8, MAX_BYTES, ended=True).iter_lines()] == [(13, b"third"), (19, b"")]
    assert [*read_page(FileTranscript(path), 6, MAX_BYTES, ended=True).iter_lines()] == [
        (6, b"second"),
        (13, b"third"),
        (19, b""),
    ]


@pytest.mark.parametrize("max_bytes", [1, 1000, 10_000, MAX_BYTES])
def test_a_line_longer_than_a_page_continues_on_the_next_one(path: Path, max_bytes: int) -> None:
    """Also while it is being written: half of what may be a secret waits for its other half."""
    path.write_bytes(b"x" * (CONTEXT_BEFORE_BYTES + 50_000))
    first = read_page(FileTranscript(path), 0, max_bytes, ended=False)
    assert (first.next, first.last) == (min(max_bytes, CONTEXT_BEFORE_BYTES + 50_000 - CONTEXT_AFTER_BYTES), False)
    assert (
        read_page(FileTranscript(path), 0, 1 << 20, ended=False).next
        == CONTEXT_BEFORE_BYTES + 50_000 - CONTEXT_AFTER_BYTES
    )
    assert (
        read_page(FileTranscript(path), 0, max_bytes, ended=True).next,
        read_page(FileTranscript(path), 0, max_bytes, ended=True).last,
    ) == (
        max_bytes,
        False,
    )


def test_a_line_without_an_end_waits_for_it_unless_the_attempt_is_over(path: Path) -> None:
    path.write_bytes(b"first\nhalf")
    assert read_page(FileTranscript(path), 0, MAX_BYTES, ended=False).raw == b"first\n"
    assert read_page(FileTranscript(path), 6, MAX_BYTES, ended=False) == TranscriptPage(
        6, 6, b"", last=False, before=b"first\n"
    )
    assert read_page(FileTranscript(path), 6, MAX_BYTES, ended=True).raw == b"half"
    assert read_page(FileTranscript(path), 10, MAX_BYTES, ended=True).raw == b""


def test_a_gap_is_skipped_between_two_pages(path: Path) -> None:
    path.write_bytes(b"".join(b"%07d\n" % number for number in range(100_000)))
    if not FileTranscript(path).trim(256 << 10):
        pytest.skip("this file system punches no holes")
    before, after, *rest = pages(path, max_bytes=1 << 20)
    assert not rest
    assert before.raw.startswith(b"0000000\n")
    assert after.offset > before.next
    assert after.raw.endswith(b"0099999\n")
    inside = read_page(FileTranscript(path), (before.next + after.offset) // 2, 1 << 20, ended=True)
    assert (inside.offset, inside.before) == (after.offset, b"")


def test_a_secret_is_redacted_from_any_offset(path: Path) -> None:
    hide = Redactor(["correct-horse-battery"])
    path.write_bytes(
        b"it is correct-horse-battery, yes\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nBKcwggSjAgEAAoIB\n"
    )
    for start in range(path.stat().st_size):
        result = read_page(FileTranscript(path), start, MAX_BYTES, ended=True).redact_text(hide)
        assert not any(word in result for word in ("horse-battery", "MIIEvQ", "BKcwgg"))
        assert start > 27 or result.startswith(("it is ***, yes"[min(start, 6) :], ", yes"))


@pytest.mark.parametrize("max_bytes", [1, 7, 20, 50])
@pytest.mark.parametrize("ended", [True, False])
def test_a_secret_is_redacted_if_a_page_ends_within_it(path: Path, max_bytes: int, ended: bool) -> None:  # noqa: FBT001
    hide = Redactor(["correct-horse-battery"])
    line = "it is correct-horse-battery and ghp_abcdefghijklmnopqrstuvwxyz, ünd " * 3
    path.write_text(line + "x" * (CONTEXT_BEFORE_BYTES + CONTEXT_AFTER_BYTES))
    result, at = "", 0
    while at < len(line.encode()):
        found = read_page(FileTranscript(path), at, max_bytes, ended=ended)
        assert found.offset == at < found.next
        result, at = result + found.redact_text(hide), found.next
    assert result.rstrip("x") == "it is *** and ***, ünd " * 3


def test_invalid_utf8_is_replaced(path: Path) -> None:
    path.write_bytes(b"\xff\xfe<script>\n")
    assert read_page(FileTranscript(path), 0, MAX_BYTES, ended=True).redact_text(Redactor()) == "\ufffd\ufffd<script>\n"
