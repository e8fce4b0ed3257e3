"""What the engine observes. Reports may come late, twice, or about ended things; none of that is an error."""

from __future__ import annotations

from plait.core.ballot import Ballot
from plait.core.fast_dataclass import dataclass
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category, WaitReason
from plait.core.task import Attempt


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `retry_after` counts from the exit, `retry_at` is an instant; the later one holds.

    `peak` is the memory, in bytes, that its whole tree took at most (0: not measured). `files` are all that its
    change differs in from its base, and `diffstat` how many they are, the lines added and the lines removed. `winner` is the
    entrant whose change it is, where a referee chose one, `ballot` how its judges voted. `session` "": the one to continue is
    gone. `uncommitted`: its agent has finished, and what it left is in its workspace only; a CommitStarted commits it, and
    CommitDone has the whole outcome.
    """

    category: Category
    exit_code: int | None = None
    detail: str = ""
    spend: Spend = NO_SPEND
    session: str | None = None
    retry_after: float | None = None
    retry_at: float | None = None
    tip: str | None = None
    files: tuple[str, ...] = ()
    question: str | None = None
    peak: int = 0
    diffstat: tuple[int, int, int] | None = None
    winner: str = ""
    ballot: Ballot | None = None
    uncommitted: bool = False

    @property
    def has_retry_time(self) -> bool:
        """Whether it says when to retry: a provider does, a task that merely prints about limits hardly ever."""
        return bool(self.retry_after or self.retry_at)


@dataclass(frozen=True, slots=True)
class AttemptLaunched:
    attempt: Attempt
    pid: int | None = None
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class AttemptActive:
    """The attempt printed something; reported rarely, but well within the idle timeout."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class AttemptUsed:
    """What this attempt has spent so far, in all."""

    attempt: Attempt
    spend: Spend


@dataclass(frozen=True, slots=True)
class AttemptPhase:
    attempt: Attempt
    name: str


@dataclass(frozen=True, slots=True)
class AttemptSession:
    attempt: Attempt
    session: str


@dataclass(frozen=True, slots=True)
class AttemptAsked:
    """The attempt waits for a person's answer while it runs."""

    attempt: Attempt
    question: str


@dataclass(frozen=True, slots=True)
class AttemptExited:
    attempt: Attempt
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class AttemptLost:
    """The attempt is gone without an exit status: its machine died, or it was removed. `outage`: every machine that it
    could run on is out of reach, so nothing that the task did can be the cause.

    For a merge, reported after it failed: the change to merge is gone, and retrying is useless.
    """

    attempt: Attempt
    why: str
    outage: bool = False


@dataclass(frozen=True, slots=True)
class CommitWaiting:
    """Git waits for `program`, which it runs to commit the result: it signs the commit, and may ask for a passphrase. "": it has
    signed.

    `attempt` is the one whose result it is or, where it is being merged, the merge.
    """

    attempt: Attempt
    n: int
    program: str


@dataclass(frozen=True, slots=True)
class CommitDone:
    """What the attempt left is committed, or can't be a result. `outcome` replaces the uncommitted one."""

    attempt: Attempt
    n: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CommitFailed:
    """Making the commit failed (a signature, a full disk): no change is to blame. `gone`: nothing is left to commit."""

    attempt: Attempt
    n: int
    why: str
    gone: bool = False


@dataclass(frozen=True, slots=True)
class MergeDone:
    batch: str
    task: str
    n: int
    commit: str


@dataclass(frozen=True, slots=True)
class MergeConflicted:
    batch: str
    task: str
    n: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergeFailed:
    """The merge failed for another reason than a conflict (a lock, a full disk): no change is to blame."""

    batch: str
    task: str
    n: int
    why: str


@dataclass(frozen=True, slots=True)
class MergedTask:
    task: str
    commit: str


@dataclass(frozen=True, slots=True)
class RebuildConflict:
    task: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RebuildDone:
    """The branch was rebuilt: its merges, in their old order, and the tasks whose change no longer applies."""

    batch: str
    n: int
    line: tuple[MergedTask, ...]
    clashes: tuple[RebuildConflict, ...] = ()


@dataclass(frozen=True, slots=True)
class RebuildFailed:
    """Rebuilding failed (a lock, a full disk): the branch is as it was."""

    batch: str
    n: int
    why: str


@dataclass(frozen=True, slots=True)
class GateDone:
    batch: str
    n: int
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class GateLost:
    """The gate's run is gone without a result. `outage` as in AttemptLost."""

    batch: str
    n: int
    why: str
    outage: bool = False


@dataclass(frozen=True, slots=True)
class PublishWaiting:
    """Git waits for `program`, which it runs to publish the branch: it gives a password, and may ask a person for it. "": it has
    given one.
    """

    batch: str
    n: int
    program: str


@dataclass(frozen=True, slots=True)
class PublishDone:
    """The batch is published. `commit` is what the remote branch has now; `url` is the pull request's ("": there is
    none; if one was requested, the remote is no forge).
    """

    batch: str
    n: int
    url: str
    commit: str


@dataclass(frozen=True, slots=True)
class PublishFailed:
    """Publishing failed. `hint` says how a person can publish, if possible. `commit` is plait's commit on the remote
    branch now, as far as is known: the push may have succeeded and the rest not ("": unknown, or none).
    """

    batch: str
    n: int
    why: str
    hint: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class ConflictPredicted:
    """A task's change, as it is now, would conflict with another in `files`. `other` is a task; "": the batch branch."""

    batch: str
    task: str
    other: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConflictCleared:
    """A predicted conflict would no longer happen."""

    batch: str
    task: str
    other: str


@dataclass(frozen=True, slots=True)
class RateLimited:
    """A provider refuses until then, as a running attempt or another engine noticed."""

    provider: str
    until: float


@dataclass(frozen=True, slots=True)
class PressureChanged:
    """The machine's shortage changed: `why` says what it is short of; None: nothing any more."""

    why: str | None


@dataclass(frozen=True, slots=True)
class CapacityChanged:
    """The machine's memory and the user's other engines leave room for this many slots of this engine at once; `slots`

    None: no bound. `why` (a sentence) and `on` (a word) explain it to tasks that wait.
    """

    slots: int | None
    why: str = ""
    on: WaitReason = WaitReason.MEMORY


@dataclass(frozen=True, slots=True)
class ClockJumped:
    """The wall clock moved by this much more than time passed (sleep, a set clock); may be negative."""

    by: float


@dataclass(frozen=True, slots=True)
class EngineTaken:
    pid: int
    host: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class EngineReleased:
    pid: int


@dataclass(frozen=True, slots=True)
class SourcesWritten:
    """The sources have the statuses of these tasks as of record `upto`. No decision follows from it."""

    batch: str
    tasks: tuple[str, ...]
    upto: int


@dataclass(frozen=True, slots=True)
class SourcesUnwritten:
    """The statuses of these tasks as of record `upto` could not be written to the file or folder `source`. `retried`: plait
    tries again until a SourcesWritten has them; otherwise it can't, because the file or the task is gone. No decision
    follows from it.
    """

    batch: str
    source: str
    tasks: tuple[str, ...]
    upto: int
    why: str
    hint: str = ""
    retried: bool = True


AttemptProgress = AttemptLaunched | AttemptActive | AttemptUsed | AttemptPhase | AttemptSession | AttemptAsked
AttemptEnd = AttemptExited | AttemptLost
CommitReport = CommitWaiting | CommitDone | CommitFailed
MergeReport = MergeDone | MergeConflicted | MergeFailed | RebuildDone | RebuildFailed
BranchEnd = MergeReport | GateDone | GateLost | PublishDone | PublishFailed
BranchReport = BranchEnd | PublishWaiting
ConflictPrediction = ConflictPredicted | ConflictCleared
MachineReport = RateLimited | PressureChanged | CapacityChanged | ClockJumped | EngineTaken | EngineReleased
SourceReport = SourcesWritten | SourcesUnwritten
Report = AttemptProgress | AttemptEnd | CommitReport | BranchReport | ConflictPrediction | MachineReport | SourceReport
