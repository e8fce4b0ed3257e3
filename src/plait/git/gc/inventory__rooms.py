"""Folders: how old they are, and who is at work in them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path


def seconds_since_change(path: Path) -> float:
    """Seconds since it was last changed; 0 for what is not there."""
    try:
        return max(0.0, time.time() - path.lstat().st_mtime)
    except OSError:
        return 0.0


ProcessFinder = Callable[[Path], tuple[int, ...]]


def make_process_finder() -> ProcessFinder:
    """Who is at work in a folder now, as far as this user may see."""
    found = [(pid, folder) for pid, folder in _list_process_folders() if pid != os.getpid()]

    def inside(folder: Path) -> tuple[int, ...]:
        real = os.path.realpath(folder)
        return tuple(pid for pid, there in found if there == real or there.startswith(f"{real}{os.sep}"))

    return inside


def _list_process_folders() -> Iterator[tuple[int, str]]:
    """Every process and the folder it is in."""
    if sys.platform == "linux":
        for name in os.listdir("/proc"):  # noqa: PTH208 - hundreds of paths would cost more than all the rest
            if name.isdecimal():
                with suppress(OSError):
                    yield int(name), os.readlink(f"/proc/{name}/cwd")  # noqa: PTH115
    else:
        import psutil  # noqa: PLC0415 - costs a moment, and only where there is no /proc

        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                yield process.pid, process.cwd()
