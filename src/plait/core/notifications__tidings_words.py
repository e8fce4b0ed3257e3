"""How ends and limits are told to somebody who is not there."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.notifications__tiding import Notification, NotificationKind, to_plain_line
from plait.core.state import BatchState, TaskState
from plait.core.status import BatchStatus, TaskStatus

MAX_TASKS_NAMED = 5  # tasks of a batch that ended badly
MAX_BUNDLE_LINES = 10  # tidings that are told together
_MINUTE_SECONDS, _HOUR_SECONDS, _DAY_SECONDS = 60, 3600, 86_400
_FAILED_TASK_STATUSES = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)
_BUNDLE_TITLES = {
    NotificationKind.FINISHED: "batches are done",
    NotificationKind.FAILED: "batches have failed",
    NotificationKind.CANCELLED: "batches were cancelled",
    NotificationKind.TASK_FAILED: "tasks have failed",
    NotificationKind.NEEDS_PERSON: "things need you",
    NotificationKind.LIMIT: "providers take no work for now",
    NotificationKind.UNPUBLISHED: "batches could not be published",
}


def describe_batch_end(batch: BatchState) -> tuple[str, str]:
    """Title and text of a batch's end."""
    asked = [task for task in batch.tasks if task.task.entrant is None]
    left = sum(task.status is not TaskStatus.DONE for task in asked)
    if batch.ended is BatchStatus.CANCELLED:
        title = f"batch {batch.id} was cancelled"
    elif batch.ended is BatchStatus.COMPLETED:
        title = f"batch {batch.id} is done" + (" and not published" if batch.publish_failure else "")
    else:
        title = f"batch {batch.id} has ended, {left} of {len(asked)} tasks not done"
    bad = [f"{task.task.id} {_describe_end(task)}" for task in asked if task.status in _FAILED_TASK_STATUSES]
    url = batch.published.url if batch.published is not None else ""
    return title, "\n".join(
        map(to_plain_line, filter(None, (batch.reason, url, *_limit_lines(bad, MAX_TASKS_NAMED))))
    )


def describe_task_failure(task: TaskState) -> tuple[str, str]:
    status = task.status.value.replace("_", " ") if task.status is not None else ""
    name, title = task.task.id, task.task.title
    named = f"{name} ({title})" if title and title != name else name
    return f"{named} {'has ' if status == 'failed' else ''}{status}", to_plain_line(task.reason)


def round_duration(seconds: float) -> str:
    """A length of time in the words of people; they want no more of it than is of use."""
    if seconds < 2 * _MINUTE_SECONDS:
        return f"{max(1, round(seconds))} s"
    if seconds < 2 * _HOUR_SECONDS:
        return f"{round(seconds / _MINUTE_SECONDS)} min"
    return (
        f"{round(seconds / _HOUR_SECONDS)} h"
        if seconds < 2 * _DAY_SECONDS
        else f"{round(seconds / _DAY_SECONDS)} days"
    )


def group_by_kind(tidings: Sequence[Notification]) -> list[tuple[Notification, ...]]:
    """Those that can be told in one message: never more messages than there are kinds."""
    found: dict[NotificationKind, list[Notification]] = {}
    for tiding in tidings:
        found.setdefault(tiding.kind, []).append(tiding)
    return sorted((tuple(each) for each in found.values()), key=lambda each: each[-1].seq)


def bundle_notifications(bundle: Sequence[Notification]) -> Notification:
    """One for all of them, which are of one kind; it has the place of the last."""
    last = bundle[-1]
    if len(bundle) == 1:
        return last
    batches = {tiding.batch for tiding in bundle}
    batch = last.batch if len(batches) == 1 else None
    where = f" in batch {batch}" if batch is not None else ""
    lines = [": ".join(filter(None, (each.title, each.text.partition("\n")[0]))) for each in bundle]
    return Notification(
        last.kind,
        batch,
        last.task if len({(each.batch, each.task) for each in bundle}) == 1 else None,
        f"{len(bundle)} {_BUNDLE_TITLES[last.kind]}{where}",
        "\n".join(_limit_lines(lines, MAX_BUNDLE_LINES)),
        last.at,
        last.seq,
        last.until,
    )


def _describe_end(task: TaskState) -> str:
    status = task.status.value.replace("_", " ") if task.status is not None else ""
    return f"{status}: {task.reason}"


def _limit_lines(lines: Sequence[str], most: int) -> list[str]:
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    return [*lines[:most], *more]
