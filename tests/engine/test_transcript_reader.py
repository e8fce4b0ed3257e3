"""Reading a transcript: all of it while it grows; afterwards, its beginning and its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.agents.interface import Activity, AgentEvent
from plait.core.reports import Outcome
from plait.core.status import Category
from plait.engine.transcript_reader import CHUNK_BYTES, FINAL_BYTES, MAX_LINE_BYTES, TranscriptReader
from plait.runtime.attempt_files import FileTranscript


class RecordingParser:
    """A parser that records its lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.misses = 0

    def feed(self, line: str) -> Sequence[AgentEvent]:
        self.lines.append(line)
        return (Activity(line),)

    def mark_gap(self) -> None:
        self.misses += 1
        self.lines.append("(missed)")

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:  # noqa: ARG002 - the protocol's
        return Outcome(Category.OK, code, tail)


class FailingParser(RecordingParser):
    def feed(self, line: str) -> Sequence[AgentEvent]:
        raise ValueError(line)

    def mark_gap(self) -> None:
        raise ValueError

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        raise ValueError(code, tail, printed_at)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "transcript"


def test_lines_are_parsed_whole_however_they_arrive(path: Path) -> None:
    parser = RecordingParser()
    reader = TranscriptReader(FileTranscript(path), parser)
    for piece in ("one\ntw", "o\nthr", "ee"):
        with path.open("a") as file:
            file.write(piece)
        assert reader.check_growth()
        reader.read_events()
    assert not reader.check_growth()
    assert parser.lines == ["one", "two"]
    assert list(reader.read_remaining()) == [Activity("three")]
    assert parser.misses == 0


def test_the_rest_of_a_long_line_is_skipped(path: Path) -> None:
    path.write_text("x" * (MAX_LINE_BYTES * 3) + "\nend\n")
    parser = RecordingParser()
    list(TranscriptReader(FileTranscript(path), parser).read_remaining())
    assert [len(line) for line in parser.lines] == [MAX_LINE_BYTES, 3]


def test_of_a_long_transcript_the_beginning_and_the_end_are_parsed_without_partial_lines(path: Path) -> None:
    with path.open("w") as file:
        file.writelines(f"line {number:08}\n" for number in range((CHUNK_BYTES + FINAL_BYTES) // 7))
    parser = RecordingParser()
    reader = TranscriptReader(FileTranscript(path), parser)
    list(reader.read_remaining())
    assert parser.lines[0] == "line 00000000"
    assert parser.lines[-1] == f"line {(CHUNK_BYTES + FINAL_BYTES) // 7 - 1:08}"
    assert parser.misses == 1
    parser.lines.remove("(missed)")
    assert {len(line) for line in parser.lines} == {13}
    assert sum(len(line) + 1 for line in parser.lines) <= CHUNK_BYTES + FINAL_BYTES


def test_output_from_before_the_engine_is_marked_as_past(path: Path) -> None:
    path.write_text("old\n")
    reader = TranscriptReader(FileTranscript(path), RecordingParser())
    assert reader.is_catching_up
    reader.read_events()
    with path.open("a") as file:
        file.write("new\n")
    assert not reader.is_catching_up


def test_a_parser_that_fails_loses_only_its_own_events(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text("one\ntwo\n" + "x\n" * (CHUNK_BYTES + FINAL_BYTES))
    reader = TranscriptReader(FileTranscript(path), FailingParser())
    assert list(reader.read_remaining()) == []
    ended = reader.build_outcome(3, 77)
    assert (ended.category, ended.exit_code, ended.detail, ended.peak) == (
        Category.TASK,
        3,
        "exit status 3",
        77,
    )
    assert capsys.readouterr().err.count("is not understood by its agent (ValueError('one'))") == 1
