"""The processes of this machine, and the environment tag by which plait finds those of an attempt.

Read directly from /proc, where a pass over all of them takes a few milliseconds, and from psutil where there is no /proc. The
tag follows from the state folder and the attempt alone, so that a later engine finds the processes again.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt

TAG_VARIABLE = "PLAIT_MARK"
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TAG_KEY = f"{TAG_VARIABLE}=".encode()
_CHUNK = 1 << 16
_ZOMBIE_STATES = frozenset({b"Z", b"X", b"x"})
_KERNEL_THREAD = 0x0020_0000  # a flag in `stat`


@dataclass(frozen=True, slots=True)
class Process:
    """`start` (about 1/100 s) distinguishes it from a later process with the same pid. `tag` is empty if there is none or it
    is not readable.
    """

    pid: int
    parent: int
    group: int
    session: int
    start: int
    is_stopped: bool = False
    is_zombie: bool = False
    tag: str = ""

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.start


def tag_prefix(root: Path) -> str:
    """The prefix of the tags of all attempts under one state folder."""
    return f"{_digest(os.fsencode(root.resolve()))}-"


def attempt_tag(prefix: str, attempt: Attempt) -> str:
    name = "\0".join((attempt.batch, attempt.task, attempt.step.value, str(attempt.n)))
    return prefix + _digest(name.encode("utf-8", "surrogatepass"))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]


def list_processes() -> list[Process]:
    pids = [int(each.name) for each in os.scandir("/proc") if each.name.isdecimal()]
    found = (read_process(pid) for pid in pids)
    return [process for process in found if process is not None]


def read_process(pid: int) -> Process | None:
    fields = _read_stat(pid)
    if fields is None:
        return None
    state, (parent, group, session), start = fields[0], map(int, fields[1:4]), int(fields[19])
    dead = state in _ZOMBIE_STATES
    # Kernel threads have no environment. Session 0 doesn't identify them: processes outside a pid namespace have it too.
    bare = dead or int(fields[6]) & _KERNEL_THREAD
    marker = "" if bare else _parse_tag(_read_file(f"/proc/{pid}/environ"))
    return Process(pid, parent, group, session, start, state == b"T", dead, marker)


def start_time(pid: int) -> int | None:
    """When it started, without reading its environment; None if it has exited."""
    fields = _read_stat(pid)
    return None if fields is None or fields[0] in _ZOMBIE_STATES else int(fields[19])


def command_line(pid: int) -> list[str]:
    """Its command line."""
    return [os.fsdecode(word) for word in _read_file(f"/proc/{pid}/cmdline").split(b"\0")[:-1]]


def memory_footprint(pids: Iterable[int]) -> int:
    """Bytes of memory that these take together. Pages of files that several of them map are counted once, about."""
    own, shared = 0, 0
    for pid in pids:
        sizes = _read_file(f"/proc/{pid}/statm").split()
        if len(sizes) > 2:
            own += int(sizes[1]) - int(sizes[2])
            shared = max(shared, int(sizes[2]))
    return (own + shared) * _PAGE


@cache
def boot_id() -> str:
    """An id that changes with every boot of the machine."""
    return _read_file("/proc/sys/kernel/random/boot_id").decode().strip()


def clock_ticks() -> int:
    """The current time in the unit of `Process.start`."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


def _read_stat(pid: int) -> list[bytes] | None:
    """The fields from the state on. The name in brackets before it may contain anything, even brackets."""
    stat = _read_file(f"/proc/{pid}/stat")
    fields = stat[stat.rfind(b")") + 2 :].split()
    return fields if len(fields) >= 20 else None


def _parse_tag(environment: bytes) -> str:
    at = 0 if environment.startswith(_TAG_KEY) else environment.find(b"\0" + _TAG_KEY) + 1
    if not at and not environment.startswith(_TAG_KEY):
        return ""
    value, _, _ = environment[at + len(_TAG_KEY) :].partition(b"\0")
    return value.decode("ascii", "replace")


def _read_file(path: str) -> bytes:
    """Empty if the process is gone or belongs to another user; any other failure is an error."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""
    try:
        data = piece = os.read(fd, _CHUNK)
        while len(piece) == _CHUNK:
            piece = os.read(fd, _CHUNK)
            data += piece
    except (ProcessLookupError, PermissionError):
        return b""
    finally:
        os.close(fd)
    return data


def open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends and never refers to a later one with the same pid.

    None where the system has none, or the process is gone.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def send_signal(process: Process, number: signal.Signals) -> None:
    """Signal exactly this process; ignored if it is gone or not ours."""
    fd = open_pidfd(process.pid)
    try:
        found = read_process(process.pid)
        if found is None or found.start != process.start:
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


if sys.platform != "linux":
    from plait.system.psutil_processes import (
        read_process,
    )
