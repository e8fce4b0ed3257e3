"""Masking and forgetting a batch's secrets on disk, in a worker thread.

What an attempt printed is masked when it has ended. When its batch has ended, what is left is masked, and only then is
the environment deleted: as long as something isn't masked, readers can redact it. A crash delays this to the next
engine.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path

from plait.core.errors import describe_error
from plait.core.task import Attempt
from plait.engine.context import EngineContext
from plait.store import batch_secrets
from plait.system import log


class SecretMasker:
    def __init__(self, context: EngineContext) -> None:
        self._state = context.state
        self._inputs = context.inputs
        self._workers = context.workers
        self._folder = context.folder
        self._masked: dict[Path, int] = {}  # sizes up to which files are masked; used by one thread at a time

    def mask_attempt(self, attempt: Attempt) -> None:
        file = self._folder.attempt(attempt).transcript
        redactor = self._inputs.get_redactor(attempt.batch)
        self._workers.submit(
            "mask",  # one at a time: it is mostly computing
            lambda: batch_secrets.mask_file(file, redactor, self._masked),
            lambda _: None,
            lambda error: log.write_line(f"warning: can't mask secrets in {file}: {describe_error(error)}"),
        )

    def forget_batch(self, batch: str) -> None:
        """Forget the secrets of a batch that has ended. Its environment is kept in memory: a request may arrive from a
        front end that still saw the file and wrote none.
        """
        self._inputs.reload_batch(batch)
        self._forget(self._folder.batch(batch))

    def forget_stale_batches(self, wanted: Collection[str]) -> None:
        """Forget the secrets of all batches with an old environment, except the `wanted` ones."""
        for path in batch_secrets.list_stale_environments(self._folder, wanted):
            self._forget(path)

    def forget_stale_batches_now(self, wanted: Collection[str], ended: Collection[str]) -> None:
        """Do the same before returning, for an engine that exits, and also for `ended` batches that were published."""
        for path in batch_secrets.list_stale_environments(self._folder, wanted, ended):
            try:
                known = batch_secrets.identify_environment(path)
                batch_secrets.mask_batch(path, self._masked)
                batch_secrets.delete_environments(path, known)
            except OSError as error:
                _report_failure(path, error)

    def _forget(self, path: Path) -> None:
        known = batch_secrets.identify_environment(path)
        self._workers.submit(
            "mask",
            lambda: batch_secrets.mask_batch(path, self._masked),
            lambda _: self._delete(path, known),
            partial(_report_failure, path),
        )

    def _delete(self, path: Path, known: tuple[int, int] | None) -> None:
        """Delete the environments, unless the batch was opened again meanwhile, or is about to be."""
        if any(self._folder.batch(batch) == path for batch in self._state.open):
            return
        try:
            batch_secrets.delete_environments(path, known)
        except OSError as error:
            _report_failure(path, error)


def _report_failure(path: Path, error: Exception) -> None:
    log.write_line(
        f"warning: the environment in {path}, which may hold keys, is not deleted, since secrets could not be masked:"
        f" {describe_error(error)}"
    )
