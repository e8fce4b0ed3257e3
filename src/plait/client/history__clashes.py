"""The conflicts of a batch as the journal tells them: which change met which commit of the branch, and in which files."""

from __future__ import annotations

from plait.core.decisions import Change, MergeStarted, RebuildStarted
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reports import MergeConflicted, MergeDone, RebuildDone
from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """`onto` is what the change was put onto; "": the batch's base."""

    change: Change
    onto: str
    files: tuple[str, ...]


class ConflictHistory:
    """Those of one batch; records of others pass by."""

    def __init__(self, batch: str) -> None:
        self._batch = batch
        self._merges: dict[str, MergeStarted] = {}
        self._rebuild: RebuildStarted | None = None
        self._last: dict[str, MergeConflict] = {}

    def find_last(self, task: str) -> MergeConflict | None:
        return self._last.get(task)

    def apply(self, record: Record) -> None:
        match record.event:
            case MergeStarted(batch=self._batch) as order:
                self._merges[order.task] = order
            case MergeConflicted(batch=self._batch, task=task, n=n, files=files):
                tried = self._merges.get(task)
                if tried is not None and tried.n == n:
                    self._last[task] = MergeConflict(Change(task, tried.base, tried.tip), tried.onto, files)
            case MergeDone(batch=self._batch, task=task):
                self._last.pop(task, None)
            case RebuildStarted(batch=self._batch) as anew:
                self._rebuild = anew
            case RebuildDone(batch=self._batch, n=n) as done if self._rebuild and self._rebuild.n == n:
                self._apply_rebuild(self._rebuild, done)
            case _:
                pass

    def _apply_rebuild(self, order: RebuildStarted, done: RebuildDone) -> None:
        commits = {merged.task: merged.commit for merged in done.line}
        clashes = {clash.task: clash.files for clash in done.clashes}
        head = ""
        for change in order.line:
            if change.task in clashes:
                self._last[change.task] = MergeConflict(change, head, clashes[change.task])
            else:
                head = commits.get(change.task, head)


def has_conflict(task: TaskState) -> bool:
    """It ended so, or is about to, or is being repaired."""
    return (
        task.status is TaskStatus.CONFLICTED
        or task.conflict_files is not None
        or task.change_to_repair is not None
    )


def find_earlier_changes(batch: BatchState, conflict: MergeConflict) -> dict[str, Change]:
    """The changes that the branch had then, as far as it still has them, by task and in their order."""
    place = next(
        (n for n, entry in enumerate(batch.merges, 1) if entry.commit == conflict.onto), len(batch.merges)
    )
    line = (entry.change for entry in batch.merges[:place] if conflict.onto)
    return {change.task: change for change in line if change.task != conflict.change.task}
