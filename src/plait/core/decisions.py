"""What the core decides. A decision carries its outcome, so that new code never reinterprets old history.

Instants that follow from an earlier record are written out (`RetryGranted.at`); those that count from the decision
itself are lengths (`AttemptStarted.timeout`), and the record's own time completes them: the core reads no clock.
"""

from __future__ import annotations

from plait.core.ballot import Vote
from plait.core.fast_dataclass import dataclass
from plait.core.settings import NO_SPEND, Publish, Spend
from plait.core.status import BatchStatus, Category, EndWhy, PauseCause, TaskStatus
from plait.core.task import Attempt, Step


@dataclass(frozen=True, slots=True)
class RequestGranted:
    """A request is granted. `tasks` are the ones it applies to: the approved one, or all that are retried."""

    request: str
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestRefused:
    request: str
    why: str


@dataclass(frozen=True, slots=True)
class Change:
    """A task's own change: the difference between `base` and `tip`. Its history may hold other tasks' changes as well."""

    task: str
    base: str
    tip: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entrant's change as the referee sees it: its own change, its agent, its duration and its cost."""

    task: str
    agent: str
    base: str
    tip: str
    seconds: float = 0.0
    spend: Spend = NO_SPEND
    diffstat: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """Start an attempt. `base` is the commit its workspace is made from, `session` the agent's session to continue, and
    `command` what runs where there is no agent (verification). `repairs` is the task's earlier change, if that
    conflicted with what is in `base` now and this attempt makes it again. `before` is what the session had spent,
    `candidates` are what a referee chooses from, and `votes` are the judges' earlier votes on these.
    """

    attempt: Attempt
    agent: str
    provider: str
    timeout: float
    idle_timeout: float
    slots: int = 1
    reserve: Spend = NO_SPEND
    base: str = ""
    command: str | None = None
    session: str | None = None
    feedback: str = ""
    repairs: Change | None = None
    before: Spend = NO_SPEND
    candidates: tuple[Candidate, ...] = ()
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class AttemptEnding:
    """Ask a running attempt to end; it has ended when its exit is reported."""

    attempt: Attempt
    why: EndWhy
    now: bool = False


@dataclass(frozen=True, slots=True)
class CommitStarted:
    """Commit what this attempt left in its workspace, for the n-th time; no agent runs."""

    attempt: Attempt
    n: int


@dataclass(frozen=True, slots=True)
class StepPassed:
    attempt: Attempt
    then: Step


@dataclass(frozen=True, slots=True)
class RetryGranted:
    """Go back to step `then`, not before `at`. Only a counted one uses up one of the task's retries. `elsewhere`: the
    provider rejected it (not logged in, no credit left) and is avoided, so that another provider takes the task.
    """

    batch: str
    task: str
    then: Step
    at: float
    category: Category
    why: str
    counted: bool
    feedback: str = ""
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class BackoffEnded:
    batch: str
    task: str


@dataclass(frozen=True, slots=True)
class AnswerAwaited:
    """A question for a person: the agent's, or whether the task may exceed its own budget. In the second case, `wants` is
    what another attempt may cost.
    """

    batch: str
    task: str
    question: str
    wants: Spend | None = None


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """A terminal status with a reason a person can read; `by` is the task that caused it, where one did."""

    batch: str
    task: str
    status: TaskStatus
    reason: str
    category: Category | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class TaskInterrupted:
    """A stop ended the task's attempt; resuming repeats that step."""

    batch: str
    task: str
    reason: str


@dataclass(frozen=True, slots=True)
class PhaseOpened:
    batch: str
    phase: str
    why: str


@dataclass(frozen=True, slots=True)
class MergeStarted:
    """Merge the task's own change (`tip` against `base`) onto the batch branch, whose head must be `onto`."""

    batch: str
    task: str
    n: int
    base: str
    tip: str
    onto: str


@dataclass(frozen=True, slots=True)
class RebuildStarted:
    """Rebuild the batch branch from its base: the changes of `line` in this order, without the tasks in `without`."""

    batch: str
    n: int
    without: tuple[str, ...]
    line: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class GateStarted:
    """Run the gate on `commit`: the first `size` merges of the batch (none: the base itself)."""

    batch: str
    n: int
    commit: str
    size: int
    timeout: float
    command: str = ""


@dataclass(frozen=True, slots=True)
class GateEnding:
    batch: str
    n: int
    why: EndWhy


@dataclass(frozen=True, slots=True)
class PublishStarted:
    """Push exactly `commit` as the batch branch, and then what `publish` asks for. `expected` is the commit that
    plait pushed last ("": it never did): only where the remote branch still has it may it be moved by force.
    `title` and `body` are a person's own ("": plait's); `renamed`: the title counts whatever the pull request's is now.
    """

    batch: str
    n: int
    commit: str
    publish: Publish
    expected: str = ""
    title: str = ""
    body: str = ""
    renamed: bool = False


@dataclass(frozen=True, slots=True)
class BreakerOpened:
    """Start no attempts with this provider until then, and afterwards at most `limit` at once. `rejected`: it is no
    rate limit; a person has to log in or pay.
    """

    provider: str
    until: float
    limit: int
    why: str
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class BreakerClosed:
    provider: str


@dataclass(frozen=True, slots=True)
class LimitRaised:
    """Allow a provider more attempts at once; `limit` None: any number."""

    provider: str
    limit: int | None


@dataclass(frozen=True, slots=True)
class BatchPaused:
    batch: str
    cause: PauseCause
    why: str


@dataclass(frozen=True, slots=True)
class BatchUnpaused:
    batch: str
    why: str


@dataclass(frozen=True, slots=True)
class BatchHalted:
    """Start no more tasks of this batch, because one failed (`by`)."""

    batch: str
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class BatchEnded:
    batch: str
    status: BatchStatus
    reason: str


@dataclass(frozen=True, slots=True)
class DeadlinesMoved:
    """Move deadlines, because the clock jumped: running attempts keep the time they had left."""

    by: float


RequestDecision = RequestGranted | RequestRefused
AttemptDecision = AttemptStarted | AttemptEnding | CommitStarted | StepPassed
TaskDecision = RetryGranted | BackoffEnded | AnswerAwaited | TaskEnded | TaskInterrupted
BranchDecision = MergeStarted | RebuildStarted | GateStarted | GateEnding | PublishStarted
LimitDecision = BreakerOpened | BreakerClosed | LimitRaised | DeadlinesMoved
BatchDecision = PhaseOpened | BatchPaused | BatchUnpaused | BatchHalted | BatchEnded
Decision = RequestDecision | AttemptDecision | TaskDecision | BranchDecision | LimitDecision | BatchDecision


@dataclass(frozen=True, slots=True)
class Due:
    """A decision and the time from which it is due."""

    at: float
    decision: Decision
