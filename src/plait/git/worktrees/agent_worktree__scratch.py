"""A folder for what one call makes and throws away, in the worktree's own records: the same disk as its index."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SCRATCH_PREFIX = "plait-scratch-"


@contextmanager
def scratch_folder(admin: Path) -> Iterator[Path]:
    """Empty, and gone afterwards; those that dead processes left are removed as well."""
    for left in admin.glob(f"{_SCRATCH_PREFIX}*"):
        if not _is_alive(left.name.removeprefix(_SCRATCH_PREFIX).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_SCRATCH_PREFIX}{os.getpid()}-", dir=admin))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: str) -> bool:
    if not pid.isdecimal() or len(pid) > 10:
        return False
    with suppress(ProcessLookupError, OverflowError):
        try:
            os.kill(int(pid), 0)
        except PermissionError:
            return True
        return int(pid) > 0
    return False
