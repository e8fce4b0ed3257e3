"""Programs that truncate a file and rewrite it: a partial text is never taken for the result."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from plait.system import file_exchange
from plait.system.status_files import WriteResult
from tests.support.status_file import StatusFileSetup, do_nothing

pytestmark = pytest.mark.usefixtures("_either_way")

NEW = "# Tasks\nnew\none: pending\ntwo: pending\nthree: pending\n"
DONE = NEW.replace("two: pending", "two: completed")


class Program:
    """It has opened the file for writing, and writes to it even if the file is moved."""

    def __init__(self, source: StatusFileSetup, *, emptied: bool = True) -> None:
        flags = os.O_WRONLY | (os.O_TRUNC if emptied else os.O_APPEND)
        self.fd = os.open(source.path, flags)

    def write(self, text: str) -> None:
        os.write(self.fd, text.encode())


@pytest.mark.parametrize("cut", [0, 8, 12, 30])
def test_a_file_being_written_is_read_when_it_is_complete(source: StatusFileSetup, cut: int) -> None:
    program = Program(source)
    program.write(NEW[:cut])
    assert source.write("two", pausing=[lambda: None, lambda: program.write(NEW[cut:])]) == WriteResult(changed=True)
    assert source.text == DONE
    assert source.hidden_files == []


@pytest.mark.parametrize("cut", [0, 8, 12, 30, 45])
def test_a_program_that_writes_during_the_exchange_is_waited_for(source: StatusFileSetup, cut: int) -> None:
    """It opened the file before our exchange; the rest goes to the displaced file."""
    programs: list[Program] = []

    def begins() -> None:
        programs.append(Program(source))
        programs[0].write(NEW[:cut])

    written = source.write("two", exchanging=[begins], pausing=[lambda: programs[0].write(NEW[cut:])])
    assert written == WriteResult(changed=True)
    assert source.text == DONE
    assert source.hidden_files == []


@pytest.mark.parametrize("cut", [0, 12, 30])
def test_a_file_that_lacks_a_task_is_waited_for_longer(source: StatusFileSetup, cut: int) -> None:
    programs: list[Program] = []

    def begins() -> None:
        programs.append(Program(source))
        programs[0].write(NEW[:cut])

    ends = [do_nothing] * 3 + [lambda: programs[0].write(NEW[cut:])]
    assert source.write("two", exchanging=[begins], pausing=ends) == WriteResult(changed=True)
    assert source.text == DONE
    assert source.hidden_files == []


def test_a_late_write_to_the_displaced_file_is_kept(source: StatusFileSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened before the exchange, written when the displaced file had been compared already: it is compared again."""
    program = Program(source, emptied=False)
    happens_at(monkeypatch, 3, lambda: program.write("late\n"))  # the place, the displaced file, then the place again
    assert source.write("two") == WriteResult(changed=True)
    assert source.text == "# Tasks\none: pending\ntwo: completed\nthree: pending\nlate\n"
    assert source.hidden_files == []


def test_a_write_to_the_displaced_file_during_the_merge_is_kept(
    source: StatusFileSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs: list[Program] = []

    def begins() -> None:
        programs.append(Program(source, emptied=False))
        programs[0].write("early\n")

    happens_at(monkeypatch, 5, lambda: programs[0].write("late\n"))  # the displaced file was looked at twice
    assert source.write("two", exchanging=[begins]) == WriteResult(changed=True)
    assert source.text == "# Tasks\none: pending\ntwo: completed\nthree: pending\nearly\nlate\n"
    assert source.hidden_files == []


def happens_at(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], None]) -> None:
    """Just before we read a file for the so-manieth time."""
    read, count = file_exchange.read_snapshot, 0

    def counting(path: object) -> file_exchange.FileSnapshot:
        nonlocal count
        count += 1
        if count == number:
            act()
        return read(path)  # type: ignore[arg-type]

    monkeypatch.setattr(file_exchange, "read_snapshot", counting)


def test_a_file_that_changes_while_it_is_read_is_read_again(
    source: StatusFileSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    fstat, count = os.fstat, 0

    def later(fd: int) -> os.stat_result:
        nonlocal count
        count += 1
        if count == 3:  # after the first two, the content was read
            source.overwrite(NEW)
        return fstat(fd)

    monkeypatch.setattr(os, "fstat", later)
    snapshot = file_exchange.read_snapshot(source.path)
    assert not snapshot.is_complete
    monkeypatch.undo()
    snapshot = file_exchange.read_snapshot(source.path)
    assert (snapshot.text, snapshot.is_complete) == (NEW, True)


def test_a_file_that_was_emptied_stays_empty(source: StatusFileSetup) -> None:
    (problem,) = source.write("two", exchanging=[lambda: source.overwrite("\n")]).problems
    assert "two was removed from the file or is ambiguous" in problem.message
    assert source.text == "\n"
    assert source.hidden_files == []


def test_a_file_overwritten_in_between_is_merged(source: StatusFileSetup) -> None:
    assert source.write("two", exchanging=[lambda: source.overwrite(NEW)]) == WriteResult(changed=True)
    assert source.text == DONE
