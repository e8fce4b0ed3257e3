"""The result of a task: what it changed, where that is, as what it was merged, and what the gate said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plait.client.history import GateRun
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Isolation
from plait.core.state import BatchState, TaskState
from plait.git import refs
from plait.git.location import RepoLocation


@dataclass(frozen=True, slots=True)
class TaskResultDetails:
    """`branch` is the task's own, and `tip` its commit there ("": it is gone, and then `kept` is the ref that still has
    its work, if one does). `merged` is the commit in the batch branch, `place` its number in the line, from 1.
    """

    branch: str
    tip: str = ""
    kept: str = ""
    workspace: str = ""
    files: tuple[str, ...] = ()
    diffstat: tuple[int, int, int] | None = None
    merged: str = ""
    place: int = 0
    gate: GateRun | None = None
    published: str = ""


def derive_result(
    batch: BatchState, task: TaskState, files: Sequence[str], gate: GateRun | None
) -> TaskResultDetails | None:
    """As far as the state tells it: `kept` is where its work should lie. None: it has none, or not one of its own.

    `files` are those that its last good attempt changed.
    """
    if batch.settings.isolation is Isolation.IN_PLACE or not task.attempt_counts:
        return None
    leased = task.status is None and task.last is not None
    return TaskResultDetails(
        refs.task_branch(batch.id, task.task.id),
        kept=refs.attempt_ref(task.last_write.name) if task.last_write is not None else "",
        workspace=task.last.workspace if leased and task.last is not None else "",
        files=tuple(files),
        diffstat=task.diffstat,
        merged=(task.commit or "") if task.is_merged else "",
        place=task.merge_position + 1 if task.is_merged else 0,
        gate=gate,
        published=_find_published_commit(batch) if task.is_merged else "",
    )


def confirm_result(place: RepoLocation, known: TaskResultDetails | None) -> TaskResultDetails | None:
    """Branches are git's: only git knows whether they are still there."""
    from plait.git.command import Git, GitError  # noqa: PLC0415 - only for whoever looks at one task

    if known is None or not place.repository:
        return None
    branch = f"refs/heads/{known.branch}"
    words = ("for-each-ref", "--format=%(refname) %(objectname)", "--", *filter(None, (branch, known.kept)))
    try:
        told = Git(place.state.parent).text(*words)
    except GitError:
        return replace(known, kept="")
    there = dict(line.split(" ", 1) for line in told.splitlines())
    tip = there.get(branch, "")
    return replace(known, tip=tip, kept=known.kept if not tip and known.kept in there else "")


def _find_published_commit(batch: BatchState) -> str:
    """The commit that was pushed, if that is the branch as it is now."""
    known = batch.published
    return known.commit if known is not None and known.commit == batch.head else ""
