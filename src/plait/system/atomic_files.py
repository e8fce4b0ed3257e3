from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_TRUNCATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC


def make_private_folder(folder: Path) -> None:
    """Make it, and what is missing above it, for the owner's eyes alone."""
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
    except FileNotFoundError:
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private_file(path: Path, text: str) -> None:
    """For the owner's eyes. Nobody reads it before what follows from it; whoever dies here writes it anew."""
    try:
        fd = os.open(path, _TRUNCATE_FLAGS, 0o600)
    except FileNotFoundError:
        make_private_folder(path.parent)
        fd = os.open(path, _TRUNCATE_FLAGS, 0o600)
    try:
        data = memoryview(text.encode("utf-8", "surrogateescape"))
        while data:
            data = data[os.write(fd, data) :]
    finally:
        os.close(fd)


def replace_file(path: Path, data: bytes, suffix: str = "") -> None:
    """Whoever reads it meets the old text or the new one. Where several may write at once, each says which `writer` it is."""
    beside = path.with_name(f"{path.name}{suffix}.new")
    beside.write_bytes(data)
    beside.replace(path)


_REPLACE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC


def replace_private_file(path: Path, data: bytes) -> None:
    """There whole or not at all, for the owner's eyes."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with open(os.open(fresh, _REPLACE_FLAGS, 0o600), "wb") as file:  # noqa: PTH123 - a descriptor, for its mode
            file.write(data)
        fresh.replace(path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise
