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
    ExecutorSetup,
    RecordedCallbacks,
    is_alive,
)
from tests.support.leaked_processes import find_leaked_processes
from tests.support.local_executor import local_executor_setup
from tests.support.waiting import wait_until

LOOP = "while :; do sleep 0.05; done"


def ended(scene: ExecutorSetup, *, now: bool = False) -> int | str:
    attempt = scene.make_job("").attempt
    scene.executor.terminate(attempt, at_once=now)
    return scene.wait_for_end(attempt)


@pytest.mark.parametrize("now", [False, True])
def test_a_daemon_ends_with_its_attempt(scene: ExecutorSetup, *, now: bool) -> None:
    """It has forked twice and has no parent, no session and no terminal in common with it."""
    scene.start(f"(setsid sh -c 'trap \"\" INT; echo $$ >child; {LOOP}' &) ; : >up; {LOOP}")
    child = scene.wait_for_pid("child")
    ended(scene, now=now)
    assert not is_alive(child)


def test_a_child_with_a_scrubbed_environment_is_found_by_its_session(bare: ExecutorSetup) -> None:
    bare.start(f"(env -i sh -c 'echo $$ >child; {LOOP}' &); : >up; {LOOP}")
    child = bare.wait_for_pid("child")
    ended(bare, now=True)
    assert not is_alive(child)


def test_a_child_with_a_scrubbed_environment_and_its_own_session_is_found_by_its_parents(
    bare: ExecutorSetup,
) -> None:
    bare.start(f"env -i setsid sh -c 'echo $$ >child; {LOOP}' & : >up; {LOOP}")
    child = bare.wait_for_pid("child")
    ended(bare, now=True)
    assert not is_alive(child)


def test_a_child_that_lost_its_parents_was_known(bare: ExecutorSetup) -> None:
    """Where nothing else tells any more, it helps to have seen it in time."""
    bare.start(f"env -i setsid sh -c 'echo $$ >child; {LOOP}' & : >up; until [ -e go ]; do sleep 0.02; done; exit 0")
    child = bare.wait_for_pid("child")
    bare.executor.measure_memory()
    (bare.workspace / "go").touch()
    bare.wait_for_end(bare.make_job("").attempt)
    assert bare.wait_until(lambda: not is_alive(child))


def test_processes_that_keep_forking_are_stopped_and_killed(scene: ExecutorSetup, tmp_path: Path) -> None:
    """Each child starts another in a session of its own and exits; a chain that isn't killed ends by writing `over`."""
    (scene.workspace / "fork").write_text(
        "trap '' INT TERM\n: >up\nif [ $1 -gt 0 ]; then setsid sh ./fork $(($1 - 1)) & else : >over; fi\nsleep 0.001\n"
    )
    scene.start("for n in 1 2 3 4 5; do setsid sh ./fork 400 & done; wait; exec sleep 60")
    assert ended(scene, now=True) == 128 + SIGKILL
    wait_until(lambda: not find_leaked_processes(tmp_path))
    assert not (scene.workspace / "over").exists()


def test_a_hundred_children_end_at_once(scene: ExecutorSetup, tmp_path: Path) -> None:
    fork = "n=0; while [ $n -lt 50 ]; do setsid sleep 60 & sleep 60 & n=$((n + 1)); done"
    scene.start(f"trap '' INT TERM; {fork}; : >up; wait; wait; {LOOP}")
    assert ended(scene) == 128 + SIGKILL
    assert find_leaked_processes(tmp_path) == []


def test_one_that_is_stopped_hears_what_it_is_asked(scene: ExecutorSetup) -> None:
    scene.start(f"echo $$ >self; {ENDS_ON_INT}")
    os.kill(scene.wait_for_pid("self"), SIGSTOP)
    assert ended(scene) == 3


def test_now_overtakes_a_soft_end(tmp_path: Path) -> None:
    with local_executor_setup(tmp_path, graces=GracePeriods(interrupt=1000, terminate=1000)) as scene:
        attempt = scene.start(f"trap ': >asked' INT; : >up; {LOOP}")
        scene.executor.terminate(attempt, at_once=False)
        assert scene.wait_until((scene.workspace / "asked").exists)
        assert ended(scene, now=True) == 128 + SIGKILL


def test_what_is_left_when_the_command_has_ended_is_not_waited_for_long(tmp_path: Path) -> None:
    """In a shell, what runs in the background does not hear INT."""
    with local_executor_setup(tmp_path, graces=GracePeriods(interrupt=1000, terminate=1000, leftover=0.2)) as scene:
        scene.start("sleep 60 & trap 'exit 3' INT; : >up; while :; do sleep 0.05; done")
        assert ended(scene) == 3
        assert find_leaked_processes(tmp_path) == []


def test_the_end_is_told_when_nothing_is_left(scene: ExecutorSetup) -> None:
    """Whoever is told may start the next attempt in the same workspace."""
    scene.start(f"setsid sh -c 'trap \"\" INT; echo $$ >child; {LOOP}' & {ENDS_ON_INT}")
    child = scene.wait_for_pid("child")
    attempt = scene.make_job("").attempt
    scene.executor.terminate(attempt, at_once=False)
    assert scene.wait_until(lambda: attempt in scene.callbacks.ends or not is_alive(child))
    assert not is_alive(child)
    assert scene.wait_for_end(attempt) == 3


def test_an_attempt_whose_warden_was_killed_is_lost_and_leaves_nothing(scene: ExecutorSetup) -> None:
    scene.start(f"echo $$ >self; {IGNORES_SIGNALS}")
    command = scene.wait_for_pid("self")
    os.kill(scene.callbacks.launches[0][1], SIGKILL)
    assert scene.wait_for_end(scene.make_job("").attempt) == "its supervisor was killed by signal 9"
    assert not is_alive(command)


def test_a_warden_that_does_not_go_on_is_killed_too(tmp_path: Path) -> None:
    with local_executor_setup(tmp_path, graces=GracePeriods(interrupt=0.1, terminate=0.1, supervisor=0.1)) as scene:
        attempt = scene.start(LOOP.replace("while", ": >up; while"))
        os.kill(scene.callbacks.launches[0][1], SIGSTOP)
        scene.executor.terminate(attempt, at_once=True)
        assert scene.wait_for_end(attempt) == "its supervisor was killed by signal 9"


def test_many_end_in_the_same_passes(bare: ExecutorSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass over all processes costs milliseconds: it is not made for each."""
    attempts = [bare.start(": >up; exec sleep 60", f"{number}") for number in range(12)]
    passes, every = 0, processes.list_processes

    def counted() -> list[Process]:
        nonlocal passes
        passes += 1
        return every()

    monkeypatch.setattr(processes, "list_processes", counted)
    for attempt in attempts:
        bare.executor.terminate(attempt, at_once=True)
    assert bare.wait_until(lambda: passes > 0)
    assert passes < 6
    assert bare.wait_until(lambda: bare.callbacks.count == 12)
    assert set(bare.callbacks.ends.values()) == {128 + SIGKILL}


def test_others_are_not_touched(scene: ExecutorSetup) -> None:
    other = scene.start(f"{IGNORES_SIGNALS}", "other")
    attempt = scene.start(f"{IGNORES_SIGNALS}")
    scene.executor.terminate(attempt, at_once=True)
    assert scene.wait_for_end(attempt) == 128 + SIGKILL
    assert list(scene.executor.measure_memory()) == [other]
    assert is_alive(scene.callbacks.launches[0][1])
    assert other not in scene.callbacks.ends


def test_ending_what_nobody_started_is_told_and_closes_the_way_for_a_late_warden(bare: ExecutorSetup) -> None:
    job = bare.make_job(": >ran")
    bare.executor.terminate(job.attempt, at_once=True)
    later = RecordedCallbacks()
    bare.open_executor(later).start(job)
    assert bare.wait_until(lambda: later.count == 1)
    assert isinstance(later.ends[job.attempt], str)
    assert not (bare.workspace / "ran").exists()
