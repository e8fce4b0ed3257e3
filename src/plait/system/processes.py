"""The processes of this machine, from /proc where there is one and from psutil elsewhere."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

from plait.system.process_identity import Process

if sys.platform == "linux":
    from plait.system import procfs as _source
else:
    from plait.system import psutil_processes as _source

boot_id = _source.boot_id
clock_ticks = _source.clock_ticks
command_line = _source.command_line
list_group = _source.list_group
list_processes = _source.list_processes
memory_footprint = _source.memory_footprint
read_process = _source.read_process
start_time = _source.start_time


def read_boot_clock() -> float:
    """Return seconds that also count while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))  # which does so on macOS


def open_pidfd(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends and never refers to a later one with the same
    pid.

    None where the system has none, or the process is gone.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def is_group_alive(group: int) -> bool:
    """Whether a process of this group runs. This looks at few of the machine's processes, and ignores zombies, which
    stay for a while if their parent does not wait for them.
    """
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return any(start_time(pid) is not None for pid in list_group(group))


def kill_process_group(group: int) -> None:
    """Kill the processes of this group, if there are any left."""
    with suppress(ProcessLookupError, PermissionError):  # macOS refuses where only zombies are left
        os.killpg(group, signal.SIGKILL)


def send_signal(process: Process, number: signal.Signals) -> None:
    """Signal exactly this process; ignored if it is gone or not ours."""
    fd = open_pidfd(process.pid)
    try:
        current = read_process(process.pid)
        if current is None or current.start != process.start:
            return
        if fd is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(fd, number)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        if fd is not None:
            os.close(fd)
