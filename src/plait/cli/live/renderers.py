"""Renderers of a batch that is followed: as plain lines, for log files, pipes and screen readers, or as JSON.

`display.py` has the one for terminals.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from shlex import quote
from typing import TYPE_CHECKING, Self

from plait.cli.format import pluralize, shorten_commit
from plait.cli.output import Page, print_notice, replace_control_chars
from plait.client.event_stream import MACHINE_PROVIDER, EventStream
from plait.client.event_types import EventType, StreamEvent, format_json_line
from plait.client.next_step import format_answer_command
from plait.client.session import RecordEvents
from plait.core.reports import AttemptExited, AttemptLost
from plait.core.scheduler.starts import is_budget_question
from plait.core.state import AttemptState
from plait.core.status import Category, WaitReason
from plait.core.text import join_names

if TYPE_CHECKING:
    from plait.client.logs.activity import LogStream

_MAX_ID_WIDTH = 32


class EventLines:
    """Formats events as lines. `name` is the batch's id, `zone` the time zone of the clock (None: local)."""

    def __init__(self, name: str, ids: Iterable[str] = (), zone: tzinfo | None = None) -> None:
        self._name = name
        self._zone = zone
        self._width = min(_MAX_ID_WIDTH, max(len(text) for text in (f"batch {name}", *ids)))

    def format_event(self, event: StreamEvent) -> str | None:
        """Format an event: `12:03:44 03-split started (shell, attempt 1)`; None for events that get no line."""
        text = self._describe(event)
        if text is None:
            return None
        who = event.task or (f"batch {self._name}" if event.batch else "plait")
        return replace_control_chars(f"{self._format_time(event.at)}  {who:{self._width}}  {' '.join(text.split())}")

    def _format_time(self, at: float) -> str:
        return datetime.fromtimestamp(at, self._zone).strftime("%H:%M:%S")

    def _describe(self, event: StreamEvent) -> str | None:
        if event.type.startswith("batch:task:"):
            return self._describe_task_event(event)
        return self._describe_batch_event(event) if event.batch is not None else self._describe_global_event(event)

    def _describe_task_event(self, event: StreamEvent) -> str | None:
        data = event.data
        match event.type:
            case EventType.TASK_STARTED:
                return f"started ({data.get('agent')}, attempt {event.attempt})"
            case EventType.TASK_PHASE:
                return f"{data.get('phase')}"
            case EventType.TASK_NEEDS_INPUT:
                question = str(data.get("question"))
                command = format_answer_command(
                    self._format_arguments(event), asks_for_budget=is_budget_question(question)
                )
                return f"asks: {question} · {command}"
            case EventType.TASK_VERIFYING:
                return f"verifying: {data.get('command')}"
            case EventType.TASK_RETRY:
                return f"retrying at {self._format_instant(data.get('retryAt'))}: {data.get('why')}"
            case EventType.TASK_MERGED:
                return f"merged as {format_commit(data.get('commit'))}"
            case EventType.TASK_CONFLICTED | EventType.TASK_FAILED | EventType.TASK_TIMED_OUT:
                return f"{_describe_status(event)} · {self._suggest_command(event)}"
            case EventType.TASK_QUEUED | EventType.TASK_WAITING:
                return self._describe_wait(data)
            case _:
                return _describe_status(event)

    def _describe_wait(self, data: EventDetails) -> str | None:
        """Describe a wait for a person; None for others, which end by themselves."""
        match data.get("on"):
            case WaitReason.APPROVAL:
                return f"waits for approval · plait approve {self._name}"
            case WaitReason.PROGRAM:
                return str(data.get("reason"))
            case _:
                return None

    def _suggest_command(self, event: StreamEvent) -> str:
        """Return the command that shows why."""
        if event.type is EventType.TASK_CONFLICTED:
            return f"plait diff {self._format_arguments(event)}"
        gate = " --gate" if event.data.get("category") == Category.GATE else ""
        return f"plait logs {self._format_arguments(event)}{gate}"

    def _format_arguments(self, event: StreamEvent) -> str:
        return f"{quote(self._name)} {quote(event.task or '')}"

    def _describe_batch_event(self, event: StreamEvent) -> str | None:
        data = event.data
        match event.type:
            case EventType.BATCH_CREATED:
                return f"created: {_pluralize(data.get('total'), 'task')}, {data.get('mode')}"
            case EventType.BATCH_PROGRESS:
                return describe_progress(event, quote(self._name))
            case EventType.BATCH_STARTED | EventType.EXECUTION_LOG:
                return None
            case EventType.BATCH_MERGING:
                return None if event.task else describe_rebuild(data)
            case EventType.BATCH_GATING:
                return describe_gate_start(data)
            case _:
                return _describe_status(event)

    def _describe_global_event(self, event: StreamEvent) -> str | None:
        data = event.data
        match event.type:
            case EventType.LIMIT_OPENED if data.get("until") is None:
                return f"nothing new starts: {data.get('reason')}"
            case EventType.LIMIT_OPENED:
                until = self._format_instant(data.get("until"))
                return f"{data.get('provider')} is unavailable until {until}: {data.get('reason')}"
            case EventType.LIMIT_CLOSED:
                provider = data.get("provider")
                return "tasks can start again" if provider == MACHINE_PROVIDER else f"{provider} is available again"
            case EventType.ENGINE_TAKEN:
                return f"engine running (pid {data.get('pid')})"
            case _:
                return None

    def _format_instant(self, value: object) -> str:
        return datetime.fromisoformat(str(value)).astimezone(self._zone).strftime("%H:%M:%S")


def _describe_status(event: StreamEvent) -> str:
    """Return the last part of the event's type, and the reason."""
    word = event.data.get("status") or event.type.rpartition(":")[2].replace("_", " ")
    if event.type is EventType.TASK_COMPLETED:
        word = "done"
    reason = str(event.data.get("reason") or "")
    if reason.startswith(word):
        return reason
    if reason == "merged":  # the line before says so
        return word
    return f"{word}: {reason}" if reason else word


_MAX_NAMES = 3


EventDetails = Mapping[str, object]


def format_commit(name: object) -> str:
    return shorten_commit(str(name)) if name else "?"


def describe_rebuild(data: EventDetails) -> str:
    dropped = _join_names(data.get("without"))
    return f"rebuilding the batch branch without {dropped}" if dropped else "rebuilding the batch branch"


def describe_gate_start(data: EventDetails) -> str:
    """Describe the start of a gate: `gate 2: make test, on 3f2a9b17c0 (3 merges)`."""
    return f"{_format_gate_name(data)}: {data.get('command')}, on {format_commit(data.get('commit'))}{_format_merge_count(data)}"


def describe_progress(event: StreamEvent, name: str) -> str | None:
    """Describe predicted conflicts, gate results, publishing and unwritten statuses; mere counts get no line."""
    data = event.data
    if "conflictsWith" in data:
        return _describe_predicted_conflict(data)
    gated = data.get("gating")
    if isinstance(gated, Mapping):
        return _describe_gate_result(gated, name)
    if "unwritten" in data:
        where = data.get("unwritten")
        return f"statuses are not in {where}: {data.get('error')}" if where else "the statuses are written"
    return _describe_publishing(data) if "publishing" in data else None


def _describe_predicted_conflict(data: EventDetails) -> str:
    other = data.get("conflictsWith") or "the batch branch"
    files = _join_names(data.get("files"))
    return f"would conflict with {other} in {files}" if files else f"no longer conflicts with {other}"


def _describe_gate_result(data: EventDetails, name: str) -> str:
    error = f": {data['error']}" if data.get("error") else ""
    text = f"{_format_gate_name(data)} {data.get('result')}{_format_merge_count(data)}{error}"
    if data.get("result") != "failed":
        return text
    suspects = data.get("suspects")
    if isinstance(suspects, Sequence) and len(suspects) > 1:
        text = f"{text}; caused by one of: {_join_names(suspects)}"
    return f"{text} · plait logs {name} --gate --attempt {data.get('gate')}"


def _describe_publishing(data: EventDetails) -> str:
    match data.get("publishing"):
        case "started":
            pull = "" if data.get("publish") == "push" else " and its pull request"
            return f"publishing its branch{pull}, at {format_commit(data.get('commit'))}"
        case "waiting":
            return f"publishing its branch: {data.get('hint')}"
        case "done":
            if data.get("hint"):
                return f"pushed, at {format_commit(data.get('commit'))}; {data['hint']}"
            url = f": {data['prUrl']}" if data.get("prUrl") else ""
            return f"published, at {format_commit(data.get('commit'))}{url}"
        case _:
            return f"not published: {data.get('error')}"


def _format_gate_name(data: EventDetails) -> str:
    return f"gate {data['gate']}" if data.get("gate") else "gate"


def _format_merge_count(data: EventDetails) -> str:
    match data.get("merges"):
        case None:
            return ""
        case 0:
            return " (the base, without merges)"
        case count:
            return f" ({_pluralize(count, 'merge')})"


def _pluralize(count: object, noun: str) -> str:
    return pluralize(count, noun) if isinstance(count, int) else f"{count} {noun}s"


def _join_names(names: object) -> str:
    return join_names([str(name) for name in names] if isinstance(names, Sequence) else [], _MAX_NAMES)


class Renderer:
    """Shows a batch. Without a terminal, each notice is printed once, on standard error, and there are no keys."""

    def __init__(self) -> None:
        self._last_notice = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_events(self, record_events: Sequence[RecordEvents]) -> None:
        """Show new records, which the state includes already."""

    def refresh(self, notice: str) -> None:
        if notice != self._last_notice:
            self._last_notice = notice
            if notice:
                print_notice(notice)

    def read_keys(self) -> list[str]:
        return []

    def finish(self, page: Page | None) -> None:
        """Show the last page."""


class LineRenderer(Renderer):
    def __init__(self, batch: str, ids: Sequence[str]) -> None:
        super().__init__()
        self._batch = batch
        self._lines = EventLines(batch, ids)

    def add_events(self, record_events: Sequence[RecordEvents]) -> None:
        events = [event for item in record_events for event in item.events if event.concerns(self._batch)]
        lines = map(self._lines.format_event, events)
        _write_lines([text for text in lines if text is not None])

    def finish(self, page: Page | None) -> None:
        if page is not None:
            page.show()
            sys.stdout.flush()


class JsonRenderer(Renderer):
    def __init__(self, stream: EventStream, batch: str, logs: LogStream) -> None:
        super().__init__()
        self._stream, self._batch, self._logs = stream, batch, logs

    def add_events(self, record_events: Sequence[RecordEvents]) -> None:
        for item in record_events:
            ended = self._find_ended_attempt(item.record.event)
            output = self._logs.finish(ended, item.record.at) if ended is not None else []
            _write_lines([format_json_line(event) for event in (*output, *item.events) if event.concerns(self._batch)])

    def _find_ended_attempt(self, event: object) -> AttemptState | None:
        """Return the attempt that ended with this event; tasks keep their last one."""
        if not isinstance(event, AttemptExited | AttemptLost):
            return None
        batch = self._stream.state.batches.get(event.attempt.batch)
        task = batch.find_task(event.attempt.task) if batch is not None else None
        attempts = (task.last, task.last_write) if task is not None else ()
        return next((attempt for attempt in attempts if attempt is not None and attempt.name == event.attempt), None)

    def refresh(self, notice: str) -> None:
        super().refresh(notice)
        batch = self._stream.state.batches.get(self._batch)
        if batch is not None:
            _write_lines([format_json_line(event) for event in self._logs.read(batch.alive.values(), time.time())])


def _write_lines(lines: Sequence[str]) -> None:
    """Write the lines and flush, because a program may be waiting for them."""
    if lines:
        sys.stdout.write("".join(f"{text}\n" for text in lines))
        sys.stdout.flush()
