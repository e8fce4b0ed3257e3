"""What the auditor knows about each batch, task, attempt and provider, folded from the records alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from plait.core.ballot import Vote
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
from plait.core.requests import Request, Resolve
from plait.core.settings import NO_SPEND, EngineSettings, Isolation, Publish, Settings, Spend
from plait.core.status import Category, EndWhy, PauseCause, TaskStatus
from plait.core.task import Attempt, NeedKind, Phase, Step, Task
from plait.testing.simulator.observer import Violation

CommitContents = Callable[[str], frozenset[str]]


RECURRING_REFUSALS = 8  # in a row: then a person is asked


@dataclass(slots=True)
class ProviderFacts:
    """`said` is the latest instant before which the provider asked not to be called, not yet answered by a breaker."""

    until: float | None = None  # the breaker is open
    limit: int | None = None
    refuses_until: float | None = None
    refused_at: float | None = None
    opened_at: float = 0.0
    streak: int = 0  # openings since an attempt was served that began after the last one
    served: int = 0  # attempts that succeeded and had begun after the last opening
    refused_since_opening: bool = False  # an attempt that began after the breaker last opened was refused
    rejected: bool = False  # it is open because of a rejection: not logged in, no credit
    may_be_restored: bool = False  # a person who may have logged in or paid has requested work
    may_be_tried: bool = False  # a person has requested work, and it has refused for so long that one is asked
    rejecting: bool = False  # an attempt was rejected, and no breaker was opened for it yet


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
    agent_spends: dict[str, list[Spend]] = field(default_factory=dict)  # of attempts that say what an agent costs
    providers: dict[str, ProviderFacts] = field(default_factory=dict)
    provider_load: dict[str, int] = field(default_factory=dict)  # write attempts alive per provider
    changed_files: dict[str, tuple[str, ...]] = field(default_factory=dict)  # files, by the key of a task not yet done
    lock_holders: dict[str, tuple[str, str]] = field(default_factory=dict)
    pressure: str | None = None
    capacity: int | None = None
    clock_jump: float | None = None
    recent_records: deque[Record] = field(default_factory=lambda: deque(maxlen=60))

    def batch(self, name: str) -> BatchFacts:
        batch = self.batches.get(name)
        if batch is None:
            raise self.violation("known", f"a decision about batch {name}, which was not submitted")
        return batch

    def task(self, batch: str, name: str) -> TaskFacts:
        task = self.batch(batch).tasks.get(name)
        if task is None:
            raise self.violation("known", f"a decision about {batch}/{name}, which is in no plan")
        return task

    def violation(
        self, law: str, message: str, about: TaskFacts | BatchFacts | None = None, more: Iterable[Record] = ()
    ) -> Violation:
        """With the last records of the task or batch that it concerns, and the newest of all."""
        recent = (*(about.recent_records if about else ()), *self.recent_records, *more)
        records = {record.seq: record for record in recent}
        return Violation(law, message, [records[seq] for seq in sorted(records)][-70:])


@dataclass(slots=True)
class AttemptFacts:
    order: AttemptStarted
    started: float
    last_active: float
    used: Spend = NO_SPEND
    endings: list[AttemptEnding] = field(default_factory=list)
    is_asking: bool = False  # it asked something and has not continued since

    @property
    def claim(self) -> Spend:
        return self.order.reserve.at_least(self.used)

    @property
    def expires(self) -> float:
        return min(self.started + self.order.timeout, self.last_active + self.order.idle_timeout)


@dataclass(frozen=True, slots=True)
class UnjudgedExit:
    """The end of an attempt that nothing has been decided about yet."""

    attempt: AttemptFacts
    at: float
    outcome: Outcome


@dataclass(slots=True)
class TaskFacts:
    spec: Task
    place: int
    needs: tuple[str, ...]  # but for entrants
    plan_locks: tuple[str, ...]  # the tokens that the plan gives it
    locks: tuple[str, ...]  # those it wants now, or holds
    learned_locks: tuple[str, ...] = ()  # those of files that it changed
    entrants: tuple[str, ...] = ()
    winner: str = ""
    votes: tuple[Vote, ...] = ()  # that judges cast last, or earlier about the same
    voted_on: frozenset[tuple[str, str]] = frozenset()  # entrants with their tips
    failed_winners: tuple[str, ...] = ()  # entrants that were chosen, and then failed verification
    repairing: Change | None = None
    recent_records: deque[Record] = field(default_factory=lambda: deque(maxlen=60))
    step: Step = Step.WRITE
    generation: int = 1
    begun: bool = False  # it was started in this life
    active: bool = False  # from its first start until it ends: it holds its tokens
    alive: AttemptFacts | None = None
    exit: UnjudgedExit | None = None
    uncommitted: UnjudgedExit | None = None  # its agent has finished; what it left must be committed, not written again
    committing: int | None = None
    commits: int = 0
    commit_failures: int = 0
    merge_problem: Category | None = (
        None  # a conflict, a failed commit or merge that nothing has been decided about yet
    )
    merge_problem_at: float = 0.0
    retry_at: float | None = None
    asking: bool = False
    requested_budget: Spend | None = None  # it asks for so much money
    interrupted: bool = False
    approved: bool = False
    restart_after_exit: bool = False
    pending_feedback: list[str] = field(default_factory=list)  # feedback that no attempt has been successful with yet
    pending_end: str = ""  # "cancel" or "drop", by a granted request; "halt"
    agents: tuple[str, ...] = ()  # a person's choice for it
    merging: MergeStarted | None = None
    last: AttemptStarted | None = None
    last_write: AttemptStarted | None = None
    last_used: Spend = NO_SPEND  # by that one
    spent: Spend = NO_SPEND
    uncounted_spend: Spend = NO_SPEND  # what of it its own budget does not count
    tip: str | None = None
    resolved: Resolve | None = None  # the last conflict that a person resolved
    counted_retries: int = 0
    losses: int = 0
    unexplained_refusals: int = 0
    last_refusal: tuple[str, int] = ("", 0)  # by whom last, and how many that one had served then
    repairs: int = 0
    merge_failures: int = 0
    numbers: dict[Step, int] = field(default_factory=dict)
    earlier_writes: int = 0  # attempts of earlier lives
    ended: TaskEnded | None = None
    is_finished: bool = False  # it ended otherwise than done, and its agent had finished
    finished_tip: str | None = None  # with this tip
    rechecking: bool = False  # no agent may run for it
    unmerged_tip: str | None = None  # the tip that it ended with, and only merging went wrong

    @property
    def status(self) -> TaskStatus | None:
        return self.ended.status if self.ended is not None else None

    @property
    def tip_base(self) -> str | None:
        """What its tip is a change of: the branch that a person resolved a conflict with, or what its agent began with."""
        if self.resolved is not None and self.resolved.commit == (self.tip or self.finished_tip):
            return self.resolved.onto
        return self.last_write.base if self.last_write is not None else None

    @property
    def has_referee(self) -> bool:
        """Its change is chosen from its entrants', unless a person gave the task to an agent."""
        return bool(self.entrants) and self.agents in {(), (REFEREE,)}

    @property
    def is_done(self) -> bool:
        return self.ended is not None and self.ended.status is TaskStatus.DONE

    @property
    def was_dropped(self) -> bool:
        """By a person, not by a failure that halted its batch."""
        return self.ended is not None and self.ended.by is None

    @property
    def ended_without_success(self) -> bool:
        """It ended without being done, so its dependents are blocked unless it is retried."""
        return self.ended is not None and self.ended.status is not TaskStatus.DONE

    @property
    def is_in_progress(self) -> bool:
        undecided = self.exit is not None or self.merge_problem is not None
        return self.alive is not None or self.committing is not None or self.merging is not None or undecided

    def ignores_phase(self, phase: Phase) -> bool:
        """It does not wait for its phase: it says itself what it needs, and the phase is no barrier."""
        return phase.gate is None and any(need.kind is NeedKind.NEED for need in self.spec.needs)


@dataclass(frozen=True, slots=True)
class MergedChange:
    """One merge of the line; it belongs to the life of the task in which it was made."""

    change: Change
    generation: int
    commit: str

    @property
    def task(self) -> str:
        return self.change.task


@dataclass(slots=True)
class GateFacts:
    order: GateStarted
    started: float
    prefix: tuple[MergedChange, ...]
    stale: bool = False
    ending: EndWhy | None = None


@dataclass(slots=True)
class BatchFacts:
    id: str
    plan: Plan
    settings: Settings
    base: str
    tasks: dict[str, TaskFacts]
    phases: dict[str, Phase]
    opened: set[str]
    recent_records: deque[Record] = field(default_factory=lambda: deque(maxlen=60))
    paused: PauseCause | None = None
    stopping: bool = False
    stop_now: bool = False
    halted: str | None = None  # the task whose failure stopped it
    failures: dict[str, None] = field(default_factory=dict)
    rejections: int = 0  # tasks in a row that failed because a person must log in or pay
    cancelled: bool = False
    ended: bool = False
    slots: int = 0
    spent: Spend = NO_SPEND
    merging: str | None = None
    merges: list[MergedChange] = field(default_factory=list)
    rebuild: RebuildStarted | None = None
    gate: GateFacts | None = None
    gates: int = 0
    rebuilds: int = 0
    rebuild_failures: int = 0
    gate_passed_size: int = 0  # the first so many of the line passed together
    failed: dict[tuple[tuple[str, int], ...], None] = field(default_factory=dict)  # prefixes that did not
    base_proved: bool = False
    base_failed: bool = False
    gate_losses: int = 0
    passed: set[str] = field(default_factory=set)  # commits that the gate passed
    requested_publish: Publish | None = None
    pull_request_text: tuple[str, str] = ("", "")  # a person's title and body
    title_changed: bool = False  # a title was given that the pull request doesn't have yet
    publishing: PublishStarted | None = None
    publishes: int = 0
    published: tuple[str, Publish] | None = None
    publish_failed: bool = False  # the last try failed
    pushed: str = ""

    @property
    def head(self) -> str:
        return self.merges[-1].commit if self.merges else self.base

    @property
    def needs_gate(self) -> bool:
        """The gate has something to do: what is merged has not passed, or not as it is."""
        if self.settings.gate is None or self.cancelled or not self.merges:
            return False
        return self.gate_passed_size < len(self.merges) or self.head not in self.passed

    @property
    def needs_publish(self) -> bool:
        """Its settings ask for something that was neither published nor failed."""
        wanted, order = self.settings.publish, ("off", "push", "draft", "pr")
        if wanted is Publish.OFF or not self.merges or self.cancelled or self.publish_failed:
            return False
        commit, done = self.published or ("", Publish.OFF)
        return commit != self.head or order.index(done) < order.index(wanted)

    def phase_threshold(self, phase: str) -> float:
        """How much of the earlier phases this one asks for."""
        own = self.phases[phase].gate
        return self.settings.phase_gate if own is None else own

    @property
    def in_place(self) -> bool:
        return self.settings.isolation is Isolation.IN_PLACE

    @property
    def alive(self) -> list[AttemptFacts]:
        return [task.alive for task in self.tasks.values() if task.alive is not None]

    def find_unwanted(self) -> list[str]:
        """Tasks whose merge is in the line though it should not be."""
        return [link.task for link in self.merges if not self._is_wanted(link)]

    def _is_wanted(self, link: MergedChange) -> bool:
        task = self.tasks[link.task]
        return link.generation == task.generation and (task.ended is None or task.is_done)

    def verify_command(self, task: TaskFacts) -> str | None:
        """The command that verifies the task's change."""
        return task.spec.verify or self.settings.verify

    @property
    def is_stopped(self) -> bool:
        """Even started tasks don't continue; a lack of budget stops only new ones."""
        return self.paused not in {None, PauseCause.BUDGET}

    def has_needs_done(self, task: TaskFacts) -> bool:
        entered = all(self.tasks[entrant].ended is not None for entrant in task.entrants)
        return entered and all(self.tasks[need].is_done for need in task.needs)

    def find_candidates(self, task: TaskFacts) -> list[TaskFacts]:
        """The entrants that passed and did not fail as the task's own change."""
        left = (self.tasks[entrant] for entrant in task.entrants if entrant not in task.failed_winners)
        return [entrant for entrant in left if entrant.is_done]

    def slots_wanted(self, task: TaskFacts, step: Step) -> int:
        """Judges take slots while they choose, and not while what they chose is verified."""
        written = self.tasks[task.entrants[0]] if task.entrants and step is Step.VERIFY else task
        return written.spec.slots

    def winner_was_dropped(self, task: TaskFacts, found: UnjudgedExit) -> bool:
        """The chosen entrant was dropped meanwhile."""
        offered = {each.task for each in found.attempt.order.candidates}
        left = {entrant.spec.id for entrant in self.find_candidates(task)}
        return found.outcome.winner in offered - left

    def has_no_candidates(self, task: TaskFacts) -> bool:
        """All its entrants have ended without a candidate, and the task was not given to another agent."""
        over = task.has_referee and task.step is Step.WRITE and task.ended is None and task.uncommitted is None
        return over and self.has_needs_done(task) and not self.find_candidates(task)

    def has_begun(self, task: TaskFacts) -> bool:
        """It was started; in a contest, one of its entrants was."""
        contested = self.tasks.get(task.spec.entrant or "", task)
        return task.begun or any(self.tasks[name].begun for name in (contested.spec.id, *contested.entrants))

    def find_lost_needs(self, task: TaskFacts) -> list[TaskFacts]:
        return [other for need in task.needs if (other := self.tasks[need]).ended_without_success]


def lock_name(batch: str, token: str, *, shared: bool) -> str:
    wide = token.startswith("group:") or (shared and token.startswith("file:"))
    return token if wide else f"{batch}/{token}"
