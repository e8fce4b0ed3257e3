"""Programs that empty a file and write it anew: what is half there is not taken for what they mean."""

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
    """It has opened the file for writing; whoever moves the file, it writes where it has opened it."""

    def __init__(self, site: StatusFileSetup, *, emptied: bool = True) -> None:
        flags = os.O_WRONLY | (os.O_TRUNC if emptied else os.O_APPEND)
        self.fd = os.open(site.path, flags)

    def write(self, text: str) -> None:
        os.write(self.fd, text.encode())


@pytest.mark.parametrize("cut", [0, 8, 12, 30])
def test_a_file_that_is_just_being_written_is_read_when_it_is_whole(site: StatusFileSetup, cut: int) -> None:
    program = Program(site)
    program.write(NEW[:cut])
    assert site.write("two", pausing=[lambda: None, lambda: program.write(NEW[cut:])]) == WriteResult(changed=True)
    assert site.text == DONE
    assert site.hidden_files == []


@pytest.mark.parametrize("cut", [0, 8, 12, 30, 45])
def test_a_program_that_is_overtaken_by_the_exchange_is_waited_for(site: StatusFileSetup, cut: int) -> None:
    """It opened the file before our exchange; the rest goes to the displaced file."""
    programs: list[Program] = []

    def begins() -> None:
        programs.append(Program(site))
        programs[0].write(NEW[:cut])

    written = site.write("two", exchanging=[begins], pausing=[lambda: programs[0].write(NEW[cut:])])
    assert written == WriteResult(changed=True)
    assert site.text == DONE
    assert site.hidden_files == []


@pytest.mark.parametrize("cut", [0, 12, 30])
def test_it_is_waited_for_longer_when_a_task_is_missing(site: StatusFileSetup, cut: int) -> None:
    programs: list[Program] = []

    def begins() -> None:
        programs.append(Program(site))
        programs[0].write(NEW[:cut])

    ends = [do_nothing] * 3 + [lambda: programs[0].write(NEW[cut:])]
    assert site.write("two", exchanging=[begins], pausing=ends) == WriteResult(changed=True)
    assert site.text == DONE
    assert site.hidden_files == []


def test_what_is_written_to_the_displaced_file_at_the_last_moment(
    site: StatusFileSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened before the exchange, written when the displaced file had been compared already: it is compared again."""
    program = Program(site, emptied=False)
    happens_at(monkeypatch, 3, lambda: program.write("late\n"))  # the place, the displaced file, then the place again
    assert site.write("two") == WriteResult(changed=True)
    assert site.text == "# Tasks\none: pending\ntwo: completed\nthree: pending\nlate\n"
    assert site.hidden_files == []


def test_what_is_written_to_the_displaced_file_while_it_is_being_merged(
    site: StatusFileSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs: list[Program] = []

    def begins() -> None:
        programs.append(Program(site, emptied=False))
        programs[0].write("early\n")

    happens_at(monkeypatch, 5, lambda: programs[0].write("late\n"))  # the displaced file was looked at twice
    assert site.write("two", exchanging=[begins]) == WriteResult(changed=True)
    assert site.text == "# Tasks\none: pending\ntwo: completed\nthree: pending\nearly\nlate\n"
    assert site.hidden_files == []


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
    site: StatusFileSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    fstat, count = os.fstat, 0

    def later(fd: int) -> os.stat_result:
        nonlocal count
        count += 1
        if count == 2:
            site.overwrite(NEW)
        return fstat(fd)

    monkeypatch.setattr(os, "fstat", later)
    seen = file_exchange.read_snapshot(site.path)
    assert not seen.is_complete
    monkeypatch.undo()
    seen = file_exchange.read_snapshot(site.path)
    assert (seen.text, seen.is_complete) == (NEW, True)


def test_a_file_that_somebody_really_emptied_stays_empty(site: StatusFileSetup) -> None:
    (problem,) = site.write("two", exchanging=[lambda: site.overwrite("\n")]).problems
    assert "two was removed from the file or is ambiguous" in problem.message
    assert site.text == "\n"
    assert site.hidden_files == []


def test_overwritten_in_between(site: StatusFileSetup) -> None:
    assert site.write("two", exchanging=[lambda: site.overwrite(NEW)]) == WriteResult(changed=True)
    assert site.text == DONE
