"""Hearing a transcript: all of it while it grows; of one that nobody heard, its beginning and its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.agents.model import Activity, Signal
from plait.core.reports import Outcome
from plait.core.status import Category
from plait.engine.hearing import LAST, LINE, PIECE, Hearing

CAP = 1 << 30


class Ear:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.misses = 0

    def hear(self, line: str) -> Sequence[Signal]:
        self.lines.append(line)
        return (Activity(line),)

    def missed(self) -> None:
        self.misses += 1
        self.lines.append("(missed)")

    def end(self, code: int, tail: str, said_at: float) -> Outcome:  # noqa: ARG002 - the protocol's
        return Outcome(Category.OK, code, tail)


class Deaf(Ear):
    def hear(self, line: str) -> Sequence[Signal]:
        raise ValueError(line)

    def missed(self) -> None:
        raise ValueError

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        raise ValueError(code, tail, said_at)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "transcript"


def test_lines_are_heard_whole_however_they_come(path: Path) -> None:
    ear = Ear()
    hearing = Hearing(path, ear, cap=CAP)
    for piece in ("one\ntw", "o\nthr", "ee"):
        with path.open("a") as file:
            file.write(piece)
        assert hearing.grew()
        hearing.hear()
    assert not hearing.grew()
    assert ear.lines == ["one", "two"]
    assert list(hearing.hear_the_rest()) == [Activity("three")]
    assert ear.misses == 0


def test_the_rest_of_a_long_line_is_passed_over(path: Path) -> None:
    path.write_text("x" * (LINE * 3) + "\nend\n")
    ear = Ear()
    list(Hearing(path, ear, cap=CAP).hear_the_rest())
    assert [len(line) for line in ear.lines] == [LINE, 3]


def test_of_much_the_beginning_and_the_end_are_heard_and_no_half_line(path: Path) -> None:
    with path.open("w") as file:
        file.writelines(f"line {number:08}\n" for number in range((PIECE + LAST) // 7))
    ear = Ear()
    hearing = Hearing(path, ear, cap=CAP)
    list(hearing.hear_the_rest())
    assert ear.lines[0] == "line 00000000"
    assert ear.lines[-1] == f"line {(PIECE + LAST) // 7 - 1:08}"
    assert ear.misses == 1
    ear.lines.remove("(missed)")
    assert {len(line) for line in ear.lines} == {13}
    assert sum(len(line) + 1 for line in ear.lines) <= PIECE + LAST


def test_what_was_there_before_anybody_listened_is_past(path: Path) -> None:
    path.write_text("old\n")
    hearing = Hearing(path, Ear(), cap=CAP)
    assert hearing.past
    hearing.hear()
    with path.open("a") as file:
        file.write("new\n")
    assert not hearing.past


def test_a_listener_that_fails_costs_what_it_would_have_told_and_nothing_else(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text("one\ntwo\n" + "x\n" * (PIECE + LAST))
    hearing = Hearing(path, Deaf(), cap=CAP)
    assert list(hearing.hear_the_rest()) == []
    ended = hearing.end(3, 77)
    assert (ended.category, ended.exit_code, ended.detail, ended.peak) == (
        Category.TASK,
        3,
        "exit status 3",
        77,
    )
    assert capsys.readouterr().err.count("is not understood by its agent (ValueError('one'))") == 1
