"""Asking: what a front brings, and what becomes of it. A request that was accepted and one that was answered differ.

What is asked for and not taken yet, shown as if it were: a batch is there as soon as its request is durable.

The desk: where a front reads what is so, asks for what should be, and sees to it that somebody does it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from types import TracebackType
from typing import TYPE_CHECKING, Self

from plait.client.engine_launcher import EngineLauncher
from plait.core.decisions import RequestGranted, RequestRefused
from plait.core.errors import WorldError
from plait.core.events import Event, Record
from plait.core.fast_dataclass import dataclass
from plait.core.reducers.dispatch import evolve
from plait.core.requests import Drop, Feedback, Request, Resume, Retry, Ship, Submit
from plait.core.state import State
from plait.engine import daemon
from plait.engine.daemon import EngineInfo
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.interfaces import Inbox, InboxError, JournalMissingError, JournalReader

if TYPE_CHECKING:
    from plait.agents.interface import AgentSpec
    from plait.client.event_stream import EventStream
    from plait.client.stream_event import StreamEvent
    from plait.core.plan import Plan
    from plait.core.settings import Settings
    from plait.engine.daemon import HeldProcess
    from plait.store.batch_inputs import RepoOptions


# What can open a batch that has ended: by then the environment it was submitted with is gone.
REOPENING_REQUESTS = (Retry, Feedback, Resume, Drop, Ship)


@dataclass(frozen=True, slots=True)
class Submission:
    """A batch to be. `plan` is whole; `environment` None: this process's own. `base` and `gear` are for worktrees."""

    plan: Plan
    settings: Settings
    agents: tuple[AgentSpec, ...] = ()
    sources: tuple[str, ...] = ()
    base: str = ""
    gear: RepoOptions | None = None
    template: str = ""
    environment: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """`granted` None: the request is safe in the inbox, and no engine has answered it yet."""

    request: str
    granted: bool | None = None
    tasks: tuple[str, ...] = ()
    why: str = ""


class PendingAnswers:
    """The answers that somebody waits for; others pass by."""

    def __init__(self) -> None:
        self._answers: dict[str, RequestAnswer] = {}

    def expect(self, requests: Iterable[Request]) -> None:
        self._answers.update({request.id: RequestAnswer(request.id) for request in requests})

    def handle_record(self, record: Record) -> None:
        event = record.event
        if isinstance(event, RequestGranted | RequestRefused) and event.request in self._answers:
            told = (
                RequestAnswer(event.request, granted=True, tasks=event.tasks)
                if isinstance(event, RequestGranted)
                else RequestAnswer(event.request, granted=False, why=event.why)
            )
            self._answers[event.request] = told

    def are_complete(self, requests: Iterable[Request]) -> bool:
        return all(self._answers[request.id].granted is not None for request in requests)

    def collect(self, requests: Iterable[Request]) -> list[RequestAnswer]:
        """In this order; nobody waits for them any more."""
        return [self._answers.pop(request.id) for request in requests]


def new_request_id() -> str:
    from uuid import uuid4  # only whoever asks needs one

    return str(uuid4())


def with_pending_submits(state: State, pending: Sequence[Request]) -> State:
    """The state itself where there is nothing to add; else a twin of it."""
    submits = [request for request in pending if isinstance(request, Submit)]
    if not submits:
        return state
    from plait.core.scheduler.request_answers import why_not_submit  # seldom needed
    from plait.core.state import copy_state

    twin = copy_state(state)
    for submit in submits:
        if why_not_submit(twin, submit) is None:
            _append_event(twin, submit)
            _append_event(twin, RequestGranted(submit.id))
    return twin


def _append_event(twin: State, event: Event) -> None:
    evolve(twin, Record(twin.seq + 1, time.time(), event))


ANSWER_TIMEOUT_SECONDS = (
    15.0  # seconds for an answer; an engine that starts, or is busy with a long turn, has it by then
)


SUBMIT_TIMEOUT_SECONDS = 60.0  # for a new batch: whoever submits one has nothing to show before it is there


ENGINE_CHECK_SECONDS = 0.25  # at the engine, while an answer is awaited


JOURNAL_CHECK_SECONDS = 1.0  # between two looks whether the journal was replaced


JOURNAL_POLL_SECONDS = 0.02  # between two looks for a journal that is not there yet


def open_session(place: RepoLocation, feed: EventStream | None = None) -> Session:
    """With everything folded that is there. Nothing is made: a place where nothing was submitted stays as it is."""
    desk = Session(place, feed)
    try:
        desk.refresh()
    except BaseException:
        desk.close()
        raise
    return desk


@dataclass(frozen=True, slots=True)
class RecordEvents:
    """A record, and what follows from it."""

    record: Record
    events: Sequence[StreamEvent]


class Session:
    """Belongs to the thread that opened it. What is asked for here is in the state as soon as `ask` returns.

    With a `feed`, it is the feed that folds, and from `listen` on also tells: `heard` gives what it told, or whoever
    listens is called with each record as it is folded.
    """

    def __init__(self, place: RepoLocation, feed: EventStream | None = None) -> None:
        self.place = place
        self.state = State() if feed is None else feed.state
        self._event_stream = feed
        self._collects_events = False
        self._unread_events: list[RecordEvents] = []
        self._callback: Callable[[Record, Sequence[StreamEvent]], None] | None = None
        self._journal_checked_at = 0.0
        self._reader: JournalReader | None = None
        self._inbox: Inbox | None = None
        self._unread: list[Record] = []
        self._answers = PendingAnswers()
        self._launcher = EngineLauncher(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._launcher.close()
        self._close_journal()
        if self._inbox is not None:
            self._inbox.close()
            self._inbox = None

    def change_checkout(self, place: RepoLocation) -> None:
        """The same repository, in another checkout: what is started from now on is started there."""
        assert place.state == self.place.state
        self.place = place
        self._launcher.change_checkout(place)

    @property
    def journal_id(self) -> str | None:
        """Another one than before: the journal was replaced, and the state begins anew."""
        return None if self._reader is None else self._reader.id

    def refresh(self) -> Sequence[Record]:
        """Read and fold what is new; the records, also those that were folded while an answer was awaited."""
        self._read_journal()
        unread, self._unread = self._unread, []
        return unread

    @property
    def event_stream(self) -> EventStream:
        """For those who opened it with one."""
        assert self._event_stream is not None
        return self._event_stream

    def subscribe(self, callback: Callable[[Record, Sequence[StreamEvent]], None] | None = None) -> None:
        """What happens from now on is to be told; to `hear` if it is given, and then nothing is kept here."""
        self._collects_events, self._callback = True, callback

    def read_events(self) -> Sequence[RecordEvents]:
        """Read what is new; everything that was told since the last time."""
        self.refresh()
        told, self._unread_events = self._unread_events, []
        return told

    def prestart_engine(self, begun: HeldProcess | None = None) -> None:
        """Something will be asked for: let an engine get ready meanwhile, or the one that was begun for this place."""
        self._launcher.prestart(begun)

    def wait(self, timeout: float) -> bool:
        """True as soon as there is something to refresh, False when the time is over."""
        return bool(self._unread) or self._wait_for_records(timeout)

    def _wait_for_records(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while not self._open_journal():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(JOURNAL_POLL_SECONDS, left))
        assert self._reader is not None
        try:
            return self._reader.wait(self.state.seq, max(0.0, deadline - time.monotonic()))
        except JournalMissingError:
            self._journal_checked_at = 0.0
            return True

    def find_engine(self) -> EngineInfo | None:
        return daemon.find_engine(self.place)

    def list_pending(self) -> Sequence[Request]:
        """Requests that no engine has taken yet."""
        if self._inbox is None and not (self.place.state / project_files.INBOX_FILE).exists():
            return ()
        return [request for request in self._open_inbox().pending() if request.id not in self.state.seen_requests]

    def preview_state(self) -> State:
        """The state, and in it the batches that are accepted and not taken yet: who has just submitted one sees it."""
        return with_pending_submits(self.state, self.list_pending())

    def ensure_engine(self) -> None:
        """Start an engine if there is work and none is there. Raises WorldError when engines do not stay."""
        from plait.core.scheduler.rules import is_engine_needed  # it knows all rules, and few need them

        if is_engine_needed(self.state) or self.list_pending():
            self._launcher.ensure_running()

    def submit(self, submission: Submission) -> str:
        """The new batch's id, once it is in the journal. Raises WorldError if it is refused, or not answered in time."""
        request = self.enqueue_submission(submission)
        self._wait_for_answers([request], SUBMIT_TIMEOUT_SECONDS)
        (told,) = self.collect_answers([request])
        return self.confirm_submission(request, told)

    def enqueue_submission(self, submission: Submission, request_id: str = "") -> Submit:
        """The request for a new batch, once it is safe in the inbox: somebody will answer it. `name`: its id, if not any."""
        from plait.client.submission_files import (
            create_batch_files,
            redact_submission,
            remove_batch_files,
        )  # most fronts only look
        from plait.git.refs import batch_branch

        submission = redact_submission(submission)
        batch = create_batch_files(self.place, self.state, submission)
        request = Submit(
            request_id or new_request_id(),
            batch,
            submission.plan.without_texts(),
            submission.settings,
            base=submission.base,
            branch=batch_branch(batch) if submission.base else "",
            seed=int.from_bytes(os.urandom(4)),
            sources=submission.sources,
        )
        try:
            self.enqueue([request])
        except InboxError:
            remove_batch_files(self.place, batch)
            raise
        return request

    def confirm_submission(self, request: Submit, answer: RequestAnswer) -> str:
        """The new batch's id. Raises WorldError if it is refused, or was not answered in time."""
        from plait.client.submission_files import remove_batch_files

        if answer.granted is False:
            remove_batch_files(self.place, request.batch)
            raise WorldError(f"the batch was refused: {answer.why}")
        if answer.granted is None:
            raise WorldError(
                f"batch {request.batch} is accepted, but no engine has taken it within {SUBMIT_TIMEOUT_SECONDS:.0f} seconds",
                hint=f"It starts as soon as one does. The engine's log is {self.place.state / daemon.LOG_FILE}.",
            )
        return request.batch

    def send(self, request: Request) -> RequestAnswer:
        return self.send_all([request])[0]

    def send_all(self, requests: Sequence[Request], *, timeout: float | None = None) -> list[RequestAnswer]:
        """Durable first, then answered, as far as an engine does so in time; an answer for each, in their order."""
        self.enqueue(requests)
        self._wait_for_answers(requests, ANSWER_TIMEOUT_SECONDS if timeout is None else timeout)
        return self.collect_answers(requests)

    def enqueue(self, requests: Sequence[Request]) -> None:
        """They are safe, and whoever answers them has been rung for. Nothing is waited for."""
        from plait.client.submission_files import renew_environment  # most fronts only look

        renew_environment(self.place, self.state, requests)
        self._answers.expect(requests)
        for request in requests:
            self._open_inbox().put(request)
        daemon.wake_engine(self.place)

    def are_answered(self, requests: Sequence[Request]) -> bool:
        """Whether all of them are, as far as has been read."""
        return self._answers.are_complete(requests)

    def collect_answers(self, requests: Sequence[Request]) -> list[RequestAnswer]:
        """As far as there are any: nobody waits for the others any more."""
        return self._answers.collect(requests)

    def _wait_for_answers(self, requests: Sequence[Request], timeout: float) -> None:
        deadline = time.monotonic() + timeout
        self._read_journal()
        while not self.are_answered(requests) and time.monotonic() < deadline:
            self.ensure_engine()
            self._wait_for_records(min(ENGINE_CHECK_SECONDS, deadline - time.monotonic()))
            self._read_journal()

    def _read_journal(self) -> None:
        if self._reader is not None and self._is_journal_replaced():
            self._close_journal()
        if not self._open_journal():
            return
        assert self._reader is not None
        for record in self._reader.read(self.state.seq):
            self._apply(record)
            self._answers.handle_record(record)
            self._launcher.handle_record(record)
            if self._callback is None:
                self._unread.append(record)

    def _apply(self, record: Record) -> None:
        if self._event_stream is None:
            evolve(self.state, record)
        elif self._callback is not None:
            self._callback(record, self._event_stream.apply(record))
        elif self._collects_events:
            self._unread_events.append(RecordEvents(record, self._event_stream.apply(record)))
        else:
            self._event_stream.replay(record)

    def _is_journal_replaced(self) -> bool:
        """Now and then is often enough: whoever waits is told at once."""
        assert self._reader is not None
        now = time.monotonic()
        if now - self._journal_checked_at < JOURNAL_CHECK_SECONDS:
            return False
        self._journal_checked_at = now
        try:
            self._reader.wait(self.state.seq, 0)  # it looks whether its file is still the journal
        except JournalMissingError:
            return True
        return False

    def _open_journal(self) -> bool:
        if self._reader is None:
            try:
                self._reader = project_files.open_project_journal(self.place)
            except JournalMissingError:
                return False
        return True

    def _close_journal(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        if self._event_stream is not None:
            self._event_stream = type(self._event_stream)()
        self.state = State() if self._event_stream is None else self._event_stream.state
        self._unread, self._unread_events = [], []

    def _open_inbox(self) -> Inbox:
        if self._inbox is None:
            self._inbox = project_files.open_project_inbox(self.place)
        return self._inbox
