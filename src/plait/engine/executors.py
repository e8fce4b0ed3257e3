"""Which executor runs an attempt: that of its batch. One engine may run batches on this machine and on a cluster.

The cluster's executor is opened when the first batch needs it: Ray takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from plait.core.settings import ExecutorKind
from plait.core.state import State
from plait.core.task import Attempt
from plait.runtime.executor import AttemptWorkspaces, Executor, NodeStatus


class BatchExecutors:
    """The executors of an engine's batches.

    `open_remote` neither waits for the cluster nor fails if there is none: attempts that can't be started are reported.
    `is_on_nodes` says whether a node may have files of a batch.
    """

    def __init__(
        self,
        state: State,
        local: Executor,
        open_remote: Callable[[], Executor],
        is_on_nodes: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._is_on_nodes = is_on_nodes
        self._state = state
        self._local = local
        self._open_remote = open_remote
        self._remote: Executor | None = None

    def of(self, batch: str) -> Executor:
        """Return the executor of a batch; the local one for an unknown batch, which only has leftovers here."""
        return self._local if self._is_local(batch) else self.remote

    def _is_local(self, batch: str) -> bool:
        state = self._state.batches.get(batch)
        return state is None or state.settings.executor is ExecutorKind.LOCAL

    def workspaces_of(self, batch: str) -> AttemptWorkspaces:
        return self.of(batch).workspaces

    def may_have_workspaces(self, batch: str) -> bool:
        """Whether the batch may have workspaces; otherwise, its cluster is not needed any more."""
        return self._is_local(batch) or self._is_on_nodes(batch)

    @property
    def remote(self) -> Executor:
        """The cluster's executor, which is opened when it is first used."""
        if self._remote is None:
            self._remote = self._open_remote()
        return self._remote

    def list_open(self) -> Sequence[Executor]:
        """List the executors in use."""
        return [self._local] if self._remote is None else [self._local, self._remote]

    def list_nodes(self) -> Sequence[NodeStatus]:
        return [node for executor in self.list_open() for node in executor.list_nodes()]

    def end_leftovers(self) -> int:
        return sum(executor.end_leftovers() for executor in self.list_open())

    def measure_memory(self) -> Mapping[Attempt, int]:
        return {attempt: size for each in self.list_open() for attempt, size in each.measure_memory().items()}

    def find_disk_problem(self) -> str | None:
        """Say why no more workspaces may be made, as of the last check; None if they may."""
        return next(filter(None, (each.workspaces.disk_full_reason for each in self.list_open())), None)

    def check_disk_usage(self, now: float) -> None:
        for executor in self.list_open():
            executor.workspaces.check_disk_usage(now)

    def close(self) -> None:
        for executor in self.list_open():
            executor.close()
