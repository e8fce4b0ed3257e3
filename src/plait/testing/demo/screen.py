"""What is seen: a frame with a line per task on a terminal, a line per change elsewhere."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from plait.core.estimate import forecast
from plait.core.state import State
from plait.core.status import TaskStatus
from plait.core.views import BatchView, TaskView, batch_view

# A sign beside every word: colour never carries meaning alone.
SIGNS: dict[TaskStatus, tuple[str, str]] = {
    TaskStatus.QUEUED: ("·", "dim"),
    TaskStatus.WAITING: ("◌", "yellow"),
    TaskStatus.RUNNING: ("▶", "cyan"),
    TaskStatus.VERIFYING: ("▷", "cyan"),
    TaskStatus.MERGING: ("⇢", "blue"),
    TaskStatus.DONE: ("✓", "green"),
}
BAD = ("✗", "red")
WIDEST_STATUS = 2 + max(len(status.value) for status in TaskStatus)


def duration(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {whole % 60:02}s"


def frame(state: State, batch_id: str, now: float) -> RenderableType:
    view = batch_view(state, state.batches[batch_id])
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True, width=max(len(task.id) for task in view.tasks))
    table.add_column(no_wrap=True, width=WIDEST_STATUS)
    table.add_column(no_wrap=True, width=7, justify="right")
    table.add_column(no_wrap=True, ratio=1, overflow="ellipsis")
    for task in view.tasks:
        table.add_row(*_row(task, now))
    return Panel(table, title=_title(state, view, now), title_align="left", padding=(0, 1))


def _title(state: State, view: BatchView, now: float) -> str:
    counts = dict(view.progress.counts)
    at_work = counts[TaskStatus.RUNNING] + counts[TaskStatus.VERIFYING]
    end = forecast(state, view.id, now).end
    eta = f" · ETA {duration(end - now)}" if end is not None and end > now else ""
    done = f"{counts[TaskStatus.DONE]}/{view.progress.total} tasks"
    return f"plait · batch {view.id} · {view.status.value} · {done} · {at_work} at work{eta}"


def _row(task: TaskView, now: float) -> tuple[RenderableType, ...]:
    sign, style = SIGNS.get(task.status, BAD)
    ended = task.ended_at if task.ended_at is not None else now
    took = duration(ended - task.started_at) if task.started_at is not None else ""
    doing = (
        f"{task.phase} ({task.agent})" if task.phase and task.status is TaskStatus.RUNNING else task.reason
    )
    return (
        task.id,
        Text(f"{sign} {task.status.value.replace('_', ' ')}", style=style),
        took,
        Text(doing, style="dim"),
    )


def changes(before: dict[str, TaskStatus], view: BatchView, since: float, now: float) -> list[str]:
    """A line for each task whose status has changed since the last look; `before` is brought up to date."""
    lines = []
    for task in view.tasks:
        if before.get(task.id) is not task.status:
            before[task.id] = task.status
            lines.append(f"{duration(now - since):>8}  {task.id:<16} {task.status.value:<10} {task.reason}")
    return lines


def summary(view: BatchView, sequential: float) -> RenderableType:
    took = (view.ended_at or 0.0) - view.created_at
    counts = ", ".join(f"{count} {status.value}" for status, count in view.progress.counts if count)
    lines = [
        f"{counts}; {duration(took)} instead of {duration(sequential)} one after another; {view.cost}.",
        f"The branch {view.branch} holds {view.head}.",
    ]
    failed = [f"  {task.id}: {task.reason}" for task in view.tasks if task.error]
    if failed:
        lines += ["Not done:", *failed]
    return Group(*(Text(line) for line in lines))
