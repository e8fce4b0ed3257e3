"""One page per batch and task, and what bounds them all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from plait.core.events import Record
from plait.core.requests import Request
from plait.core.settings import EngineSettings, Spend
from plait.core.task import Attempt
from plait.testing.laws.facts import AttemptFacts, BatchFacts, TaskFacts
from plait.testing.laws.violation import Violation

CommitContents = Callable[[str], frozenset[str]]


@dataclass(slots=True)
class ProviderFacts:
    """`said` is the latest instant before which the provider asked not to be called, not yet answered by a breaker."""

    until: float | None = None  # the breaker is open
    limit: int | None = None
    refuses_until: float | None = None
    refused_at: float | None = None
    opened_at: float = 0.0
    streak: int = 0  # openings since somebody was served who began after the last one
    served: int = 0  # attempts that succeeded and had begun after the last opening
    refused_since_opening: bool = False  # somebody was refused who began after the breaker last opened
    rejected: bool = False  # whoever is shut out now was rejected: not logged in, not paid
    may_be_restored: bool = False  # and somebody who may have logged in or paid wants work done
    rejecting: bool = False  # somebody was rejected, and no breaker has answered that yet


@dataclass(slots=True)
class Facts:
    contents: CommitContents
    batches: dict[str, BatchFacts] = field(default_factory=dict)
    settings: EngineSettings = field(default_factory=EngineSettings)
    saved: dict[str, str] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)  # not answered yet
    seen: set[str] = field(default_factory=set)
    alive: dict[Attempt, AttemptFacts] = field(default_factory=dict)
    slots: int = 0
    agents: dict[str, int] = field(default_factory=dict)
    known_agents: set[str] = field(default_factory=set)  # an attempt of theirs has ended
    agent_spends: dict[str, list[Spend]] = field(
        default_factory=dict
    )  # of attempts that say what an agent costs
    providers: dict[str, ProviderFacts] = field(default_factory=dict)
    provider_load: dict[str, int] = field(default_factory=dict)  # write attempts alive per provider
    changed_files: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # files, by the key of a task not yet done
    lock_holders: dict[str, tuple[str, str]] = field(default_factory=dict)
    pressure: str | None = None
    capacity: int | None = None
    clock_jump: float | None = None
    recent_records: deque[Record] = field(default_factory=lambda: deque(maxlen=60))

    def batch(self, name: str) -> BatchFacts:
        page = self.batches.get(name)
        if page is None:
            raise self.violation("known", f"a decision about batch {name}, which nobody submitted")
        return page

    def task(self, batch: str, task: str) -> TaskFacts:
        page = self.batch(batch).tasks.get(task)
        if page is None:
            raise self.violation("known", f"a decision about {batch}/{task}, which is in no plan")
        return page

    def violation(
        self, law: str, message: str, page: TaskFacts | BatchFacts | None = None, more: Iterable[Record] = ()
    ) -> Violation:
        """The last records of whom it concerns, then the newest ones of all."""
        told = {
            record.seq: record
            for record in (*(page.recent_records if page else ()), *self.recent_records, *more)
        }
        return Violation(law, message, [told[seq] for seq in sorted(told)][-70:])
