"""Every request is answered once, a second copy changes nothing, and invalid requests are refused."""

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
    Recheck,
    Request,
    Resolve,
    Retry,
    SaveSettings,
    Ship,
    Submit,
    TaskRequest,
)
from plait.core.status import Category, TaskStatus
from tests.support.laws.facts import BatchFacts, Facts, TaskFacts


def check_request_arrived(facts: Facts, _at: float, request: Request) -> None:
    if request.id in facts.seen:
        raise facts.violation("request", f"request {request.id} was recorded twice")


def check_request_granted(facts: Facts, _at: float, answer: RequestGranted) -> None:
    request = _find_unanswered(facts, answer)
    if isinstance(request, ChangeEngineSettings):
        return
    if isinstance(request, Submit | SaveSettings):
        _check_engine_request(facts, request)
        return
    batch = facts.batch(request.batch)
    unknown = [task for task in answer.tasks if task not in batch.tasks]
    if unknown:
        raise facts.violation("request", f"request {request.id} was granted for {unknown}, which are in no plan", batch)
    if isinstance(request, TaskRequest):
        _check_task_request(facts, request, answer)
    elif isinstance(request, ChangeSettings):
        new = batch.settings.with_fields(request.settings, request.fields)
        if new.isolation is not batch.settings.isolation or new.problem():
            raise facts.violation("request", f"{batch.id} was given settings that can't be meant", batch)
    elif isinstance(request, Ship):
        if request.title and (not request.title.strip() or len(request.title.splitlines()) > 1):
            raise facts.violation("request", f"{batch.id} was given the title {request.title!r}", batch)
    elif batch.ended:
        raise facts.violation("request", f"request {request.id} was granted for a batch that has ended", batch)


def _check_engine_request(facts: Facts, request: Submit | SaveSettings) -> None:
    if isinstance(request, Submit):
        if request.batch in facts.batches:
            raise facts.violation("request", f"batch {request.batch} was opened twice")
    elif settings.why_not_save(facts.saved, request.changes):
        raise facts.violation("request", f"request {request.id} saves what no setting is like")


def _check_task_request(facts: Facts, request: TaskRequest, answer: RequestGranted) -> None:
    task = facts.task(request.batch, request.task)
    if not answer.tasks or answer.tasks[0] != request.task:
        raise facts.violation("request", f"request {request.id} was granted for {answer.tasks}", task)
    if isinstance(request, CancelTask) and task.ended is not None:
        raise facts.violation("request", f"{request.task} was cancelled after it ended", task)
    waits_to_commit = task.uncommitted is not None and task.retry_at is not None
    if isinstance(request, Retry) and task.ended is None and (request.agent or not waits_to_commit):
        raise facts.violation("request", f"{request.task} is retried before it ended", task)
    if isinstance(request, Recheck):
        _check_recheck(facts, task, answer)
    if isinstance(request, Resolve):
        _check_resolve(facts, task, request, answer)
    batch = facts.batch(request.batch)
    _check_contest_request(facts, batch, request, answer, task)
    cancelling = task.pending_end == "cancel" or (batch.cancelled and not batch.ended)
    if isinstance(request, Retry | Recheck | Resolve | Feedback) and cancelling:
        raise facts.violation("request", f"{request.task} is retried while it is being cancelled", task)


def _check_recheck(facts: Facts, task: TaskFacts, answer: RequestGranted) -> None:
    """There is something to verify, and nothing else is taken up, since an agent would have to run for it."""
    if task.ended is None or task.is_done or not task.is_finished:
        raise facts.violation("recheck", f"{task.spec.id} is verified again, but has no finished work", task)
    if len(answer.tasks) > 1:
        raise facts.violation("recheck", f"{answer.tasks[1:]} are taken up with {task.spec.id}", task)


def _check_resolve(facts: Facts, task: TaskFacts, request: Resolve, answer: RequestGranted) -> None:
    """What is merged is the resolution of the conflict as it is now, and no agent runs for it."""
    batch = facts.batch(request.batch)
    _check_recheck(facts, task, answer)
    if task.status is not TaskStatus.CONFLICTED:
        raise facts.violation("resolve", f"{request.task} has no conflict that could be resolved", task)
    if request.tip != task.finished_tip or request.onto != batch.head:
        message = f"{request.task} was resolved at {request.onto} with {request.tip}, which is not what is there"
        raise facts.violation("resolve", message, task)
    if batch.rebuild is not None or batch.find_unwanted():
        raise facts.violation("resolve", f"{request.task} was resolved while the branch is rebuilt", task)


def _check_contest_request(
    facts: Facts,
    batch: BatchFacts,
    request: TaskRequest,
    answer: RequestGranted,
    task: TaskFacts,
) -> None:
    """No entrant is retried in a contest that is over or being decided, and a referee takes no feedback."""
    contested = batch.tasks.get(task.spec.entrant or "")
    taken_up = isinstance(request, Retry | Feedback) and task.ended is not None
    if taken_up and contested is not None and (contested.is_done or contested.active):
        raise facts.violation("contest", f"{request.task} is retried, and {contested.spec.id} is chosen", task)
    chosen = (request.agent,) if isinstance(request, Retry) and request.agent else task.agents
    alone = chosen not in {(), (REFEREE,)}
    if alone and set(task.entrants).intersection(answer.tasks) and not isinstance(request, CancelTask | Drop):
        raise facts.violation("contest", f"{request.task} is for {chosen}, and its entrants go again", task)
    rejected = task.ended is not None and task.ended.category is Category.REJECTED
    if isinstance(request, Retry) and rejected and not alone and not set(task.entrants) <= set(answer.tasks):
        raise facts.violation("contest", f"{request.task} is retried with the changes that its judges rejected", task)
    asks = task.asking or (task.alive is not None and task.alive.is_asking)
    if isinstance(request, Feedback) and task.has_referee and not asks:
        raise facts.violation("contest", f"{request.task} was given feedback, but a referee writes it", task)


def check_request_refused(facts: Facts, _at: float, answer: RequestRefused) -> None:
    request = _find_unanswered(facts, answer)
    if not answer.why:
        raise facts.violation("request", f"request {request.id} was refused without a reason")


def _find_unanswered(facts: Facts, answer: RequestGranted | RequestRefused) -> Request:
    request = facts.requests.get(answer.request)
    if request is None:
        raise facts.violation("request", f"request {answer.request} was answered, but does not wait for an answer")
    return request
