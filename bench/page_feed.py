"""A crowded project whose journal is written at a pace: what a page of many tasks has to keep up with."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from plait.client.project_sources import LoadedSources, load_sources
from plait.core.events import Record
from plait.core.graph import build_checked_plan
from plait.core.requests import Submit
from plait.core.settings import Isolation, Settings
from plait.git.location import find_repo
from plait.store.interfaces import Journal
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from plait.store.state_claim import claim_state
from tests.support.generated_journal import records_of


def furnish(folder: Path, tasks: int) -> None:
    """So many task files in waves of a hundred, in a folder that is no repository."""
    (folder / "tasks").mkdir()
    claim_state(folder / ".plait")
    for n in range(tasks):
        needs = ", ".join(f"t{n - back:04}" for back in (100, 130, 310)[: 1 + n % 3] if n >= back)
        text = f"---\nphase: part {n % 10}\nneeds: [{needs}]\nrun: 'true'\n---\n# Task number {n} of a long list\n\nDo it.\n"
        (folder / "tasks" / f"t{n:04}.md").write_text(text)


class Pace:
    """Batch after batch of all the tasks, `rate` records a second."""

    def __init__(self, folder: Path, rate: float) -> None:
        self._journal: Journal = open_journal_writer(find_repo(folder).state / JOURNAL_FILE)
        self._records = _endless(load_sources(folder))
        self._rate = rate

    def write(self, seconds: float, *, at_once: int = 5) -> int:
        """How many records were written."""
        began, written = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            self._journal.append([next(self._records) for _ in range(at_once)])
            written += at_once
            time.sleep(max(0.0, began + written / self._rate - time.monotonic()))
        return written

    def close(self) -> None:
        self._journal.close()


def _endless(seen: LoadedSources) -> Iterator[Record]:
    plan = build_checked_plan([replace(entry.task, phase=None) for entry in seen.source_set.entries]).plan
    assert plan is not None
    sources = tuple(str(source) for source in seen.source_set.sources)
    settings = Settings(isolation=Isolation.IN_PLACE, max_parallel=40)
    seq, number = 0, 0
    while True:
        records = records_of(plan, settings, f"b{number}")
        for record in _timed(_with_sources(records, sources)):
            seq += 1
            yield replace(record, seq=seq)
        number += 1


def _with_sources(records: Sequence[Record], sources: tuple[str, ...]) -> Iterator[Record]:
    for record in records:
        event = record.event
        yield replace(record, event=replace(event, sources=sources)) if isinstance(event, Submit) else record


def _timed(records: Iterator[Record]) -> Iterator[Record]:
    for record in records:
        yield replace(record, at=time.time())


def main(folder: str, rate: str, seconds: str) -> None:
    pace = Pace(Path(folder), float(rate))
    print("ready", flush=True)
    print(pace.write(float(seconds)), flush=True)
    pace.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
