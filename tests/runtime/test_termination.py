"""Ending whole trees of real processes."""

from __future__ import annotations

import os
from pathlib import Path
from signal import SIGKILL, SIGSTOP

import pytest

from plait.runtime.termination import GracePeriods
from plait.system import processes
from plait.system.process_identity import Process
from plait.testing.contracts.executor import (
    ENDS_ON_INT,
    IGNORES_SIGNALS,
    ExecutorHarness,
    RecordedCallbacks,
    is_alive,
)
from tests.support.leaked_processes import find_leaked_processes
from tests.support.local_executor import local_executor_setup
from tests.support.waiting import wait_until

LOOP = "while :; do sleep 0.05; done"


def ended(harness: ExecutorHarness, *, now: bool = False) -> int | str:
    attempt = harness.make_job("").attempt
    harness.executor.terminate(attempt, at_once=now)
    return harness.wait_for_end(attempt)


@pytest.mark.parametrize("now", [False, True])
def test_a_daemon_ends_with_its_attempt(harness: ExecutorHarness, *, now: bool) -> None:
    """It has forked twice and has no parent, no session and no terminal in common with it."""
    harness.start(f"(setsid sh -c 'trap \"\" INT; echo $$ >child; {LOOP}' &) ; : >up; {LOOP}")
    child = harness.wait_for_pid("child")
    ended(harness, now=now)
    assert not is_alive(child)


def test_a_child_with_a_scrubbed_environment_is_found_by_its_session(bare_harness: ExecutorHarness) -> None:
    bare_harness.start(f"(env -i sh -c 'echo $$ >child; {LOOP}' &); : >up; {LOOP}")
    child = bare_harness.wait_for_pid("child")
    ended(bare_harness, now=True)
    assert not is_alive(child)


def test_a_child_with_a_scrubbed_environment_and_its_own_session_is_found_by_its_parents(
    bare_harness: ExecutorHarness,
) -> None:
    bare_harness.start(f"env -i setsid sh -c 'echo $$ >child; {LOOP}' & : >up; {LOOP}")
    child = bare_harness.wait_for_pid("child")
    ended(bare_harness, now=True)
    assert not is_alive(child)


def test_a_known_child_without_parents_is_ended(bare_harness: ExecutorHarness) -> None:
    """Where nothing else tells any more, it helps to have seen it in time."""
    bare_harness.start(
        f"env -i setsid sh -c 'echo $$ >child; {LOOP}' & : >up; until [ -e go ]; do sleep 0.02; done; exit 0"
    )
    child = bare_harness.wait_for_pid("child")
    bare_harness.executor.measure_memory()
    (bare_harness.workspace / "go").touch()
    bare_harness.wait_for_end(bare_harness.make_job("").attempt)
    assert bare_harness.wait_until(lambda: not is_alive(child))


def test_processes_that_keep_forking_are_stopped_and_killed(harness: ExecutorHarness, tmp_path: Path) -> None:
    """Each child starts another in a session of its own and exits; a chain that isn't killed ends by writing `over`."""
    script = harness.workspace / "fork"
    script.write_text(
        "trap '' INT TERM\n: >up\nif [ $1 -gt 0 ]; then setsid sh ./fork $(($1 - 1)) & else : >over; fi\nsleep 0.001\n"
    )
    harness.start("for n in 1 2 3 4 5; do setsid sh ./fork 5000 & done; wait; exec sleep 60")
    try:
        assert ended(harness, now=True) == 128 + SIGKILL
        wait_until(lambda: not find_leaked_processes(tmp_path))
        assert not (harness.workspace / "over").exists()
    finally:
        script.unlink()  # a chain that both have missed would take a minute of processor time from other tests


def test_a_hundred_children_end_at_once(harness: ExecutorHarness, tmp_path: Path) -> None:
    fork = "n=0; while [ $n -lt 50 ]; do setsid sleep 60 & sleep 60 & n=$((n + 1)); done"
    harness.start(f"trap '' INT TERM; {fork}; : >up; wait; wait; {LOOP}")
    assert ended(harness) == 128 + SIGKILL
    assert find_leaked_processes(tmp_path) == []


def test_a_stopped_process_receives_the_signal(harness: ExecutorHarness) -> None:
    harness.start(f"echo $$ >self; {ENDS_ON_INT}")
    os.kill(harness.wait_for_pid("self"), SIGSTOP)
    assert ended(harness) == 3


def test_killing_at_once_overtakes_a_graceful_end(tmp_path: Path) -> None:
    with local_executor_setup(tmp_path, graces=GracePeriods(interrupt=1000, terminate=1000)) as harness:
        attempt = harness.start(f"trap ': >asked' INT; : >up; {LOOP}")
        harness.executor.terminate(attempt, at_once=False)
        assert harness.wait_until((harness.workspace / "asked").exists)
        assert ended(harness, now=True) == 128 + SIGKILL


def test_leftovers_get_a_short_grace_period(tmp_path: Path) -> None:
    """In a shell, background processes ignore INT."""
    with local_executor_setup(tmp_path, graces=GracePeriods(interrupt=1000, terminate=1000, leftover=0.2)) as harness:
        harness.start("sleep 60 & trap 'exit 3' INT; : >up; while :; do sleep 0.05; done")
        assert ended(harness) == 3
        assert find_leaked_processes(tmp_path) == []


def test_the_end_is_reported_when_no_process_is_left(harness: ExecutorHarness) -> None:
    """The next attempt may start in the same workspace at once."""
    harness.start(f"setsid sh -c 'trap \"\" INT; echo $$ >child; {LOOP}' & {ENDS_ON_INT}")
    child = harness.wait_for_pid("child")
    attempt = harness.make_job("").attempt
    harness.executor.terminate(attempt, at_once=False)
    assert harness.wait_until(lambda: attempt in harness.callbacks.ends or not is_alive(child))
    assert not is_alive(child)
    assert harness.wait_for_end(attempt) == 3


def test_an_attempt_whose_supervisor_was_killed_is_lost_and_leaves_no_process(harness: ExecutorHarness) -> None:
    harness.start(f"echo $$ >self; {IGNORES_SIGNALS}")
    command = harness.wait_for_pid("self")
    os.kill(harness.callbacks.launches[0][1], SIGKILL)
    assert harness.wait_for_end(harness.make_job("").attempt) == "its supervisor was killed by signal 9"
    assert not is_alive(command)


def test_a_supervisor_that_hangs_is_killed(tmp_path: Path) -> None:
    with local_executor_setup(tmp_path, graces=GracePeriods(interrupt=0.1, terminate=0.1, supervisor=0.1)) as harness:
        attempt = harness.start(LOOP.replace("while", ": >up; while"))
        os.kill(harness.callbacks.launches[0][1], SIGSTOP)
        harness.executor.terminate(attempt, at_once=True)
        assert harness.wait_for_end(attempt) == "its supervisor was killed by signal 9"


def test_many_attempts_end_in_the_same_passes(bare_harness: ExecutorHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass over all processes costs milliseconds: it is not made for each."""
    attempts = [bare_harness.start(": >up; exec sleep 60", f"{number}") for number in range(12)]
    passes, every = 0, processes.list_processes

    def counted() -> list[Process]:
        nonlocal passes
        passes += 1
        return every()

    monkeypatch.setattr(processes, "list_processes", counted)
    for attempt in attempts:
        bare_harness.executor.terminate(attempt, at_once=True)
    assert bare_harness.wait_until(lambda: passes > 0)
    assert passes < 6
    assert bare_harness.wait_until(lambda: bare_harness.callbacks.count == 12)
    assert set(bare_harness.callbacks.ends.values()) == {128 + SIGKILL}


def test_processes_of_other_attempts_are_not_signalled(harness: ExecutorHarness) -> None:
    other = harness.start(f"{IGNORES_SIGNALS}", "other")
    attempt = harness.start(f"{IGNORES_SIGNALS}")
    harness.executor.terminate(attempt, at_once=True)
    assert harness.wait_for_end(attempt) == 128 + SIGKILL
    assert list(harness.executor.measure_memory()) == [other]
    assert is_alive(harness.callbacks.launches[0][1])
    assert other not in harness.callbacks.ends


def test_terminating_an_unstarted_attempt_is_reported_and_prevents_its_launch(bare_harness: ExecutorHarness) -> None:
    job = bare_harness.make_job(": >ran")
    bare_harness.executor.terminate(job.attempt, at_once=True)
    later = RecordedCallbacks()
    bare_harness.open_executor(later).start(job)
    assert bare_harness.wait_until(lambda: later.count == 1)
    assert isinstance(later.ends[job.attempt], str)
    assert not (bare_harness.workspace / "ran").exists()
