"""Control groups: a container or a service may have less than the machine. Both versions; Linux only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plait.core.frozen import dataclass

# Version 1 tells "no limit" as a number that no machine has.
_UNLIMITED = 1 << 60


@dataclass(frozen=True, slots=True)
class Limit:
    """Bytes that may still be taken, of how many. What the kernel would drop on demand counts as not taken."""

    left: int
    total: int


@dataclass(frozen=True, slots=True)
class Group:
    """One control group; None is no limit. A file that is not there raises OSError, one that is damaged ValueError."""

    path: Path
    unified: bool

    def memory(self) -> Limit | None:
        return self._memory_2() if self.unified else self._memory_1()

    def cores(self) -> float | None:
        if self.unified:
            quota, period = _words(self.path / "cpu.max")[:2]
        else:
            (quota,), (period,) = (_words(self.path / f"cpu.cfs_{what}_us") for what in ("quota", "period"))
        return None if quota in {"max", "-1"} else int(quota) / max(1, int(period))

    def _memory_2(self) -> Limit | None:
        # Above `high` a group is not killed but slowed down until nothing moves.
        said = [word for name in ("max", "high") for word in _words(self.path / f"memory.{name}")]
        limits = [int(word) for word in said if word != "max"]
        if not limits:
            return None
        return self._left(min(limits), "memory.current", ("inactive_file", "active_file", "slab_reclaimable"))

    def _memory_1(self) -> Limit | None:
        total = int(_words(self.path / "memory.limit_in_bytes")[0])
        if total >= _UNLIMITED:
            return None
        return self._left(total, "memory.usage_in_bytes", ("total_inactive_file", "total_active_file"))

    def _left(self, total: int, usage: str, droppable: tuple[str, ...]) -> Limit:
        words = _words(self.path / "memory.stat")
        told = dict(zip(words[::2], words[1::2], strict=False))
        used = int(_words(self.path / usage)[0]) - sum(int(told.get(name, 0)) for name in droppable)
        return Limit(min(total, max(0, total - used)), total)


def groups(root: Path) -> tuple[Group, ...]:
    """Those that this process runs under, each with all above it: the tightest one counts."""
    mine = [line.split(":", 2) for line in (root / "proc/self/cgroup").read_text().splitlines()]
    found: dict[Path, Group] = {}
    for mount in _mounts(root):
        for _, controllers, path in mine:
            if mount.controllers >= set(filter(None, controllers.split(","))) and mount.unified == (
                not controllers
            ):
                for folder in mount.upwards(path):
                    found.setdefault(folder, Group(folder, mount.unified))
    return tuple(group for group in found.values() if _limits(group))


@dataclass(frozen=True, slots=True)
class _Mount:
    """Where a hierarchy, from `top` downwards, can be seen."""

    top: str
    point: Path
    unified: bool
    controllers: frozenset[str]

    def upwards(self, path: str) -> Iterator[Path]:
        """In a container the path may be the host's: then the mount's own folder is all that can be seen."""
        within = f"{path}/".startswith(f"{self.top.rstrip('/')}/") and ".." not in path.split("/")
        here = self.point / path.removeprefix(self.top).lstrip("/") if within else self.point
        yield here
        while here != self.point:
            here = here.parent
            yield here


def _mounts(root: Path) -> Iterator[_Mount]:
    for line in (root / "proc/self/mountinfo").read_text(errors="replace").splitlines():
        before, _, after = line.partition(" - ")
        words, kind = before.split(), after.split()
        if kind and kind[0] in {"cgroup", "cgroup2"}:
            controllers = frozenset(kind[-1].split(","))
            yield _Mount(words[3], root / words[4].lstrip("/"), kind[0] == "cgroup2", controllers)


def _limits(group: Group) -> bool:
    names = ("memory.max", "cpu.max") if group.unified else ("memory.limit_in_bytes", "cpu.cfs_quota_us")
    return any((group.path / name).exists() for name in names)


def _words(path: Path) -> list[str]:
    return path.read_text("ascii").split()
