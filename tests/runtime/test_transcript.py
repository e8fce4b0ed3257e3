from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from plait.runtime.attempt_files import FileTranscript
from plait.runtime.executor import AttemptLimits, TranscriptChunk
from plait.system import disk
from plait.system.disk import HOLE_BLOCK_BYTES
from tests.support.local_executor import local_executor_setup

CAP = 16 * HOLE_BLOCK_BYTES


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "transcript"


def fill(path: Path, blocks: int) -> bytes:
    """No two places in it look the same."""
    data = b"".join(b"%015d\n" % number for number in range(blocks * HOLE_BLOCK_BYTES // 16))
    path.write_bytes(data)
    return data


def pieces(path: Path, most: int = 100_000) -> list[TranscriptChunk]:
    found, at = list[TranscriptChunk](), 0
    while (piece := FileTranscript(path).read(at, most)).data:
        found.append(piece)
        at = piece.end
    return found


@pytest.fixture
def trimmed(path: Path) -> bytes:
    """All that was written to a transcript that has lost its middle."""
    data = fill(path, 40)
    if not FileTranscript(path).trim(CAP):
        pytest.skip("this file system has no holes")
    return data


def test_a_missing_transcript_is_empty(path: Path) -> None:
    assert FileTranscript(path).size() == 0
    assert FileTranscript(path).read(0, 10) == TranscriptChunk(0, b"")
    assert FileTranscript(path).tail(10) == b""
    assert not FileTranscript(path).trim(CAP)


def test_chunks_of_a_transcript_join(path: Path) -> None:
    data = fill(path, 2)
    assert b"".join(piece.data for piece in pieces(path, 777)) == data
    assert FileTranscript(path).read(5, 3) == TranscriptChunk(5, data[5:8])
    assert FileTranscript(path).read(len(data), 3) == TranscriptChunk(len(data), b"")
    assert FileTranscript(path).tail(20) == data[-20:]
    assert FileTranscript(path).tail(1 << 30) == data


def test_a_transcript_below_its_limit_stays_unchanged(path: Path) -> None:
    data = fill(path, 16)
    assert not FileTranscript(path).trim(CAP)
    assert path.read_bytes() == data


def test_a_transcript_above_its_limit_loses_its_middle_and_keeps_its_offsets(path: Path, trimmed: bytes) -> None:
    assert FileTranscript(path).size() == len(trimmed)
    assert path.stat().st_blocks * 512 <= CAP
    head, tail = pieces(path, 1 << 30)
    assert head.start == 0
    assert len(head.data) >= CAP // 4
    assert tail.end == len(trimmed)
    assert len(tail.data) >= CAP // 2
    for piece in (head, tail):
        assert piece.data == trimmed[piece.start : piece.end]


def test_later_output_is_read_at_its_own_offset(path: Path, trimmed: bytes) -> None:
    with path.open("ab") as file:
        file.write(b"and on\n")
    assert FileTranscript(path).read(len(trimmed), 100) == TranscriptChunk(len(trimmed), b"and on\n")


def test_reading_inside_the_hole_continues_behind_it(path: Path, trimmed: bytes) -> None:
    _, tail = pieces(path, 1 << 30)
    assert FileTranscript(path).read(CAP, 10) == TranscriptChunk(tail.start, trimmed[tail.start : tail.start + 10])


def test_the_tail_begins_behind_the_hole(path: Path, trimmed: bytes) -> None:
    _, tail = pieces(path, 1 << 30)
    assert FileTranscript(path).tail(1 << 30) == tail.data
    assert FileTranscript(path).tail(50) == trimmed[-50:]


def test_a_transcript_can_be_trimmed_repeatedly(path: Path, trimmed: bytes) -> None:
    head = pieces(path)[0].data
    for _ in range(3):
        with path.open("ab") as file:
            file.write(trimmed)
        assert FileTranscript(path).trim(CAP)
        assert path.stat().st_blocks * 512 <= CAP
        assert pieces(path)[0].data == head
        assert not FileTranscript(path).trim(CAP)
    assert FileTranscript(path).tail(1000) == trimmed[-1000:]


def test_a_transcript_stays_whole_on_a_file_system_without_holes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = fill(path, 40)
    monkeypatch.setattr(disk, "_punch_descriptor", lambda *_: False)
    assert not FileTranscript(path).trim(CAP)
    assert path.read_bytes() == data


def test_a_transcript_that_became_shorter_is_read_from_its_end(path: Path) -> None:
    path.write_bytes(b"0123456789")
    assert FileTranscript(path).read(50, 10) == TranscriptChunk(10, b"")


def test_printed_zeros_are_not_a_hole(path: Path) -> None:
    path.write_bytes(b"a" + bytes(3 * HOLE_BLOCK_BYTES) + b"b")
    assert b"".join(piece.data for piece in pieces(path)) == path.read_bytes()


def test_a_path_that_is_not_a_file_is_empty(path: Path) -> None:
    os.mkfifo(path)
    assert FileTranscript(path).read(3, 10).data == FileTranscript(path).tail(10) == b""
    assert not FileTranscript(path).trim(0)
    assert FileTranscript(path.parent).read(0, 10) == TranscriptChunk(0, b"")


@given(start=st.integers(0, 45 * HOLE_BLOCK_BYTES), most=st.integers(1, 3 * HOLE_BLOCK_BYTES))
def test_a_chunk_has_the_right_bytes_at_any_offset(
    tmp_path_factory: pytest.TempPathFactory, start: int, most: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "trimmed"
    if not path.exists():
        fill(path, 40)
        FileTranscript(path).trim(CAP)
    whole = b"%015d\n"
    piece = FileTranscript(path).read(start, most)
    assert len(piece.data) <= most
    assert piece.start >= min(start, 40 * HOLE_BLOCK_BYTES)
    for at in range(-(-piece.start // 16) * 16, piece.end - 15, 16 * 501):
        offset = at - piece.start
        assert piece.data[offset : offset + 16] == whole % (at // 16)


def test_a_line_of_a_hundred_megabytes_does_no_harm(tmp_path: Path) -> None:
    print_it = "head -c 100000000 /dev/zero | tr '\\0' x; printf '\\nthe end\\n'"
    with local_executor_setup(tmp_path) as harness:
        job = replace(harness.make_job(print_it), limits=AttemptLimits(transcript_bytes=CAP))
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == 0
    path = next((tmp_path / "state").rglob("transcript"))
    assert FileTranscript(path).size() == 100_000_009
    assert path.stat().st_blocks * 512 <= CAP
    assert FileTranscript(path).tail(9) == b"\nthe end\n"
    assert FileTranscript(path).read(0, 10) == TranscriptChunk(0, b"x" * 10)
    assert max(len(piece.data) for piece in pieces(path)) <= 100_000
