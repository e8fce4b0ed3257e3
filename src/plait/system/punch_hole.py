"""Punches holes: frees part of a file on disk without changing any offset."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

BLOCK_BYTES = 1 << 16  # a hole begins and ends at a multiple of it: whole blocks of any file system

_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_F_PUNCHHOLE = 99


def punch_hole(path: Path, start: int, length: int) -> bool:
    """False if the file system cannot."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _punch_descriptor(fd, start, length)
    finally:
        os.close(fd)


def _punch_descriptor(fd: int, start: int, length: int) -> bool:
    if sys.platform == "darwin":
        try:
            # struct fpunchhole: flags, reserved, offset, length
            fcntl.fcntl(fd, _F_PUNCHHOLE, struct.pack("=IIqq", 0, 0, start, length))
        except OSError:
            return False
        return True
    fallocate = _load_fallocate()
    return fallocate is not None and fallocate(fd, _KEEP_SIZE | _PUNCH_HOLE, start, length) == 0


@cache
def _load_fallocate() -> Callable[[int, int, int, int], int] | None:
    import ctypes  # few transcripts grow so long

    try:
        library = ctypes.CDLL(None)
        call = getattr(library, "fallocate64", None) or library.fallocate
    except (AttributeError, OSError):
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return cast("Callable[[int, int, int, int], int]", call)
