"""Where the results of a batch are: its branch, what of it is published, and where its tasks' own work lies."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from plait.cli.show import commit
from plait.core.settings import Isolation
from plait.core.status import TaskStatus
from plait.core.views import BatchView, TaskView

_AT_WORK = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING, TaskStatus.INTERRUPTED)
Line = tuple[str, str]  # a text and its style


def published(view: BatchView) -> str:
    """In a few words; empty: nothing of it is, and nobody asked."""
    if view.publishing:
        return "publishing"
    if view.unshipped is not None:
        return "not published"
    if view.differs:
        return f"older than its branch: {view.pr_url}" if view.pr_url else "pushed, older than its branch"
    return view.pr_url or ("pushed" if view.shipped else "")


def branch_lines(view: BatchView) -> Iterator[Line]:
    """Nothing where nothing is merged."""
    if not view.branch or not view.head or (view.head == view.base and not view.shipped):
        return
    yield f"branch {view.branch} at {commit(view.head)}{_shipped(view)}", ""
    if view.pr_url:
        yield f"pull request {view.pr_url}", ""
    if view.unshipped is not None:
        yield f"not published: {' '.join(view.unshipped.split())}", "red"
        yield from ((f"  {line}", "dim") for line in view.way_out.splitlines())


def _shipped(view: BatchView) -> str:
    way = f"plait pr {quote(view.id)}"
    if view.publishing:
        return ", being published"
    if view.unshipped is not None:
        return ""
    if view.differs:
        return f"; what was published, {commit(view.shipped)}, is older: {way}"
    if view.shipped:
        return ", pushed"
    return f", not published: {way}" if view.ended_at is not None else ""


def whereabouts(view: BatchView, task: TaskView) -> str:
    """Where its own work is, as long as the batch branch has none of it."""
    if view.settings.isolation is Isolation.IN_PLACE or not task.attempt or task.status is TaskStatus.DONE:
        return ""
    if task.status in _AT_WORK and task.workspace:
        return f"in {task.workspace}"
    if task.diffstat is None:
        return ""
    from plait.site.refs import task_branch  # noqa: PLC0415 - not needed for most tasks

    return f"on branch {task_branch(view.id, task.id)}"
