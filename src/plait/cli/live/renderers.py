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
from plait.core.status import Category
from plait.core.text import join_names

if TYPE_CHECKING:
    from plait.client.logs.activity import LogStream

_MAX_ID_WIDTH = 32


class EventLines:
    """`name` is the batch's id, `zone` the time zone of the clock (None: local)."""

    def __init__(self, name: str, ids: Iterable[str] = (), zone: tzinfo | None = None) -> None:
        self._name = name
        self._zone = zone
        self._width = min(_MAX_ID_WIDTH, max(len(text) for text in (f"batch {name}", *ids)))

    def format_event(self, event: StreamEvent) -> str | None:
        """`12:03:44  03-split  started (shell, attempt 1)`; None for events that get no line."""
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
        more = event.data
        match event.type:
            case EventType.TASK_STARTED:
                return f"started ({more.get('agent')}, attempt {event.attempt})"
            case EventType.TASK_PHASE:
                return f"{more.get('phase')}"
            case EventType.TASK_NEEDS_INPUT:
                question = str(more.get("question"))
                command = format_answer_command(
                    self._format_arguments(event), asks_for_budget=is_budget_question(question)
                )
                return f"asks: {question} · {command}"
            case EventType.TASK_WAITING if more.get("on") == "approval":
                return f"waits for approval · plait approve {self._name}"
            case EventType.TASK_VERIFYING:
                return f"verifying: {more.get('command')}"
            case EventType.TASK_RETRY:
                return f"retrying at {self._format_instant(more.get('retryAt'))}: {more.get('why')}"
            case EventType.TASK_MERGED:
                return f"merged as {format_commit(more.get('commit'))}"
            case EventType.TASK_CONFLICTED | EventType.TASK_FAILED | EventType.TASK_TIMED_OUT:
                return f"{_describe_status(event)} · {self._suggest_command(event)}"
            case EventType.TASK_QUEUED | EventType.TASK_WAITING:
                return None
            case _:
                return _describe_status(event)

    def _suggest_command(self, event: StreamEvent) -> str:
        """The command that shows why."""
        if event.type is EventType.TASK_CONFLICTED:
            return f"plait diff {self._format_arguments(event)}"
        gate = " --gate" if event.data.get("category") == Category.GATE else ""
        return f"plait logs {self._format_arguments(event)}{gate}"

    def _format_arguments(self, event: StreamEvent) -> str:
        return f"{quote(self._name)} {quote(event.task or '')}"

    def _describe_batch_event(self, event: StreamEvent) -> str | None:
        more = event.data
        match event.type:
            case EventType.BATCH_CREATED:
                return f"created: {_pluralize(more.get('tasks'), 'task')}, {more.get('mode')}"
            case EventType.BATCH_PROGRESS:
                return describe_progress(event, quote(self._name))
            case EventType.BATCH_STARTED | EventType.EXECUTION_LOG:
                return None
            case EventType.BATCH_MERGING:
                return None if event.task else describe_rebuild(more)
            case EventType.BATCH_GATING:
                return describe_gate_start(more)
            case _:
                return _describe_status(event)

    def _describe_global_event(self, event: StreamEvent) -> str | None:
        more = event.data
        match event.type:
            case EventType.LIMIT_OPENED if more.get("until") is None:
                return f"nothing new starts: {more.get('reason')}"
            case EventType.LIMIT_OPENED:
                until = self._format_instant(more.get("until"))
                return f"{more.get('provider')} is unavailable until {until}: {more.get('reason')}"
            case EventType.LIMIT_CLOSED:
                machine = more.get("provider") == MACHINE_PROVIDER
                return f"{'the machine' if machine else more.get('provider')} is available again"
            case EventType.ENGINE_TAKEN:
                return f"engine running (pid {more.get('pid')})"
            case _:
                return None

    def _format_instant(self, value: object) -> str:
        return datetime.fromisoformat(str(value)).astimezone(self._zone).strftime("%H:%M:%S")


def _describe_status(event: StreamEvent) -> str:
    """The last part of the event's type, and the reason."""
    word = "done" if event.type is EventType.TASK_COMPLETED else event.type.rpartition(":")[2].replace("_", " ")
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


def describe_rebuild(more: EventDetails) -> str:
    gone = _join_names(more.get("without"))
    return f"rebuilding the batch branch without {gone}" if gone else "rebuilding the batch branch"


def describe_gate_start(more: EventDetails) -> str:
    """`gate 2: make test, on 3f2a9b17c0 (3 merges)`"""
    return f"{_format_gate_name(more)}: {more.get('command')}, on {format_commit(more.get('commit'))}{_format_merge_count(more)}"


def describe_progress(event: StreamEvent, name: str) -> str | None:
    """Predicted conflicts, gate results and publishing; mere counts get no line."""
    more = event.data
    if "conflictsWith" in more:
        return _describe_predicted_conflict(more)
    gated = more.get("gating")
    if isinstance(gated, Mapping):
        return _describe_gate_result(gated, name)
    return _describe_publishing(more) if "publishing" in more else None


def _describe_predicted_conflict(more: EventDetails) -> str:
    other = more.get("conflictsWith") or "the batch branch"
    files = _join_names(more.get("files"))
    return f"would conflict with {other} in {files}" if files else f"no longer conflicts with {other}"


def _describe_gate_result(more: EventDetails, name: str) -> str:
    why = f": {more['error']}" if more.get("error") else ""
    text = f"{_format_gate_name(more)} {more.get('result')}{_format_merge_count(more)}{why}"
    if more.get("result") != "failed":
        return text
    suspects = more.get("suspects")
    if isinstance(suspects, Sequence) and len(suspects) > 1:
        text = f"{text}; caused by one of: {_join_names(suspects)}"
    return f"{text} · plait logs {name} --gate --attempt {more.get('gate')}"


def _describe_publishing(more: EventDetails) -> str:
    match more.get("publishing"):
        case "started":
            pull = "" if more.get("publish") == "push" else " and its pull request"
            return f"publishing its branch{pull}, at {format_commit(more.get('commit'))}"
        case "done":
            url = f": {more['prUrl']}" if more.get("prUrl") else ""
            return f"published, at {format_commit(more.get('commit'))}{url}"
        case _:
            return f"not published: {more.get('error')}"


def _format_gate_name(more: EventDetails) -> str:
    return f"gate {more['gate']}" if more.get("gate") else "gate"


def _format_merge_count(more: EventDetails) -> str:
    match more.get("merges"):
        case None:
            return ""
        case 0:
            return " (the base, without merges)"
        case count:
            return f" ({_pluralize(count, 'merge')})"


def _pluralize(count: object, noun: str) -> str:
    return pluralize(count, noun) if isinstance(count, int) else f"{count} {noun}s"


def _join_names(found: object) -> str:
    return join_names([str(each) for each in found] if isinstance(found, Sequence) else [], _MAX_NAMES)


class Renderer:
    """Shows a batch. Without a terminal, each notice is printed once, on standard error, and there are no keys."""

    def __init__(self) -> None:
        self._last_notice = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_news(self, news: Sequence[RecordEvents]) -> None:
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

    def add_news(self, news: Sequence[RecordEvents]) -> None:
        events = [event for each in news for event in each.events if event.concerns(self._batch)]
        lines = map(self._lines.format_event, events)
        _write_lines([text for text in lines if text is not None])

    def finish(self, page: Page | None) -> None:
        if page is not None:
            page.show()
            sys.stdout.flush()


class JsonRenderer(Renderer):
    def __init__(self, feed: EventStream, batch: str, logs: LogStream) -> None:
        super().__init__()
        self._feed, self._batch, self._logs = feed, batch, logs

    def add_news(self, news: Sequence[RecordEvents]) -> None:
        for each in news:
            over = self._find_ended_attempt(each.record.event)
            output = self._logs.finish(over, each.record.at) if over is not None else []
            _write_lines([format_json_line(event) for event in (*output, *each.events) if event.concerns(self._batch)])

    def _find_ended_attempt(self, event: object) -> AttemptState | None:
        """The attempt that ended with this event; tasks keep their last one."""
        if not isinstance(event, AttemptExited | AttemptLost):
            return None
        batch = self._feed.state.batches.get(event.attempt.batch)
        task = batch.find_task(event.attempt.task) if batch is not None else None
        known = (task.last, task.last_write) if task is not None else ()
        return next((each for each in known if each is not None and each.name == event.attempt), None)

    def refresh(self, notice: str) -> None:
        super().refresh(notice)
        known = self._feed.state.batches.get(self._batch)
        if known is not None:
            _write_lines([format_json_line(event) for event in self._logs.read(known.alive.values(), time.time())])


def _write_lines(lines: Sequence[str]) -> None:
    """Flush, because a program may be waiting for the line."""
    if lines:
        sys.stdout.write("".join(f"{text}\n" for text in lines))
        sys.stdout.flush()
