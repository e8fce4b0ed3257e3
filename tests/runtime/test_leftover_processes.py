"""What attempts leave behind when they exit by themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.runtime import cgroup
from plait.runtime.executor import Executor
from plait.runtime.local_executor import SWEEP_DELAY_SECONDS, LocalExecutor
from plait.runtime.termination import GracePeriods
from plait.system import processes
from plait.system.process_identity import Process
from plait.testing.contracts.executor import IGNORES_SIGNALS, ExecutorHarness, RecordedCallbacks, is_alive
from tests.support.local_executor import local_executor_setup

DAEMON = "setsid sh -c 'trap \"\" INT TERM; echo $$ >child; while :; do sleep 0.05; done' & until [ -e child ]; do sleep 0.02; done"


def swept(harness: ExecutorHarness, executor: Executor | None = None) -> bool:
    """As an engine does that is about to leave."""
    executor = executor or harness.executor
    assert isinstance(executor, LocalExecutor)
    return harness.wait_until(lambda: executor.end_leftovers() == 0)


def test_leftovers_in_the_process_group_are_ended_before_the_exit_is_reported(harness: ExecutorHarness) -> None:
    assert harness.run("sh -c 'echo $$ >child; sleep 60' & until [ -s child ]; do sleep 0.02; done; exit 2") == 2
    assert not is_alive(harness.wait_for_pid("child"))


def test_leftovers_in_the_session_are_ended(bare_harness: ExecutorHarness) -> None:
    """In a group of its own, without parents and environment, as soon as it began before its attempt's end."""
    scrub = "set -m; env -i sh -c 'echo $$ >child; exec sleep 60' & until [ -s child ]; do sleep 0.05; done; sleep 0.05"
    assert bare_harness.run(scrub) == 0
    assert swept(bare_harness)
    assert not is_alive(bare_harness.wait_for_pid("child"))


def test_a_daemon_is_ended_by_the_sweep(bare_harness: ExecutorHarness) -> None:
    assert bare_harness.run(DAEMON) == 0
    assert is_alive(bare_harness.wait_for_pid("child"))
    assert swept(bare_harness)
    assert not is_alive(bare_harness.wait_for_pid("child"))


def test_a_daemon_is_ended_some_time_after_its_attempt(
    bare_harness: ExecutorHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.runtime.local_executor.SWEEP_DELAY_SECONDS", SWEEP_DELAY_SECONDS / 20)
    assert bare_harness.run(DAEMON) == 0
    assert bare_harness.wait_until(lambda: not is_alive(bare_harness.wait_for_pid("child")))


def test_the_next_engine_ends_a_daemon_that_was_left(bare_harness: ExecutorHarness) -> None:
    assert bare_harness.run(DAEMON) == 0
    bare_harness.executor.close()
    assert swept(bare_harness, bare_harness.open_executor(RecordedCallbacks()))
    assert not is_alive(bare_harness.wait_for_pid("child"))


def test_a_running_attempt_keeps_its_daemons(harness: ExecutorHarness) -> None:
    """Those of another engine on this state folder, too, whose attempts this one has not looked at."""
    harness.start(f"{DAEMON}; {IGNORES_SIGNALS}")
    child = harness.wait_for_pid("child")
    other = harness.open_executor(RecordedCallbacks())
    for executor in (harness.executor, other):
        assert isinstance(executor, LocalExecutor)
        assert executor.end_leftovers() == 0
    assert is_alive(child)


def test_an_engine_that_was_started_inside_an_attempt_survives_it(
    bare_harness: ExecutorHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bare_harness.run("exit 0") == 0
    marker = next(iter(bare_harness.executor._table.ended))  # type: ignore[attr-defined]
    every = processes.list_processes

    def disguised() -> list[Process]:
        """This process as it would look if the attempt had started it."""
        return [
            Process(each.pid, each.parent, each.group, each.session, each.start, tag=marker)
            if each.pid == os.getpid()
            else each
            for each in every()
        ]

    monkeypatch.setattr(processes, "list_processes", disguised)
    assert swept(bare_harness)


def test_short_attempts_cost_no_pass_over_all_processes(
    bare_harness: ExecutorHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.runtime.local_executor.SWEEP_DELAY_SECONDS", 3600)
    passes, every = 0, processes.list_processes

    def counted() -> list[Process]:
        nonlocal passes
        passes += 1
        return every()

    monkeypatch.setattr(processes, "list_processes", counted)
    for number in range(5):
        assert bare_harness.run("true", f"{number}") == 0
    assert passes == 0


def test_a_process_that_cannot_be_ended_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of another user (started by sudo, for example): the engine does not wait for it for ever."""
    monkeypatch.setattr(cgroup, "parent_cgroup", lambda: "")
    monkeypatch.setattr(processes, "send_signal", lambda *_: None)
    with local_executor_setup(tmp_path, graces=GracePeriods(leftover=0.05, kill=0.1)) as harness:
        assert harness.run("sleep 60 & exit 2", "in its group") == 2
        assert harness.run(DAEMON, "elsewhere") == 0
        assert swept(harness)
        assert is_alive(harness.wait_for_pid("child"))
