"""Submit a batch and follow it until it ends, stops, needs a person or the user detaches; report how following ended."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from signal import SIGPIPE
from typing import TYPE_CHECKING, assert_never

from plait.agents.interface import AgentSpec
from plait.cli import output
from plait.cli.error_handling import describe_os_error
from plait.cli.live.renderers import JsonRenderer, LineRenderer, Renderer
from plait.cli.live.signals import Bell, SignalCounter
from plait.cli.live.summary import get_batch_exit_code, make_summary
from plait.client.event_stream import EventStream
from plait.client.event_types import format_json_line
from plait.client.result_files import list_contests, list_model_jobs, make_contest_event, make_jobs_event
from plait.client.session import Session, new_request_id
from plait.core.decisions import TaskEnded
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import SourcesUnwritten, SourcesWritten
from plait.core.requests import Approve, Pause, Request, Resume, Stop, Unpause
from plait.core.settings import Publish, WriteBack
from plait.core.state import BatchState
from plait.core.status import PauseCause
from plait.core.views import BatchView, make_batch_view
from plait.store.batch_files import BatchInputsError
from plait.store.interfaces import InboxError
from plait.store.project_files import load_batch_inputs, open_state_paths

if TYPE_CHECKING:
    from plait.cli.commands.run_batch import RunOptions


@dataclass(frozen=True, slots=True)
class FollowedBatch:
    """A batch to follow. `agents` are those whose output is parsed; `bell` is the setting. `stops_on_interrupt`: Ctrl+C
    stops the batch; otherwise it only ends following.
    """

    batch: str
    headline: str
    agents: tuple[AgentSpec, ...] = ()
    bell: bool = True
    stops_on_interrupt: bool = True


def load_agents(session: Session, batch: str) -> tuple[AgentSpec, ...]:
    """Load the agents as submitted; without them their output is shown unparsed."""
    try:
        return load_batch_inputs(session.location, batch).agents
    except BatchInputsError:
        return ()


def wait_until_taken(session: Session, name: str) -> BatchState:
    """Wait until an engine has taken the batch, whose submitter may have died. Raises WorldError after a while."""
    deadline = time.monotonic() + _TAKE_TIMEOUT_SECONDS
    while name not in session.state.batches:
        if time.monotonic() > deadline:
            raise WorldError(f"batch {name} was submitted, but no engine has picked it up")
        session.ensure_engine()
        session.wait(KEY_POLL_SECONDS)
        session.refresh()
    return session.state.batches[name]


def report_detached(options: RunOptions, batch: str) -> int:
    if options.as_json:
        output.print_json({"batchId": batch})
        return output.OK
    output.print_line(f"Batch {batch} runs in the background.")
    output.print_line((f"  plait status {batch}   shows its progress", "dim"))
    output.print_line((f"  {_format_watch_command(options, batch)}    shows the live display", "dim"))
    return output.OK


def follow_batch(options: RunOptions, session: Session, followed: FollowedBatch, signals: SignalCounter) -> int:
    """Follow the batch to its end and return the exit code."""
    if not options.web:
        return _follow_to_end(options, session, followed, signals)
    from plait.cli.sidecar import run_sidecar  # only for --web

    with run_sidecar(session.location.top, as_json=options.as_json):
        return _follow_to_end(options, session, followed, signals)


def _find_publish_option(session: Session, view: BatchView) -> Publish:
    if view.ended_at is None or view.shipped or not view.branch or view.head == view.base:
        return Publish.OFF  # there is nothing to offer
    from plait.client.pull_request_preview import find_publish_option

    return find_publish_option(session.location, view.id)


def _follow_to_end(options: RunOptions, session: Session, followed: FollowedBatch, signals: SignalCounter) -> int:
    stream, batch = session.event_stream, followed.batch
    try:
        if not options.as_json:
            output.print_line(followed.headline)
        with _make_renderer(options, session, followed, stream) as renderer:
            interactive = output.is_interactive() and not options.as_json
            bell = followed.bell and not options.as_json
            result = BatchFollower(
                session,
                batch,
                renderer,
                signals,
                interactive=interactive,
                bell=bell,
                stops_on_interrupt=followed.stops_on_interrupt,
            ).follow()
            view = make_batch_view(session.state, session.state.batches[batch])
            now = time.time()
            jobs = list_model_jobs(open_state_paths(session.location), view)
            contests = list_contests(open_state_paths(session.location), session.state.batches[batch])
            page = make_summary(
                view,
                now=now,
                jobs=jobs,
                contests=contests,
                publish_option=_find_publish_option(session, view),
            )
            if options.directory != Path():
                page.add_line((f"  from another directory: plait -C {shlex.quote(str(options.directory))}", "dim"))
            renderer.finish(None if result is FollowResult.DETACHED else page)
            if options.as_json and result is not FollowResult.DETACHED:
                events = [make_jobs_event(jobs, batch, now)] if jobs else []
                events += [make_contest_event(task, contest, batch, now) for task, contest in contests.items()]
                sys.stdout.writelines(f"{format_json_line(event)}\n" for event in events)
    except OSError as error:
        return _report_lost_output(options, batch, error)
    if result is FollowResult.NEEDS_PERSON and options.as_json:
        page.show(stderr=True)
    return _report_result(options, result, view, signals)


def _make_renderer(options: RunOptions, session: Session, followed: FollowedBatch, stream: EventStream) -> Renderer:
    batch = followed.batch
    out = None if options.as_json else output.find_terminal()
    if not options.as_json and (out is None or out.is_dumb_terminal):
        return LineRenderer(batch, [task.task.id for task in session.state.batches[batch].tasks])
    from plait.client.logs.activity import ActivityTracker, LogStream, make_parser_factory  # lines show only records
    from plait.store.batch_files import BatchInputs

    paths = open_state_paths(session.location)
    make_parser = make_parser_factory(BatchInputs(str(session.location.top), (), followed.agents))
    if out is None:
        return JsonRenderer(stream, batch, LogStream(paths, make_parser))
    from plait.cli.live.display import Display  # only for terminals

    activities = ActivityTracker(paths, make_parser)
    return Display(out, stream, batch, activities, stops_on_interrupt=followed.stops_on_interrupt)


def _report_result(options: RunOptions, result: FollowResult, view: BatchView, signals: SignalCounter) -> int:
    """Print what the summary doesn't say, and return the exit code."""
    match result:
        case FollowResult.ENDED:
            return get_batch_exit_code(view)
        case FollowResult.STOPPED:
            output.print_notice(f"Stopped. To resume: {_format_resume_command(options)}")
            return output.INTERRUPTED
        case FollowResult.NEEDS_PERSON:
            return output.NEEDS_PERSON
        case FollowResult.DETACHED:
            output.print_notice(
                f"Batch {view.id} continues in the background. To watch it: {_format_watch_command(options, view.id)}"
            )
            return output.OK if signals.exit_signal is None else 128 + signals.exit_signal
        case _:
            assert_never(result)


def _format_resume_command(options: RunOptions) -> str:
    return shlex.join(["plait", *_format_directory(options), "run", *options.source_names, "--resume"])


def _format_watch_command(options: RunOptions, batch: str) -> str:
    return shlex.join(["plait", *_format_directory(options), "watch", batch])


def _format_directory(options: RunOptions) -> list[str]:
    return [] if options.directory == Path() else ["-C", str(options.directory)]


def _report_lost_output(options: RunOptions, batch: str, error: OSError) -> int:
    """Report that the output can't be written or its reader is gone. The batch continues, but the exit code is not 0."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        output.print_notice(f"plait: {describe_os_error(error)}")
    output.print_notice(
        f"Batch {batch} continues in the background. To watch it: {_format_watch_command(options, batch)}"
    )
    return 128 + SIGPIPE if isinstance(error, BrokenPipeError) else output.FAILED


_TAKE_TIMEOUT_SECONDS = 60.0  # for an engine to take a batch that was only submitted
KEY_POLL_SECONDS = 0.25  # wait for records at most this long before keys and signals are read
MIN_READ_INTERVAL_SECONDS = 0.05  # between two reads of the journal
WRITE_BACK_TIMEOUT_SECONDS = 10.0  # for the statuses in the sources
HEALTH_CHECK_SECONDS = 1.0  # between two checks of the engine

_STOPPING_NOTICE = "stopping the agents; press Ctrl+C again to stop them immediately"
_STOPPING_NOW_NOTICE = "stopping immediately"


class FollowResult(Enum):
    """Why following ended."""

    ENDED = auto()  # the batch ended
    STOPPED = auto()  # by Ctrl+C; it can be resumed
    NEEDS_PERSON = auto()  # it waits for a person, and there is no terminal
    DETACHED = auto()  # the user left; the batch continues


class BatchFollower:
    """Follows a batch. `interactive`: a person is at the terminal and can answer what the batch waits for."""

    def __init__(
        self,
        session: Session,
        batch: str,
        renderer: Renderer,
        signals: SignalCounter,
        *,
        interactive: bool,
        bell: bool = False,
        stops_on_interrupt: bool = True,
    ) -> None:
        self._session, self._id, self._renderer, self._signals = session, batch, renderer, signals
        self._bell = Bell(batch, enabled=bell)
        self._interactive = interactive
        self._stops_on_interrupt = stops_on_interrupt
        self._stops_requested = 0
        self._detached = False
        self._notice = ""
        self._engine_problem = ""
        self._refused_at: tuple[object, int] | None = None
        self._engine_checked_at = time.monotonic()
        self._last_read_at = 0.0
        self._last_task_end = self._written_back = 0  # journal positions

    @property
    def _batch(self) -> BatchState:
        return self._session.get_batch(self._id)

    def follow(self) -> FollowResult:
        self._read_records()
        while (result := self._find_result()) is None:
            if self._refused_at is not None and self._refused_at != self._get_refusal_context():
                self._notice, self._refused_at = "", None  # the refusal no longer applies
            self._renderer.refresh(self._engine_problem or self._notice)
            self._handle_signals()
            for key in self._renderer.read_keys():
                self._handle_key(key)
            if self._session.wait(KEY_POLL_SECONDS):
                self._throttle()
                self._read_records()
            if time.monotonic() - self._engine_checked_at >= HEALTH_CHECK_SECONDS:
                self._session.ensure_engine()
                self._check_engine()
                self._engine_checked_at = time.monotonic()
        if result is FollowResult.ENDED:
            self._wait_for_write_back()
        return result

    def _check_engine(self) -> None:
        """Show what the engine reports in its health file, such as a journal that can't be written."""
        engine = self._session.find_engine()
        problem = engine.trouble if engine is not None else ""
        self._engine_problem = f"the engine is stuck: {problem}" if problem else ""

    def _read_records(self) -> None:
        record_events = self._session.read_events()
        for item in record_events:
            event = item.record.event
            if isinstance(event, TaskEnded) and event.batch == self._id:
                self._last_task_end = item.record.seq
            elif isinstance(event, SourcesWritten | SourcesUnwritten) and event.batch == self._id:
                self._written_back = max(self._written_back, event.upto)
        self._renderer.add_events(record_events)
        self._bell.ring_for(self._session.state, [item.record for item in record_events])

    def _wait_for_write_back(self) -> None:
        """Wait until the sources have the final statuses or can't be written, but not long: a file system may hang."""
        batch = self._batch
        expected = batch.settings.write_back in {WriteBack.CHECKOUT, WriteBack.BOTH} and batch.sources
        deadline = time.monotonic() + WRITE_BACK_TIMEOUT_SECONDS
        while expected and self._written_back < self._last_task_end and time.monotonic() < deadline:
            self._session.wait(KEY_POLL_SECONDS)
            self._read_records()

    def _throttle(self) -> None:
        """Wait a moment, so that records that come in quick succession are shown together."""
        pause = self._last_read_at + MIN_READ_INTERVAL_SECONDS - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        self._last_read_at = time.monotonic()

    def _find_result(self) -> FollowResult | None:
        batch = self._batch
        if batch.ended is not None:
            return FollowResult.ENDED
        if self._detached or self._signals.exit_signal is not None:
            return FollowResult.DETACHED
        if batch.alive:
            return None
        if self._stops_requested and batch.stopping:
            return FollowResult.STOPPED
        return FollowResult.NEEDS_PERSON if not self._interactive and self._needs_person() else None

    def _needs_person(self) -> bool:
        """Whether the rest waits for a person, once pending requests, which may change that, are answered."""
        return make_batch_view(self._session.state, self._batch).waits_for_person and not self._session.list_pending()

    def _handle_signals(self) -> None:
        if self._signals.interrupts and not self._stops_on_interrupt:
            self._detached = True
            return
        if self._signals.interrupts > self._stops_requested:
            self._stops_requested = self._signals.interrupts
            now = self._stops_requested > 1
            self._notice, self._refused_at = _STOPPING_NOW_NOTICE if now else _STOPPING_NOTICE, None
            self._renderer.refresh(self._notice)
            self._send(Stop(new_request_id(), self._id, now=now))

    def _handle_key(self, key: str) -> None:
        match key:
            case "a" | "\n" | "\r":
                self._send(Approve(new_request_id(), self._id))
            case "p":
                self._send(self._make_pause_toggle())
            case "d" | "q":
                self._detached = True
            case _:
                pass

    def _make_pause_toggle(self) -> Request:
        paused = self._batch.paused
        if paused is None:
            return Pause(new_request_id(), self._id)
        if paused.cause is PauseCause.STOP:
            return Resume(new_request_id(), self._id)
        return Unpause(new_request_id(), self._id)

    def _get_refusal_context(self) -> tuple[object, int]:
        """Return the state that a refusal depends on; when it changes, the notice disappears."""
        return self._batch.paused, self._batch.unfinished_count

    def _send(self, request: Request) -> None:
        """Send a request; a failure becomes a notice, and following continues."""
        try:
            answer = self._session.send(request)
        except InboxError as error:
            self._notice = error.message
            return
        if answer.granted is False:
            self._notice, self._refused_at = answer.why, self._get_refusal_context()
        elif not isinstance(request, Stop):
            self._notice = ""
        self._read_records()
