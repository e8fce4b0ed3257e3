"""The exit status that a warden leaves: three digits and a newline, over the four blanks it put there before."""

from __future__ import annotations

import os
import re
from pathlib import Path

_COMPLETE = re.compile(rb"[0-9]{3}\n\Z")


def read_exit_status(path: Path) -> int | None:
    """None: there is none, or not all of it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        data = os.read(fd, 8)
    finally:
        os.close(fd)
    return int(data) if _COMPLETE.match(data) else None
