"""Read the state, send requests to the engine and wait for its answers."""

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
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reducers import evolve
from plait.core.requests import Drop, Feedback, Recheck, Request, Resolve, Resume, Retry, Ship, Submit
from plait.core.state import BatchState, State
from plait.engine import daemon
from plait.engine.daemon import EngineInfo
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.interfaces import Inbox, InboxError, JournalMissingError, JournalReader

if TYPE_CHECKING:
    from plait.agents.interface import AgentSpec
    from plait.client.event_stream import EventStream
    from plait.client.event_types import StreamEvent
    from plait.core.plan import Plan
    from plait.core.settings import Settings
    from plait.engine.daemon import HeldProcess
    from plait.store.batch_files import RepoOptions, SandboxOptions


ANSWER_TIMEOUT_SECONDS = 15.0  # enough for an engine that starts or is in a long tick
SUBMIT_TIMEOUT_SECONDS = 60.0
UNANSWERED_MESSAGE = (
    f"request saved, but no engine answered within {ANSWER_TIMEOUT_SECONDS:.0f} s; check `plait status`"
)
ENGINE_CHECK_SECONDS = 0.25  # while waiting for an answer
JOURNAL_CHECK_SECONDS = 1.0  # how often to check whether the journal was replaced
JOURNAL_POLL_SECONDS = 0.02  # while there is no journal yet

# Requests that can reopen a batch that has ended, whose environment is gone by then.
REOPENING_REQUESTS = (Retry, Recheck, Resolve, Feedback, Resume, Drop, Ship)


@dataclass(frozen=True, slots=True)
class Submission:
    """A new batch. `plan` has all texts; `base` and `options` are for worktrees. `flags` are the settings, by key, that
    were given for this batch alone.
    """

    plan: Plan
    settings: Settings
    agents: tuple[AgentSpec, ...] = ()
    sources: tuple[str, ...] = ()
    base: str = ""
    options: RepoOptions | None = None
    template: str = ""
    flags: Mapping[str, object] = field(default_factory=dict)
    sandbox: SandboxOptions | None = None


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """The answer to a request. `granted` None: the request is in the inbox, and no engine has answered it yet."""

    request: str
    granted: bool | None = None
    tasks: tuple[str, ...] = ()
    why: str = ""


class PendingAnswers:
    """The answers that a caller waits for."""

    def __init__(self) -> None:
        self._answers: dict[str, RequestAnswer] = {}

    def expect(self, requests: Iterable[Request]) -> None:
        self._answers.update({request.id: RequestAnswer(request.id) for request in requests})

    def handle_record(self, record: Record) -> None:
        match record.event:
            case RequestGranted(request=name, tasks=tasks) if name in self._answers:
                self._answers[name] = RequestAnswer(name, granted=True, tasks=tasks)
            case RequestRefused(request=name, why=why) if name in self._answers:
                self._answers[name] = RequestAnswer(name, granted=False, why=why)
            case _:
                pass

    def are_complete(self, requests: Iterable[Request]) -> bool:
        return all(self._answers[request.id].granted is not None for request in requests)

    def collect(self, requests: Iterable[Request]) -> list[RequestAnswer]:
        """Return the answers in the order of the requests, and stop waiting for them."""
        return [self._answers.pop(request.id) for request in requests]


def new_request_id() -> str:
    from uuid import uuid4

    return str(uuid4())


def with_pending_submits(state: State, pending: Sequence[Request]) -> State:
    """Return the state with the submitted batches that no engine has taken yet; the state itself if there are none."""
    submits = [request for request in pending if isinstance(request, Submit)]
    if not submits:
        return state
    from plait.core.scheduler.request_answers import why_not_submit  # seldom needed
    from plait.core.state import copy_state

    preview = copy_state(state)
    for submit in submits:
        if why_not_submit(preview, submit) is None:
            for event in (submit, RequestGranted(submit.id)):
                evolve(preview, Record(preview.seq + 1, time.time(), event))
    return preview


def open_session(location: RepoLocation, event_stream: EventStream | None = None) -> Session:
    """Open a session with the whole journal folded. Creates no files."""
    session = Session(location, event_stream)
    try:
        session.refresh()
    except BaseException:
        session.close()
        raise
    return session


@dataclass(frozen=True, slots=True)
class RecordEvents:
    """A record and its events."""

    record: Record
    events: Sequence[StreamEvent]


class Session:
    """A client's connection to a project, used by one thread. When `send` returns, an answered request is in the state.

    With an event stream, records also become events after `subscribe`: `read_events` returns them, or a callback gets
    them.
    """

    def __init__(self, location: RepoLocation, event_stream: EventStream | None = None) -> None:
        self.location = location
        self.state = State() if event_stream is None else event_stream.state
        self._event_stream = event_stream
        self._collects_events = False
        self._unread_events: list[RecordEvents] = []
        self._callback: Callable[[Record, Sequence[StreamEvent]], None] | None = None
        self._journal_checked_at = 0.0
        self._reader: JournalReader | None = None
        self._inbox: Inbox | None = None
        self._unread: list[Record] = []
        self._answers = PendingAnswers()
        self._launcher = EngineLauncher(location)

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

    def change_checkout(self, location: RepoLocation) -> None:
        """Start engines in another checkout of the same repository from now on."""
        assert location.state == self.location.state
        self.location = location
        self._launcher.change_checkout(location)

    @property
    def journal_id(self) -> str | None:
        """The journal's id, which changes when the journal is replaced; the state is folded again then."""
        return None if self._reader is None else self._reader.id

    def refresh(self) -> Sequence[Record]:
        """Fold new records; return them and those that were folded while waiting for an answer."""
        self._read_journal()
        unread, self._unread = self._unread, []
        return unread

    @property
    def event_stream(self) -> EventStream:
        """The event stream, for sessions that were opened with one."""
        assert self._event_stream is not None
        return self._event_stream

    def subscribe(self, callback: Callable[[Record, Sequence[StreamEvent]], None] | None = None) -> None:
        """Make events from now on; with a callback, they go there and aren't collected."""
        self._collects_events, self._callback = True, callback

    def read_events(self) -> Sequence[RecordEvents]:
        """Fold new records; return all events since the last call."""
        self.refresh()
        events, self._unread_events = self._unread_events, []
        return events

    def prestart_engine(self, process: HeldProcess | None = None) -> None:
        """Start loading an engine for a request to come, or use `process`, started for this location."""
        self._launcher.prestart(process)

    def wait(self, timeout: float) -> bool:
        """Return True as soon as there are new records, False after the timeout."""
        return bool(self._unread) or self._wait_for_records(timeout)

    def _wait_for_records(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while not self._open_journal():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            time.sleep(min(JOURNAL_POLL_SECONDS, remaining))
        assert self._reader is not None
        try:
            return self._reader.wait(self.state.seq, max(0.0, deadline - time.monotonic()))
        except JournalMissingError:
            self._journal_checked_at = 0.0
            return True

    def find_engine(self) -> EngineInfo | None:
        return daemon.find_engine(self.location)

    def list_pending(self) -> Sequence[Request]:
        """List the requests that no engine has taken yet."""
        if self._inbox is None and not (self.location.state / project_files.INBOX_FILE).exists():
            return ()
        return [request for request in self._open_inbox().pending() if request.id not in self.state.seen_requests]

    def preview_state(self) -> State:
        """Return the state including submitted batches that no engine has taken yet."""
        return with_pending_submits(self.state, self.list_pending())

    def get_batch(self, batch_id: str) -> BatchState:
        """Return a batch; raises WorldError if the journal no longer has it."""
        batch = self.state.batches.get(batch_id)
        if batch is None:
            raise WorldError(f"batch {batch_id} is gone: the journal was removed or replaced")
        return batch

    def ensure_engine(self) -> None:
        """Start an engine if there is work and none runs. Raises WorldError if engines keep exiting."""
        from plait.core.scheduler.rules import is_engine_needed  # loads all rules

        if is_engine_needed(self.state) or self.list_pending():
            self._launcher.ensure_running()

    def submit(self, submission: Submission) -> str:
        """Submit a batch and return its id when it is in the journal. Raises WorldError if it is refused or not answered."""
        request = self.enqueue_submission(submission)
        self._wait_for_answers([request], SUBMIT_TIMEOUT_SECONDS)
        (answer,) = self.collect_answers([request])
        return self.confirm_submission(request, answer)

    def enqueue_submission(self, submission: Submission, request_id: str = "") -> Submit:
        """Put a request for a new batch into the inbox and return it."""
        from plait.client.submission_files import create_batch_files, redact_submission, remove_batch_files
        from plait.git.refs import batch_branch

        submission = redact_submission(submission)
        batch = create_batch_files(self.location, self.state, submission)
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
            remove_batch_files(self.location, batch)
            raise
        return request

    def confirm_submission(self, request: Submit, answer: RequestAnswer) -> str:
        """Return the new batch's id. Raises WorldError if it was refused or not answered."""
        from plait.client.submission_files import remove_batch_files

        if answer.granted is False:
            remove_batch_files(self.location, request.batch)
            raise WorldError(f"the batch was refused: {answer.why}")
        if answer.granted is None:
            raise WorldError(
                f"batch {request.batch} is queued, but no engine picked it up within {SUBMIT_TIMEOUT_SECONDS:.0f} seconds",
                hint=f"It starts as soon as one does. The engine's log is {self.location.state / daemon.LOG_FILE}.",
            )
        return request.batch

    def send(self, request: Request) -> RequestAnswer:
        return self.send_all([request])[0]

    def send_all(self, requests: Sequence[Request], *, timeout: float | None = None) -> list[RequestAnswer]:
        """Put requests into the inbox and wait for their answers; return one for each, in order."""
        self.enqueue(requests)
        self._wait_for_answers(requests, ANSWER_TIMEOUT_SECONDS if timeout is None else timeout)
        return self.collect_answers(requests)

    def enqueue(self, requests: Sequence[Request]) -> None:
        """Put requests into the inbox and wake the engine, without waiting."""
        from plait.client.submission_files import renew_environment
        from plait.store.state_claim import claim_state

        claim_state(self.location.state)
        renew_environment(self.location, self.state, requests)
        self._answers.expect(requests)
        for request in requests:
            self._open_inbox().put(request)
        daemon.wake_engine(self.location)

    def are_answered(self, requests: Sequence[Request]) -> bool:
        """Whether all of these requests are answered in the records read so far."""
        return self._answers.are_complete(requests)

    def collect_answers(self, requests: Sequence[Request]) -> list[RequestAnswer]:
        """Return the answers so far, and stop waiting for them."""
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
        """Whether there is another journal now. Checked now and then; `wait` notices it at once."""
        assert self._reader is not None
        now = time.monotonic()
        if now - self._journal_checked_at < JOURNAL_CHECK_SECONDS:
            return False
        self._journal_checked_at = now
        try:
            self._reader.wait(self.state.seq, 0)  # raises if its file is no longer the journal
        except JournalMissingError:
            return True
        return False

    def _open_journal(self) -> bool:
        if self._reader is None:
            try:
                self._reader = project_files.open_project_journal(self.location)
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
            self._inbox = project_files.open_project_inbox(self.location)
        return self._inbox
