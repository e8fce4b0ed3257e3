"""Asking by a client's own key: whoever asks twice, since the first answer got lost on its way, is answered once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, closing
from weakref import WeakValueDictionary

from plait.client.session import PendingAnswers, RequestAnswer, Session, new_request_id
from plait.core.errors import WorldError
from plait.core.requests import Request, Submit
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.store import project_files
from plait.store.interfaces import JournalMissingError

_locks = WeakValueDictionary[tuple[str, str], asyncio.Lock]()


def derive_request_id(key: str, *parts: str) -> str:
    """A request's id: with a key the same for the same words, else one of its own."""
    if not key:
        return new_request_id()
    text = "\0".join((key, *parts)).encode("utf-8", "surrogatepass")
    return f"key-{hashlib.sha256(text).hexdigest()[:40]}"


async def ask_once(session: ProjectSession, requests: Sequence[Request]) -> list[RequestAnswer]:
    """As `Office.ask`; what was answered before is not asked again."""
    ids = {request.id for request in requests}
    known = await session.query(lambda desk: _has_earlier_answers(desk, ids))
    earlier = await asyncio.to_thread(_read_earlier_answers, session.place, requests) if known else {}
    fresh = [request for request in requests if request.id not in earlier]
    answers = await ask_or_queue(session, fresh) if fresh else []
    return [(earlier | {answer.request: answer for answer in answers})[request.id] for request in requests]


async def ask_or_queue(session: ProjectSession, requests: Sequence[Request]) -> list[RequestAnswer]:
    """As `Office.ask`. What is safe is safe also where no engine can be started: then it is not answered, and `why` says so."""
    try:
        return await session.ask(requests)
    except WorldError as error:
        safe = await session.query(find_stored_requests)
        if not all(request.id in safe for request in requests):
            raise
        return [RequestAnswer(request.id, why=error.message) for request in requests]


def find_stored_requests(desk: Session) -> set[str]:
    """The requests that are not lost any more: in the journal, or in the inbox."""
    return desk.state.seen_requests | {request.id for request in desk.list_pending()}


@asynccontextmanager
async def hold_key(session: ProjectSession, name: str) -> AsyncIterator[None]:
    """Of those who come at the same time with one name, one after another."""
    if not name:
        yield
        return
    lock = _locks.setdefault((session.id, name), asyncio.Lock())
    async with lock:
        yield


async def find_submitted_batch(session: ProjectSession, request_id: str) -> str | None:
    """The batch that was asked for by this request before, taken or not."""

    def pending(desk: Session) -> str | None:
        found = (each for each in desk.list_pending() if each.id == request_id and isinstance(each, Submit))
        return next((each.batch for each in found if each.batch in desk.preview_state().batches), None)

    if await session.query(lambda desk: request_id in desk.state.seen_requests):
        batch = await asyncio.to_thread(_find_batch_in_journal, session.place, request_id)
        return await session.query(lambda desk: batch if batch in desk.state.batches else None)
    return await session.query(pending)


def _find_batch_in_journal(place: RepoLocation, request_id: str) -> str | None:
    with closing(project_files.open_project_journal(place)) as reader:
        events = (record.event for record in reader.read())
        return next((each.batch for each in events if isinstance(each, Submit) and each.id == request_id), None)


def _has_earlier_answers(desk: Session, ids: Collection[str]) -> bool:
    return any(name in desk.state.seen_requests and name not in desk.state.unanswered for name in ids)


def _read_earlier_answers(place: RepoLocation, requests: Sequence[Request]) -> dict[str, RequestAnswer]:
    """The answers that stand in the journal."""
    expected = PendingAnswers()
    expected.expect(requests)
    try:
        with closing(project_files.open_project_journal(place)) as reader:
            for record in reader.read():
                expected.handle_record(record)
    except JournalMissingError:
        return {}
    answers = expected.collect(requests)
    return {answer.request: answer for answer in answers if answer.granted is not None}
