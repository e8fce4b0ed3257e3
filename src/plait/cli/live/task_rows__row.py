"""A task's row, in words: who, where, how long, what, by whom, for how much."""

from __future__ import annotations

from collections.abc import Mapping

from plait.cli.format import format_diffstat
from plait.cli.format__spans import format_elapsed
from plait.cli.live.terminal_style import TerminalStyle
from plait.cli.live.view_model import BatchViewModel
from plait.core.fast_dataclass import dataclass
from plait.core.retry_policy import describe_failure
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category, TaskStatus, Waiting
from plait.core.views import TaskView

_ACTIVE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING)
_MIN_ID_LETTERS = 4  # an id with fewer letters says nothing: 63, 1.2, T007
_MERGED_STATUSES = (TaskStatus.DONE, TaskStatus.MERGING)
_MERGED_REASON = "merged"  # that it passed the gate as well is what done means
_RETRY_PHRASE, _ENDING_PHRASE = " again soon, because ", " is being ended, because "


@dataclass(frozen=True, slots=True)
class TaskRow:
    """`changed` is how much it changed, `warning` what may come of it; neither is worth cutting `what` short."""

    task: TaskView
    label: str
    title: str
    status: str
    duration: str
    diffstat: str
    activity: str
    warning: str
    agent: str
    cost: str


def make_row(
    model: BatchViewModel, task: TaskView, now: float, activity: Mapping[str, str], terminal: TerminalStyle
) -> TaskRow:
    return TaskRow(
        task=task,
        label=terminal.sanitize(task.id),
        title=terminal.sanitize(task.title) if needs_title(task) else "",
        status=f"{terminal.signs[task.status]} {task.status.value.replace('_', ' ')}",
        duration=_format_task_duration(task, now),
        diffstat=terminal.replace_signs(format_diffstat(task.diffstat)) if _has_merged_changes(task) else "",
        activity=terminal.sanitize(_describe_activity(model, task, now, activity)),
        warning=terminal.sanitize(describe_predicted_conflict(task)),
        agent=terminal.sanitize(task.agent or "") if task.started_at is not None else "",
        cost=format_cost(task.cost + model.spent.get(task.id, NO_SPEND)),
    )


def _has_merged_changes(task: TaskView) -> bool:
    """Whether something of it is merged, or about to be."""
    return task.status in _MERGED_STATUSES and task.diffstat is not None and task.diffstat[0] > 0


def needs_title(task: TaskView) -> bool:
    return sum(map(str.isalpha, task.id)) < _MIN_ID_LETTERS and bool(task.title)


def _format_task_duration(task: TaskView, now: float) -> str:
    """How long it has been at it; who waits again is not at it."""
    if task.started_at is None:
        return ""
    if task.ended_at is not None:
        return format_elapsed(task.ended_at - task.started_at)
    at_it = task.status in {*_ACTIVE_STATUSES, TaskStatus.MERGING}
    return format_elapsed(now - task.started_at) if at_it else ""


def _describe_activity(model: BatchViewModel, task: TaskView, now: float, activity: Mapping[str, str]) -> str:
    if task.status is TaskStatus.QUEUED:
        return ""
    if task.status in _ACTIVE_STATUSES and task.waiting is None and task.id not in model.ending:
        return describe_phase(task, activity) or model.verify_commands.get(task.id, "")
    return shorten_reason(task, now)


def describe_predicted_conflict(task: TaskView) -> str:
    """What a running task would conflict with, were it merged as it is."""
    if not task.foreseen or task.status not in _ACTIVE_STATUSES:
        return ""
    (other, files), *rest = task.foreseen
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    others = f", and with {len(rest)} more" if rest else ""
    return f"would conflict with {other or 'the batch branch'} in {files[0] if files else '?'}{more}{others}"


def shorten_reason(task: TaskView, now: float) -> str:
    """The reason without the words that its place in a table says already."""
    verb, soon, why = task.reason.partition(_RETRY_PHRASE)
    if soon and task.retry_at is not None:
        again = f"{verb.removeprefix('it goes').removeprefix('it is')} again in {format_elapsed(task.retry_at - now)}"
        return f"{again.strip()}: {why}"
    _, ending, why = task.reason.partition(_ENDING_PHRASE)
    if ending:
        return f"being ended: {why}"
    if task.waiting is Waiting.PAUSE:
        interrupted = task.status is TaskStatus.INTERRUPTED
        return task.reason.partition(";")[0] if interrupted else "the batch is paused"
    if task.status is TaskStatus.CONFLICTED:
        return task.reason.removeprefix(f"{describe_failure(Category.CONFLICT)}: ")
    if task.status is TaskStatus.DONE:
        return (
            _MERGED_REASON if task.reason.startswith(_MERGED_REASON) else task.reason.removeprefix("done; ")
        )
    if task.status is TaskStatus.MERGING:
        return _shorten_merge_reason(task.reason)
    told = task.reason.removeprefix("it is ").removeprefix("it ").removesuffix(" (answer with feedback)")
    return told.partition("; would conflict with ")[0]


def _shorten_merge_reason(reason: str) -> str:
    told = reason.removeprefix("it is ").removeprefix("merged; ").removesuffix(" on the merged result")
    return told.replace("its turn to be merged comes", "comes", 1)


def describe_phase(task: TaskView, activity: Mapping[str, str]) -> str:
    """Its phase, else its last activity; a second attempt says so."""
    said = task.phase or activity.get(task.id, "")
    if task.attempt <= 1:
        return said
    return f"attempt {task.attempt}: {said}" if said else f"attempt {task.attempt}"


def format_cost(spend: Spend) -> str:
    """The money; without any, the tokens in thousands."""
    if spend.microusd:
        return f"${spend.microusd / 1e6:.2f}"
    if spend.tokens >= 10_000:
        return f"{spend.tokens / 1000:.0f}k tokens"
    return f"{spend.tokens} tokens" if spend.tokens else ""
