"""Hearing a transcript: all of it while it grows; of one that nobody heard, its beginning and its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.agents.interface import Activity, AgentEvent
from plait.core.reports import Outcome
from plait.core.status import Category
from plait.engine.transcript_reader import CHUNK_BYTES, FINAL_BYTES, MAX_LINE_BYTES, TranscriptReader
from plait.runtime.transcript import FileTranscript


class Ear:
    """A listener that keeps what it hears."""

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


class Deaf(Ear):
    def feed(self, line: str) -> Sequence[AgentEvent]:
        raise ValueError(line)

    def mark_gap(self) -> None:
        raise ValueError

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        raise ValueError(code, tail, printed_at)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "transcript"


def test_lines_are_heard_whole_however_they_come(path: Path) -> None:
    ear = Ear()
    hearing = TranscriptReader(FileTranscript(path), ear)
    for piece in ("one\ntw", "o\nthr", "ee"):
        with path.open("a") as file:
            file.write(piece)
        assert hearing.check_growth()
        hearing.read_signals()
    assert not hearing.check_growth()
    assert ear.lines == ["one", "two"]
    assert list(hearing.read_remaining()) == [Activity("three")]
    assert ear.misses == 0


def test_the_rest_of_a_long_line_is_passed_over(path: Path) -> None:
    path.write_text("x" * (MAX_LINE_BYTES * 3) + "\nend\n")
    ear = Ear()
    list(TranscriptReader(FileTranscript(path), ear).read_remaining())
    assert [len(line) for line in ear.lines] == [MAX_LINE_BYTES, 3]


def test_of_much_the_beginning_and_the_end_are_heard_and_no_half_line(path: Path) -> None:
    with path.open("w") as file:
        file.writelines(f"line {number:08}\n" for number in range((CHUNK_BYTES + FINAL_BYTES) // 7))
    ear = Ear()
    hearing = TranscriptReader(FileTranscript(path), ear)
    list(hearing.read_remaining())
    assert ear.lines[0] == "line 00000000"
    assert ear.lines[-1] == f"line {(CHUNK_BYTES + FINAL_BYTES) // 7 - 1:08}"
    assert ear.misses == 1
    ear.lines.remove("(missed)")
    assert {len(line) for line in ear.lines} == {13}
    assert sum(len(line) + 1 for line in ear.lines) <= CHUNK_BYTES + FINAL_BYTES


def test_what_was_there_before_anybody_listened_is_past(path: Path) -> None:
    path.write_text("old\n")
    hearing = TranscriptReader(FileTranscript(path), Ear())
    assert hearing.is_catching_up
    hearing.read_signals()
    with path.open("a") as file:
        file.write("new\n")
    assert not hearing.is_catching_up


def test_a_listener_that_fails_costs_what_it_would_have_told_and_nothing_else(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text("one\ntwo\n" + "x\n" * (CHUNK_BYTES + FINAL_BYTES))
    hearing = TranscriptReader(FileTranscript(path), Deaf())
    assert list(hearing.read_remaining()) == []
    ended = hearing.build_outcome(3, 77)
    assert (ended.category, ended.exit_code, ended.detail, ended.peak) == (
        Category.TASK,
        3,
        "exit status 3",
        77,
    )
    assert capsys.readouterr().err.count("is not understood by its agent (ValueError('one'))") == 1
