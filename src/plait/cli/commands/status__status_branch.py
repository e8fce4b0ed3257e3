"""Where the results of a batch are: its branch, what of it is published, and where its tasks' own work lies."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from plait.cli.format import shorten_commit
from plait.core.settings import Isolation
from plait.core.status import TaskStatus
from plait.core.views import BatchView, TaskView

_WORKSPACE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING, TaskStatus.INTERRUPTED)
_StyledLine = tuple[str, str]  # a text and its style


def format_publication(view: BatchView) -> str:
    """In a few words; empty: nothing of it is, and nobody asked."""
    if view.publishing:
        return "publishing"
    if view.unshipped is not None:
        return "not published"
    if view.is_outdated:
        return f"older than its branch: {view.pr_url}" if view.pr_url else "pushed, older than its branch"
    return view.pr_url or ("pushed" if view.shipped else "")


def describe_branch(view: BatchView) -> Iterator[_StyledLine]:
    """Nothing where nothing is merged."""
    if not view.branch or not view.head or (view.head == view.base and not view.shipped):
        return
    yield f"branch {view.branch} at {shorten_commit(view.head)}{_describe_publication(view)}", ""
    if view.pr_url:
        yield f"pull request {view.pr_url}", ""
    if view.unshipped is not None:
        yield f"not published: {' '.join(view.unshipped.split())}", "red"
        yield from ((f"  {line}", "dim") for line in view.way_out.splitlines())


def _describe_publication(view: BatchView) -> str:
    way = f"plait pr {quote(view.id)}"
    if view.publishing:
        return ", being published"
    if view.unshipped is not None:
        return ""
    if view.is_outdated:
        return f"; what was published, {shorten_commit(view.shipped)}, is older: {way}"
    if view.shipped:
        return ", pushed"
    return f", not published: {way}" if view.ended_at is not None else ""


def locate_work(view: BatchView, task: TaskView) -> str:
    """Where its own work is, as long as the batch branch has none of it."""
    if view.settings.isolation is Isolation.IN_PLACE or not task.attempt or task.status is TaskStatus.DONE:
        return ""
    if task.status in _WORKSPACE_STATUSES and task.workspace:
        return f"in {task.workspace}"
    if task.diffstat is None:
        return ""
    from plait.git.refs import task_branch  # noqa: PLC0415 - not needed for most tasks

    return f"on branch {task_branch(view.id, task.id)}"
