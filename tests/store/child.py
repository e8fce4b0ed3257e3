"""What other processes do to a journal and an inbox. Run as `child.py <what> <path> <number>…`; each line is a fact."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

from plait.core.requests import Pause
from plait.store.inbox import open_inbox
from plait.store.interfaces import JournalError
from plait.store.journal_reader import open_journal_reader
from plait.store.journal_writer import open_journal_writer
from plait.testing.contracts.sample_records import make_records


def say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def hold(path: Path) -> None:
    """Be the writer until stdin ends."""
    with closing(open_journal_writer(path)):
        say("held")
        sys.stdin.read()


def append(path: Path, seed: int) -> None:
    """Append for ever, groups of one to five, and say what was acknowledged."""
    chance = Random(seed)
    say("opening")
    with closing(open_journal_writer(path)) as journal:
        # Often enough for checkpoints, and WALs that begin anew, to be among the instants it can be killed at.
        journal._db.execute("PRAGMA wal_autocheckpoint = 20")
        last = journal.last()
        say(last)
        while True:
            size = chance.randrange(1, 6)
            journal.append(make_records(last + 1, last + size))
            last += size
            say(last)


def tail(path: Path, until: int) -> None:
    """Say the seq of each record as it comes, when it is the one that was written."""
    seen = 0
    with closing(open_journal_reader(path)) as reader:
        say("ready")
        while seen < until:
            assert reader.wait(seen, timeout=60)
            for record in reader.read(seen):
                seen += 1
                assert [record] == make_records(record.seq, record.seq)
                say(record.seq)


def ask(path: Path, who: int, count: int) -> None:
    """Ask so often: every request twice, half of them only this process's, half of them everybody's."""
    with closing(open_inbox(path)) as inbox:
        for number in range(count // 2):
            asker = who if number % 2 else "all"
            for _ in range(2):
                inbox.put(Pause(f"{asker}-{number}", "batch"))
    say("done")


def fill(path: Path) -> None:
    """Append until it fails, then say how, and what is there."""
    with closing(open_journal_writer(path)) as journal:
        last = 0
        try:
            while True:
                journal.append(make_records(last + 1, last + 20))
                last += 20
        except JournalError as error:
            say(type(error).__name__)
        say(list(journal.read()) == make_records(1, last))
    with closing(open_journal_reader(path)) as reader:
        say(list(reader.read()) == make_records(1, last))


WHAT: dict[str, Callable[..., None]] = {f.__name__: f for f in (hold, append, tail, ask, fill)}

if __name__ == "__main__":
    what, path, *numbers = sys.argv[1:]
    WHAT[what](Path(path), *map(int, numbers))
