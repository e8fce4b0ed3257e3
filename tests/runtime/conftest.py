from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import run

import pytest

from plait.runtime import cgroup, process_tree
from plait.testing.contracts.executor import ExecutorHarness
from tests.support.local_executor import local_executor_setup


@pytest.fixture(params=["with scopes", "without scopes"])
def harness(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ExecutorHarness]:
    if request.param == "without scopes":
        monkeypatch.setattr(cgroup, "parent_cgroup", lambda: "")
    elif not cgroup.parent_cgroup():
        pytest.skip("no control groups can be made here")
    monkeypatch.setattr(process_tree, "MIN_AGE_SECONDS", 0.02)
    with local_executor_setup(tmp_path) as harness:
        yield harness


@pytest.fixture
def bare_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExecutorHarness]:
    """Without cgroups, so that processes have to be found in the other ways."""
    monkeypatch.setattr(cgroup, "parent_cgroup", lambda: "")
    with local_executor_setup(tmp_path) as harness:
        yield harness


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    run(["umount", "-l", disk], check=True)
