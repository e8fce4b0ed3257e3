"""Idempotency keys: a request that is repeated with its key is answered, but not performed again."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from itertools import chain
from weakref import WeakValueDictionary

from plait.client.api_errors import FieldError
from plait.client.session import PendingAnswers, RequestAnswer, Session, new_request_id
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.requests import Request, Submit
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.store import project_files
from plait.store.interfaces import JournalMissingError

_locks = WeakValueDictionary[tuple[str, str], asyncio.Lock]()


_DIGITS = 24


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """What an HTTP request with an Idempotency-Key requests; it may become several requests to the engine.

    Their ids start with a hash of the project and the key, then one of `operation`: so the journal tells for as long as
    it exists which operation a key was used for. Without a key, ids are random.
    """

    key: str
    project: str
    operation: tuple[str, ...]

    def make_id(self, *parts: str) -> str:
        """Make an id, which is the same for the same parts."""
        if not self.key:
            return new_request_id()
        return "-".join((self._prefix, _hash(*self.operation), *([_hash(*parts)] if parts else [])))

    def require_same_operation(self, client: Session) -> None:
        """Raise FieldError if the key was used for another operation of this project."""
        if not self.key:
            return
        with_key, own = f"{self._prefix}-", self.make_id()
        stored = chain(client.state.seen_requests, (request.id for request in client.list_pending()))
        if any(name.startswith(with_key) and not name.startswith(own) for name in stored):
            raise FieldError(
                "this Idempotency-Key was used for a different request",
                field="Idempotency-Key",
                hint="Use a new key for each request, and the same one only to repeat it unchanged.",
            )

    @property
    def _prefix(self) -> str:
        return f"key-{_hash(self.project, self.key)}"


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


async def ask_once(session: ProjectSession, requests: Sequence[Request]) -> list[RequestAnswer]:
    """Do the same as `ask_or_queue`, but don't send requests with ids from a key again that were answered before."""

    def has_earlier_answers(client: Session) -> bool:
        state = client.state
        return any(request.id in state.seen_requests and request.id not in state.unanswered for request in requests)

    answered = await session.query(has_earlier_answers)
    earlier = await asyncio.to_thread(_read_earlier_answers, session.location, requests) if answered else {}
    fresh = [request for request in requests if request.id not in earlier]
    answers = await ask_or_queue(session, fresh) if fresh else []
    return [(earlier | {answer.request: answer for answer in answers})[request.id] for request in requests]


async def ask_or_queue(session: ProjectSession, requests: Sequence[Request]) -> list[RequestAnswer]:
    """Send requests as `ProjectSession.ask` does; if no engine starts, durable ones stay unanswered, with a reason."""
    try:
        return await session.ask(requests)
    except WorldError as error:
        safe = await session.query(find_stored_requests)
        if not all(request.id in safe for request in requests):
            raise
        return [RequestAnswer(request.id, why=error.message) for request in requests]


def find_stored_requests(client: Session) -> set[str]:
    """Return the ids of the durable requests: in the journal or in the inbox."""
    return client.state.seen_requests | {request.id for request in client.list_pending()}


@asynccontextmanager
async def hold_key(session: ProjectSession, name: str) -> AsyncIterator[None]:
    """Make requests with the same name wait for each other."""
    if not name:
        yield
        return
    lock = _locks.setdefault((session.id, name), asyncio.Lock())
    async with lock:
        yield


async def find_submitted_batch(session: ProjectSession, request_id: str) -> str | None:
    """Return the batch that this request has created before, in the journal or still in the inbox."""

    def look(client: Session) -> tuple[bool, str | None]:
        if request_id in client.state.seen_requests:
            return True, None
        pending = (
            request for request in client.list_pending() if request.id == request_id and isinstance(request, Submit)
        )
        return False, next(
            (request.batch for request in pending if request.batch in client.preview_state().batches), None
        )

    recorded, batch = await session.query(look)
    if recorded:
        batch = await asyncio.to_thread(_find_batch_in_journal, session.location, request_id)
        return await session.query(lambda client: batch if batch in client.state.batches else None)
    return batch


def _find_batch_in_journal(location: RepoLocation, request_id: str) -> str | None:
    with closing(project_files.open_project_journal(location)) as reader:
        events = (record.event for record in reader.read())
        return next((event.batch for event in events if isinstance(event, Submit) and event.id == request_id), None)


def _read_earlier_answers(location: RepoLocation, requests: Sequence[Request]) -> dict[str, RequestAnswer]:
    """Read the answers in the journal."""
    expected = PendingAnswers()
    expected.expect(requests)
    try:
        with closing(project_files.open_project_journal(location)) as reader:
            for record in reader.read():
                expected.handle_record(record)
    except JournalMissingError:
        return {}
    answers = expected.collect(requests)
    return {answer.request: answer for answer in answers if answer.granted is not None}
