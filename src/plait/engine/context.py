"""What the parts of an engine share: the state, the worker pool, the files of batches, and the way to report."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from plait.agents.redaction import Redactor, build_redactor
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Report
from plait.core.state import State
from plait.core.task import Task
from plait.runtime.worker_pool import WorkerPool
from plait.store import batch_files
from plait.store.batch_inputs import BatchInputs, BatchInputsError
from plait.system import log
from plait.system.state_paths import StateFolder

STALE_ENVIRONMENT_SECONDS = 60.0  # age at which the environment of a batch that is not open is deleted


class BatchInputsCache:
    """The inputs and environments of batches, read once. Threads may call `get_inputs`."""

    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder
        self._inputs: dict[str, BatchInputs] = {}
        self._environments: dict[str, dict[str, str]] = {}
        self._redactors: dict[str, Redactor] = {}

    def get_inputs(self, batch: str) -> BatchInputs:
        inputs = self._inputs.get(batch)  # another thread may forget it
        if inputs is None:
            inputs = self._inputs[batch] = batch_files.read_batch_inputs(self._folder, batch)
        return inputs

    def get_environment(self, batch: str) -> Mapping[str, str]:
        """Raises BatchInputsError."""
        if batch not in self._environments:
            self._environments[batch] = batch_files.read_batch_environment(self._folder, batch)
        return self._environments[batch]

    def get_environment_or_own(self, batch: str) -> Mapping[str, str]:
        """The batch's environment; if it is gone, the engine's own, which a front end of this repository gave it."""
        try:
            return self.get_environment(batch)
        except BatchInputsError:
            return os.environ

    def get_redactor(self, batch: str) -> Redactor:
        """Masks the secrets of a batch's environment and of its tasks; of the engine's own, for batch ""."""
        if batch not in self._redactors:
            tasks: tuple[Task, ...] = ()
            with suppress(BatchInputsError):
                tasks = self.get_inputs(batch).tasks if batch else ()
            base = self.get_environment_or_own(batch) if batch else os.environ
            self._redactors[batch] = build_redactor(base, *(task.env for task in tasks))
        return self._redactors[batch]

    def reload_environment(self, batch: str) -> None:
        """A front end may have written another environment."""
        self._redactors.pop(batch, None)
        with suppress(BatchInputsError):
            self._environments[batch] = batch_files.read_batch_environment(self._folder, batch)

    def forget_batch(self, batch: str) -> None:
        """Delete the secrets of a batch that has ended.

        They are kept in memory: a request may arrive from a front end that still saw the file and wrote none.
        """
        self._inputs.pop(batch, None)
        self.reload_environment(batch)
        try:
            batch_files.delete_environment(self._folder, batch)
        except OSError as error:
            log.write_line(f"warning: can't delete the environment of batch {batch}, which may hold keys: {error}")

    def delete_stale_environments(self, wanted: Collection[str]) -> None:
        """Delete the secrets of all other batches, except of those that were written just now."""
        batch_files.delete_stale_environments(self._folder, wanted, older=STALE_ENVIRONMENT_SECONDS)


@dataclass(frozen=True, slots=True)
class EngineContext:
    """`state` is read only, and by the loop's thread only. `emit` takes reports in the loop's thread."""

    state: State
    emit: Callable[[Report], None]
    workers: WorkerPool
    inputs: BatchInputsCache
    folder: StateFolder
