"""Every request is answered once; a second copy changes nothing; what can't be meant is refused."""

from __future__ import annotations

from plait.core import settings
from plait.core.contest import REFEREE
from plait.core.decisions import RequestGranted, RequestRefused
from plait.core.requests import (
    CancelTask,
    ChangeEngineSettings,
    ChangeSettings,
    Drop,
    Feedback,
    Request,
    Retry,
    SaveSettings,
    Ship,
    Submit,
)
from plait.testing.laws.facts import BatchFacts, Facts, TaskFacts


def check_request_arrived(book: Facts, _at: float, request: Request) -> None:
    if request.id in book.seen:
        raise book.violation("request", f"request {request.id} was recorded twice")


def check_request_granted(book: Facts, _at: float, answer: RequestGranted) -> None:
    request = _find_unanswered(book, answer)
    if isinstance(request, ChangeEngineSettings):
        return
    if isinstance(request, Submit | SaveSettings):
        _check_engine_request(book, request)
        return
    batch = book.batch(request.batch)
    unknown = [task for task in answer.tasks if task not in batch.tasks]
    if unknown:
        raise book.violation("request", f"request {request.id} was granted for {unknown}, which nobody knows", batch)
    if isinstance(request, CancelTask | Retry | Drop | Feedback):
        _check_task_request(book, request, answer)
    elif isinstance(request, ChangeSettings):
        new = batch.settings.with_fields(request.settings, request.fields)
        if new.isolation is not batch.settings.isolation or new.problem():
            raise book.violation("request", f"{batch.id} was given settings that can't be meant", batch)
    elif isinstance(request, Ship):
        if request.title and (not request.title.strip() or len(request.title.splitlines()) > 1):
            raise book.violation("request", f"{batch.id} was given the title {request.title!r}", batch)
    elif batch.ended:
        raise book.violation("request", f"request {request.id} was granted for a batch that has ended", batch)


def _check_engine_request(book: Facts, request: Submit | SaveSettings) -> None:
    if isinstance(request, Submit):
        if request.batch in book.batches:
            raise book.violation("request", f"batch {request.batch} was opened twice")
    elif settings.why_not_save(book.saved, request.changes):
        raise book.violation("request", f"request {request.id} saves what no setting is like")


def _check_task_request(book: Facts, request: CancelTask | Retry | Drop | Feedback, answer: RequestGranted) -> None:
    page = book.task(request.batch, request.task)
    if not answer.tasks or answer.tasks[0] != request.task:
        raise book.violation("request", f"request {request.id} was granted for {answer.tasks}", page)
    if isinstance(request, CancelTask) and page.ended is not None:
        raise book.violation("request", f"{request.task} was cancelled after it ended", page)
    if isinstance(request, Retry) and page.ended is None:
        raise book.violation("request", f"{request.task} is retried before it ended", page)
    batch = book.batch(request.batch)
    _check_contest_request(book, batch, request, answer, page)
    cancelling = page.pending_end == "cancel" or (batch.cancelled and not batch.ended)
    if isinstance(request, Retry | Feedback) and cancelling:
        raise book.violation("request", f"{request.task} is taken up while it is being cancelled", page)


def _check_contest_request(
    book: Facts,
    batch: BatchFacts,
    request: CancelTask | Retry | Drop | Feedback,
    answer: RequestGranted,
    page: TaskFacts,
) -> None:
    """Nobody enters a contest that is over, or being decided; and a referee writes nothing."""
    task = batch.tasks.get(page.spec.entrant or "")
    taken_up = isinstance(request, Retry | Feedback) and page.ended is not None
    if taken_up and task is not None and (task.is_done or task.active):
        raise book.violation("contest", f"{request.task} is taken up, and {task.spec.id} is chosen", page)
    chosen = (request.agent,) if isinstance(request, Retry) and request.agent else page.agents
    alone = chosen not in {(), (REFEREE,)}
    if alone and set(page.entrants).intersection(answer.tasks) and not isinstance(request, CancelTask | Drop):
        raise book.violation("contest", f"{request.task} is for {chosen}, and its entrants go again", page)
    asks = page.asking or (page.alive is not None and page.alive.is_asking)
    if isinstance(request, Feedback) and page.has_referee and not asks:
        raise book.violation("contest", f"{request.task} was given feedback, and nobody writes it", page)


def check_request_refused(book: Facts, _at: float, answer: RequestRefused) -> None:
    request = _find_unanswered(book, answer)
    if not answer.why:
        raise book.violation("request", f"request {request.id} was refused without a reason")


def _find_unanswered(book: Facts, answer: RequestGranted | RequestRefused) -> Request:
    request = book.requests.get(answer.request)
    if request is None:
        raise book.violation("request", f"request {answer.request} was answered, but does not wait for an answer")
    return request
