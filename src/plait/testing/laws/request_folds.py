"""What granted requests do."""

from __future__ import annotations

from plait.core.decisions import RequestGranted, RequestRefused
from plait.core.requests import (
    Approve,
    CancelBatch,
    CancelTask,
    ChangeEngineSettings,
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Request,
    Resume,
    Retry,
    SaveSettings,
    Ship,
    Stop,
    Submit,
    Unpause,
)
from plait.core.settings import FileConflicts, Isolation, Mode
from plait.core.status import PauseCause
from plait.core.task import Step
from plait.testing.laws.attempt_folds import note_failure
from plait.testing.laws.facts import BatchFacts, Facts, TaskFacts, lock_name


def fold_request_arrived(book: Facts, request: Request) -> None:
    book.seen.add(request.id)
    book.requests[request.id] = request


def fold_request_refused(book: Facts, answer: RequestRefused) -> None:
    del book.requests[answer.request]


def fold_request_granted(book: Facts, answer: RequestGranted) -> None:
    request = book.requests.pop(answer.request)
    if isinstance(request, Submit | Resume | Unpause | Retry | Feedback):
        for provider in book.providers.values():
            provider.may_be_restored = provider.rejected and provider.until is not None
    match request:
        case Submit():
            book.batches[request.batch] = _open_batch(book, request)
        case ChangeEngineSettings():
            book.settings = book.settings.with_fields(request.settings, request.fields)
        case SaveSettings():
            for name, text in request.changes:
                book.saved.pop(name, None)
                book.saved |= {name: text} if text is not None else {}
        case CancelTask() | Retry() | Drop() | Feedback():
            _fold_task_request(book, book.batch(request.batch), request, answer.tasks)
        case _:
            _fold_batch_request(book.batch(request.batch), request, answer.tasks)


def _open_batch(book: Facts, request: Submit) -> BatchFacts:
    plan = request.plan
    shared = request.settings.isolation is Isolation.IN_PLACE
    tasks = {}
    for place, task in enumerate(plan.tasks):
        needed = [plan.tasks[need] for need in plan.needs[place]]
        needs = tuple(other.id for other in needed if other.entrant != task.id)
        tokens = tuple(lock_name(request.batch, token, shared=shared) for token in plan.holds[place])
        page = tasks[task.id] = TaskFacts(task, place, needs, tokens, tokens)
        page.entrants = tuple(other.id for other in needed if other.entrant == task.id)
        if request.settings.file_conflicts is FileConflicts.INFERRED:
            files = (f"file:{file}" for file in book.changed_files.get(task.key, ()))
            seen = {lock_name(request.batch, file, shared=shared) for file in files}
            page.learned_locks = tuple(seen.difference(tokens))
            page.locks += page.learned_locks
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
        for page in batch.tasks.values():
            page.asking, page.requested_budget = page.asking and page.requested_budget is None, None


def _cancel_batch(batch: BatchFacts) -> None:
    batch.cancelled, batch.paused = True, None
    batch.stopping = batch.stop_now = False
    for page in batch.tasks.values():
        if page.ended is None:
            page.pending_end = "cancel"


def _resume_batch(batch: BatchFacts) -> None:
    batch.paused = None
    batch.stopping = batch.stop_now = batch.base_failed = False
    batch.gate_losses = batch.rebuild_failures = batch.rejections = 0
    for page in batch.tasks.values():
        page.interrupted = False


def _fold_task_request(
    book: Facts, batch: BatchFacts, request: CancelTask | Retry | Drop | Feedback, tasks: tuple[str, ...]
) -> None:
    page = batch.tasks[request.task]
    match request:
        case CancelTask():
            page.pending_end = "cancel"
            _end_entrants(batch, page, tasks[1:])
        case Drop():
            page.pending_end = "drop"
            _end_entrants(batch, page, tasks[1:])
            _reopen_batch(batch)
        case Retry(agent=agent):
            tip = page.unmerged_tip if agent is None else None
            _reset_tasks(batch, tasks)
            if tip is not None and batch.has_needs_done(page):
                _retry_merge(book, batch, page, tip)
            if agent is not None:
                page.agents = (agent,)
        case Feedback():
            _add_feedback(batch, page, tasks, request.text)


def _retry_merge(book: Facts, batch: BatchFacts, page: TaskFacts, tip: str) -> None:
    """It goes on where it was held up, and has its files again if they are free; in a queue, if it is nobody's turn."""
    page.step, page.tip, page.begun = Step.MERGE, tip, True
    queue = batch.settings.mode is Mode.QUEUE
    taken = queue and any(other.active for other in batch.tasks.values())
    if not taken and not any(token in book.lock_holders for token in page.locks):
        page.active = True
        book.lock_holders |= dict.fromkeys(page.locks, (batch.id, page.spec.id))


def _end_entrants(batch: BatchFacts, page: TaskFacts, entrants: tuple[str, ...]) -> None:
    for entrant in entrants:
        batch.tasks[entrant].pending_end = batch.tasks[entrant].pending_end or page.pending_end


def _add_feedback(batch: BatchFacts, page: TaskFacts, tasks: tuple[str, ...], text: str) -> None:
    if page.ended is not None:
        _reset_tasks(batch, tasks)
    if page.requested_budget is not None:
        page.uncounted_spend = page.spent + page.requested_budget
    page.asking, page.requested_budget = False, None
    page.restart_after_exit = page.restart_after_exit or page.alive is not None
    page.pending_feedback.append(text)
    if page.alive is None:
        if page.step is Step.MERGE and page.numbers.get(Step.WRITE, 0) == page.earlier_writes:
            page.tip, page.begun = None, False
        page.step = Step.WRITE


def _reopen_batch(batch: BatchFacts) -> None:
    """A batch that ends once more publishes once more, whatever came of it the last time."""
    batch.publish_failed = batch.publish_failed and not batch.ended
    batch.ended = False


def _reset_tasks(batch: BatchFacts, tasks: tuple[str, ...]) -> None:
    """Another life for each of them: nothing of the last one counts."""
    batch.cancelled = False
    _reopen_batch(batch)
    batch.tasks[tasks[0]].approved = True
    for name in tasks:
        page = batch.tasks[name]
        note_failure(batch, name, None)
        page.generation += 1
        page.earlier_writes = page.numbers.get(Step.WRITE, 0)
        page.uncounted_spend = page.spent
        page.winner, page.failed_winners = "", ()
        page.ended = page.tip = page.unmerged_tip = page.retry_at = page.merge_problem = page.repairing = None
        page.pending_end = ""
        page.asking = page.interrupted = page.restart_after_exit = page.begun = False
        page.step = Step.WRITE
        page.counted_retries = page.losses = page.unexplained_refusals = page.repairs = page.merge_failures = 0
