"""A file whose blocks are the original's until one of them is written to, where the file system can."""

from __future__ import annotations

import fcntl
import os
import sys

_FICLONE = 0x40049409
_AT_FDCWD = -2  # AT_FDCWD of macOS


def clone_content(source: int, dest: int) -> bool:
    """Linux: the content. False: it can't, and the new file is as empty as it was."""
    try:
        fcntl.ioctl(dest, _FICLONE, source)
    except OSError:  # elsewhere too: no other system knows this number
        return False
    return True


def clone_file(source: int, path: str) -> bool:
    """Where there is no file yet, on macOS: the content, the mode and the times. False: it can't, and there is none."""
    if sys.platform == "darwin":
        import ctypes  # noqa: PLC0415 - the system's own call, which Python does not have

        return bool(ctypes.CDLL(None).fclonefileat(source, _AT_FDCWD, os.fsencode(path), 0) == 0)
    return False
