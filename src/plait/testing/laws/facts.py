"""What the records say about one attempt, one task, one batch: plain notes, kept apart from the core's own state."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from plait.core.contest import REFEREE
from plait.core.decisions import (
    AttemptEnding,
    AttemptStarted,
    Change,
    GateStarted,
    MergeStarted,
    PublishStarted,
    RebuildStarted,
    TaskEnded,
)
from plait.core.events import Record
from plait.core.plan import Plan
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Isolation, Publish, Settings, Spend
from plait.core.status import Category, EndWhy, PauseCause, TaskStatus
from plait.core.task import NeedKind, Phase, Step, Task


@dataclass(slots=True)
class AttemptPage:
    order: AttemptStarted
    started: float
    heard: float
    used: Spend = NO_SPEND
    endings: list[AttemptEnding] = field(default_factory=list)
    question: bool = False  # it asked something and has not gone on since

    @property
    def claim(self) -> Spend:
        return self.order.reserve.at_least(self.used)

    @property
    def expires(self) -> float:
        return min(self.started + self.order.timeout, self.heard + self.order.idle_timeout)


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of an attempt that nothing has been decided about yet."""

    attempt: AttemptPage
    at: float
    outcome: Outcome


@dataclass(slots=True)
class TaskPage:
    spec: Task
    place: int
    needs: tuple[str, ...]  # but for entrants
    named: tuple[str, ...]  # the tokens that the plan gives it
    tokens: tuple[str, ...]  # those it wants now, or holds
    learnt: tuple[str, ...] = ()  # those of files that it changed
    entrants: tuple[str, ...] = ()
    winner: str = ""
    outdone: tuple[str, ...] = ()  # entrants that were chosen, and then failed verification
    repairing: Change | None = None
    story: deque[Record] = field(default_factory=lambda: deque(maxlen=60))
    step: Step = Step.WRITE
    life: int = 1
    begun: bool = False  # it was started in this life
    active: bool = False  # from its first start until it ends: it holds its tokens
    alive: AttemptPage | None = None
    exit: Exit | None = None
    trouble: Category | None = None  # a conflict or a failed merge that nothing has been decided about yet
    trouble_at: float = 0.0
    retry_at: float | None = None
    asking: bool = False
    wants: Spend | None = None  # it asks for so much money
    interrupted: bool = False
    approved: bool = False
    redo: bool = False
    words: list[str] = field(default_factory=list)  # feedback that no attempt has been successful with yet
    doom: str = ""  # "cancel" or "drop", by a granted request; "halt"
    agents: tuple[str, ...] = ()  # a person's choice for it
    merging: MergeStarted | None = None
    last: AttemptStarted | None = None
    last_write: AttemptStarted | None = None
    last_used: Spend = NO_SPEND  # by that one
    spent: Spend = NO_SPEND
    agreed: Spend = NO_SPEND  # what of it its own budget does not count
    tip: str | None = None
    counted: int = 0
    losses: int = 0
    misfits: int = 0
    refused: tuple[str, int] = ("", 0)  # by whom last, and how many that one had served then
    repairs: int = 0
    merge_failures: int = 0
    numbers: dict[Step, int] = field(default_factory=dict)
    written: int = 0  # attempts of earlier lives
    ended: TaskEnded | None = None
    unmerged: str | None = None  # the tip that it ended with, and only merging went wrong

    @property
    def status(self) -> TaskStatus | None:
        return self.ended.status if self.ended is not None else None

    @property
    def refereed(self) -> bool:
        """Its change is chosen from its entrants'; but whom a person gave the task to writes it himself."""
        return bool(self.entrants) and self.agents in {(), (REFEREE,)}

    @property
    def done(self) -> bool:
        return self.ended is not None and self.ended.status is TaskStatus.DONE

    @property
    def dropped(self) -> bool:
        """By a person, not by a failure that halted its batch."""
        return self.ended is not None and self.ended.by is None

    @property
    def lost(self) -> bool:
        """It ended, and what needs it will never get it in this life."""
        return self.ended is not None and self.ended.status is not TaskStatus.DONE

    @property
    def under_way(self) -> bool:
        undecided = self.exit is not None or self.trouble is not None
        return self.alive is not None or self.merging is not None or undecided

    def passes(self, phase: Phase) -> bool:
        """It does not wait for its phase: it says itself what it needs, and the phase is no barrier."""
        return phase.gate is None and any(need.kind is NeedKind.NEED for need in self.spec.needs)


@dataclass(frozen=True, slots=True)
class Link:
    """One merge of the line; it belongs to the life of the task in which it was made."""

    change: Change
    life: int
    commit: str

    @property
    def task(self) -> str:
        return self.change.task


@dataclass(slots=True)
class GatePage:
    order: GateStarted
    started: float
    prefix: tuple[Link, ...]
    stale: bool = False
    ending: EndWhy | None = None


@dataclass(slots=True)
class BatchPage:
    id: str
    plan: Plan
    settings: Settings
    base: str
    tasks: dict[str, TaskPage]
    phases: dict[str, Phase]
    opened: set[str]
    story: deque[Record] = field(default_factory=lambda: deque(maxlen=60))
    paused: PauseCause | None = None
    stopping: bool = False
    stop_now: bool = False
    halted: str | None = None  # the task whose failure stopped it
    failures: dict[str, None] = field(default_factory=dict)
    rejections: int = 0  # tasks in a row that failed because somebody must log in or pay
    cancelled: bool = False
    ended: bool = False
    slots: int = 0
    spent: Spend = NO_SPEND
    merging: str | None = None
    line: list[Link] = field(default_factory=list)
    rebuild: RebuildStarted | None = None
    gate: GatePage | None = None
    gates: int = 0
    rebuilds: int = 0
    rebuild_failures: int = 0
    gated: int = 0  # the first so many of the line passed together
    failed: dict[tuple[tuple[str, int], ...], None] = field(default_factory=dict)  # prefixes that did not
    base_proved: bool = False
    base_failed: bool = False
    gate_losses: int = 0
    passed: set[str] = field(default_factory=set)  # commits that the gate passed
    wish: Publish | None = None
    words: tuple[str, str] = ("", "")  # a person's title and body
    renamed: bool = False  # a title was said that no pull request has yet
    publishing: PublishStarted | None = None
    publishes: int = 0
    published: tuple[str, Publish] | None = None
    unpublished: bool = False  # the last try failed
    pushed: str = ""

    @property
    def head(self) -> str:
        return self.line[-1].commit if self.line else self.base

    @property
    def untested(self) -> bool:
        """The gate has something to do: what is merged has not passed, or not as it is."""
        if self.settings.gate is None or self.cancelled or not self.line:
            return False
        return self.gated < len(self.line) or self.head not in self.passed

    @property
    def unshipped(self) -> bool:
        """Its settings ask for something that was neither published nor failed."""
        wanted, order = self.settings.publish, ("off", "push", "draft", "pr")
        if wanted is Publish.OFF or not self.line or self.cancelled or self.unpublished:
            return False
        commit, done = self.published or ("", Publish.OFF)
        return commit != self.head or order.index(done) < order.index(wanted)

    def share(self, phase: str) -> float:
        """How much of the earlier phases this one asks for."""
        own = self.phases[phase].gate
        return self.settings.phase_gate if own is None else own

    @property
    def in_place(self) -> bool:
        return self.settings.isolation is Isolation.IN_PLACE

    @property
    def alive(self) -> list[AttemptPage]:
        return [page.alive for page in self.tasks.values() if page.alive is not None]

    def unwanted(self) -> list[str]:
        """Tasks whose merge is in the line though it should not be."""
        return [link.task for link in self.line if not self._wanted(link)]

    def _wanted(self, link: Link) -> bool:
        page = self.tasks[link.task]
        return link.life == page.life and (page.ended is None or page.done)

    def check(self, page: TaskPage) -> str | None:
        """The command that verifies the task's change."""
        return page.spec.verify or self.settings.verify

    @property
    def stands_still(self) -> bool:
        """Not even what was begun goes on: money that is short stops only what is new."""
        return self.paused not in {None, PauseCause.BUDGET}

    def needs_done(self, page: TaskPage) -> bool:
        entered = all(self.tasks[entrant].ended is not None for entrant in page.entrants)
        return entered and all(self.tasks[need].done for need in page.needs)

    def candidates(self, page: TaskPage) -> list[TaskPage]:
        """The entrants that passed and did not fail as the task's own change."""
        left = (self.tasks[entrant] for entrant in page.entrants if entrant not in page.outdone)
        return [entrant for entrant in left if entrant.done]

    def withdrawn(self, page: TaskPage, found: Exit) -> bool:
        """Who was chosen was dropped meanwhile."""
        offered = {each.task for each in found.attempt.order.candidates}
        left = {entrant.spec.id for entrant in self.candidates(page)}
        return found.outcome.winner in offered - left

    def unwinnable(self, page: TaskPage) -> bool:
        """All its entrants have ended, and none is left to choose; nobody else was given the task."""
        over = page.refereed and page.step is Step.WRITE and page.ended is None
        return over and self.needs_done(page) and not self.candidates(page)

    def begun(self, page: TaskPage) -> bool:
        """Of a contest, somebody was started."""
        task = self.tasks.get(page.spec.entrant or "", page)
        return page.begun or any(self.tasks[name].begun for name in (task.spec.id, *task.entrants))

    def lost_needs(self, page: TaskPage) -> list[TaskPage]:
        return [other for need in page.needs if (other := self.tasks[need]).lost]


def token_of(batch: str, token: str, *, shared: bool) -> str:
    wide = token.startswith("group:") or (shared and token.startswith("file:"))
    return token if wide else f"{batch}/{token}"
