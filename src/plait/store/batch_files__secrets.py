"""What a front must not tell of a batch: the secrets of its own environment, and of the batch's as far as that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from plait.agents.redaction import Redactor, build_env_redactor
from plait.core.task import Task
from plait.store import batch_files
from plait.store.batch_inputs import BatchInputsError
from plait.system.state_paths import StateFolder


def load_redactor(folder: StateFolder, batch: str) -> Redactor:
    """Of a batch that has ended, the environment is gone: then what its tasks set is known, and the shapes of secrets."""
    tasks: tuple[Task, ...] = ()
    environment: Mapping[str, str] = {}
    with suppress(BatchInputsError):
        tasks = batch_files.read_batch_inputs(folder, batch).tasks
    with suppress(BatchInputsError):
        environment = batch_files.read_batch_environment(folder, batch)
    return build_env_redactor(os.environ, environment.items(), *(task.env for task in tasks))
