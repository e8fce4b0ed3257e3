"""Wait until a request has had its effect: a dropped change is out of the batch branch, a retried task has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plait.cli.output import FAILED, INTERRUPTED, NEEDS_PERSON, OK, print_notice
from plait.client.session import Session
from plait.core.explain import explain_status
from plait.core.reducers.task_index import must_end
from plait.core.scheduler.merge_queue import is_rebuild_abandoned
from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus
from plait.core.views import find_batch_status, waits_for_person

_POLL_SECONDS = 0.25


class RequestWait:
    """Waits for these tasks of a batch. `on_change` is called when there may be new records.

    Ctrl+C only ends the waiting. An engine that died is replaced, as while a batch is followed.
    """

    def __init__(
        self, session: Session, batch: str, tasks: Sequence[str], on_change: Callable[[], object] | None = None
    ) -> None:
        self._session, self._id, self._names = session, batch, tuple(dict.fromkeys(tasks))
        self._on_change = on_change or session.refresh

    def wait_until_dropped(self) -> int:
        """Wait until the tasks have ended and their changes are out of the branch; return the exit code."""
        return self._wait(self._is_dropped, lambda: is_rebuild_abandoned(self._batch)) or OK

    def wait_until_ended(self) -> int:
        """Wait for the end of the tasks, or of a batch with nothing else to do. 0: all are done."""
        code = self._wait(self._has_ended, self._waits_for_person)
        if code is not None:
            return code
        return OK if all(task.status is TaskStatus.DONE for task in self._tasks) else FAILED

    @property
    def _batch(self) -> BatchState:
        return self._session.get_batch(self._id)

    @property
    def _tasks(self) -> list[TaskState]:
        batch = self._batch
        return [batch.tasks[batch.index[name]] for name in self._names]

    def _is_dropped(self) -> bool:
        """Whether their changes are out of the branch, and what depended on them has ended too."""
        batch = self._batch
        return batch.is_branch_stable and not any(must_end(batch, task) for task in batch.tasks)

    def _has_ended(self) -> bool:
        if any(task.status is None for task in self._tasks):
            return False
        return self._batch.ended is not None or self._batch.unfinished_count > 0

    def _waits_for_person(self) -> bool:
        """Whether the rest of these tasks, or of the batch, waits for a person. Pending requests may change that."""
        state, batch = self._session.state, self._batch
        unended = [task for task in self._tasks if task.status is None]
        if any(task.alive for task in unended) or self._session.list_pending():
            return False
        waiting = [explain_status(state, batch, task).waiting for task in unended]
        asks = bool(waiting) and all(on is not None and on.is_on_person for on in waiting)
        return asks or (not batch.alive and waits_for_person(state, batch))

    def _wait(self, is_done: Callable[[], bool], is_stuck: Callable[[], bool]) -> int | None:
        """Wait; return None if it is done, otherwise the exit code of what came first."""
        try:
            self._on_change()
            while not is_done():
                if is_stuck():
                    reason = find_batch_status(self._batch)[1].removesuffix(".")
                    print_notice(f"Batch {self._id} needs you: {reason}.")
                    return NEEDS_PERSON
                self._session.wait(_POLL_SECONDS)
                self._on_change()
                self._session.ensure_engine()
        except KeyboardInterrupt:
            print_notice(f"Batch {self._id} continues in the background. To see it: plait status {self._id}")
            return INTERRUPTED
        return None
