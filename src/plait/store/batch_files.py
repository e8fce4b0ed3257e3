"""The files of a batch: its inputs and its environment, readable only by their owner, written atomically."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from plait.agents.redaction import Redactor, build_redactor
from plait.core.task import Task
from plait.store.batch_inputs import BatchInputs, BatchInputsError, decode_inputs, encode_inputs
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.state_paths import StateFolder

INPUTS_FILE = "kit.json"
ENVIRONMENT_FILE = "environment.json"


def write_batch_files(folder: StateFolder, batch: str, inputs: BatchInputs, environment: Mapping[str, str]) -> None:
    """Durable on return: a request for the batch may follow."""
    _write_durably(folder.batch(batch) / INPUTS_FILE, encode_inputs(inputs))
    write_batch_environment(folder, batch, environment)


def write_batch_environment(folder: StateFolder, batch: str, environment: Mapping[str, str]) -> None:
    # As bytes: a variable need not be UTF-8.
    pairs = [[os.fsencode(name), os.fsencode(value)] for name, value in environment.items()]
    _write_durably(folder.batch(batch) / ENVIRONMENT_FILE, msgspec.json.encode(pairs))


def read_batch_inputs(folder: StateFolder, batch: str) -> BatchInputs:
    try:
        return decode_inputs((folder.batch(batch) / INPUTS_FILE).read_bytes())
    except (OSError, BatchInputsError) as error:
        raise BatchInputsError(
            f"can't read the files of batch {batch}: {error}",
            hint="submit its tasks again with plait run",
        ) from error


def read_batch_environment(folder: StateFolder, batch: str) -> dict[str, str]:
    try:
        data = (folder.batch(batch) / ENVIRONMENT_FILE).read_bytes()
        pairs = msgspec.json.decode(data, type=list[tuple[bytes, bytes]])
    except (OSError, msgspec.DecodeError) as error:
        raise BatchInputsError(
            f"the environment of batch {batch} can't be read: {error}",
            hint=f"use yours with plait resume {batch}",
        ) from error
    return {os.fsdecode(name): os.fsdecode(value) for name, value in pairs}


def has_environment(folder: StateFolder, batch: str) -> bool:
    return (folder.batch(batch) / ENVIRONMENT_FILE).exists()


def delete_environment(folder: StateFolder, batch: str) -> None:
    """It holds secrets, which an ended batch doesn't need."""
    (folder.batch(batch) / ENVIRONMENT_FILE).unlink(missing_ok=True)


def delete_stale_environments(folder: StateFolder, keep: Collection[str], older: float) -> None:
    """Delete environments older than `older` seconds, except of the batches `keep`: their submission failed or was never
    sent. A newer one may be about to be submitted.
    """
    kept = {folder.batch(batch) for batch in keep}
    for path in folder.batches.glob(f"*/{ENVIRONMENT_FILE}"):
        with suppress(OSError):
            if path.parent not in kept and time.time() - path.stat().st_mtime >= older:
                path.unlink()


def _write_durably(path: Path, data: bytes) -> None:
    make_private_folder(path.parent)
    replace_file(path, data, durable=True)


def load_redactor(folder: StateFolder, batch: str) -> Redactor:
    """Redacts secrets of this process's environment, and of the batch's as long as it exists."""
    tasks: tuple[Task, ...] = ()
    environment: Mapping[str, str] = {}
    with suppress(BatchInputsError):
        tasks = read_batch_inputs(folder, batch).tasks
    with suppress(BatchInputsError):
        environment = read_batch_environment(folder, batch)
    return build_redactor(os.environ, environment.items(), *(task.env for task in tasks))
