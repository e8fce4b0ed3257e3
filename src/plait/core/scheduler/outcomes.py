"""What follows from an exit, a conflict, a failed commit or a failed merge: the next step, a retry, or the end of the task.

What an agent wrote is verified before anything new starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from plait.core import decisions, retry_policy
from plait.core.contest import is_winner_withdrawn
from plait.core.decisions import Decision, Due
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.retry_policy import Response
from plait.core.scheduler.starts import (
    can_run_elsewhere,
    count_verification_slots,
    find_next_verification,
    has_batch_slots,
    has_engine_slots,
    may_continue,
)
from plait.core.settings import Isolation, OnConflict
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import Category, EndWhy, NextAction, TaskStatus
from plait.core.task import Attempt, Step

# plait ended the attempt: its exit status is not the agent's fault.
_PLAIT_END_REASONS = frozenset({EndWhy.STOP, EndWhy.CANCEL, EndWhy.DROP, EndWhy.BLOCKED, EndWhy.FEEDBACK})
_INTERRUPTIONS = frozenset({Category.LOST, Category.OUTAGE, Category.KILLED})  # they say nothing of the work
VERIFY_AGENT = "verify"  # in the place of an agent's name: no agent is at work


def schedule_outcomes(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        for index in batch.tasks_by_action[NextAction.DECIDE_OUTCOME]:
            yield _decide_outcome(state, batch, batch.tasks[index])


def _decide_outcome(state: State, batch: BatchState, task: TaskState) -> Decision:
    if task.conflict_files is not None:
        return _decide_conflict(state, batch, task, task.conflict_files)
    if task.commit_error is not None:
        return _decide_commit_failure(state, batch, task, task.commit_error)
    if task.merge_error is not None:
        return _decide_merge_failure(state, batch, task, task.merge_error)
    attempt = task.undecided_exits[0]
    assert attempt.outcome is not None
    return _decide_exit(state, _Exit(batch, task, attempt, attempt.outcome))


@dataclass(frozen=True, slots=True)
class _Exit:
    """The exit to decide on, with its batch, task and attempt."""

    batch: BatchState
    task: TaskState
    attempt: AttemptState
    outcome: Outcome

    def retry(
        self, then: Step, category: Category, why: str, *, counted: bool = False, wait: float = 0.0
    ) -> decisions.RetryGranted:
        at = (self.attempt.ended_at or 0.0) + wait
        return decisions.RetryGranted(self.batch.id, self.task.task.id, then, at, category, why, counted)


def _decide_exit(state: State, exit_: _Exit) -> Decision:
    batch, task, attempt, outcome = exit_.batch, exit_.task, exit_.attempt, exit_.outcome
    if task.restart_requested:
        return exit_.retry(Step.WRITE, outcome.category, "feedback was given")
    if outcome.uncommitted:
        return _start_commit(task, attempt)
    category = _classify_exit(exit_)
    if category is Category.OK and is_winner_withdrawn(batch, task, attempt, outcome.winner):
        why = f"{outcome.winner} was dropped while it was being chosen"
        return exit_.retry(Step.WRITE, outcome.category, why)
    if category is Category.OK:
        return _pass_step(batch, task, attempt)
    if attempt.ending is EndWhy.STOP and batch.stopping:
        return decisions.TaskInterrupted(batch.id, task.task.id, "stopped by request")
    if attempt.question is not None and attempt.ending in {EndWhy.TIMEOUT, EndWhy.IDLE}:
        return decisions.AnswerAwaited(batch.id, task.task.id, attempt.question)
    if attempt.ending in _PLAIT_END_REASONS:
        return exit_.retry(attempt.name.step, outcome.category, "the reason for ending it no longer applies")
    if category in retry_policy.REJECTED_CATEGORIES and can_run_elsewhere(state, batch, task, attempt.provider):
        why = retry_policy.describe_failure(category, outcome.detail)
        return replace(exit_.retry(Step.WRITE, category, why), elsewhere=True)
    return _handle_failure(state, exit_, category)


def _classify_exit(exit_: _Exit) -> Category:
    """Return the category that counts: an empty change, a timeout or a failed check before the exit's own."""
    category, attempt = exit_.outcome.category, exit_.attempt
    writing = attempt.name.step is Step.WRITE
    worktree = exit_.batch.settings.isolation is Isolation.WORKTREE
    if category is Category.OK and writing and worktree and exit_.outcome.tip in {None, attempt.decision.base}:
        category = Category.EMPTY
    if category is Category.EMPTY and exit_.task.task.allow_empty:
        category = Category.OK
    if category is Category.OK:
        return category
    if attempt.ending in {EndWhy.TIMEOUT, EndWhy.IDLE}:
        category = Category.TIMEOUT if attempt.ending is EndWhy.TIMEOUT else Category.IDLE
    if writing or category in _INTERRUPTIONS:
        return category
    is_missing = category is Category.USAGE and exit_.outcome.exit_code in retry_policy.NOT_RUN_EXITS
    return Category.USAGE if is_missing else Category.VERIFY


def _pass_step(batch: BatchState, task: TaskState, attempt: AttemptState) -> Decision:
    if attempt.name.step is Step.WRITE and retry_policy.find_verify_command(batch, task):
        return decisions.StepPassed(attempt.name, Step.VERIFY)
    return pass_verification(batch, task, attempt.name)


def pass_verification(batch: BatchState, task: TaskState, last: Attempt) -> Decision:
    """Decide what follows when the task's change is verified or needs no verification."""
    if batch.settings.isolation is Isolation.IN_PLACE:
        return decisions.TaskEnded(batch.id, task.task.id, TaskStatus.DONE, "done in place")
    if task.tip is None:
        return decisions.TaskEnded(batch.id, task.task.id, TaskStatus.DONE, "nothing to change")
    if task.task.entrant is not None:
        return decisions.TaskEnded(
            batch.id, task.task.id, TaskStatus.DONE, f"enters the contest for {task.task.entrant}"
        )
    return decisions.StepPassed(last, Step.MERGE)


def _handle_failure(state: State, exit_: _Exit, category: Category) -> Decision:
    batch, task, attempt, outcome = exit_.batch, exit_.task, exit_.attempt, exit_.outcome
    response = retry_policy.RESPONSES.get(category, Response.NEVER)
    step = attempt.name.step if category in _INTERRUPTIONS else Step.WRITE
    late = attempt.ending in {EndWhy.TIMEOUT, EndWhy.IDLE}
    # The output of a tool that plait ended is not the reason.
    why = _describe_late(category, attempt) if late else retry_policy.describe_failure(category, outcome.detail)
    if category is Category.USAGE and attempt.name.step is Step.VERIFY:
        why = retry_policy.describe_failure(Category.VERIFY, why)
    if response is Response.ASK:
        question = outcome.question or outcome.detail or "the agent waits for an answer"
        return decisions.AnswerAwaited(batch.id, task.task.id, question)
    if response is Response.LIMIT and (
        task.suspect_refusals < retry_policy.MAX_SUSPECT_REFUSALS or outcome.has_retry_time
    ):
        return exit_.retry(Step.WRITE, category, why, wait=_yield_seconds(state, batch, task, attempt))
    if response is Response.LIMIT:
        why = f"{why} (other tasks were served: counted as a failure)"
    if response is Response.OUTAGE:
        return exit_.retry(step, category, why, wait=retry_policy.retry_delay(batch, task, 1))
    if response is Response.LOST and task.lost_attempts < retry_policy.MAX_LOST_ATTEMPTS:
        return exit_.retry(step, category, why, wait=retry_policy.retry_delay(batch, task, task.lost_attempts + 1))
    if task.rechecking and step is Step.WRITE:
        return _end_failed(batch, task, category, why)
    if response is Response.NEVER or task.counted_retries >= retry_policy.retry_limit(batch, task):
        return _end_failed(batch, task, category, why)
    if response is Response.FEEDBACK:
        return replace(exit_.retry(Step.WRITE, category, why, counted=True), feedback=why)
    wait = max(retry_policy.retry_delay(batch, task, task.counted_retries + 1), _requested_wait(attempt, outcome))
    return exit_.retry(step, category, why, counted=True, wait=wait)


def _describe_late(category: Category, attempt: AttemptState) -> str:
    limit = retry_policy.describe_time_limit(attempt)
    return retry_policy.describe_failure(category, limit) if category is Category.VERIFY else limit


def _yield_seconds(state: State, batch: BatchState, task: TaskState, attempt: AttemptState) -> float:
    """Return how long a task that is refused repeatedly lets others go first: started tasks come first, so it would
    keep all others from being served.
    """
    breaker = state.breakers.get(attempt.provider)
    if task.refusals < 2 or breaker is None or breaker.until is None:
        return 0.0
    others = (*task.queue_key.agents, *batch.settings.fallback)
    if any(batch.settings.provider(agent) != attempt.provider for agent in others):
        return 0.0
    return max(0.0, breaker.until - (attempt.ended_at or 0.0)) + retry_policy.YIELD_SECONDS


def _requested_wait(attempt: AttemptState, outcome: Outcome) -> float:
    ended = attempt.ended_at or 0.0
    return max(outcome.retry_after or 0.0, (outcome.retry_at or ended) - ended)


def _end_failed(batch: BatchState, task: TaskState, category: Category, why: str) -> decisions.TaskEnded:
    writes = task.attempt_counts.get(Step.WRITE, 0) - task.writes_before
    reason = f"{why} (after {writes} attempts)" if writes > 1 else why
    return decisions.TaskEnded(batch.id, task.task.id, retry_policy.final_status(category), reason, category)


def _decide_conflict(state: State, batch: BatchState, task: TaskState, files: tuple[str, ...]) -> Decision:
    why = retry_policy.describe_failure(Category.CONFLICT, ", ".join(files))
    repairable = batch.settings.on_conflict is OnConflict.REPAIR and task.repairs < batch.settings.repairs
    if repairable and not batch.cancelled and not task.rechecking:
        feedback = f"Merging your change conflicted in {', '.join(files)}. Make it again on the new base."
        return decisions.RetryGranted(
            batch.id, task.task.id, Step.WRITE, state.now, Category.CONFLICT, why, counted=False, feedback=feedback
        )
    return decisions.TaskEnded(batch.id, task.task.id, TaskStatus.CONFLICTED, why, Category.CONFLICT)


def schedule_commits(state: State) -> Iterator[Decision]:
    """Commit finished work at once: it takes no slot, so neither a pause nor a busy machine delays it."""
    for batch in state.open.values():
        for index in batch.tasks_by_action[NextAction.COMMIT]:
            task = batch.tasks[index]
            assert task.uncommitted is not None
            yield _start_commit(task, task.uncommitted)


def _start_commit(task: TaskState, attempt: AttemptState) -> decisions.CommitStarted:
    return decisions.CommitStarted(attempt.name, task.commits + 1)


def _decide_commit_failure(state: State, batch: BatchState, task: TaskState, error: str) -> Decision:
    if task.uncommitted is None:
        return _decide_lost_change(state, batch, task, retry_policy.describe_failure(Category.LOST, error))
    why = retry_policy.describe_failure(Category.COMMIT, error)
    if task.commit_failures >= retry_policy.MAX_COMMIT_TRIES:
        return _end_failed(batch, task, Category.COMMIT, why)
    at = state.now + retry_policy.retry_delay(batch, task, task.commit_failures + 1)
    return decisions.RetryGranted(batch.id, task.task.id, Step.WRITE, at, Category.COMMIT, why, counted=False)


def _decide_merge_failure(state: State, batch: BatchState, task: TaskState, error: str) -> Decision:
    if task.tip is None:
        return _decide_lost_change(state, batch, task, retry_policy.describe_failure(Category.LOST, error))
    if task.merge_failures >= retry_policy.MAX_MERGE_TRIES:
        return _end_failed(batch, task, Category.MERGE, retry_policy.describe_failure(Category.MERGE, error))
    at = state.now + retry_policy.retry_delay(batch, task, task.merge_failures + 1)
    why = retry_policy.describe_failure(Category.MERGE, error)
    return decisions.RetryGranted(batch.id, task.task.id, Step.MERGE, at, Category.MERGE, why, counted=False)


def _decide_lost_change(state: State, batch: BatchState, task: TaskState, why: str) -> Decision:
    """Write the change again, a limited number of times, because the one to commit or to merge is gone."""
    if task.rechecking or task.lost_attempts >= retry_policy.MAX_LOST_ATTEMPTS:
        return _end_failed(batch, task, Category.LOST, why)
    feedback = "Your change is gone and was not merged. Make it again on the new base."
    return decisions.RetryGranted(
        batch.id, task.task.id, Step.WRITE, state.now, Category.LOST, why, counted=False, feedback=feedback
    )


def schedule_backoff_ends(state: State) -> Iterator[Due]:
    for at, batch, index in state.backoffs:
        yield Due(at, decisions.BackoffEnded(batch, state.batches[batch].tasks[index].task.id))


def schedule_verifications(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        task = find_next_verification(state, batch)
        if task is None or not may_continue(state, batch):
            continue
        command = retry_policy.find_verify_command(batch, task)
        slots = count_verification_slots(state, batch, task)
        if command is None and task.last is not None:  # it was removed from the settings meanwhile
            yield pass_verification(batch, task, task.last.name)
        elif command is not None and has_engine_slots(state, slots) and has_batch_slots(batch, slots):
            yield _start_verification(batch, task, slots, command)


def _start_verification(batch: BatchState, task: TaskState, slots: int, command: str) -> decisions.AttemptStarted:
    name = Attempt(batch.id, task.task.id, Step.VERIFY, task.attempt_counts.get(Step.VERIFY, 0) + 1)
    limit = batch.settings.verify_timeout
    base = task.tip or task.base or ""
    return decisions.AttemptStarted(name, VERIFY_AGENT, VERIFY_AGENT, limit, limit, slots, base=base, command=command)
