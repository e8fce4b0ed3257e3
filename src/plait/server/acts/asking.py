"""Asking by a client's own key: whoever asks twice, since the first answer got lost on its way, is answered once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, closing
from weakref import WeakValueDictionary

from plait import wiring
from plait.core.errors import WorldError
from plait.core.requests import Request, Submit
from plait.front.asking import Answer, Expected, request_id
from plait.front.desk import Desk
from plait.ports import JournalMissingError
from plait.server.office import Office
from plait.wiring import Place

_locks = WeakValueDictionary[tuple[str, str], asyncio.Lock]()


def named(key: str, *about: str) -> str:
    """A request's id: with a key the same for the same words, else one of its own."""
    if not key:
        return request_id()
    said = "\0".join((key, *about)).encode("utf-8", "surrogatepass")
    return f"key-{hashlib.sha256(said).hexdigest()[:40]}"


async def answered(office: Office, requests: Sequence[Request]) -> list[Answer]:
    """As `Office.ask`; what was answered before is not asked again."""
    ids = {request.id for request in requests}
    known = await office.look(lambda desk: _known(desk, ids))
    before = await asyncio.to_thread(_before, office.place, requests) if known else {}
    fresh = [request for request in requests if request.id not in before]
    told = await asked(office, fresh) if fresh else []
    return [(before | {answer.request: answer for answer in told})[request.id] for request in requests]


async def asked(office: Office, requests: Sequence[Request]) -> list[Answer]:
    """As `Office.ask`. What is safe is safe also where no engine can be started: then it is not answered, and `why` says so."""
    try:
        return await office.ask(requests)
    except WorldError as error:
        safe = await office.look(safely)
        if not all(request.id in safe for request in requests):
            raise
        return [Answer(request.id, why=error.message) for request in requests]


def safely(desk: Desk) -> set[str]:
    """The requests that are not lost any more: in the journal, or in the inbox."""
    return desk.state.seen | {request.id for request in desk.pending()}


@asynccontextmanager
async def once(office: Office, name: str) -> AsyncIterator[None]:
    """Of those who come at the same time with one name, one after another."""
    if not name:
        yield
        return
    lock = _locks.setdefault((office.id, name), asyncio.Lock())
    async with lock:
        yield


async def submitted(office: Office, name: str) -> str | None:
    """The batch that was asked for by this request before, taken or not."""

    def pending(desk: Desk) -> str | None:
        found = (each for each in desk.pending() if each.id == name and isinstance(each, Submit))
        return next((each.batch for each in found if each.batch in desk.ahead().batches), None)

    if await office.look(lambda desk: name in desk.state.seen):
        batch = await asyncio.to_thread(_batch, office.place, name)
        return await office.look(lambda desk: batch if batch in desk.state.batches else None)
    return await office.look(pending)


def _batch(place: Place, name: str) -> str | None:
    with closing(wiring.journal_reader(place)) as reader:
        events = (record.event for record in reader.read())
        return next((each.batch for each in events if isinstance(each, Submit) and each.id == name), None)


def _known(desk: Desk, ids: Collection[str]) -> bool:
    return any(name in desk.state.seen and name not in desk.state.unanswered for name in ids)


def _before(place: Place, requests: Sequence[Request]) -> dict[str, Answer]:
    """The answers that stand in the journal."""
    expected = Expected()
    expected.await_(requests)
    try:
        with closing(wiring.journal_reader(place)) as reader:
            for record in reader.read():
                expected.hear(record)
    except JournalMissingError:
        return {}
    told = expected.collect(requests)
    return {answer.request: answer for answer in told if answer.granted is not None}
