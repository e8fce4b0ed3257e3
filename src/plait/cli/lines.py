"""A batch as plain lines, one per change: what a log file, a pipe or a screen reader gets instead of a display."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo
from shlex import quote

from plait.cli.lines_branch import gating, progress, rebuilding, short
from plait.cli.say import harmless
from plait.core.status import Category
from plait.front.event import Event, EventType
from plait.front.telling.limits import MACHINE
from plait.front.way import answer

_WIDEST_ID = 32


class Lines:
    """`name` is what a person can call the batch by; `zone` the one that the clock is told in (None: the local one)."""

    def __init__(self, ids: Iterable[str] = (), *, name: str = "", zone: tzinfo | None = None) -> None:
        self._name = name
        self._zone = zone
        self._width = min(_WIDEST_ID, max(len(text) for text in (f"batch {name}", *ids)))

    def tell(self, event: Event) -> str | None:
        """`12:03:44  03-split  started (shell, attempt 1)`; None for what is not worth a line."""
        words = self._words(event)
        if words is None:
            return None
        who = event.task or (f"batch {self._name or event.batch}" if event.batch else "plait")
        return harmless(f"{self._clock(event.at)}  {who:{self._width}}  {' '.join(words.split())}")

    def _clock(self, at: float) -> str:
        return datetime.fromtimestamp(at, self._zone).strftime("%H:%M:%S")

    def _words(self, event: Event) -> str | None:
        if event.type.startswith("batch:task:"):
            return self._of_task(event)
        return self._of_batch(event) if event.batch is not None else self._of_all(event)

    def _of_task(self, event: Event) -> str | None:
        more = event.more
        match event.type:
            case EventType.TASK_STARTED:
                return f"started ({more.get('agent')}, attempt {event.attempt})"
            case EventType.TASK_PHASE:
                return f"{more.get('phase')}"
            case EventType.TASK_NEEDS_INPUT:
                question = str(more.get("question"))
                return f"asks: {question} · {answer(self._called(event), question)}"
            case EventType.TASK_WAITING if more.get("on") == "approval":
                return f"waits for approval · plait approve {self._name}"
            case EventType.TASK_VERIFYING:
                return f"verifying: {more.get('command')}"
            case EventType.TASK_RETRY:
                return f"goes again at {self._instant(more.get('retryAt'))}: {more.get('why')}"
            case EventType.TASK_MERGED:
                return f"merged as {short(more.get('commit'))}"
            case EventType.TASK_CONFLICTED | EventType.TASK_FAILED | EventType.TASK_TIMED_OUT:
                return f"{_status(event)} · {self._more(event)}"
            case EventType.TASK_QUEUED | EventType.TASK_WAITING:
                return None
            case _:
                return _status(event)

    def _more(self, event: Event) -> str:
        """The command that shows why."""
        if event.type is EventType.TASK_CONFLICTED:
            return f"plait diff {self._called(event)}"
        gate = " --gate" if event.more.get("category") == Category.GATE else ""
        return f"plait logs {self._called(event)}{gate}"

    def _called(self, event: Event) -> str:
        return f"{quote(self._name or event.batch or '')} {quote(event.task or '')}"

    def _of_batch(self, event: Event) -> str | None:
        more = event.more
        match event.type:
            case EventType.BATCH_CREATED:
                count = more.get("tasks")
                return f"created: {count} task{'' if count == 1 else 's'}, {more.get('mode')}"
            case EventType.BATCH_PROGRESS:
                return progress(event, quote(self._name or event.batch or ""))
            case EventType.BATCH_STARTED | EventType.EXECUTION_LOG:
                return None
            case EventType.BATCH_MERGING:
                return None if event.task else rebuilding(more)
            case EventType.BATCH_GATING:
                return gating(more)
            case _:
                return _status(event)

    def _of_all(self, event: Event) -> str | None:
        more = event.more
        match event.type:
            case EventType.LIMIT_OPENED if more.get("until") is None:
                return f"nothing new starts: {more.get('reason')}"
            case EventType.LIMIT_OPENED:
                until = self._instant(more.get("until"))
                return f"{more.get('provider')} takes no work until {until}: {more.get('reason')}"
            case EventType.LIMIT_CLOSED:
                machine = more.get("provider") == MACHINE
                return f"{'the machine' if machine else more.get('provider')} takes work again"
            case EventType.ENGINE_TAKEN:
                return f"an engine is at work (pid {more.get('pid')})"
            case _:
                return None

    def _instant(self, told: object) -> str:
        return datetime.fromisoformat(str(told)).astimezone(self._zone).strftime("%H:%M:%S")


def _status(event: Event) -> str:
    """The last word of the event's type as people say it, and the reason."""
    said = event.type.rpartition(":")[2].replace("_", " ")
    word = "done" if event.type is EventType.TASK_COMPLETED else said
    reason = str(event.more.get("reason") or "")
    if reason.startswith(word):
        return reason
    if reason == "merged":  # that was told a moment ago
        return word
    return f"{word}: {reason}" if reason else word
