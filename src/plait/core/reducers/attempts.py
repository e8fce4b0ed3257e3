"""Attempts from start to outcome, and what the outcome does to their task."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from plait.core import decisions, reports
from plait.core.reducers.batch_branch import discard_lost_change, update_work_time
from plait.core.reducers.file_conflicts import clear_predictions, record_change
from plait.core.reducers.limits import record_exit, record_memory, record_rejection, record_served
from plait.core.reducers.task_end import end_backoff, find_finished_change, set_task_status, stop_commit
from plait.core.reducers.task_index import acquire_locks, reacquire_locks, reindex_task, release_locks
from plait.core.settings import Spend
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import Category, TaskStatus
from plait.core.task import Step


def apply_attempt_decision(state: State, at: float, decision: decisions.AttemptDecision) -> None:
    name = decision.attempt
    batch, task = state.find_task(name.batch, name.task)
    if batch is None or task is None:
        return
    match decision:
        case decisions.AttemptStarted():
            _start(state, at, decision, batch, task)
        case decisions.AttemptEnding():
            attempt = task.alive.get(name)
            if attempt is not None:
                state.deadlines.discard((attempt.expires, name))
                attempt.ending = attempt.ending or decision.why
                attempt.ending_now = decision.now
        case decisions.CommitStarted():
            if task.uncommitted is not None and task.uncommitted.name == name:
                _clear_outcome(task)
                task.commits = task.committing = decision.n
                batch.committing[task.index] = None
                update_work_time(batch, at)
        case decisions.StepPassed():
            _clear_outcome(task)
            task.step = decision.then
            if name.step is Step.WRITE:
                task.feedback = ""
                task.change_to_repair = None
        case _:
            assert_never(decision)
    reindex_task(state, batch, task)


def apply_task_decision(state: State, at: float, decision: decisions.TaskDecision) -> None:
    batch, task = state.find_task(decision.batch, decision.task)
    if batch is None or task is None:
        return
    match decision:
        case decisions.RetryGranted():
            _apply_retry(state, batch, task, decision)
        case decisions.BackoffEnded():
            end_backoff(state, batch, task)
        case decisions.AnswerAwaited():
            _clear_outcome(task)
            task.question, task.requested_spend = decision.question, decision.wants
        case decisions.TaskEnded():
            _end_task(state, at, batch, task, decision)
        case decisions.TaskInterrupted():
            _clear_outcome(task)
            task.interrupted = decision.reason
            if task.step is Step.WRITE:  # what is written already keeps its files until the task ends
                release_locks(state, batch, task)
        case _:
            assert_never(decision)
    update_work_time(batch, at)  # a task's commit ends with the task
    reindex_task(state, batch, task)


def apply_attempt_progress(state: State, at: float, report: reports.AttemptProgress) -> None:
    """Apply a report on a running attempt; on an ended one it changes nothing."""
    attempt = state.find_attempt(report.attempt)
    if attempt is None:
        return
    match report:
        case reports.AttemptLaunched():
            attempt.pid, attempt.workspace = report.pid, report.workspace
        case reports.AttemptUsed():
            _record_spend(state, attempt, report.spend)
        case reports.AttemptPhase():
            attempt.phase = report.name
        case reports.AttemptSession():
            attempt.session = report.session
        case reports.AttemptAsked():
            attempt.question = report.question
        case reports.AttemptActive():
            attempt.question = None
        case _:
            assert_never(report)
    _touch_attempt(state, at, attempt)


def apply_attempt_end(state: State, at: float, report: reports.AttemptEnd) -> None:
    if isinstance(report, reports.AttemptLost) and report.attempt.step is Step.MERGE:
        discard_lost_change(state, report.attempt)
    attempt = state.find_attempt(report.attempt)
    if attempt is None:
        return
    outcome = (
        report.outcome
        if isinstance(report, reports.AttemptExited)
        else reports.Outcome(Category.OUTAGE if report.outage else Category.LOST, detail=report.why)
    )
    batch = state.batches[attempt.name.batch]
    task = batch.tasks[batch.index[attempt.name.task]]
    state.deadlines.discard((attempt.expires, attempt.name))
    _release_limits(state, batch, attempt)
    attempt.ended_at, attempt.outcome = at, outcome
    attempt.used = attempt.used.at_least(outcome.spend)
    if outcome.session is not None:  # "": the session is gone and can't be resumed
        attempt.session = outcome.session or None
    batch.spent += attempt.used
    task.spent += attempt.used
    task.worked += max(0.0, at - attempt.started_at)
    del task.alive[attempt.name], batch.alive[attempt.name]
    update_work_time(batch, at)
    task.undecided_exits.append(attempt)
    task.uncommitted = attempt if outcome.uncommitted else None
    record_memory(state, attempt, outcome)
    if attempt.name.step is Step.WRITE:
        record_change(state, batch, task, attempt.decision.base, outcome)
        task.winner, task.ballot = outcome.winner, outcome.ballot
        record_exit(state, task, attempt, outcome)
        if outcome.category is Category.OK:
            batch.rejections = 0
    reindex_task(state, batch, task)


def apply_commit_report(state: State, at: float, report: reports.CommitReport) -> None:
    """Apply a report on a commit; if that commit is no longer the running one, it changes nothing."""
    batch, task = state.find_task(report.attempt.batch, report.attempt.task)
    if batch is None or task is None:
        return
    if isinstance(report, reports.CommitWaiting):
        if report.n == (task.merging if report.attempt.step is Step.MERGE else task.committing):
            task.awaited_program = report.program
        return
    if task.uncommitted is None or task.committing != report.n:
        return
    attempt = task.uncommitted
    stop_commit(batch, task)
    update_work_time(batch, at)
    match report:
        case reports.CommitDone():
            task.uncommitted = None
            known = attempt.outcome or report.outcome
            outcome = replace(report.outcome, spend=known.spend, session=known.session, peak=known.peak)
            committed = replace(attempt, outcome=outcome)
            task.last = committed if task.last is attempt else task.last
            task.last_write = committed if task.last_write is attempt else task.last_write
            task.undecided_exits.append(committed)
            record_change(state, batch, task, attempt.decision.base, outcome)
            task.winner, task.ballot = outcome.winner, outcome.ballot
        case reports.CommitFailed():
            task.commit_error = report.why
            if report.gone:
                task.uncommitted = None
        case _:
            assert_never(report)
    reindex_task(state, batch, task)


def _start(state: State, at: float, decision: decisions.AttemptStarted, batch: BatchState, task: TaskState) -> None:
    name = decision.attempt
    if name in batch.alive or name.n <= task.attempt_counts.get(name.step, 0):
        return
    attempt = AttemptState(decision, at, at + decision.timeout, last_active_at=at, session=decision.session)
    task.alive[name] = batch.alive[name] = task.last = attempt
    task.attempt_counts[name.step] = name.n
    task.started_at = at if task.started_at is None else task.started_at
    batch.started_at = at if batch.started_at is None else batch.started_at
    update_work_time(batch, at)
    batch.slots += attempt.decision.slots
    state.slots += attempt.decision.slots
    state.deadlines.add((attempt.expires, name))
    if name.step is Step.WRITE:
        _start_writing(state, batch, task, attempt)
    elif not task.holds_locks:  # what was finished before is verified again
        acquire_locks(state, batch, task)


def _start_writing(state: State, batch: BatchState, task: TaskState, attempt: AttemptState) -> None:
    task.last_write = attempt
    task.uncommitted = None
    task.step = Step.WRITE
    task.base = attempt.decision.base
    task.fresh = False
    batch.reserved_spend += attempt.reserved_spend
    batch.agents_used[attempt.agent] = batch.agents_used.get(attempt.agent, 0) + 1
    state.agents[attempt.agent] = state.agents.get(attempt.agent, 0) + 1
    state.providers[attempt.provider] = state.providers.get(attempt.provider, 0) + 1
    acquire_locks(state, batch, task)


def _release_limits(state: State, batch: BatchState, attempt: AttemptState) -> None:
    batch.slots -= attempt.decision.slots
    state.slots -= attempt.decision.slots
    if attempt.name.step is Step.WRITE:
        batch.reserved_spend -= attempt.reserved_spend
        state.agents[attempt.agent] -= 1
        state.providers[attempt.provider] -= 1


def _record_spend(state: State, attempt: AttemptState, spend: Spend) -> None:
    before = attempt.reserved_spend
    attempt.used = attempt.used.at_least(spend)
    if attempt.name.step is Step.WRITE:
        state.batches[attempt.name.batch].reserved_spend += attempt.reserved_spend - before
        if attempt.used:
            record_served(state, attempt)


def _touch_attempt(state: State, at: float, attempt: AttemptState) -> None:
    if attempt.ending is None:
        state.deadlines.discard((attempt.expires, attempt.name))
        attempt.last_active_at = at - state.clock_jump  # a jump that is not applied yet will move it
        state.deadlines.add((attempt.expires, attempt.name))


def _clear_outcome(task: TaskState) -> None:
    """Clear the first undecided exit, conflict, failed commit or failed merge, because it has been decided on."""
    del task.undecided_exits[:1]
    task.conflict_files = task.commit_error = task.merge_error = None
    task.restart_requested = False


def _apply_retry(state: State, batch: BatchState, task: TaskState, decision: decisions.RetryGranted) -> None:
    if task.status is not None:
        return
    _count_retry(task, decision)
    if decision.elsewhere and task.undecided_exits:
        record_rejection(state, task.undecided_exits[0])
    _clear_outcome(task)
    if decision.category is not Category.COMMIT:
        task.uncommitted = None
    task.step = decision.then
    task.retry_reason = decision.why
    if decision.category is Category.VERIFY and task.winner:
        task.rejected_entrants += (task.winner,)
    if decision.feedback not in task.feedback:
        task.feedback = f"{decision.feedback}\n\n{task.feedback}" if task.feedback else decision.feedback
    if decision.category is Category.CONFLICT:
        if task.base is not None and task.tip is not None:
            task.change_to_repair = decisions.Change(task.task.id, task.base, task.tip)
        task.base = task.tip = None  # it starts over from the branch it conflicted with
        clear_predictions(batch, task)
        reacquire_locks(state, batch, task)
    end_backoff(state, batch, task)
    task.not_before = decision.at
    state.backoffs.add((decision.at, batch.id, task.index))


def _count_retry(task: TaskState, decision: decisions.RetryGranted) -> None:
    if decision.counted:
        task.counted_retries += 1
    elif decision.category is Category.LOST:
        task.lost_attempts += 1
    elif decision.category is Category.CONFLICT:
        task.repairs += 1
    elif decision.category is Category.COMMIT:
        task.commit_failures += 1
    elif decision.category is Category.MERGE:
        task.merge_failures += 1


def _end_task(state: State, at: float, batch: BatchState, task: TaskState, decision: decisions.TaskEnded) -> None:
    if not decision.status.is_terminal:
        return
    task.reason, task.category, task.by = decision.reason, decision.category, decision.by
    task.ended_at = at
    if decision.category is not Category.COMMIT and decision.status is not TaskStatus.CANCELLED:
        task.uncommitted = None  # a retry has to write it again
    task.finished = find_finished_change(task) if decision.status is not TaskStatus.DONE else None
    task.unmerged = task.finished if decision.category is Category.MERGE and task.tip is not None else None
    if decision.category in {Category.AUTH, Category.QUOTA}:
        batch.rejections += 1
    if decision.status is TaskStatus.DONE:
        state.changed_files.pop(task.task.key, None)
    set_task_status(state, batch, task, decision.status)
