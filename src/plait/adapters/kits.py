"""Kits on disk: in the batch's folder, for its owner alone. What is written is there whole or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from plait.kit import Kit, KitError, decode, encode
from plait.site.folder import StateFolder, make_private

KIT = "kit.json"
ENVIRONMENT = "environment.json"


def save(folder: StateFolder, batch: str, kit: Kit, environment: Mapping[str, str]) -> None:
    """Durable on return: a request for the batch may follow."""
    _put(folder.batch(batch) / KIT, encode(kit))
    save_environment(folder, batch, environment)


def save_environment(folder: StateFolder, batch: str, environment: Mapping[str, str]) -> None:
    # A variable need not be text: bytes that are none travel as lone surrogates, which JSON can't hold.
    pairs = [[os.fsencode(name), os.fsencode(value)] for name, value in environment.items()]
    _put(folder.batch(batch) / ENVIRONMENT, msgspec.json.encode(pairs))


def load_kit(folder: StateFolder, batch: str) -> Kit:
    try:
        return decode((folder.batch(batch) / KIT).read_bytes())
    except (OSError, KitError) as error:
        raise KitError(
            f"what batch {batch} was submitted with can't be read: {error}",
            hint="submit its tasks again with plait run",
        ) from error


def load_environment(folder: StateFolder, batch: str) -> dict[str, str]:
    try:
        data = (folder.batch(batch) / ENVIRONMENT).read_bytes()
        pairs = msgspec.json.decode(data, type=list[tuple[bytes, bytes]])
    except (OSError, msgspec.DecodeError) as error:
        raise KitError(
            f"the environment of batch {batch} can't be read: {error}",
            hint=f"hand over yours with plait resume {batch}",
        ) from error
    return {os.fsdecode(name): os.fsdecode(value) for name, value in pairs}


def has_environment(folder: StateFolder, batch: str) -> bool:
    return (folder.batch(batch) / ENVIRONMENT).exists()


def forget_environment(folder: StateFolder, batch: str) -> None:
    """It holds secrets: when the batch has ended, nobody needs them."""
    (folder.batch(batch) / ENVIRONMENT).unlink(missing_ok=True)


def forget_stale(folder: StateFolder, keep: Collection[str], older: float) -> None:
    """The environments of batches that nobody waits for, handed over so many seconds ago or more: a front may have died
    before it asked, or have asked in vain. What was handed over just now may be about to be asked for.
    """
    kept = {folder.batch(batch) for batch in keep}
    for path in folder.batches.glob(f"*/{ENVIRONMENT}"):
        with suppress(OSError):
            if path.parent not in kept and time.time() - path.stat().st_mtime >= older:
                path.unlink()


def _put(path: Path, data: bytes) -> None:
    make_private(path.parent)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor, for its mode
            file.write(data)
            file.flush()
            os.fsync(fd)
        fresh.replace(path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise
    _sync(path.parent)


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
