"""Processes on Linux, read directly from /proc: a pass over all of them takes a few milliseconds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache

from plait.system.process_identity import TAG_VARIABLE, Process

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TAG_KEY = f"{TAG_VARIABLE}=".encode()
_CHUNK = 1 << 16
_ZOMBIE_STATES = frozenset({b"Z", b"X", b"x"})
_KERNEL_THREAD = 0x0020_0000  # a flag in `stat`


def list_processes() -> list[Process]:
    pids = [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdecimal()]
    processes = (read_process(pid) for pid in pids)
    return [process for process in processes if process is not None]


def list_group(group: int) -> Iterator[int]:
    """Yield the pids in a process group."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - one for each process
        if name.isdecimal():
            with suppress(ProcessLookupError):
                if os.getpgid(int(name)) == group:
                    yield int(name)


def read_process(pid: int) -> Process | None:
    fields = _read_stat(pid)
    if fields is None:
        return None
    state, (parent, group, session), start = fields[0], map(int, fields[1:4]), int(fields[19])
    is_dead = state in _ZOMBIE_STATES
    # Kernel threads have no environment. Session 0 doesn't identify them: processes outside a pid namespace have it too.
    has_no_environment = is_dead or int(fields[6]) & _KERNEL_THREAD
    tag = "" if has_no_environment else _parse_tag(_read_file(f"/proc/{pid}/environ"))
    return Process(pid, parent, group, session, start, state == b"T", is_dead, tag)


def start_time(pid: int) -> int | None:
    """Return when the process started, without reading its environment; None if it has exited."""
    fields = _read_stat(pid)
    return None if fields is None or fields[0] in _ZOMBIE_STATES else int(fields[19])


def command_line(pid: int) -> list[str]:
    """Return the command line of a process."""
    return [os.fsdecode(arg) for arg in _read_file(f"/proc/{pid}/cmdline").split(b"\0")[:-1]]


def memory_footprint(pids: Iterable[int]) -> int:
    """Return the bytes that these processes take together; pages that several of them map count about once."""
    private, shared = 0, 0
    for pid in pids:
        sizes = _read_file(f"/proc/{pid}/statm").split()
        if len(sizes) > 2:
            private += int(sizes[1]) - int(sizes[2])
            shared = max(shared, int(sizes[2]))
    return (private + shared) * _PAGE


@cache
def boot_id() -> str:
    """Return an id that changes with every boot of the machine."""
    return _read_file("/proc/sys/kernel/random/boot_id").decode().strip()


def clock_ticks() -> int:
    """Return the current time in the unit of `Process.start`."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


def _read_stat(pid: int) -> list[bytes] | None:
    """Return the fields from the state on. The name in brackets before it may contain anything, even brackets."""
    stat = _read_file(f"/proc/{pid}/stat")
    fields = stat[stat.rfind(b")") + 2 :].split()
    return fields if len(fields) >= 20 else None


def _parse_tag(environment: bytes) -> str:
    start = 0 if environment.startswith(_TAG_KEY) else environment.find(b"\0" + _TAG_KEY) + 1
    if not start and not environment.startswith(_TAG_KEY):
        return ""
    value, _, _ = environment[start + len(_TAG_KEY) :].partition(b"\0")
    return value.decode("ascii", "replace")


def _read_file(path: str) -> bytes:
    """Return the content; empty if the process is gone or belongs to another user; any other failure is an error."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""
    try:
        data = chunk = os.read(fd, _CHUNK)
        while len(chunk) == _CHUNK:
            chunk = os.read(fd, _CHUNK)
            data += chunk
    except (ProcessLookupError, PermissionError):
        return b""
    finally:
        os.close(fd)
    return data
