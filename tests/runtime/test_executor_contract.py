from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.runtime import cgroup
from plait.system import processes, psutil_processes
from plait.testing.contracts.executor import ExecutorContract, ExecutorHarness
from tests.support.local_executor import local_executor_setup


class TestLocalExecutor(ExecutorContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Iterator[ExecutorHarness]:
        with local_executor_setup(tmp_path) as harness:
            yield harness


class TestWithoutCgroups(TestLocalExecutor):
    @pytest.fixture(autouse=True)
    def _no_scopes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cgroup, "parent_cgroup", lambda: "")


class TestWithoutPidfds(TestWithoutCgroups):
    """As on systems that can't tell the end of a process by a descriptor."""

    @pytest.fixture(autouse=True)
    def _no_descriptors(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(processes, "open_pidfd", lambda _: None)


class TestWithoutSpawn(TestWithoutCgroups):
    """As on systems whose posix_spawn knows no sessions."""

    @pytest.fixture(autouse=True)
    def _no_spawn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> int:
            raise NotImplementedError

        monkeypatch.setattr(os, "posix_spawn", refuse)


class TestWithoutProc(TestWithoutPidfds):
    """As on systems without /proc: psutil tells of processes, and a claim holds a pid alone."""

    @pytest.fixture(autouse=True)
    def _no_proc(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in (
            "boot_id",
            "clock_ticks",
            "command_line",
            "list_processes",
            "memory_footprint",
            "read_process",
            "start_time",
        ):
            monkeypatch.setattr(processes, name, getattr(psutil_processes, name))
