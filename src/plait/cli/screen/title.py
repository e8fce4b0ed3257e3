"""The title of the box: the whole batch in one line."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len

from plait.cli.plan_text import span
from plait.cli.screen.ink import Ink
from plait.cli.screen.scene import Scene
from plait.cli.screen.spans import took
from plait.core.status import BatchStatus, PauseCause, TaskStatus

_AT_WORK = (TaskStatus.RUNNING, TaskStatus.VERIFYING)
_FAILED = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)
_SOON = 5.0  # seconds; what takes longer than it was thought to is always about to end
_DROPPED = ("plait", "wave", "merging", "batch", "eta", "status", "running")


def title(scene: Scene, ink: Ink, *, now: float, eta: float | None, width: int) -> str:
    """What does not fit is left out, the least important part first."""
    parts = {name: ink.clean(part) for name, part in _parts(scene, now, eta).items()}
    for dropped in _DROPPED:
        if cell_len(_told(parts, ink)) <= width:
            break
        parts.pop(dropped, None)
    return ink.fit(_told(parts, ink), width)


def _told(parts: Mapping[str, str], ink: Ink) -> str:
    return f" {ink.dot} ".join(parts.values())


def _parts(scene: Scene, now: float, eta: float | None) -> dict[str, str]:
    view = scene.view
    counts = dict(view.progress.counts)
    running = sum(task.status in _AT_WORK for task in view.tasks)  # entrants of contests too
    failed = sum(counts[status] for status in _FAILED)
    parts = {
        "plait": "plait",
        "batch": f"batch {scene.name}",
        "tasks": f"{counts[TaskStatus.DONE]}/{view.progress.total} tasks",
    }
    if scene.wave is not None and scene.wave[1] > 1:
        parts["wave"] = f"wave {scene.wave[0]}/{scene.wave[1]}"
    if running:
        parts["running"] = f"{running} running"
    if counts[TaskStatus.MERGING]:
        parts["merging"] = f"{counts[TaskStatus.MERGING]} merging"
    if failed:
        parts["failed"] = f"{failed} failed"
    status = _status(scene)
    if status:
        parts["status"] = status
    if (
        view.status is not BatchStatus.PAUSED
        and view.ended_at is None
        and eta is not None
        and eta - now >= _SOON
    ):
        parts["eta"] = f"ETA {span(eta - now)}"
    return parts


def _status(scene: Scene) -> str:
    view = scene.view
    if view.status is BatchStatus.PAUSED:
        return "stopped" if scene.paused is PauseCause.STOP else "paused"
    if view.ended_at is not None:
        return f"{view.status.value} in {took(view.ended_at - view.created_at)}"
    if scene.publish is not None:
        return "publishing"
    return "gate" if scene.gate is not None else ""
