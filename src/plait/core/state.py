"""State: the fold of all records. Only `evolve` changes it.

Its indexes (next actions, start queue, locks, timers) are derived: a recount from the tasks' own facts gives the same, and
tests compare them.
"""

from __future__ import annotations

from copy import copy
from dataclasses import field, fields
from typing import TypeVar

from plait.core.ballot import Ballot
from plait.core.decisions import AttemptStarted, Change, GateStarted, PublishStarted, RebuildStarted
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan
from plait.core.reports import CapacityChanged, EngineTaken, Outcome, PublishFailed, SourcesUnwritten
from plait.core.requests import NO_OVERRIDE, PullRequestOverride, Request
from plait.core.settings import NO_SPEND, EngineSettings, Publish, Settings, Spend
from plait.core.start_queue import QueueKey, SortedSet, StartQueue
from plait.core.status import BatchStatus, Category, EndWhy, NextAction, PauseCause, TaskStatus
from plait.core.task import Attempt, Phase, Step, Task

T = TypeVar("T", "State", "BatchState")


@dataclass(slots=True)
class AttemptState:
    decision: AttemptStarted
    started_at: float
    deadline: float
    last_active_at: float
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
        return min(self.deadline, self.last_active_at + self.decision.idle_timeout)

    @property
    def reserved_spend(self) -> Spend:
        """What the attempt may cost the batch: its reserve, or what it has spent if that is more."""
        return self.decision.reserve.at_least(self.used)


@dataclass(frozen=True, slots=True)
class PendingEnd:
    """How a task will end as soon as nothing of it runs any more."""

    status: TaskStatus
    why: EndWhy
    reason: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class FinishedChange:
    """The finished change of an ended task; `tip` "": nothing to merge."""

    base: str
    tip: str
    diffstat: tuple[int, int, int] | None = None
    winner: str = ""
    ballot: Ballot | None = None


@dataclass(slots=True)
class TaskState:
    task: Task
    index: int  # in `BatchState.tasks` and in the plan
    locks: tuple[str, ...]  # taken together at its start; held while `holds_locks`
    queue_key: QueueKey
    learned_locks: tuple[str, ...] = ()  # of files that it changed
    dependents: list[int] = field(default_factory=list)
    entrants: tuple[int, ...] = ()  # in a contest
    # What the task waits for.
    pending_needs: int = 0  # needs that are not done, and entrants that have not ended
    lost_needs: int = 0  # needs that ended otherwise
    phase_closed: bool = False  # by its phase
    chosen_agent: str | None = None  # the agent a person chose for it
    not_before: float | None = None
    question: str | None = None
    requested_spend: Spend | None = None  # what another attempt may cost: whether it may is the question
    approved: bool = False
    interrupted: str | None = None
    # Where the task is.
    step: Step = Step.WRITE
    generation: int = 1  # a retry by a person begins another
    fresh: bool = True  # no write attempt in this generation yet
    writes_before: int = 0  # attempts of earlier generations
    holds_locks: bool = False  # and its workspace
    alive: dict[Attempt, AttemptState] = field(default_factory=dict)
    undecided_exits: list[AttemptState] = field(default_factory=list)
    uncommitted: AttemptState | None = None  # its agent has finished; what it left is only in its workspace
    committing: int | None = None
    awaited_program: str = ""  # git waits for it while it commits
    commit_error: str | None = None
    merging: int | None = None
    merged_generation: int | None = None  # the generation whose change is in the batch branch
    merge_position: int = -1
    conflict_files: tuple[str, ...] | None = None
    merge_error: str | None = None
    pending_end: PendingEnd | None = None
    rechecking: bool = False  # its finished work is verified and merged: no agent runs
    restart_requested: bool = False  # feedback arrived: the running attempt ends first
    next_action: NextAction = NextAction.NONE
    # The history of the task.
    attempt_counts: dict[Step, int] = field(default_factory=dict)
    counted_retries: int = 0  # without those for lost attempts, refusals, conflicts and failed merges
    lost_attempts: int = 0
    refusals: int = 0  # in a row
    suspect_refusals: int = 0  # refusals by a provider that had served others since the one before
    last_refusal: tuple[str, int] | None = None  # the provider of the last one, and how many it had served then
    repairs: int = 0
    commits: int = 0  # tries to commit a result
    commit_failures: int = 0
    merge_failures: int = 0
    last: AttemptState | None = None
    last_write: AttemptState | None = None
    retry_reason: str | None = None  # why it is retried
    feedback: str = ""
    winner: str = ""  # the entrant whose change it has
    ballot: Ballot | None = None  # how the judges of its contest voted
    rejected_entrants: tuple[str, ...] = ()  # winners that failed verification
    change_to_repair: Change | None = None  # what conflicted, until it has been made again
    predicted_conflicts: dict[str, tuple[str, ...]] = field(default_factory=dict)  # files, by the task ("": the branch)
    base: str | None = None
    tip: str | None = None
    commit: str | None = None
    diffstat: tuple[int, int, int] | None = None
    spent: Spend = NO_SPEND
    approved_spend: Spend = NO_SPEND  # the spend that a person has approved: the task's budget counts from there
    started_at: float | None = None
    worked: float = 0.0  # seconds of all its attempts that have ended
    # How the task ended.
    status: TaskStatus | None = None
    reason: str = ""
    category: Category | None = None
    by: str | None = None
    ended_at: float | None = None
    unmerged: FinishedChange | None = None  # verified, only its merge failed
    finished: FinishedChange | None = None  # by its agent, and not done: it can be verified again

    @property
    def is_merged(self) -> bool:
        return self.merged_generation == self.generation

    @property
    def cause_of_end(self) -> str:
        """The task whose end caused this one's: itself, unless another one blocked it."""
        return self.by if self.status is TaskStatus.BLOCKED and self.by else self.task.id

    @property
    def unverified(self) -> FinishedChange | None:
        """The finished change of an ended task whose verification could not be run: nothing is wrong with it."""
        return self.finished if self.category in {Category.LOST, Category.KILLED} else None

    @property
    def waits_to_commit(self) -> bool:
        """Whether committing its result failed and is tried again later, or at once by a retry."""
        return self.status is None and self.uncommitted is not None and self.not_before is not None

    @property
    def is_under_way(self) -> bool:
        """Whether it holds its locks, or is retried from its commit or merge while other tasks hold them."""
        is_written = self.step is not Step.WRITE or self.uncommitted is not None
        return self.holds_locks or (self.status is None and is_written)


@dataclass(slots=True)
class PhaseState:
    phase: Phase
    members: list[int] = field(default_factory=list)
    watchers: list[str] = field(default_factory=list)  # the phases that wait for this one
    settled: int = 0  # gating tasks of the source that are done or skipped
    live: int = 0  # gating tasks of the batch that have not ended
    open: bool = True


@dataclass(frozen=True, slots=True)
class PauseState:
    cause: PauseCause
    why: str


@dataclass(slots=True)
class GateState:
    decision: GateStarted
    deadline: float
    ending: EndWhy | None = None
    stale: bool = False  # the branch changed: its result no longer counts

    @property
    def n(self) -> int:
        return self.decision.n

    @property
    def size(self) -> int:
        return self.decision.size


@dataclass(frozen=True, slots=True)
class GateFailure:
    """The gate's failure on the base. `time_limit`: it was ended after this many seconds."""

    detail: str
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class BranchMerge:
    task_index: int
    generation: int
    commit: str
    change: Change


@dataclass(frozen=True, slots=True)
class PublishedBranch:
    """The commit on the remote branch and the pull request ("": none) after the last publish."""

    commit: str
    url: str
    publish: Publish


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
    plan_locks: frozenset[str] = frozenset()  # all locks of its plan
    phases: dict[str, PhaseState] = field(default_factory=dict)
    phases_by_opener: dict[int, list[str]] = field(default_factory=dict)  # the phases that one task's completion opens
    openable_phases: dict[str, None] = field(default_factory=dict)
    unopenable_phases: dict[str, None] = field(default_factory=dict)
    tasks_by_action: dict[NextAction, SortedSet[int]] = field(
        default_factory=lambda: {action: SortedSet() for action in NextAction}
    )
    # The effects of requests and failures on the batch.
    paused: PauseState | None = None
    stopping: bool = False
    stop_now: bool = False
    halted_by: str | None = None  # the task whose failure stopped it
    failures: dict[int, None] = field(default_factory=dict)  # tasks that failed and are not dropped
    rejections: int = 0  # in a row, by a provider that will reject the next one too
    cancelled: bool = False
    # Running work.
    alive: dict[Attempt, AttemptState] = field(default_factory=dict)
    slots: int = 0
    reserved_spend: Spend = NO_SPEND
    spent: Spend = NO_SPEND
    active: dict[int, None] = field(default_factory=dict)  # tasks that hold their locks
    committing: dict[int, None] = field(default_factory=dict)  # tasks whose result is being committed
    agents_used: dict[str, int] = field(default_factory=dict)
    merging: int | None = None
    # The merges that make up the batch branch, and its gate.
    merges: list[BranchMerge] = field(default_factory=list)
    merges_to_drop: dict[int, None] = field(default_factory=dict)
    rebuild: RebuildStarted | None = None
    rebuilds: int = 0
    rebuild_failures: int = 0
    rebuild_error: str = ""  # the last of them
    gate: GateState | None = None
    gates: int = 0
    gate_losses: int = 0
    gate_good_size: int = 0  # so many merges are known to be good together
    gate_bad_size: int | None = None  # so many are known to be bad
    base_passed: bool = False
    base_failure: GateFailure | None = None
    gate_passed_commits: set[str] = field(default_factory=set)  # commits that the gate has passed
    # Publishing.
    requested_publish: Publish | None = None  # a person asks for it
    pull_request_override: PullRequestOverride = NO_OVERRIDE  # a person's own text for its pull request
    renamed: bool = False  # a person gave a title since the pull request was last updated
    publishing: PublishStarted | None = None
    publishes: int = 0
    awaited_program: str = ""  # git waits for it while it publishes
    published: PublishedBranch | None = None
    publish_failure: PublishFailed | None = None  # how the last try went, if it failed
    pushed: str = ""  # the commit that plait pushed last
    unwritten: dict[str, SourcesUnwritten] = field(default_factory=dict)  # by source: statuses it doesn't have
    # How far the batch is.
    unfinished_count: int = 0
    status_counts: dict[TaskStatus, int] = field(default_factory=dict)
    started_at: float | None = None
    worked: float = 0.0  # seconds in which something of it ran
    busy_since: float | None = None  # something of it runs
    ended: BatchStatus | None = None
    reason: str = ""
    ended_at: float | None = None

    @property
    def is_branch_stable(self) -> bool:
        """Whether nothing is being removed from the branch or has to be."""
        return self.rebuild is None and not self.merges_to_drop

    @property
    def has_branch_work(self) -> bool:
        """Whether a merge, a rebuild or a gate runs."""
        return self.merging is not None or self.rebuild is not None or self.gate is not None

    def find_task(self, name: str | None) -> TaskState | None:
        index = self.index.get(name or "")
        return None if index is None else self.tasks[index]

    def find_needs(self, task: TaskState) -> list[TaskState]:
        """Return the tasks that must be done before this one; its entrants need only end."""
        return [self.tasks[index] for index in self.plan.needs[task.index] if index not in task.entrants]

    def find_entrants(self, task: TaskState) -> list[TaskState]:
        return [self.tasks[index] for index in task.entrants]

    def find_earlier_phases(self, phase: PhaseState) -> list[PhaseState]:
        return [self.phases[name] for name in phase.phase.after if name in self.phases]


@dataclass(slots=True)
class Breaker:
    """The rate limit of a provider."""

    until: float | None = None  # open until then
    limit: int | None = None  # at most so many at once since it last refused
    peak_attempts: int = 0  # how many were at work when it refused
    opened_at: float = 0.0
    since: float = 0.0  # when the first of the streak was
    why: str = ""
    rejected: bool = False  # until a person logs in or pays
    retry_requested: bool = False  # a person requested work since it was opened
    streak: int = 0  # refusals since the last success
    unserved: int = 0  # refusals since it did any work, or since a person had it tried again
    unserved_since: float = 0.0  # when the first of them was
    has_reset_time: bool = False  # the provider named one when it last refused
    served: int = 0  # attempts that succeeded since it refused
    credit: int = 0  # attempts that were served and have not raised the limit yet


@dataclass(frozen=True, slots=True)
class Refusal:
    """A provider's refusal for which no breaker has been opened yet."""

    provider: str
    at: float
    until: float | None
    began: float  # when the refused attempt started
    rejected: bool = False


@dataclass(slots=True)
class AgentStats:
    """Cost, duration and memory of an agent's last attempts, for reserves, estimates and capacity."""

    spends: tuple[Spend, ...] = ()
    seconds_per_weight: tuple[float, ...] = ()  # seconds per unit of weight
    footprints: tuple[int, ...] = ()  # bytes of memory per slot


@dataclass(slots=True)
class State:
    seq: int = 0
    now: float = 0.0  # of the newest record
    settings: EngineSettings = field(default_factory=EngineSettings)
    saved: dict[str, str] = field(default_factory=dict)  # settings, as JSON; replaced as a whole
    engine: EngineTaken | None = None
    batches: dict[str, BatchState] = field(default_factory=dict)
    open: dict[str, BatchState] = field(default_factory=dict)
    publishing_batches: dict[str, BatchState] = field(default_factory=dict)  # with a pending or running publish
    seen_requests: set[str] = field(default_factory=set)
    unanswered: dict[str, Request] = field(default_factory=dict)
    start_queue: StartQueue = field(default_factory=StartQueue)
    slots: int = 0
    agents: dict[str, int] = field(default_factory=dict)  # attempts alive per agent
    providers: dict[str, int] = field(default_factory=dict)
    breakers: dict[str, Breaker] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    pressure: str | None = None
    capacity: CapacityChanged | None = None  # None: no bound but the settings'
    clock_jump: float = 0.0
    agent_stats: dict[str, AgentStats] = field(default_factory=dict)
    # By task key: the seconds it last took, and the files it changed while it is not done.
    task_durations: dict[str, float] = field(default_factory=dict)
    changed_files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Timers, soonest first.
    deadlines: SortedSet[tuple[float, Attempt]] = field(default_factory=SortedSet)
    backoffs: SortedSet[tuple[float, str, int]] = field(default_factory=SortedSet)
    breaker_closings: SortedSet[tuple[float, str]] = field(default_factory=SortedSet)
    gate_deadlines: SortedSet[tuple[float, str, int]] = field(default_factory=SortedSet)

    def find_task(self, batch: str, task: str) -> tuple[BatchState, TaskState] | tuple[None, None]:
        known_batch = self.batches.get(batch)
        index = known_batch.index.get(task) if known_batch is not None else None
        return (None, None) if known_batch is None or index is None else (known_batch, known_batch.tasks[index])

    def find_attempt(self, attempt: Attempt) -> AttemptState | None:
        batch = self.batches.get(attempt.batch)
        return None if batch is None else batch.alive.get(attempt)


def copy_state(state: State) -> State:
    """Return a copy to simulate on. Ended batches are shared, unless a pending request may reopen them."""
    copied = _copy_containers(state)
    living = {getattr(request, "batch", "") for request in state.unanswered.values()}
    living |= state.open.keys() | state.publishing_batches.keys()
    copied.batches |= {name: _copy_batch(batch) for name, batch in state.batches.items() if name in living}
    copied.open = {name: copied.batches[name] for name in state.open}
    copied.publishing_batches = {name: copied.batches[name] for name in state.publishing_batches}
    copied.breakers = {name: copy(breaker) for name, breaker in state.breakers.items()}
    copied.agent_stats = {name: copy(stats) for name, stats in state.agent_stats.items()}
    return copied


def _copy_containers(original: T) -> T:
    """Return a shallow copy with its own dicts, lists, sets and queues."""
    copied = copy(original)
    for field_info in fields(original):
        value = getattr(original, field_info.name)
        if isinstance(value, dict | list | set | SortedSet | StartQueue):
            setattr(copied, field_info.name, value.copy())
    return copied


def _copy_batch(batch: BatchState) -> BatchState:
    copied = _copy_containers(batch)
    attempts = {id(attempt): copy(attempt) for attempt in batch.alive.values()}
    copied.alive = {name: attempts[id(attempt)] for name, attempt in batch.alive.items()}
    copied.tasks = [_copy_task(task, attempts) for task in batch.tasks]
    copied.phases = {name: copy(phase) for name, phase in batch.phases.items()}
    copied.tasks_by_action = {action: indexes.copy() for action, indexes in batch.tasks_by_action.items()}
    copied.gate = copy(batch.gate)
    return copied


def _copy_task(task: TaskState, attempts: dict[int, AttemptState]) -> TaskState:
    """Copy a task. Ended attempts never change and are shared; running ones are copied."""
    copied = copy(task)
    copied.alive = {name: attempts[id(attempt)] for name, attempt in task.alive.items()}
    copied.undecided_exits = list(task.undecided_exits)
    copied.attempt_counts, copied.predicted_conflicts = dict(task.attempt_counts), dict(task.predicted_conflicts)
    copied.last = attempts.get(id(task.last), task.last)
    copied.last_write = attempts.get(id(task.last_write), task.last_write)
    return copied
