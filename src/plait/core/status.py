"""Statuses of tasks and batches, categories of failure, and what is next for a task."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class TaskStatus(StrEnum):
    QUEUED = "queued"
    WAITING = "waiting"
    RUNNING = "running"
    VERIFYING = "verifying"
    MERGING = "merging"
    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    BLOCKED = "blocked"
    SKIPPED = "skipped"
    CONFLICTED = "conflicted"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_terminal(self) -> bool:
        """Whether the task has ended. An interrupted one has not: it continues when the batch is resumed."""
        return self in _TERMINAL

    @property
    def is_failure(self) -> bool:
        """Whether the task failed by itself. A blocked or cancelled one did not."""
        return self in _FAILURES

    @property
    def label(self) -> str:
        """The status as people read it: "timed out"."""
        return self.value.replace("_", " ")


_FAILURES = frozenset({TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED})
_TERMINAL = _FAILURES | {TaskStatus.DONE, TaskStatus.BLOCKED, TaskStatus.SKIPPED, TaskStatus.CANCELLED}


class WaitReason(StrEnum):
    """What a task waits on, for programs."""

    NEEDS = "needs"
    PHASE = "phase"
    FILES = "files"  # any lock: of a file, a folder, an exclusive group, or a pair of tasks that conflict
    BACKOFF = "backoff"
    ANSWER = "answer"
    APPROVAL = "approval"
    PAUSE = "pause"
    BUDGET = "budget"
    LIMIT = "limit"
    MEMORY = "memory"  # any resource of the machine: memory, disk or processor
    BRANCH = "branch"
    TURN = "turn"
    SLOT = "slot"
    PROGRAM = "program"  # that git runs: it signs a commit, and may ask for a passphrase

    @property
    def is_on_person(self) -> bool:
        return self in {WaitReason.ANSWER, WaitReason.APPROVAL, WaitReason.PAUSE}


class BatchStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    MERGING = "merging"
    COMPLETED = "completed"
    PARTIAL = "partial"  # something was merged, something was not; in the journal such a batch is failed
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        return self in _ENDED_BATCHES


_ENDED_BATCHES = frozenset({BatchStatus.COMPLETED, BatchStatus.PARTIAL, BatchStatus.FAILED, BatchStatus.CANCELLED})


class Category(StrEnum):
    """How an attempt ended, as the retry policy reads it."""

    OK = "ok"
    TASK = "task"
    VERIFY = "verify"
    EMPTY = "empty"
    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    AUTH = "auth"
    OVERLOADED = "overloaded"
    NETWORK = "network"
    CONTEXT = "context"
    USAGE = "usage"
    KILLED = "killed"
    LOST = "lost"
    TIMEOUT = "timeout"
    IDLE = "idle"
    QUESTION = "question"
    CONFLICT = "conflict"
    COMMIT = "commit"
    MERGE = "merge"
    GATE = "gate"
    REJECTED = "rejected"  # by the judges of a contest
    OUTAGE = "outage"  # the cluster that it was to run on can't be reached


class EndWhy(StrEnum):
    """Why plait itself asks a running attempt to end."""

    CANCEL = "cancel"
    DROP = "drop"
    BLOCKED = "blocked"
    STOP = "stop"
    TIMEOUT = "timeout"
    IDLE = "idle"
    FEEDBACK = "feedback"


class PauseCause(StrEnum):
    PERSON = "person"
    STOP = "stop"
    BUDGET = "budget"
    GATE = "gate"
    BRANCH = "branch"
    PROVIDER = "provider"


class NextAction(IntEnum):
    """What is due next for a task; it follows from the task's own facts and its batch's branch alone."""

    NONE = 0  # it waits for a report, for a person, or for other tasks
    END_ATTEMPT = 1  # a running attempt must be asked to end
    END_TASK = 2  # it ends for a reason outside its attempts
    DECIDE_OUTCOME = 3  # an exit, a conflict, or a failed commit or merge is undecided
    START = 4  # the write step; it is in the start queue
    VERIFY = 5
    MERGE = 6
    FINISH = 7  # merged, and gated where there is a gate
    COMMIT = 8  # its agent has finished; what it left is not committed yet
