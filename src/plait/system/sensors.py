"""What the machine has left. What can't be read is told as plenty: a sensor keeps nothing from starting by its own failure."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import TypeVar

from plait.core.fast_dataclass import dataclass
from plait.store.interfaces import MachineReadings
from plait.system.sensors__cgroups import Cgroup, find_cgroups

PLENTY = sys.maxsize
_KILO = 1024
# A bad file may hold anything: no number, too few words.
_UNREADABLE = (OSError, ValueError, LookupError)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Capacity:
    """Bytes that are left, of how many."""

    left: int = PLENTY
    total: int = PLENTY


class MachineSensors:
    """Sensors of this machine, and of the control groups that this process runs under."""

    def __init__(self, paths: Sequence[Path], *, root: Path = Path("/")) -> None:
        """`paths` are where work is written to; one that is not there yet counts as the folder it will be made in."""
        self._paths = tuple(paths)
        self._proc = root / "proc"
        self._groups: tuple[Cgroup, ...] = _read_or((), lambda: find_cgroups(root))

    def read(self) -> MachineReadings:
        memory = self._read_memory()
        disk = min(
            (_read_disk(path) for path in self._paths), key=lambda share: share.left, default=_Capacity()
        )
        return MachineReadings(
            memory=memory.left,
            memory_total=memory.total,
            disk=disk.left,
            disk_total=disk.total,
            load=_read_or(0.0, lambda: _read_load(self._proc)),
            cores=self._count_cores(),
            memory_stall=_read_or(None, self._read_memory_pressure),
        )

    def _read_memory(self) -> _Capacity:
        shares = [_read_or(_Capacity(), self._read_machine_memory)]
        for group in self._groups:
            limit = _read_or(None, group.memory)
            if limit is not None:
                shares.append(_Capacity(max(0, limit.left), limit.total))
        return _Capacity(min(share.left for share in shares), min(share.total for share in shares))

    def _read_machine_memory(self) -> _Capacity:
        try:
            text = (self._proc / "meminfo").read_bytes()
        except FileNotFoundError:
            return _read_psutil_memory()
        told = dict(line.split(b":", 1) for line in text.splitlines() if b":" in line)
        return _Capacity(_parse_kilobytes(told[b"MemAvailable"]), _parse_kilobytes(told[b"MemTotal"]))

    def _count_cores(self) -> int:
        cores = _read_or(1, _count_usable_cores)
        for group in self._groups:
            quota = _read_or(None, group.cores)
            if quota is not None:
                cores = min(cores, ceil(quota))
        return max(1, cores)

    def _read_memory_pressure(self) -> float:
        """From a line like `some avg10=1.23 avg60=…`."""
        some, _, _ = (self._proc / "pressure" / "memory").read_text("ascii").partition("\n")
        told = dict(word.split("=", 1) for word in some.split()[1:])
        return min(1.0, max(0.0, float(told["avg10"]) / 100))


def _read_or(otherwise: T, read: Callable[[], T]) -> T:
    with suppress(*_UNREADABLE):
        return read()
    return otherwise


def _parse_kilobytes(text: bytes) -> int:
    return int(text.split()[0]) * _KILO


def _read_psutil_memory() -> _Capacity:
    import psutil  # noqa: PLC0415 - only where there is no /proc

    try:
        told = psutil.virtual_memory()
    except (RuntimeError, psutil.Error) as error:
        raise OSError(str(error)) from error
    return _Capacity(told.available, told.total)


def _count_usable_cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)  # macOS has none
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _read_disk(path: Path) -> _Capacity:
    for place in (path, *path.parents):
        try:
            told = os.statvfs(place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            break
        if told.f_blocks:  # some file systems tell nothing
            return _Capacity(told.f_bavail * told.f_frsize, told.f_blocks * told.f_frsize)
        break
    return _Capacity()


def _read_load(proc: Path) -> float:
    """The lesser of the last minute's and this moment's: a minute's mean remembers long what is over."""
    minute = os.getloadavg()[0]
    try:
        now = int((proc / "loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):  # only Linux tells it
        return minute
    return min(minute, float(now - 1))  # this process runs too
