"""State: the fold of all records. Only `evolve` changes it.

The indexes in it (what each task is owed, who is ready, who holds what, the timers) are derived: a recount from the
tasks' own facts gives the same, and a property compares them.
"""

from __future__ import annotations

from dataclasses import field

from plait.core.decisions import AttemptStarted, Change, GateStarted, PublishStarted, RebuildStarted
from plait.core.frozen import dataclass
from plait.core.owed import Owed
from plait.core.plan import Plan
from plait.core.ready import Lane, Ready
from plait.core.reports import EngineTaken, Outcome, PublishFailed, RoomChanged
from plait.core.requests import Request
from plait.core.settings import NO_SPEND, EngineSettings, Publish, Settings, Spend
from plait.core.sorted import Sorted
from plait.core.status import BatchStatus, Category, EndWhy, PauseCause, TaskStatus
from plait.core.task import Attempt, Phase, Step, Task
from plait.core.wording import NO_WORDING, Wording


@dataclass(slots=True)
class AttemptState:
    decision: AttemptStarted
    started_at: float
    deadline: float
    quiet_since: float
    session: str | None = None
    used: Spend = NO_SPEND
    served: bool = False  # by its provider, since that last refused
    phase: str = ""
    question: str | None = None
    pid: int | None = None
    workspace: str = ""
    ending: EndWhy | None = None
    ending_now: bool = False
    ended_at: float | None = None
    outcome: Outcome | None = None

    @property
    def name(self) -> Attempt:
        return self.decision.attempt

    @property
    def agent(self) -> str:
        return self.decision.agent

    @property
    def provider(self) -> str:
        return self.decision.provider

    @property
    def expires(self) -> float:
        return min(self.deadline, self.quiet_since + self.decision.idle_timeout)

    @property
    def claim(self) -> Spend:
        """What it may still cost the batch: its reserve, or what it has spent when that is more."""
        return self.decision.reserve.at_least(self.used)


@dataclass(frozen=True, slots=True)
class Doom:
    """How a task will end as soon as nothing of it runs any more."""

    status: TaskStatus
    why: EndWhy
    reason: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Unmerged:
    """What an ended task has written and verified; all it lacked was that merging it went right."""

    base: str
    tip: str
    diffstat: tuple[int, int, int] | None = None
    winner: str = ""


@dataclass(slots=True)
class TaskState:
    task: Task
    place: int
    tokens: tuple[str, ...]  # what it takes as a whole at its start, and holds all of while it is started
    lane: Lane
    learnt: tuple[str, ...] = ()  # tokens of files that it was seen to change
    dependents: list[int] = field(default_factory=list)
    entrants: tuple[int, ...] = ()  # the tries at it, in a contest
    # What holds it back.
    pending: int = 0  # needs that are not done, and entrants that have not ended
    lost: int = 0  # needs that ended otherwise
    closed: bool = False  # by its phase
    chosen: str | None = None  # the agent a person chose for it
    not_before: float | None = None
    question: str | None = None
    wants: Spend | None = None  # what another attempt may cost: whether it may is the question
    approved: bool = False
    interrupted: str | None = None
    # Where it is.
    step: Step = Step.WRITE
    life: int = 1  # a retry by a person begins another
    fresh: bool = True  # nothing was written in this life yet
    writes_before: int = 0  # attempts of earlier lives
    started: bool = False  # in this life: it holds its tokens and its workspace
    alive: dict[Attempt, AttemptState] = field(default_factory=dict)
    unjudged: list[AttemptState] = field(default_factory=list)
    merging: int | None = None
    merged_life: int | None = None  # the life whose change is in the batch branch
    line_place: int = -1
    clash: tuple[str, ...] | None = None
    merge_error: str | None = None
    doom: Doom | None = None
    redo: bool = False  # words arrived for which the running attempt must make room
    owed: Owed = Owed.NOTHING
    # What it has been through.
    numbers: dict[Step, int] = field(default_factory=dict)
    tries: int = 0
    losses: int = 0
    refusals: int = 0  # in a row
    misfits: int = 0  # refusals by a provider that had served others since the one before
    refused: tuple[str, int] | None = None  # by whom last, and how many had been served then
    repairs: int = 0
    merge_failures: int = 0
    last: AttemptState | None = None
    last_write: AttemptState | None = None
    retry: str | None = None  # why it goes again
    feedback: str = ""
    winner: str = ""  # the entrant whose change it has
    outdone: tuple[str, ...] = ()  # entrants that were chosen and did not stand
    repairing: Change | None = None  # what conflicted, until it has been made again
    foreseen: dict[str, tuple[str, ...]] = field(default_factory=dict)  # files, by the task ("": the branch)
    base: str | None = None
    tip: str | None = None
    commit: str | None = None
    diffstat: tuple[int, int, int] | None = None
    spent: Spend = NO_SPEND
    agreed: Spend = NO_SPEND  # what of it a person has agreed to: its own budget counts from there
    started_at: float | None = None
    # How it ended.
    status: TaskStatus | None = None
    reason: str = ""
    category: Category | None = None
    by: str | None = None
    ended_at: float | None = None
    unmerged: Unmerged | None = None

    @property
    def merged(self) -> bool:
        return self.merged_life == self.life

    @property
    def under_way(self) -> bool:
        """It holds its tokens; or it has been taken up to be merged, and others have them."""
        return self.started or (self.status is None and self.step is not Step.WRITE)


@dataclass(slots=True)
class PhaseState:
    phase: Phase
    members: list[int] = field(default_factory=list)
    watchers: list[str] = field(default_factory=list)  # the phases that wait for this one
    settled: int = 0  # gating tasks of the source that are done or skipped
    live: int = 0  # gating tasks of the batch that have not ended
    open: bool = True


@dataclass(frozen=True, slots=True)
class Paused:
    cause: PauseCause
    why: str


@dataclass(slots=True)
class GateState:
    decision: GateStarted
    deadline: float
    ending: EndWhy | None = None
    stale: bool = False  # the line has changed under it: its result means nothing any more

    @property
    def n(self) -> int:
        return self.decision.n

    @property
    def size(self) -> int:
        return self.decision.size


@dataclass(frozen=True, slots=True)
class LineEntry:
    place: int
    life: int
    commit: str
    change: Change


@dataclass(frozen=True, slots=True)
class Published:
    """What the remote branch has, and the pull request ("": none), as the last publishing left them."""

    commit: str
    url: str
    publish: Publish
    at: float


@dataclass(slots=True)
class BatchState:
    id: str
    plan: Plan
    settings: Settings
    base: str
    branch: str
    seed: int
    order: int  # of submission
    submitted_at: float
    head: str
    sources: tuple[str, ...] = ()
    tasks: list[TaskState] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    named: frozenset[str] = frozenset()  # the tokens of its plan
    phases: dict[str, PhaseState] = field(default_factory=dict)
    openers: dict[int, list[str]] = field(default_factory=dict)  # the phases that one task's completion opens
    openable: dict[str, None] = field(default_factory=dict)
    hopeless: dict[str, None] = field(default_factory=dict)
    owed: dict[Owed, Sorted[int]] = field(default_factory=lambda: {owed: Sorted() for owed in Owed})
    # What people and failures did to it.
    paused: Paused | None = None
    stopping: bool = False
    stop_now: bool = False
    halted: str | None = None  # the task whose failure stopped it
    failures: dict[int, None] = field(default_factory=dict)  # tasks that failed and are not dropped
    rejections: int = 0  # in a row, by a provider that will reject the next one too
    cancelled: bool = False
    # What is under way.
    alive: dict[Attempt, AttemptState] = field(default_factory=dict)
    slots: int = 0
    claims: Spend = NO_SPEND
    spent: Spend = NO_SPEND
    active: dict[int, None] = field(default_factory=dict)  # tasks that hold their tokens
    agents_used: dict[str, int] = field(default_factory=dict)
    merging: int | None = None
    # The line of merges that makes the batch branch, and its gate.
    line: list[LineEntry] = field(default_factory=list)
    unwanted: dict[int, None] = field(default_factory=dict)
    rebuild: RebuildStarted | None = None
    rebuilds: int = 0
    rebuild_failures: int = 0
    rebuild_error: str = ""  # the last of them
    gate: GateState | None = None
    gates: int = 0
    gate_losses: int = 0
    gated: int = 0  # so many merges are known to be good together
    bad: int | None = None  # so many are known to be bad
    base_good: bool = False
    base_bad: str | None = None
    passed: set[str] = field(default_factory=set)  # commits that the gate has passed
    # What of it was published.
    wish: Publish | None = None  # a person asks for it
    wording: Wording = NO_WORDING  # what a person said last of its pull request
    renamed: bool = False  # its title was said since the pull request was last brought up to date
    publishing: PublishStarted | None = None
    publishes: int = 0
    published: Published | None = None
    unpublished: PublishFailed | None = None  # how the last try went, if it failed
    pushed: str = ""  # the commit that plait pushed last
    # How far it is.
    unsettled: int = 0
    tally: dict[TaskStatus, int] = field(default_factory=dict)
    started_at: float | None = None
    ended: BatchStatus | None = None
    reason: str = ""
    ended_at: float | None = None

    def task(self, name: str) -> TaskState | None:
        place = self.index.get(name)
        return None if place is None else self.tasks[place]


@dataclass(slots=True)
class Breaker:
    """What is known of a provider's patience."""

    until: float | None = None  # open until then
    limit: int | None = None  # at most so many at once since it last refused
    peak: int = 0  # how many were at work when it refused
    opened_at: float = 0.0
    since: float = 0.0  # when the first of the streak was
    why: str = ""
    rejected: bool = False  # somebody has to log in, or to pay
    mended: bool = False  # somebody who may have done that wants work done
    streak: int = 0  # refusals since the last success
    served: int = 0  # attempts that succeeded since it refused
    credit: int = 0  # attempts that were served and have not raised the limit yet


@dataclass(frozen=True, slots=True)
class Refusal:
    """A provider said "not now", and no breaker has been opened for it yet."""

    provider: str
    at: float
    until: float | None
    began: float  # when the refused attempt started
    rejected: bool = False


@dataclass(slots=True)
class Experience:
    """What an agent's last attempts cost and took, for reserves, estimates and the room that the next one wants."""

    spends: tuple[Spend, ...] = ()
    paces: tuple[float, ...] = ()  # seconds per unit of weight
    footprints: tuple[int, ...] = ()  # bytes of memory per slot


@dataclass(slots=True)
class State:
    seq: int = 0
    now: float = 0.0  # of the newest record
    settings: EngineSettings = field(default_factory=EngineSettings)
    saved: dict[str, str] = field(default_factory=dict)  # settings, as JSON; replaced as a whole
    engine: EngineTaken | None = None
    engine_since: float = 0.0
    batches: dict[str, BatchState] = field(default_factory=dict)
    open: dict[str, BatchState] = field(default_factory=dict)
    shipping: dict[str, BatchState] = field(default_factory=dict)  # to be published or being it, ended or not
    seen: set[str] = field(default_factory=set)
    unanswered: dict[str, Request] = field(default_factory=dict)
    ready: Ready = field(default_factory=Ready)
    slots: int = 0
    agents: dict[str, int] = field(default_factory=dict)  # attempts alive per agent
    providers: dict[str, int] = field(default_factory=dict)
    breakers: dict[str, Breaker] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    pressure: str | None = None
    room: RoomChanged | None = None  # None: no bound but the settings'
    jump: float = 0.0
    experience: dict[str, Experience] = field(default_factory=dict)
    # By where each task was said: the seconds it last took, and the files it changed as long as it is not done.
    lengths: dict[str, float] = field(default_factory=dict)
    touched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Timers, soonest first.
    deadlines: Sorted[tuple[float, Attempt]] = field(default_factory=Sorted)
    backoffs: Sorted[tuple[float, str, int]] = field(default_factory=Sorted)
    closings: Sorted[tuple[float, str]] = field(default_factory=Sorted)
    gate_deadlines: Sorted[tuple[float, str, int]] = field(default_factory=Sorted)

    def find(self, attempt: Attempt) -> AttemptState | None:
        batch = self.batches.get(attempt.batch)
        return None if batch is None else batch.alive.get(attempt)
