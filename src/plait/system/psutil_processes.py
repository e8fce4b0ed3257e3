"""Processes without /proc (macOS), by psutil: slower, and a little less certain."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

import psutil

from plait.system.process_identity import TAG_VARIABLE, Process

_TICKS = 100


def list_processes() -> list[Process]:
    return [process for pid in psutil.pids() if (process := read_process(pid)) is not None]


def list_group(group: int) -> Iterator[int]:
    """Yield the pids in a process group."""
    for pid in psutil.pids():
        with suppress(OSError):
            if os.getpgid(pid) == group:
                yield pid


def read_process(pid: int) -> Process | None:
    try:
        process = psutil.Process(pid)
        parent, start, state = process.ppid(), process.create_time(), process.status()
    except (psutil.Error, OSError):
        return None
    is_dead = state == psutil.STATUS_ZOMBIE
    group, session, tag = 0, 0, ""
    with suppress(psutil.Error, OSError):  # less is known of another user's process
        group, session = os.getpgid(pid), os.getsid(pid)
        tag = "" if is_dead else process.environ().get(TAG_VARIABLE, "")
    stopped = state == psutil.STATUS_STOPPED
    return Process(pid, parent, group, session, int(start * _TICKS), stopped, is_dead, tag)


def start_time(pid: int) -> int | None:
    """Return when the process started; None if it has exited."""
    process = read_process(pid)
    return None if process is None or process.is_zombie else process.start


def command_line(pid: int) -> list[str]:
    """Return the command line of a process."""
    try:
        return psutil.Process(pid).cmdline()
    except (psutil.Error, OSError):
        return []


def memory_footprint(pids: Iterable[int]) -> int:
    """Return the bytes of memory that these processes use together; shared memory is counted for each."""
    size = 0
    for pid in pids:
        with suppress(psutil.Error, OSError):
            size += psutil.Process(pid).memory_info().rss
    return size


def boot_id() -> str:
    """Return "", because there is no such id here."""
    return ""


def clock_ticks() -> int:
    """Return the current time in the unit of `Process.start`."""
    return int(time.time() * _TICKS)
