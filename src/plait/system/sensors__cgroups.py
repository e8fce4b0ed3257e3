"""Control groups: a container or a service may have less than the machine. Both versions; Linux only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plait.core.fast_dataclass import dataclass

# Version 1 tells "no limit" as a number that no machine has.
_UNLIMITED = 1 << 60


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Bytes that may still be taken, of how many. What the kernel would drop on demand counts as not taken."""

    left: int
    total: int


@dataclass(frozen=True, slots=True)
class Cgroup:
    """One control group; None is no limit. A file that is not there raises OSError, one that is damaged ValueError."""

    path: Path
    unified: bool

    def memory(self) -> MemoryLimit | None:
        return self._memory_v2() if self.unified else self._memory_v1()

    def cores(self) -> float | None:
        if self.unified:
            quota, period = _read_words(self.path / "cpu.max")[:2]
        else:
            (quota,), (period,) = (
                _read_words(self.path / f"cpu.cfs_{what}_us") for what in ("quota", "period")
            )
        return None if quota in {"max", "-1"} else int(quota) / max(1, int(period))

    def _memory_v2(self) -> MemoryLimit | None:
        # Above `high` a group is not killed but slowed down until nothing moves.
        said = [word for name in ("max", "high") for word in _read_words(self.path / f"memory.{name}")]
        limits = [int(word) for word in said if word != "max"]
        if not limits:
            return None
        return self._compute_memory_left(
            min(limits), "memory.current", ("inactive_file", "active_file", "slab_reclaimable")
        )

    def _memory_v1(self) -> MemoryLimit | None:
        total = int(_read_words(self.path / "memory.limit_in_bytes")[0])
        if total >= _UNLIMITED:
            return None
        return self._compute_memory_left(
            total, "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")
        )

    def _compute_memory_left(self, total: int, usage: str, droppable: tuple[str, ...]) -> MemoryLimit:
        words = _read_words(self.path / "memory.stat")
        told = dict(zip(words[::2], words[1::2], strict=False))
        used = int(_read_words(self.path / usage)[0]) - sum(int(told.get(name, 0)) for name in droppable)
        return MemoryLimit(min(total, max(0, total - used)), total)


def find_cgroups(root: Path) -> tuple[Cgroup, ...]:
    """Those that this process runs under, each with all above it: the tightest one counts."""
    mine = [line.split(":", 2) for line in (root / "proc/self/cgroup").read_text().splitlines()]
    found: dict[Path, Cgroup] = {}
    for mount in _list_mounts(root):
        for _, controllers, path in mine:
            if mount.controllers >= set(filter(None, controllers.split(","))) and mount.unified == (
                not controllers
            ):
                for folder in mount.list_ancestors(path):
                    found.setdefault(folder, Cgroup(folder, mount.unified))
    return tuple(group for group in found.values() if _has_limits(group))


@dataclass(frozen=True, slots=True)
class _CgroupMount:
    """Where a hierarchy, from `top` downwards, can be seen."""

    top: str
    point: Path
    unified: bool
    controllers: frozenset[str]

    def list_ancestors(self, path: str) -> Iterator[Path]:
        """In a container the path may be the host's: then the mount's own folder is all that can be seen."""
        within = f"{path}/".startswith(f"{self.top.rstrip('/')}/") and ".." not in path.split("/")
        here = self.point / path.removeprefix(self.top).lstrip("/") if within else self.point
        yield here
        while here != self.point:
            here = here.parent
            yield here


def _list_mounts(root: Path) -> Iterator[_CgroupMount]:
    for line in (root / "proc/self/mountinfo").read_text(errors="replace").splitlines():
        before, _, after = line.partition(" - ")
        words, kind = before.split(), after.split()
        if kind and kind[0] in {"cgroup", "cgroup2"}:
            controllers = frozenset(kind[-1].split(","))
            yield _CgroupMount(words[3], root / words[4].lstrip("/"), kind[0] == "cgroup2", controllers)


def _has_limits(group: Cgroup) -> bool:
    names = ("memory.max", "cpu.max") if group.unified else ("memory.limit_in_bytes", "cpu.cfs_quota_us")
    return any((group.path / name).exists() for name in names)


def _read_words(path: Path) -> list[str]:
    return path.read_text("ascii").split()
