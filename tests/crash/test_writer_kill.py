"""A writer killed at any instant: what it had acknowledged is there, the chain holds, the lock is free."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen
from time import perf_counter

import pytest

from plait.store import journal_lock
from plait.store.journal_reader import open_journal_reader
from plait.store.journal_writer import open_journal_writer
from plait.testing.contracts.sample_records import make_records

CHILD = Path(__file__).parents[1] / "store" / "child.py"


def appender(path: Path, seed: int) -> Popen[str]:
    return Popen([sys.executable, str(CHILD), "append", str(path), str(seed)], stdout=PIPE, text=True)


def kill(process: Popen[str]) -> list[int]:
    """What it had said until then; a line that was cut does not count."""
    process.kill()
    said, _ = process.communicate()
    return [int(line) for line in said.splitlines(keepends=True) if line.endswith("\n")]


def test_a_killed_writer_loses_nothing(tmp_path: Path, *, long: bool) -> None:
    path = tmp_path / "journal.db"
    open_journal_writer(path).close()
    acknowledged, chance = 0, Random(11)
    for round_ in range(200 if long else 10):
        process = appender(path, seed=round_)
        assert process.stdout
        assert process.stdout.readline() == "opening\n"
        for _ in range(chance.randrange(1, 40)):
            acknowledged = int(process.stdout.readline())
        acknowledged = max([acknowledged, *kill(process)])
        assert not journal_lock.is_locked(path)
        # Sometimes a reader is the first to come by, sometimes the next writer.
        if round_ % 2:
            with closing(open_journal_reader(path)) as reader:
                last = reader.last()
                assert list(reader.read()) == make_records(1, last)
                assert last >= acknowledged
    with closing(open_journal_writer(path)) as journal:
        last = journal.last()
        assert last >= acknowledged
        assert list(journal.read()) == make_records(1, last)
        journal.append(make_records(last + 1, last + 1))


def test_a_writer_killed_while_it_opens_does_no_damage(tmp_path: Path, *, long: bool) -> None:
    chance = Random(12)
    for round_ in range(100 if long else 6):
        path = tmp_path / str(round_) / "journal.db"
        process = appender(path, seed=round_)
        assert process.stdout
        assert process.stdout.readline() == "opening\n"
        until = perf_counter() + chance.random() / 50
        while perf_counter() < until:
            pass
        acknowledged = max([0, *kill(process)])
        with closing(open_journal_writer(path)) as journal:
            last = journal.last()
            assert last >= acknowledged
            assert list(journal.read()) == make_records(1, last)


@pytest.mark.parametrize("seed", range(3))
def test_a_reader_survives_a_killed_writer(tmp_path: Path, seed: int) -> None:
    """The reader's shared memory outlives the writer, and the next writer goes on with it."""
    path = tmp_path / "journal.db"
    open_journal_writer(path).close()
    with closing(open_journal_reader(path)) as reader:
        for round_ in range(2):
            process = appender(path, seed=seed)
            assert reader.wait(after=40 * round_ + seed, timeout=60)
            acknowledged = kill_after_opening(process)
            last = reader.last()
            assert last >= acknowledged
            assert list(reader.read()) == make_records(1, last)


def kill_after_opening(process: Popen[str]) -> int:
    assert process.stdout
    assert process.stdout.readline() == "opening\n"
    return max([0, *kill(process)])
