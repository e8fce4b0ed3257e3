"""Requests: a fact when they arrive, an effect when they are granted."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from plait.core import requests, settings
from plait.core.decisions import Change, RequestDecision, RequestGranted
from plait.core.reducers.batch_branch import request_publish, update_work_time
from plait.core.reducers.batches import find_agents, open_batch, review_phase
from plait.core.reducers.limits import note_work_request
from plait.core.reducers.task_end import (
    end_backoff,
    reopen_batch,
    reopen_task,
    restart_write,
    resume_at,
    resume_commit,
)
from plait.core.reducers.task_index import move_to_queue, reindex_task
from plait.core.state import BatchState, PauseState, PendingEnd, State, TaskState
from plait.core.status import Category, EndWhy, PauseCause, TaskStatus
from plait.core.task import Step

# Settings that may answer the question whether a task may spend more.
_BUDGET_FIELDS = frozenset({"task_budget", "reserve", "agents", "fallback"})
# The person who sends one of these is present and wants work done.
_WorkRequest = requests.Submit | requests.Resume | requests.Unpause | requests.Retry | requests.Feedback


def receive_request(state: State, _at: float, request: requests.Request) -> None:
    if request.id not in state.seen_requests:
        state.seen_requests.add(request.id)
        state.unanswered[request.id] = request


def apply_answer(state: State, at: float, decision: RequestDecision) -> None:
    request = state.unanswered.pop(decision.request, None)
    if request is None or not isinstance(decision, RequestGranted):
        return
    if isinstance(request, _WorkRequest):
        note_work_request(state)
    if isinstance(request, requests.Submit):
        if request.batch not in state.batches:
            open_batch(state, at, request)
        return
    if isinstance(request, requests.ChangeEngineSettings):
        state.settings = state.settings.with_fields(request.settings, request.fields)
        return
    if isinstance(request, requests.SaveSettings):
        state.saved = settings.merge_saved_settings(state.saved, request.changes)
        return
    batch = state.batches.get(request.batch)
    if batch is None:
        return
    tasks = [task for name in decision.tasks if (task := batch.find_task(name)) is not None]
    if isinstance(request, requests.TaskRequest):
        _grant_for_task(state, batch, request, tasks)
    else:
        _grant_for_batch(state, batch, request, tasks)


def _grant_for_batch(state: State, batch: BatchState, request: requests.BatchRequest, tasks: list[TaskState]) -> None:
    match request:
        case requests.CancelBatch():
            _cancel_batch(state, batch)
        case requests.Pause():
            batch.paused = PauseState(PauseCause.PERSON, "paused by request")
        case requests.Unpause() | requests.Resume():
            _resume_batch(state, batch)
        case requests.Approve():
            for task in tasks:
                task.approved = True
        case requests.Stop():
            batch.paused = PauseState(PauseCause.STOP, "stopped by request")
            batch.stopping = True
            batch.stop_now = request.now
        case requests.Ship():
            request_publish(state, batch, request)
        case requests.ChangeSettings():
            _change_settings(state, batch, request)
        case _:
            assert_never(request)


def _grant_for_task(state: State, batch: BatchState, request: requests.TaskRequest, tasks: list[TaskState]) -> None:
    """Apply a request about a task. `tasks` begins with the named one; the others are retried with it or, if they are
    its entrants, end with it.
    """
    if not tasks:
        return
    task = tasks[0]
    match request:
        case requests.CancelTask():
            task.pending_end = PendingEnd(TaskStatus.CANCELLED, EndWhy.CANCEL, "cancelled by request")
            _end_entrants(state, batch, task, tasks[1:], "cancelled")
        case requests.Drop():
            task.pending_end = PendingEnd(TaskStatus.SKIPPED, EndWhy.DROP, "dropped by request")
            _end_entrants(state, batch, task, tasks[1:], "dropped")
            reopen_batch(state, batch)
        case requests.Retry():
            _retry_task(state, batch, request, tasks)
        case requests.Recheck():
            finished = task.finished
            _reopen_tasks(state, batch, tasks)
            if finished is not None:
                task.rechecking = True
                resume_at(state, batch, task, finished, Step.VERIFY)
        case requests.Resolve():
            finished = task.finished
            _reopen_tasks(state, batch, tasks)
            if finished is not None:
                task.rechecking = True
                resolved = replace(finished, base=request.onto, tip=request.commit, diffstat=request.diffstat)
                resume_at(state, batch, task, resolved, Step.VERIFY)
        case requests.Feedback():
            _apply_feedback(state, batch, request.text, tasks)
        case _:
            assert_never(request)
    reindex_task(state, batch, task)


def _retry_task(state: State, batch: BatchState, request: requests.Retry, tasks: list[TaskState]) -> None:
    task = tasks[0]
    if task.status is None:  # its result is to be committed
        end_backoff(state, batch, task)
        return
    is_kept = request.agent is None  # finished work is kept, unless another agent writes it again
    unmerged, unverified, uncommitted = task.unmerged, task.unverified, task.uncommitted
    _restart_tasks(state, batch, tasks)
    if is_kept and not task.pending_needs:
        if uncommitted is not None:
            resume_commit(state, batch, task, uncommitted)
        elif unverified is not None:
            resume_at(state, batch, task, unverified, Step.VERIFY)
        elif unmerged is not None:
            resume_at(state, batch, task, unmerged, Step.MERGE)
    task.chosen_agent = request.agent or task.chosen_agent
    move_to_queue(state, batch, task, find_agents(batch, task.task, task.chosen_agent))


def _cancel_batch(state: State, batch: BatchState) -> None:
    batch.cancelled = True
    batch.stopping = False
    batch.paused = None
    for task in batch.tasks:
        if task.status is None:
            task.pending_end = PendingEnd(TaskStatus.CANCELLED, EndWhy.CANCEL, "cancelled with its batch")
            reindex_task(state, batch, task)


def _resume_batch(state: State, batch: BatchState) -> None:
    batch.paused = None
    batch.stopping = batch.stop_now = False
    batch.gate_losses = batch.rebuild_failures = batch.rejections = 0
    if batch.base_failure is not None:
        batch.base_failure = batch.gate_bad_size = None
    for task in batch.tasks:
        if task.interrupted is not None:
            task.interrupted = None
            reindex_task(state, batch, task)


def _end_entrants(state: State, batch: BatchState, task: TaskState, entrants: list[TaskState], verb: str) -> None:
    """End the task's entrants, whose results are no longer needed."""
    assert task.pending_end is not None
    for entrant in entrants:
        reason = f"{verb} with {task.task.id}"
        entrant.pending_end = entrant.pending_end or PendingEnd(
            task.pending_end.status, task.pending_end.why, reason, task.task.id
        )
        reindex_task(state, batch, entrant)


def _reopen_tasks(state: State, batch: BatchState, tasks: list[TaskState]) -> None:
    tasks[0].approved = True
    for task in tasks:
        reopen_task(state, batch, task)


def _restart_tasks(state: State, batch: BatchState, tasks: list[TaskState]) -> None:
    """Reopen these tasks. The next attempt at one that conflicted is given its change to repair."""
    conflicting = [(task, task.finished) for task in tasks if task.category is Category.CONFLICT]
    _reopen_tasks(state, batch, tasks)
    for task, change in conflicting:
        if change is not None and change.tip:
            task.change_to_repair = Change(task.task.id, change.base, change.tip)


def _apply_feedback(state: State, batch: BatchState, text: str, tasks: list[TaskState]) -> None:
    task = tasks[0]
    if task.status is not None:
        _restart_tasks(state, batch, tasks)
    task.feedback = f"{task.feedback}\n\n{text}" if task.feedback else text
    if task.requested_spend is not None:  # that much is approved, and its budget restarts
        task.approved_spend = task.spent + task.requested_spend
    task.question = task.requested_spend = None
    task.rechecking = False
    if task.alive:
        task.restart_requested = True
    else:
        restart_write(batch, task)
        update_work_time(batch, state.now)  # a commit that was running doesn't count any more


def _change_settings(state: State, batch: BatchState, request: requests.ChangeSettings) -> None:
    batch.settings = batch.settings.with_fields(request.settings, request.fields)
    for phase in batch.phases.values():
        review_phase(state, batch, phase)
    for task in batch.tasks:
        if task.requested_spend is not None and _BUDGET_FIELDS.intersection(request.fields):
            task.question = task.requested_spend = None
        move_to_queue(state, batch, task, find_agents(batch, task.task, task.chosen_agent))
        reindex_task(state, batch, task)
