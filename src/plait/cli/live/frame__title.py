"""The title of the box: the whole batch in one line."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len

from plait.cli.commands.plan import format_rough_duration
from plait.cli.format__spans import format_elapsed
from plait.cli.live.terminal_style import TerminalStyle
from plait.cli.live.view_model import BatchViewModel
from plait.core.status import BatchStatus, PauseCause, TaskStatus

_RUNNING_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING)
_FAILED_STATUSES = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)
_MIN_ETA_SECONDS = 5.0  # seconds; what takes longer than it was thought to is always about to end
_DROP_ORDER = ("plait", "wave", "merging", "batch", "eta", "status", "running")


def format_title(
    model: BatchViewModel, terminal: TerminalStyle, *, now: float, eta: float | None, width: int
) -> str:
    """What does not fit is left out, the least important part first."""
    parts = {name: terminal.sanitize(part) for name, part in _collect_parts(model, now, eta).items()}
    for dropped in _DROP_ORDER:
        if cell_len(_join_parts(parts, terminal)) <= width:
            break
        parts.pop(dropped, None)
    return terminal.fit(_join_parts(parts, terminal), width)


def _join_parts(parts: Mapping[str, str], terminal: TerminalStyle) -> str:
    return f" {terminal.dot} ".join(parts.values())


def _collect_parts(model: BatchViewModel, now: float, eta: float | None) -> dict[str, str]:
    view = model.view
    counts = dict(view.progress.counts)
    running = sum(task.status in _RUNNING_STATUSES for task in view.tasks)  # entrants of contests too
    failed = sum(counts[status] for status in _FAILED_STATUSES)
    parts = {
        "plait": "plait",
        "batch": f"batch {model.name}",
        "tasks": f"{counts[TaskStatus.DONE]}/{view.progress.total} tasks",
    }
    if model.wave is not None and model.wave[1] > 1:
        parts["wave"] = f"wave {model.wave[0]}/{model.wave[1]}"
    if running:
        parts["running"] = f"{running} running"
    if counts[TaskStatus.MERGING]:
        parts["merging"] = f"{counts[TaskStatus.MERGING]} merging"
    if failed:
        parts["failed"] = f"{failed} failed"
    status = _format_title_status(model)
    if status:
        parts["status"] = status
    if (
        view.status is not BatchStatus.PAUSED
        and view.ended_at is None
        and eta is not None
        and eta - now >= _MIN_ETA_SECONDS
    ):
        parts["eta"] = f"ETA {format_rough_duration(eta - now)}"
    return parts


def _format_title_status(model: BatchViewModel) -> str:
    view = model.view
    if view.status is BatchStatus.PAUSED:
        return "stopped" if model.paused is PauseCause.STOP else "paused"
    if view.ended_at is not None:
        return f"{view.status.value} in {format_elapsed(view.ended_at - view.created_at)}"
    if model.publish is not None:
        return "publishing"
    return "gate" if model.gate is not None else ""
