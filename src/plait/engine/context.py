"""What the parts of an engine share: the state, the worker pool, the files of batches, and the way to report.

Reports go into the journal: their texts are redacted, and bytes that are not UTF-8 are escaped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass, replace
from typing import TypeVar

from plait.agents.redaction import Redactor, build_redactor
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Report
from plait.core.state import State
from plait.core.task import Task
from plait.runtime.worker_pool import WorkerPool
from plait.store import batch_files
from plait.store.batch_files import BatchInputs, BatchInputsError
from plait.store.batch_secrets import read_secret_environments
from plait.system import log
from plait.system.state_paths import StateFolder


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
        """Return the batch's environment; raises BatchInputsError."""
        if batch not in self._environments:
            self._environments[batch] = batch_files.read_batch_environment(self._folder, batch)
        return self._environments[batch]

    def get_environment_or_own(self, batch: str) -> Mapping[str, str]:
        """Return the batch's environment, or, if it is gone, that of the engine."""
        try:
            return self.get_environment(batch)
        except BatchInputsError:
            return os.environ

    def get_redactor(self, batch: str) -> Redactor:
        """Return a redactor for the engine's secrets and, unless batch is "", for the batch's."""
        if batch not in self._redactors:
            tasks: tuple[Task, ...] = ()
            with suppress(BatchInputsError):
                tasks = self.get_inputs(batch).tasks if batch else ()
            environments = (
                [self.get_environment_or_own(batch), *read_secret_environments(self._folder, batch)] if batch else []
            )
            variables = (environment.items() for environment in environments)
            self._redactors[batch] = build_redactor(os.environ, *variables, *(task.env for task in tasks))
            log.add_redactor(batch, self._redactors[batch])
        return self._redactors[batch]

    def reload_batch(self, batch: str) -> None:
        """Forget what was read, because a front end may have written other inputs and another environment."""
        self._inputs.pop(batch, None)
        self._redactors.pop(batch, None)
        with suppress(BatchInputsError):
            self._environments[batch] = batch_files.read_batch_environment(self._folder, batch)

    def restore_environment(self, batch: str) -> None:
        """Write an open batch's environment again if it is gone: readers redact by it."""
        environment = self._environments.get(batch)
        if environment is not None and not batch_files.has_environment(self._folder, batch):
            try:
                batch_files.write_batch_environment(self._folder, batch, environment)
            except OSError as error:
                log.write_line(f"warning: can't write the environment of batch {batch}: {error}")


@dataclass(frozen=True, slots=True)
class EngineContext:
    """What the parts of an engine share; `state` (read only) and `emit`, for reports, belong to the loop's thread."""

    state: State
    emit: Callable[[Report], None]
    workers: WorkerPool
    inputs: BatchInputsCache
    folder: StateFolder


# Fields with text of tools, git and the system. Names of files, commits and sessions are left as they are.
_TEXT_FIELDS = frozenset({"detail", "question", "name", "why", "hint"})
R = TypeVar("R")


def redact_reports(
    enqueue: Callable[[Report], None], get_redactor: Callable[[str], Redactor]
) -> Callable[[Report], None]:
    """Make an `enqueue` that redacts reports with the redactor of their batch, or of batch "" if they have none."""

    def redact_and_enqueue(report: Report) -> None:
        redact = get_redactor(_find_batch(report))
        enqueue(_map_texts(report, lambda name, text: redact(text) if name in _TEXT_FIELDS else text))

    return redact_and_enqueue


def _find_batch(report: Report) -> str:
    attempt = getattr(report, "attempt", None)
    return str(getattr(report, "batch", "") if attempt is None else attempt.batch)


def make_utf8_safe(report: R) -> R:
    """Return the report with every invalid byte escaped; the same object if there is none."""
    return _map_texts(report, lambda _, text: text if text.isascii() else _escape_invalid(text))


def _map_texts(part: R, change: Callable[[str, str], str]) -> R:
    """Return a report, or part of one, with its texts changed by field name; the same object if none changes."""
    changes = {}
    for name in part.__match_args__:  # type: ignore[attr-defined]  # a dataclass; faster than `fields`
        value = getattr(part, name)
        changed = _map_value(value, name, change)
        if changed is not value:
            changes[name] = changed
    return replace(part, **changes) if changes else part  # type: ignore[type-var]  # of the same types


def _map_value(value: object, name: str, change: Callable[[str, str], str]) -> object:
    if isinstance(value, str):
        changed = change(name, value)
        return value if changed == value else changed
    if isinstance(value, tuple):
        parts = tuple(_map_value(item, name, change) for item in value)
        return value if all(old is new for old, new in zip(value, parts, strict=True)) else parts
    return _map_texts(value, change) if is_dataclass(value) else value


def _escape_invalid(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        pass
    else:
        return value
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # lone surrogates that stand for no byte
        return value.encode("utf-8", "backslashreplace").decode()
