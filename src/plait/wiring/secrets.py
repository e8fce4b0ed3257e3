"""What a front must not tell of a batch: the secrets of its own environment, and of the batch's as far as that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from plait.adapters import kits
from plait.agents.discretion import Discretion, of
from plait.core.task import Task
from plait.kit import KitError
from plait.site.folder import StateFolder


def discretion(folder: StateFolder, batch: str) -> Discretion:
    """Of a batch that has ended, the environment is gone: then what its tasks set is known, and the shapes of secrets."""
    tasks: tuple[Task, ...] = ()
    environment: Mapping[str, str] = {}
    with suppress(KitError):
        tasks = kits.load_kit(folder, batch).tasks
    with suppress(KitError):
        environment = kits.load_environment(folder, batch)
    return of(os.environ, environment.items(), *(task.env for task in tasks))
