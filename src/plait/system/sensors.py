"""What the machine has left, and the cgroups of this process. What cannot be read counts as plenty: a broken sensor stops nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import TypeVar

from plait.core.capacity import MachineReadings
from plait.core.fast_dataclass import dataclass

PLENTY = sys.maxsize
_KILO = 1024
# A bad file may hold anything: no number, too few words.
_UNREADABLE = (OSError, ValueError, LookupError)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Capacity:
    """The bytes that are left, and in total. Of memory, what the kernel would reclaim counts as left."""

    left: int = PLENTY
    total: int = PLENTY


class MachineSensors:
    """Sensors of this machine, and of the control groups that this process runs under."""

    def __init__(self, paths: Sequence[Path], *, root: Path = Path("/")) -> None:
        """Prepare the sensors. `paths` are where work is written; a missing one counts as its nearest existing parent."""
        self._paths = tuple(paths)
        self._proc = root / "proc"
        self._groups: tuple[Cgroup, ...] = _read_or((), lambda: find_cgroups(root))

    def read(self) -> MachineReadings:
        memory = self._read_memory()
        disk = min((_read_disk(path) for path in self._paths), key=lambda share: share.left, default=Capacity())
        return MachineReadings(
            memory=memory.left,
            memory_total=memory.total,
            disk=disk.left,
            disk_total=disk.total,
            load=_read_or(0.0, lambda: _read_load(self._proc)),
            cores=self._count_cores(),
            memory_stall=_read_or(None, self._read_memory_pressure),
        )

    def _read_memory(self) -> Capacity:
        shares = [_read_or(Capacity(), self._read_machine_memory)]
        shares += [_read_or(None, group.memory) or Capacity() for group in self._groups]
        return Capacity(min(share.left for share in shares), min(share.total for share in shares))

    def _read_machine_memory(self) -> Capacity:
        try:
            text = (self._proc / "meminfo").read_bytes()
        except FileNotFoundError:
            return _read_psutil_memory()
        values = dict(line.split(b":", 1) for line in text.splitlines() if b":" in line)
        return Capacity(_parse_kilobytes(values[b"MemAvailable"]), _parse_kilobytes(values[b"MemTotal"]))

    def _count_cores(self) -> int:
        cores = _read_or(1, _count_usable_cores)
        for group in self._groups:
            quota = _read_or(None, group.cores)
            if quota is not None:
                cores = min(cores, ceil(quota))
        return max(1, cores)

    def _read_memory_pressure(self) -> float:
        """Return the share of time from a line like `some avg10=1.23 avg60=…`."""
        line, _, _ = (self._proc / "pressure" / "memory").read_text("ascii").partition("\n")
        values = dict(field.split("=", 1) for field in line.split()[1:])
        return min(1.0, max(0.0, float(values["avg10"]) / 100))


def _read_or(otherwise: T, read: Callable[[], T]) -> T:
    with suppress(*_UNREADABLE):
        return read()
    return otherwise


def _parse_kilobytes(text: bytes) -> int:
    return int(text.split()[0]) * _KILO


def _read_psutil_memory() -> Capacity:
    import psutil  # only where there is no /proc

    try:
        values = psutil.virtual_memory()
    except (RuntimeError, psutil.Error) as error:
        raise OSError(str(error)) from error
    return Capacity(values.available, values.total)


def _count_usable_cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)  # macOS has none
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _read_disk(path: Path) -> Capacity:
    for candidate in (path, *path.parents):
        try:
            values = os.statvfs(candidate)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            break
        if values.f_blocks:  # some file systems don't report it
            return Capacity(values.f_bavail * values.f_frsize, values.f_blocks * values.f_frsize)
        break
    return Capacity()


def _read_load(proc: Path) -> float:
    """Return the lower of the last minute's load and the current one: the mean lags behind."""
    minute = os.getloadavg()[0]
    try:
        runnable = int((proc / "loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):  # only on Linux
        return minute
    return min(minute, float(runnable - 1))  # this process runs too


# Version 1 reports "no limit" as a number larger than any machine's memory.
_UNLIMITED = 1 << 60


@dataclass(frozen=True, slots=True)
class Cgroup:
    """Limits and usage of one cgroup; None is no limit. Raises OSError for a missing file, ValueError for a damaged
    one.
    """

    path: Path
    unified: bool

    def memory(self) -> Capacity | None:
        return self._memory_v2() if self.unified else self._memory_v1()

    def cores(self) -> float | None:
        if self.unified:
            quota, period = _read_words(self.path / "cpu.max")[:2]
        else:
            (quota,), (period,) = (_read_words(self.path / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        return None if quota in {"max", "-1"} else int(quota) / max(1, int(period))

    def _memory_v2(self) -> Capacity | None:
        # Above `high` a group is not killed but slowed down until nothing moves.
        words = [limit for name in ("max", "high") for limit in _read_words(self.path / f"memory.{name}")]
        limits = [int(limit) for limit in words if limit != "max"]
        if not limits:
            return None
        return self._compute_memory_left(
            min(limits), "memory.current", ("inactive_file", "active_file", "slab_reclaimable")
        )

    def _memory_v1(self) -> Capacity | None:
        total = int(_read_words(self.path / "memory.limit_in_bytes")[0])
        if total >= _UNLIMITED:
            return None
        return self._compute_memory_left(total, "memory.usage_in_bytes", ("total_inactive_file", "total_active_file"))

    def _compute_memory_left(self, total: int, usage: str, droppable: tuple[str, ...]) -> Capacity:
        fields = _read_words(self.path / "memory.stat")
        values = dict(zip(fields[::2], fields[1::2], strict=False))
        used = int(_read_words(self.path / usage)[0]) - sum(int(values.get(name, 0)) for name in droppable)
        return Capacity(min(total, max(0, total - used)), total)


def find_cgroups(root: Path) -> tuple[Cgroup, ...]:
    """Return the cgroups of this process with all their ancestors: the tightest limit counts."""
    own_groups = [line.split(":", 2) for line in (root / "proc/self/cgroup").read_text().splitlines()]
    groups: dict[Path, Cgroup] = {}
    for mount in _list_mounts(root):
        for _, controllers, path in own_groups:
            if mount.controllers >= set(filter(None, controllers.split(","))) and mount.unified == (not controllers):
                for folder in mount.list_ancestors(path):
                    groups.setdefault(folder, Cgroup(folder, mount.unified))
    return tuple(group for group in groups.values() if _has_limits(group))


@dataclass(frozen=True, slots=True)
class _CgroupMount:
    """A mounted cgroup hierarchy."""

    top: str
    point: Path
    unified: bool
    controllers: frozenset[str]

    def list_ancestors(self, path: str) -> Iterator[Path]:
        """Yield the cgroup's folder and those above it. In a container the path may be the host's: then only the
        mount's root is visible.
        """
        is_visible = f"{path}/".startswith(f"{self.top.rstrip('/')}/") and ".." not in path.split("/")
        folder = self.point / path.removeprefix(self.top).lstrip("/") if is_visible else self.point
        yield folder
        while folder != self.point:
            folder = folder.parent
            yield folder


def _list_mounts(root: Path) -> Iterator[_CgroupMount]:
    for line in (root / "proc/self/mountinfo").read_text(errors="replace").splitlines():
        before, _, after = line.partition(" - ")
        fields, filesystem = before.split(), after.split()
        if filesystem and filesystem[0] in {"cgroup", "cgroup2"}:
            controllers = frozenset(filesystem[-1].split(","))
            yield _CgroupMount(fields[3], root / fields[4].lstrip("/"), filesystem[0] == "cgroup2", controllers)


def _has_limits(group: Cgroup) -> bool:
    names = ("memory.max", "cpu.max") if group.unified else ("memory.limit_in_bytes", "cpu.cfs_quota_us")
    return any((group.path / name).exists() for name in names)


def _read_words(path: Path) -> list[str]:
    return path.read_text("ascii").split()
