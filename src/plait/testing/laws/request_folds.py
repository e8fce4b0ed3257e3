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
from plait.testing.laws.facts import BatchPage, TaskPage, token_of
from plait.testing.laws.facts__book import Book


def arrived(book: Book, request: Request) -> None:
    book.seen.add(request.id)
    book.requests[request.id] = request


def refused(book: Book, answer: RequestRefused) -> None:
    del book.requests[answer.request]


def granted(book: Book, answer: RequestGranted) -> None:
    request = book.requests.pop(answer.request)
    if isinstance(request, Submit | Resume | Unpause | Retry | Feedback):
        for provider in book.providers.values():
            provider.mended = provider.rejected and provider.until is not None
    match request:
        case Submit():
            book.batches[request.batch] = _open(book, request)
        case ChangeEngineSettings():
            book.settings = book.settings.with_fields(request.settings, request.fields)
        case SaveSettings():
            for name, text in request.changes:
                book.saved.pop(name, None)
                book.saved |= {name: text} if text is not None else {}
        case CancelTask() | Retry() | Drop() | Feedback():
            _about_task(book, book.batch(request.batch), request, answer.tasks)
        case _:
            _about_batch(book.batch(request.batch), request, answer.tasks)


def _open(book: Book, request: Submit) -> BatchPage:
    plan = request.plan
    shared = request.settings.isolation is Isolation.IN_PLACE
    tasks = {}
    for place, task in enumerate(plan.tasks):
        needed = [plan.tasks[need] for need in plan.needs[place]]
        needs = tuple(other.id for other in needed if other.entrant != task.id)
        tokens = tuple(token_of(request.batch, token, shared=shared) for token in plan.holds[place])
        page = tasks[task.id] = TaskPage(task, place, needs, tokens, tokens)
        page.entrants = tuple(other.id for other in needed if other.entrant == task.id)
        if request.settings.file_conflicts is FileConflicts.INFERRED:
            files = (f"file:{file}" for file in book.touched.get(task.key, ()))
            seen = {token_of(request.batch, file, shared=shared) for file in files}
            page.learnt = tuple(seen.difference(tokens))
            page.tokens += page.learnt
    phases = {phase.key: phase for phase in plan.phases}
    opened = {phase.key for phase in plan.phases if not phase.after and phase.opens_with is None}
    return BatchPage(request.batch, plan, request.settings, request.base, tasks, phases, opened)


def _about_batch(batch: BatchPage, request: Request, tasks: tuple[str, ...]) -> None:
    match request:
        case CancelBatch():
            _cancel(batch)
        case Pause():
            batch.paused = PauseCause.PERSON
        case Stop():
            batch.paused, batch.stopping, batch.stop_now = PauseCause.STOP, True, request.now
        case Unpause() | Resume():
            _go_on(batch)
        case Approve():
            for name in tasks:
                batch.tasks[name].approved = True
        case Ship():
            _ship(batch, request)
        case ChangeSettings():
            _change(batch, request)
        case _:
            pass


def _ship(batch: BatchPage, request: Ship) -> None:
    batch.wish = request.publish
    title, body = batch.words
    if request.title is not None:
        title, batch.renamed = request.title, True
    batch.words = (title, body if request.body is None else request.body)


def _change(batch: BatchPage, request: ChangeSettings) -> None:
    batch.settings = batch.settings.with_fields(request.settings, request.fields)
    if {"task_budget", "reserve", "agents", "fallback"}.intersection(request.fields):
        for page in batch.tasks.values():
            page.asking, page.wants = page.asking and page.wants is None, None


def _cancel(batch: BatchPage) -> None:
    batch.cancelled, batch.paused = True, None
    batch.stopping = batch.stop_now = False
    for page in batch.tasks.values():
        if page.ended is None:
            page.doom = "cancel"


def _go_on(batch: BatchPage) -> None:
    batch.paused = None
    batch.stopping = batch.stop_now = batch.base_failed = False
    batch.gate_losses = batch.rebuild_failures = batch.rejections = 0
    for page in batch.tasks.values():
        page.interrupted = False


def _about_task(
    book: Book, batch: BatchPage, request: CancelTask | Retry | Drop | Feedback, tasks: tuple[str, ...]
) -> None:
    page = batch.tasks[request.task]
    match request:
        case CancelTask():
            page.doom = "cancel"
            _end_with(batch, page, tasks[1:])
        case Drop():
            page.doom = "drop"
            _end_with(batch, page, tasks[1:])
            _open_again(batch)
        case Retry(agent=agent):
            tip = page.unmerged if agent is None else None
            _take_up(batch, tasks)
            if tip is not None and batch.needs_done(page):
                _merge_again(book, batch, page, tip)
            if agent is not None:
                page.agents = (agent,)
        case Feedback():
            _listen(batch, page, tasks, request.text)


def _merge_again(book: Book, batch: BatchPage, page: TaskPage, tip: str) -> None:
    """It goes on where it was held up, and has its files again if they are free; in a queue, if it is nobody's turn."""
    page.step, page.tip, page.begun = Step.MERGE, tip, True
    queue = batch.settings.mode is Mode.QUEUE
    taken = queue and any(other.active for other in batch.tasks.values())
    if not taken and not any(token in book.holders for token in page.tokens):
        page.active = True
        book.holders |= dict.fromkeys(page.tokens, (batch.id, page.spec.id))


def _end_with(batch: BatchPage, page: TaskPage, entrants: tuple[str, ...]) -> None:
    for entrant in entrants:
        batch.tasks[entrant].doom = batch.tasks[entrant].doom or page.doom


def _listen(batch: BatchPage, page: TaskPage, tasks: tuple[str, ...], text: str) -> None:
    if page.ended is not None:
        _take_up(batch, tasks)
    if page.wants is not None:
        page.agreed = page.spent + page.wants
    page.asking, page.wants = False, None
    page.redo = page.redo or page.alive is not None
    page.words.append(text)
    if page.alive is None:
        if page.step is Step.MERGE and page.numbers.get(Step.WRITE, 0) == page.written:
            page.tip, page.begun = None, False
        page.step = Step.WRITE


def _open_again(batch: BatchPage) -> None:
    """A batch that ends once more publishes once more, whatever came of it the last time."""
    batch.unpublished = batch.unpublished and not batch.ended
    batch.ended = False


def _take_up(batch: BatchPage, tasks: tuple[str, ...]) -> None:
    """Another life for each of them: nothing of the last one counts."""
    batch.cancelled = False
    _open_again(batch)
    batch.tasks[tasks[0]].approved = True
    for name in tasks:
        page = batch.tasks[name]
        note_failure(batch, name, None)
        page.life += 1
        page.written = page.numbers.get(Step.WRITE, 0)
        page.agreed = page.spent
        page.winner, page.outdone = "", ()
        page.ended = page.tip = page.unmerged = page.retry_at = page.trouble = page.repairing = None
        page.doom = ""
        page.asking = page.interrupted = page.redo = page.begun = False
        page.step = Step.WRITE
        page.counted = page.losses = page.misfits = page.repairs = page.merge_failures = 0
