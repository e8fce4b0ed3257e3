"""What the machine has left, read from files as Linux writes them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from plait.core.capacity import MachineReadings
from plait.system.sensors import PLENTY, MachineSensors

MEMINFO = "MemTotal:       8000 kB\nMemFree:         100 kB\nMemAvailable:   6000 kB\nHugePages_Total:       0\n"
V2 = "30 29 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "31 29 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)
UNLIMITED = "9223372036854771712"


def machine(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in {"proc/meminfo": MEMINFO, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def weather(root: Path, *paths: Path) -> MachineReadings:
    return MachineSensors(paths, root=root).read()


def group(folder: str, **files: object) -> dict[str, str]:
    return {f"sys/fs/cgroup/{folder}{name.replace('__', '.')}": f"{text}\n" for name, text in files.items()}


def test_this_machine_has_readings(tmp_path: Path) -> None:
    readings = MachineSensors([tmp_path]).read()
    assert 0 < readings.memory <= readings.memory_total < PLENTY
    assert readings.memory_total <= psutil.virtual_memory().total
    assert 0 < readings.disk <= readings.disk_total < PLENTY
    assert 1 <= readings.cores <= len(os.sched_getaffinity(0))
    assert readings.load >= 0
    assert readings.memory_stall is None or 0 <= readings.memory_stall <= 1


def test_memory_is_the_available_memory(tmp_path: Path) -> None:
    readings = weather(machine(tmp_path, {}))
    assert (readings.memory, readings.memory_total) == (6000 * 1024, 8000 * 1024)


def test_psutil_is_used_without_proc(tmp_path: Path) -> None:
    readings = weather(tmp_path)
    assert readings.memory_total == psutil.virtual_memory().total
    assert 0 < readings.memory < readings.memory_total
    assert readings.memory_stall is None


@pytest.mark.parametrize(
    "text",
    ["", "MemTotal: 8 kB\n", "MemAvailable:\nMemTotal: 8 kB", "\udcff", "MemAvailable: x\nMemTotal: y\n"],
)
def test_an_unreadable_sensor_counts_as_plenty(text: str, tmp_path: Path) -> None:
    machine(tmp_path, {"proc/pressure/memory": "some\n"})
    (tmp_path / "proc/meminfo").write_text(text, errors="surrogateescape")
    readings = weather(tmp_path, Path("/proc/self/fd/none\0such"))
    assert (readings.memory, readings.memory_total, readings.memory_stall) == (PLENTY, PLENTY, None)
    assert (readings.disk, readings.disk_total) == (PLENTY, PLENTY)


def test_a_cgroup_v2_limits_memory_and_cores(tmp_path: Path) -> None:
    files = {"proc/self/mountinfo": V2, "proc/self/cgroup": "0::/user/plait\n"}
    stat = "anon 700\ninactive_file 300000\nactive_file 200000\nslab_reclaimable 5000\nfile 600000\n"
    mine = group("user/plait/", memory__max=2_000_000, memory__high="max", memory__current=1_500_000, memory__stat=stat)
    root = machine(tmp_path, {**files, **mine, **group("user/plait/", cpu__max="150000 100000")})
    readings = weather(root)
    assert (readings.memory, readings.memory_total) == (2_000_000 - 1_500_000 + 505_000, 2_000_000)
    assert readings.cores == min(2, len(os.sched_getaffinity(0)))
    machine(root, group("user/plait/", memory__high=1_200_000))
    assert weather(root).memory == 1_200_000 - 1_500_000 + 505_000, "above it nothing moves"
    machine(root, group("user/plait/", memory__current=9_000_000))
    assert weather(root).memory == 0
    machine(root, group("user/plait/", memory__max="max", memory__high="max"))
    assert weather(root).memory == 6000 * 1024


def test_the_tightest_ancestor_cgroup_counts(tmp_path: Path) -> None:
    files = {"proc/self/mountinfo": V2, "proc/self/cgroup": "0::/a/b/c\n"}
    for folder, limit in {"a": 900_000, "a/b": 4_000_000, "a/b/c": "max"}.items():
        files |= group(f"{folder}/", memory__max=limit, memory__high="max", memory__current=100, memory__stat="")
        files |= group(f"{folder}/", cpu__max="max 100000")
    files |= group("a/", cpu__max="50000 100000")
    readings = weather(machine(tmp_path, files))
    assert (readings.memory, readings.memory_total) == (899_900, 900_000)
    assert readings.cores == 1


def test_a_cgroup_v1_limits_memory_and_cores(tmp_path: Path) -> None:
    files = {
        "proc/self/mountinfo": V1,
        "proc/self/cgroup": "4:memory:/x/y\n3:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n",
    }
    stat = "total_inactive_file 1000\ntotal_active_file 500\ninactive_file 77\n"
    files |= group("memory/x/y/", memory__limit_in_bytes=3_000_000, memory__usage_in_bytes=2_000_000, memory__stat=stat)
    files |= group("memory/x/", memory__limit_in_bytes=UNLIMITED, memory__usage_in_bytes=1, memory__stat=stat)
    files |= group("cpu/", cpu__cfs_quota_us=100_000, cpu__cfs_period_us=100_000)
    root = machine(tmp_path, files)
    readings = weather(root)
    assert (readings.memory, readings.memory_total, readings.cores) == (1_001_500, 3_000_000, 1)
    machine(root, group("memory/x/y/", memory__limit_in_bytes=UNLIMITED))
    machine(root, group("cpu/", cpu__cfs_quota_us=-1))
    readings = weather(root)
    assert (readings.memory, readings.cores) == (6000 * 1024, len(os.sched_getaffinity(0)))


@pytest.mark.parametrize(
    ("top", "path"),
    [
        ("/docker/1", "/docker/1"),
        ("/docker/1", "/docker/12"),
        ("/", "/../other"),
        ("/docker/1", "/docker/1/.."),
    ],
)
def test_in_a_container_the_visible_cgroup_counts(top: str, path: str, tmp_path: Path) -> None:
    mount = V2.replace(" / /sys", f" {top} /sys")
    mine = group("", memory__max=500_000, memory__high="max", memory__current=0, memory__stat="")
    files = {"proc/self/mountinfo": mount, "proc/self/cgroup": f"0::{path}\n", **mine}
    for others in ("2/", "../other/", "../"):
        files |= group(others, memory__max=1, memory__high="max", memory__current=0, memory__stat="")
    assert weather(machine(tmp_path, files)).memory == 500_000


@pytest.mark.parametrize("bad", ["", "much", "\n"])
def test_a_damaged_cgroup_limits_nothing(bad: str, tmp_path: Path) -> None:
    files = {"proc/self/mountinfo": V2 + "garbage\n - \n", "proc/self/cgroup": "0::/\n"}
    files |= group("", memory__max=1000, memory__high="max", memory__current=bad, memory__stat="1 2 3", cpu__max=bad)
    readings = weather(machine(tmp_path, files))
    assert (readings.memory, readings.cores) == (6000 * 1024, len(os.sched_getaffinity(0)))


@pytest.mark.parametrize("bad", ["", "nonsense", "0:/"])
def test_missing_cgroups_limit_nothing(bad: str, tmp_path: Path) -> None:
    files = {"proc/self/mountinfo": V2, "proc/self/cgroup": bad}
    assert weather(machine(tmp_path, files)).memory == 6000 * 1024


def test_memory_stall_is_the_share_of_stalled_time(tmp_path: Path) -> None:
    text = "some avg10=12.50 avg60=1.00 avg300=0.10 total=99\nfull avg10=3.00 avg60=0.00 avg300=0.00 total=9\n"
    assert weather(machine(tmp_path, {"proc/pressure/memory": text})).memory_stall == 0.125


def test_the_fullest_disk_counts(tmp_path: Path) -> None:
    shared_memory = Path("/dev/shm")
    if not shared_memory.is_dir() or os.statvfs(shared_memory).f_fsid == os.statvfs(tmp_path).f_fsid:
        pytest.skip("there is one disk here only")
    each = [weather(tmp_path, path).disk_total for path in (tmp_path, shared_memory)]
    scarce = min((tmp_path, shared_memory), key=lambda path: weather(tmp_path, path).disk)
    both = weather(tmp_path, tmp_path, shared_memory)
    assert both.disk_total == weather(tmp_path, scarce).disk_total
    assert both.disk_total in each


def test_a_missing_folder_counts_as_its_nearest_parent(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    current = weather(tmp_path, tmp_path).disk_total
    assert weather(tmp_path, tmp_path / "not" / "yet").disk_total == current
    assert weather(tmp_path, tmp_path / "file" / "below").disk_total == current
    assert weather(tmp_path).disk == PLENTY


def test_a_load_that_has_ended_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    printed = tmp_path / "proc" / "loadavg"
    printed.write_text("99.00 99.00 99.00 1/345 6789\n")
    assert MachineSensors([tmp_path], root=tmp_path).read().load == 0
    printed.write_text("nonsense")
    assert MachineSensors([tmp_path], root=tmp_path).read().load >= 0
