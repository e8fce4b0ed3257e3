"""How ends and limits are told to somebody who is not there."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.state import BatchState, TaskState
from plait.core.status import BatchStatus, TaskStatus
from plait.core.tiding import Tiding, TidingKind, plain

NAMED = 5  # tasks of a batch that ended badly
SHOWN = 10  # tidings that are told together
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_LOST = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)
_TOGETHER = {
    TidingKind.FINISHED: "batches are done",
    TidingKind.FAILED: "batches have failed",
    TidingKind.CANCELLED: "batches were cancelled",
    TidingKind.TASK_FAILED: "tasks have failed",
    TidingKind.NEEDS_PERSON: "things need you",
    TidingKind.LIMIT: "providers take no work for now",
    TidingKind.UNPUBLISHED: "batches could not be published",
}


def ended(batch: BatchState) -> tuple[str, str]:
    """Title and text of a batch's end."""
    asked = [task for task in batch.tasks if task.task.entrant is None]
    left = sum(task.status is not TaskStatus.DONE for task in asked)
    if batch.ended is BatchStatus.CANCELLED:
        title = f"batch {batch.id} was cancelled"
    elif batch.ended is BatchStatus.COMPLETED:
        title = f"batch {batch.id} is done" + (" and not published" if batch.unpublished else "")
    else:
        title = f"batch {batch.id} has ended, {left} of {len(asked)} tasks not done"
    bad = [f"{task.task.id} {_how(task)}" for task in asked if task.status in _LOST]
    url = batch.published.url if batch.published is not None else ""
    return title, "\n".join(map(plain, filter(None, (batch.reason, url, *_some(bad, NAMED)))))


def lost(task: TaskState) -> tuple[str, str]:
    status = task.status.value.replace("_", " ") if task.status is not None else ""
    name, title = task.task.id, task.task.title
    named = f"{name} ({title})" if title and title != name else name
    return f"{named} {'has ' if status == 'failed' else ''}{status}", plain(task.reason)


def lasts(seconds: float) -> str:
    """A length of time in the words of people; they want no more of it than is of use."""
    if seconds < 2 * _MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < 2 * _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    return f"{round(seconds / _HOUR)} h" if seconds < 2 * _DAY else f"{round(seconds / _DAY)} days"


def bundles(tidings: Sequence[Tiding]) -> list[tuple[Tiding, ...]]:
    """Those that can be told in one message: never more messages than there are kinds."""
    found: dict[TidingKind, list[Tiding]] = {}
    for tiding in tidings:
        found.setdefault(tiding.kind, []).append(tiding)
    return sorted((tuple(each) for each in found.values()), key=lambda each: each[-1].seq)


def together(bundle: Sequence[Tiding]) -> Tiding:
    """One for all of them, which are of one kind; it has the place of the last."""
    last = bundle[-1]
    if len(bundle) == 1:
        return last
    batches = {tiding.batch for tiding in bundle}
    batch = last.batch if len(batches) == 1 else None
    where = f" in batch {batch}" if batch is not None else ""
    lines = [": ".join(filter(None, (each.title, each.text.partition("\n")[0]))) for each in bundle]
    return Tiding(
        last.kind,
        batch,
        last.task if len({(each.batch, each.task) for each in bundle}) == 1 else None,
        f"{len(bundle)} {_TOGETHER[last.kind]}{where}",
        "\n".join(_some(lines, SHOWN)),
        last.at,
        last.seq,
        last.until,
    )


def _how(task: TaskState) -> str:
    status = task.status.value.replace("_", " ") if task.status is not None else ""
    return f"{status}: {task.reason}"


def _some(lines: Sequence[str], most: int) -> list[str]:
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    return [*lines[:most], *more]
