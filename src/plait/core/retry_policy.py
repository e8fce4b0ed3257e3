"""The response to each category of failure: never retry, retry later, retry with feedback, or ask."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import blake2b

from plait.core.state import AttemptState, BatchState, TaskState
from plait.core.status import Category, EndWhy, TaskStatus
from plait.core.text import format_duration


class Response(StrEnum):
    NEVER = "never"  # retrying can't help
    BACKOFF = "backoff"  # wait, longer each time
    FEEDBACK = "feedback"  # retry at once and say what was wrong
    LIMIT = "limit"  # when the provider's breaker closes; does not count as a retry
    LOST = "lost"  # retry a few times without counting it
    OUTAGE = "outage"  # retry without counting it
    ASK = "ask"  # only a person can answer


RESPONSES: Mapping[Category, Response] = {
    Category.TASK: Response.BACKOFF,
    Category.OVERLOADED: Response.BACKOFF,
    Category.NETWORK: Response.BACKOFF,
    Category.KILLED: Response.BACKOFF,
    Category.TIMEOUT: Response.BACKOFF,
    Category.IDLE: Response.BACKOFF,
    Category.VERIFY: Response.FEEDBACK,
    Category.EMPTY: Response.FEEDBACK,
    Category.RATE_LIMIT: Response.LIMIT,
    Category.LOST: Response.LOST,
    Category.OUTAGE: Response.OUTAGE,
    Category.QUESTION: Response.ASK,
    Category.QUOTA: Response.NEVER,
    Category.AUTH: Response.NEVER,
    Category.CONTEXT: Response.NEVER,
    Category.USAGE: Response.NEVER,
    Category.REJECTED: Response.NEVER,
}
CATEGORY_TEXTS: Mapping[Category, str] = {
    Category.TASK: "the agent failed",
    Category.VERIFY: "verification failed",
    Category.EMPTY: "nothing was changed",
    Category.RATE_LIMIT: "the provider's rate limit",
    Category.QUOTA: "the provider's quota is used up",
    Category.AUTH: "the agent is not logged in",
    Category.OVERLOADED: "the provider is overloaded",
    Category.NETWORK: "the network failed",
    Category.CONTEXT: "the task does not fit the model's context",
    Category.USAGE: "the command can't be run",
    Category.KILLED: "the agent was killed from outside",
    Category.LOST: "the attempt was lost",
    Category.OUTAGE: "the attempt was cut off",
    Category.QUESTION: "the agent asked a question",
    Category.CONFLICT: "its change conflicts with what was merged before",
    Category.COMMIT: "can't commit the result",
    Category.MERGE: "the merge failed",
    Category.GATE: "the gate failed with its change",
    Category.REJECTED: "the judges rejected all candidates",
}

# Exit statuses of a shell whose command is not executable or not found: no agent can help, and it would fail again.
NOT_RUN_EXITS = frozenset({126, 127})
# The provider rejects the credentials or the quota is used up: another provider may take the task.
REJECTED_CATEGORIES = frozenset({Category.QUOTA, Category.AUTH})
YIELD_SECONDS = 5.0  # a task that was refused twice waits longer than others: the cause may be the task
MAX_SUSPECT_REFUSALS = 8  # refusals of one task while others were served; further ones count as failures
MAX_LOST_ATTEMPTS = 3  # further ones count as failures
MAX_COMMIT_TRIES = MAX_MERGE_TRIES = 8  # about twenty minutes: time to check out another branch or free disk space
MAX_LOST_GATES = 3
MAX_REBUILD_TRIES = 3
MAX_REJECTIONS = 2  # in a row: the provider will reject the next one too


def describe_failure(category: Category, detail: str = "") -> str:
    text = CATEGORY_TEXTS.get(category, category.value)
    return f"{text}: {detail}" if detail else text


def describe_time_limit(attempt: AttemptState) -> str:
    """Describe the time limit for which plait ended an attempt."""
    if attempt.ending is EndWhy.IDLE:
        return f"no output for {format_duration(attempt.decision.idle_timeout)}"
    return f"timed out after {format_duration(attempt.decision.timeout)}"


def retry_limit(batch: BatchState, task: TaskState) -> int:
    return task.task.retries if task.task.retries is not None else batch.settings.retries


def find_verify_command(batch: BatchState, task: TaskState) -> str | None:
    """Return the command that verifies the task's change, or None."""
    return task.task.verify or batch.settings.verify


def retry_delay(batch: BatchState, task: TaskState, tries: int) -> float:
    spread = jitter(batch.seed, task.task.id, task.generation, sum(task.attempt_counts.values()))
    return batch.settings.backoff.delay(tries, spread)


def final_status(category: Category) -> TaskStatus:
    return TaskStatus.TIMED_OUT if category in {Category.TIMEOUT, Category.IDLE} else TaskStatus.FAILED


def jitter(seed: int, *names: str | int) -> float:
    """Return a number in [0, 1) that depends on nothing but its arguments."""
    text = "\x00".join(str(part) for part in (seed, *names))
    return int.from_bytes(blake2b(text.encode(), digest_size=7).digest()) / 2**56
