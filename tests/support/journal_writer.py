"""Writes the journal as an engine would, without running one. The lease is free again after each write.

A process that writes a journal must not read it at the same time, so write before a session is opened.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace

from plait.core.graph import build_checked_plan
from plait.core.plan import Plan
from plait.core.reports import AttemptExited, Outcome, Report
from plait.core.requests import Request, Submit
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import Isolation, Settings
from plait.core.state import BatchState, State
from plait.core.status import Category
from plait.core.task import Need, Task
from plait.git.location import RepoLocation
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from plait.store.state_claim import claim_state

SETTINGS = Settings(isolation=Isolation.IN_PLACE, retries=0)


def build_plan(*tasks: Task | str) -> Plan:
    """Texts become tasks; `b<a` needs `a`."""
    made = [task if isinstance(task, Task) else _parse_task(task) for task in tasks]
    built = build_checked_plan(made).plan
    assert built is not None
    return built


def _parse_task(text: str) -> Task:
    name, _, needed = text.partition("<")
    needs = (Need(needed),) if needed else ()
    return Task(name, title=name.title(), body=f"Do {name}.", run="true", needs=needs)


class JournalWriter:
    def __init__(self, place: RepoLocation, now: float | None = None) -> None:
        self._place = place
        self.state = State()
        self.now = time.time() - 60 if now is None else now

    def apply(self, *events: Request | Report) -> None:
        self.now += 1
        claim_state(self._place.state)
        with closing(open_journal_writer(self._place.state / JOURNAL_FILE)) as journal:
            records = fold_incoming(self.state, events, self.now)
            records += decide_due(self.state, self.now)[0]
            journal.commit({**dict.fromkeys(journal.settings()), **self.state.saved}, records)

    def submit(self, batch: str, *tasks: Task | str, **settings: object) -> None:
        chosen = replace(SETTINGS, **settings)  # type: ignore[arg-type]  # a test's own words
        self.apply(Submit(f"r-{batch}", batch, build_plan(*(tasks or ("a",))).without_texts(), chosen))

    def exit_attempt(self, task: str, category: Category = Category.OK, detail: str = "") -> None:
        """The running attempt of a task of the newest batch."""
        found = self.batch.find_task(task)
        assert found is not None
        code = 0 if category is Category.OK else 1
        self.apply(AttemptExited(next(iter(found.alive)), Outcome(category, code, detail)))

    @property
    def batch(self) -> BatchState:
        """The newest."""
        return list(self.state.batches.values())[-1]
