"""Which executor runs an attempt: that of its batch. One engine may run batches on this machine and on a cluster.

The cluster's executor is opened when the first batch needs it: Ray takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from plait.core.settings import ExecutorKind
from plait.core.state import State
from plait.core.task import Attempt
from plait.git.interfaces import CapturedChange
from plait.runtime.executor import (
    DEFAULT_LIMITS,
    AttemptLimits,
    AttemptSpec,
    AttemptWorkspaces,
    CaptureSpec,
    Executor,
    NodeStatus,
    OnError,
    OnWait,
    ProbeResult,
    Transcript,
)


class BatchExecutors:
    """An executor that gives each attempt to the executor of its batch.

    `open_remote` neither waits for the cluster nor fails if there is none: attempts that can't be started are reported.
    """

    def __init__(self, state: State, local: Executor, open_remote: Callable[[], Executor]) -> None:
        self._state = state
        self._local = local
        self._open_remote = open_remote
        self._remote: Executor | None = None
        self._workspaces = BatchWorkspaces(self.of, self.list_open)

    @property
    def workspaces(self) -> AttemptWorkspaces:
        return self._workspaces

    def of(self, batch: str) -> Executor:
        """The executor of a batch; of an unknown one, whose attempts can only be leftovers here, the local one."""
        state = self._state.batches.get(batch)
        if state is None or state.settings.executor is ExecutorKind.LOCAL:
            return self._local
        return self._get_remote()

    def _get_remote(self) -> Executor:
        if self._remote is None:
            self._remote = self._open_remote()
        return self._remote

    def list_open(self) -> Sequence[Executor]:
        """Those that are in use."""
        return [self._local] if self._remote is None else [self._local, self._remote]

    def attempt_folder(self, attempt: Attempt) -> str:
        return self.of(attempt.batch).attempt_folder(attempt)

    def start(self, spec: AttemptSpec) -> None:
        self.of(spec.attempt.batch).start(spec)

    def adopt(self, attempt: Attempt, limits: AttemptLimits = DEFAULT_LIMITS) -> ProbeResult:
        return self.of(attempt.batch).adopt(attempt, limits)

    def terminate(self, attempt: Attempt, *, at_once: bool) -> None:
        self.of(attempt.batch).terminate(attempt, at_once=at_once)

    def open_transcript(self, attempt: Attempt) -> Transcript:
        return self.of(attempt.batch).open_transcript(attempt)

    @property
    def slots(self) -> int | None:
        """Of the cluster."""
        return self._get_remote().slots

    def list_nodes(self) -> Sequence[NodeStatus]:
        return [node for executor in self.list_open() for node in executor.list_nodes()]

    def end_leftovers(self) -> int:
        return sum(executor.end_leftovers() for executor in self.list_open())

    def measure_memory(self) -> Mapping[Attempt, int]:
        return {attempt: size for each in self.list_open() for attempt, size in each.measure_memory().items()}

    def close(self) -> None:
        for executor in self.list_open():
            executor.close()


class BatchWorkspaces:
    """The workspaces of the executor of each batch."""

    def __init__(self, find_executor: Callable[[str], Executor], list_open: Callable[[], Sequence[Executor]]) -> None:
        self._find = find_executor
        self._list_open = list_open

    def of(self, batch: str) -> AttemptWorkspaces:
        return self._find(batch).workspaces

    @property
    def disk_full_reason(self) -> str | None:
        return next(filter(None, (each.workspaces.disk_full_reason for each in self._list_open())), None)

    def path(self, attempt: Attempt) -> str:
        return self.of(attempt.batch).path(attempt)

    def find_setup_failure(self, attempt: Attempt) -> str | None:
        return self.of(attempt.batch).find_setup_failure(attempt)

    def is_missing(self, attempt: Attempt) -> bool:
        return self.of(attempt.batch).is_missing(attempt)

    def capture(
        self, spec: CaptureSpec, on_done: Callable[[CapturedChange], None], on_error: OnError, on_wait: OnWait
    ) -> None:
        self.of(spec.attempt.batch).capture(spec, on_done, on_error, on_wait)

    def cancel_capture(self, attempt: Attempt) -> None:
        self.of(attempt.batch).cancel_capture(attempt)

    def reset(self, attempt: Attempt, commit: str, on_done: Callable[[], None], on_error: OnError) -> None:
        self.of(attempt.batch).reset(attempt, commit, on_done, on_error)

    def preview_commit(self, batch: str, task: str, base: str) -> str | None:
        return self.of(batch).preview_commit(batch, task, base)

    def release(self, batch: str, task: str) -> None:
        self.of(batch).release(batch, task)

    def release_batch(self, batch: str, ended_tasks: Sequence[str], *, has_ended: bool) -> None:
        self.of(batch).release_batch(batch, ended_tasks, has_ended=has_ended)

    def check_disk_usage(self, now: float) -> None:
        for executor in self._list_open():
            executor.workspaces.check_disk_usage(now)
