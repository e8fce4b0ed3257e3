"""Folds of requests and their answers."""

from __future__ import annotations

from plait.core.decisions import Change, RequestDecision, RequestRefused
from plait.core.requests import (
    Approve,
    CancelBatch,
    CancelTask,
    ChangeEngineSettings,
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Recheck,
    Request,
    Resolve,
    Resume,
    Retry,
    SaveSettings,
    Ship,
    Stop,
    Submit,
    TaskRequest,
    Unpause,
)
from plait.core.settings import FileConflicts, Isolation, Mode
from plait.core.status import Category, PauseCause
from plait.core.task import Step
from tests.support.laws.attempt_folds import note_failure
from tests.support.laws.facts import RECURRING_REFUSALS, BatchFacts, Facts, TaskFacts, lock_name


def fold_request(facts: Facts, _at: float, request: Request) -> None:
    facts.seen.add(request.id)
    facts.requests[request.id] = request


def fold_answer(facts: Facts, _at: float, answer: RequestDecision) -> None:
    request = facts.requests.pop(answer.request)
    if isinstance(answer, RequestRefused):
        return
    if isinstance(request, Submit | Resume | Unpause | Retry | Feedback):
        for provider in facts.providers.values():
            provider.may_be_restored = provider.rejected and provider.until is not None
            provider.may_be_tried = provider.streak >= RECURRING_REFUSALS
    match request:
        case Submit():
            facts.batches[request.batch] = _open_batch(facts, request)
        case ChangeEngineSettings():
            facts.settings = facts.settings.with_fields(request.settings, request.fields)
        case SaveSettings():
            for name, text in request.changes:
                facts.saved.pop(name, None)
                facts.saved |= {name: text} if text is not None else {}
        case CancelTask() | Retry() | Recheck() | Resolve() | Drop() | Feedback():
            _fold_task_request(facts, facts.batch(request.batch), request, answer.tasks)
        case _:
            _fold_batch_request(facts.batch(request.batch), request, answer.tasks)


def _open_batch(facts: Facts, request: Submit) -> BatchFacts:
    plan = request.plan
    shared = request.settings.isolation is Isolation.IN_PLACE
    tasks = {}
    for place, spec in enumerate(plan.tasks):
        needed = [plan.tasks[need] for need in plan.needs[place]]
        needs = tuple(other.id for other in needed if other.entrant != spec.id)
        tokens = tuple(lock_name(request.batch, token, shared=shared) for token in plan.holds[place])
        task = tasks[spec.id] = TaskFacts(spec, place, needs, tokens, tokens)
        task.entrants = tuple(other.id for other in needed if other.entrant == spec.id)
        if request.settings.file_conflicts is FileConflicts.INFERRED:
            files = (f"file:{file}" for file in facts.changed_files.get(spec.key, ()))
            seen = {lock_name(request.batch, file, shared=shared) for file in files}
            task.learned_locks = tuple(seen.difference(tokens))
            task.locks += task.learned_locks
    phases = {phase.key: phase for phase in plan.phases}
    opened = {phase.key for phase in plan.phases if not phase.after and phase.opens_with is None}
    return BatchFacts(request.batch, plan, request.settings, request.base, tasks, phases, opened)


def _fold_batch_request(batch: BatchFacts, request: Request, tasks: tuple[str, ...]) -> None:
    match request:
        case CancelBatch():
            _cancel_batch(batch)
        case Pause():
            batch.paused = PauseCause.PERSON
        case Stop():
            batch.paused, batch.stopping, batch.stop_now = PauseCause.STOP, True, request.now
        case Unpause() | Resume():
            _resume_batch(batch)
        case Approve():
            for name in tasks:
                batch.tasks[name].approved = True
        case Ship():
            _request_publish(batch, request)
        case ChangeSettings():
            _change_settings(batch, request)
        case _:
            pass


def _request_publish(batch: BatchFacts, request: Ship) -> None:
    batch.requested_publish = request.publish
    title, body = batch.pull_request_text
    if request.title is not None:
        title, batch.title_changed = request.title, True
    batch.pull_request_text = (title, body if request.body is None else request.body)


def _change_settings(batch: BatchFacts, request: ChangeSettings) -> None:
    batch.settings = batch.settings.with_fields(request.settings, request.fields)
    if {"task_budget", "reserve", "agents", "fallback"}.intersection(request.fields):
        for task in batch.tasks.values():
            task.asking, task.requested_budget = task.asking and task.requested_budget is None, None


def _cancel_batch(batch: BatchFacts) -> None:
    batch.cancelled, batch.paused = True, None
    batch.stopping = batch.stop_now = False
    for task in batch.tasks.values():
        if task.ended is None:
            task.pending_end = "cancel"


def _resume_batch(batch: BatchFacts) -> None:
    batch.paused = None
    batch.stopping = batch.stop_now = batch.base_failed = False
    batch.gate_losses = batch.rebuild_failures = batch.rejections = 0
    for task in batch.tasks.values():
        task.interrupted = False


def _fold_task_request(facts: Facts, batch: BatchFacts, request: TaskRequest, tasks: tuple[str, ...]) -> None:
    task = batch.tasks[request.task]
    match request:
        case CancelTask():
            task.pending_end = "cancel"
            _end_entrants(batch, task, tasks[1:])
        case Drop():
            task.pending_end = "drop"
            _end_entrants(batch, task, tasks[1:])
            _reopen_batch(batch)
        case Retry():
            _retry_task(facts, batch, request, tasks)
        case Recheck():
            tip = task.finished_tip
            _reset_tasks(batch, tasks)
            task.rechecking = True
            _resume_at(facts, batch, task, tip, Step.VERIFY)
        case Resolve():
            _reset_tasks(batch, tasks)
            task.rechecking, task.resolved = True, request
            _resume_at(facts, batch, task, request.commit, Step.VERIFY)
        case Feedback():
            _add_feedback(batch, task, tasks, request.text)


def _retry_task(facts: Facts, batch: BatchFacts, request: Retry, tasks: tuple[str, ...]) -> None:
    """What its agent finished is committed, verified or merged, unless another agent is to write it."""
    task = batch.tasks[request.task]
    if task.ended is None:
        task.retry_at = None  # its result is committed at once
        return
    uncommitted, unmerged_tip, finished_tip = task.uncommitted, task.unmerged_tip, task.finished_tip
    unverified = task.is_finished and task.ended.category in {Category.LOST, Category.KILLED}
    _restart_tasks(batch, tasks)
    if request.agent is not None:
        task.agents = (request.agent,)
    elif batch.has_needs_done(task):
        task.uncommitted = uncommitted
        if uncommitted is not None:
            _resume_at(facts, batch, task, None, Step.WRITE)
        elif unverified:
            _resume_at(facts, batch, task, finished_tip, Step.VERIFY)
        elif unmerged_tip is not None:
            _resume_at(facts, batch, task, unmerged_tip, Step.MERGE)


def _resume_at(facts: Facts, batch: BatchFacts, task: TaskFacts, tip: str | None, step: Step) -> None:
    """It continues at this step, and locks its files again if they are free; in a queue, if it isn't another's turn."""
    task.step, task.tip, task.begun = step, tip, True
    queue = batch.settings.mode is Mode.QUEUE
    taken = queue and any(other.active for other in batch.tasks.values())
    if not taken and not any(token in facts.lock_holders for token in task.locks):
        task.active = True
        facts.lock_holders |= dict.fromkeys(task.locks, (batch.id, task.spec.id))


def _end_entrants(batch: BatchFacts, task: TaskFacts, entrants: tuple[str, ...]) -> None:
    for entrant in entrants:
        batch.tasks[entrant].pending_end = batch.tasks[entrant].pending_end or task.pending_end


def _add_feedback(batch: BatchFacts, task: TaskFacts, tasks: tuple[str, ...], text: str) -> None:
    if task.ended is not None:
        _restart_tasks(batch, tasks)
    if task.requested_budget is not None:
        task.uncounted_spend = task.spent + task.requested_budget
    task.asking, task.requested_budget = False, None
    task.restart_after_exit = task.restart_after_exit or task.alive is not None
    task.pending_feedback.append(text)
    task.rechecking = False
    if task.alive is None:
        if task.step is not Step.WRITE and task.numbers.get(Step.WRITE, 0) == task.earlier_writes:
            task.tip, task.begun = None, False
        task.step = Step.WRITE
        task.uncommitted = task.committing = None


def _reopen_batch(batch: BatchFacts) -> None:
    """A batch that ends again publishes again, whatever the last result."""
    batch.publish_failed = batch.publish_failed and not batch.ended
    batch.ended = False


def _restart_tasks(batch: BatchFacts, tasks: tuple[str, ...]) -> None:
    """What conflicted is made again, by someone who knows the conflict."""
    repairs = {name: _find_change_to_repair(batch.tasks[name]) for name in tasks}
    _reset_tasks(batch, tasks)
    for name, change in repairs.items():
        batch.tasks[name].repairing = change


def _find_change_to_repair(task: TaskFacts) -> Change | None:
    conflicted = task.ended is not None and task.ended.category is Category.CONFLICT and task.is_finished
    if not conflicted or task.finished_tip is None or task.tip_base is None:
        return None
    return Change(task.spec.id, task.tip_base, task.finished_tip)


def _reset_tasks(batch: BatchFacts, tasks: tuple[str, ...]) -> None:
    """A new generation of each task: nothing of the last one counts."""
    batch.cancelled = False
    _reopen_batch(batch)
    batch.tasks[tasks[0]].approved = True
    for name in tasks:
        task = batch.tasks[name]
        note_failure(batch, name, None)
        task.generation += 1
        task.earlier_writes = task.numbers.get(Step.WRITE, 0)
        task.uncounted_spend = task.spent
        task.winner, task.failed_winners = "", ()
        task.ended = task.tip = task.unmerged_tip = task.retry_at = task.merge_problem = task.repairing = None
        task.uncommitted = task.committing = None
        task.pending_end = ""
        task.asking = task.interrupted = task.restart_after_exit = task.begun = False
        task.is_finished = task.rechecking = False
        task.step = Step.WRITE
        task.counted_retries = task.losses = task.unexplained_refusals = task.repairs = 0
        task.commit_failures = task.merge_failures = 0
