from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from signal import SIGKILL
from subprocess import DEVNULL, PIPE, Popen

import pytest

from plait.core.task import Attempt, Step
from plait.runtime import cgroup, process_tree
from plait.runtime.local_executor import LocalExecutor
from plait.runtime.process_tree import CgroupMover, LiveAttempt, ProcessTable, TreeRoot
from plait.runtime.reactor import SelectReactor
from plait.system.process_identity import tag_prefix
from plait.system.state_paths import StateFolder
from plait.testing.contracts.executor import UNTIL_GO, ExecutorHarness, RecordedCallbacks, is_alive
from tests.support.local_executor import local_executor_setup
from tests.support.waiting import wait_until

needed = pytest.mark.skipif(not cgroup.parent_cgroup(), reason="no control groups can be made here")


@pytest.fixture
def made() -> Iterator[str]:
    path = cgroup.make_cgroup(f"test-{os.getpid()}")
    yield path
    cgroup.kill_members(path)
    while not cgroup.remove_cgroup(path):
        pass


@needed
def test_a_cgroup_holds_its_members_and_is_killed_as_a_whole(made: str) -> None:
    join = f"echo 0 >{made}/cgroup.procs; setsid sleep 60 & exec sleep 60"
    with Popen(["sh", "-c", join], stdin=DEVNULL) as process:
        while len(members := cgroup.list_members(made)) < 2:
            assert process.poll() is None
        assert process.pid in members
        assert not cgroup.remove_cgroup(made)
        cgroup.kill_members(made)
        process.wait(30)
    while cgroup.list_members(made):
        pass
    assert cgroup.remove_cgroup(made)
    assert not any(map(is_alive, members))


@needed
def test_making_an_existing_cgroup_and_removing_a_missing_one_are_no_errors(made: str) -> None:
    assert cgroup.make_cgroup(f"test-{os.getpid()}") == made
    assert cgroup.remove_cgroup(made)
    assert cgroup.remove_cgroup(made)
    assert cgroup.list_members(made) == []
    cgroup.kill_members(made)


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExecutorHarness]:
    """Attempts get their scopes at once."""
    monkeypatch.setattr(process_tree, "MIN_AGE_SECONDS", 0.01)
    with local_executor_setup(tmp_path) as harness:
        yield harness


def scope_of(harness: ExecutorHarness, attempt: Attempt) -> str:
    """Of a running attempt, as soon as all of it is in there."""
    folder = StateFolder(harness.workspace.parent / "state").attempt(attempt).path
    assert harness.wait_until(lambda: len(cgroup.list_members(cgroup.read_cgroup_path(folder))) > 0)
    return cgroup.read_cgroup_path(folder)


@needed
def test_a_long_attempt_gets_a_cgroup_without_its_supervisor(harness: ExecutorHarness) -> None:
    attempt = harness.start("env -i setsid sh -c 'echo $$ >child; exec sleep 60' & : >up; wait")
    child, path = harness.wait_for_pid("child"), scope_of(harness, attempt)
    assert harness.wait_until(lambda: child in cgroup.list_members(path))
    assert harness.callbacks.launches[0][1] not in cgroup.list_members(path)
    harness.executor.terminate(attempt, at_once=True)
    assert harness.wait_for_end(attempt) == 128 + SIGKILL
    assert not Path(path).exists()


@needed
def test_an_attempt_whose_command_starts_late_gets_a_cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a supervisor may not have started the command when its attempt is old enough."""
    monkeypatch.setattr(process_tree, "MIN_AGE_SECONDS", 0.01)
    attempt, table = Attempt("batch", "one", Step.WRITE, 1), ProcessTable(tag_prefix(tmp_path))
    folder = StateFolder(tmp_path).attempt(attempt)
    folder.path.mkdir(parents=True)
    supervise = ["sh", "-c", "read line; sleep 60 & wait"]
    with closing(SelectReactor()) as reactor, Popen(supervise, stdin=PIPE, start_new_session=True) as supervisor:
        root = TreeRoot(f"{tag_prefix(tmp_path)}late", session=supervisor.pid)
        live = table.live[attempt] = LiveAttempt(attempt, folder, root, 0, pid=supervisor.pid)
        CgroupMover(reactor, table).schedule()
        reactor.step(60)
        assert not live.cgroup_checked
        assert supervisor.stdin is not None
        supervisor.stdin.write(b"start\n")
        supervisor.stdin.flush()
        while not cgroup.list_members(root.cgroup):
            reactor.step(60)
        cgroup.kill_members(root.cgroup)
    wait_until(lambda: cgroup.remove_cgroup(root.cgroup))


HIDE = "env -i setsid sh -c '(setsid sh -c \"echo \\$\\$ >child; exec sleep 60\" &)' & wait"


@needed
def test_no_process_can_leave_its_cgroup(harness: ExecutorHarness) -> None:
    """No parent, no session, no environment: only the scope knows."""
    attempt = harness.start(f"{UNTIL_GO}; {HIDE}; exec sleep 60")
    scope_of(harness, attempt)
    (harness.workspace / "go").touch()
    child = harness.wait_for_pid("child")
    harness.executor.terminate(attempt, at_once=True)
    assert harness.wait_for_end(attempt) == 128 + SIGKILL
    assert not is_alive(child)


@needed
def test_processes_in_the_cgroup_are_ended_when_the_attempt_exits(harness: ExecutorHarness) -> None:
    attempt = harness.start(f"{UNTIL_GO}; {HIDE}; until [ -s child ]; do sleep 0.02; done")
    path = scope_of(harness, attempt)
    (harness.workspace / "go").touch()
    assert harness.wait_for_end(attempt) == 0
    assert not is_alive(harness.wait_for_pid("child"))
    assert harness.wait_until(lambda: not Path(path).exists())


@needed
def test_a_later_engine_finds_the_cgroup(harness: ExecutorHarness) -> None:
    attempt = harness.start(f"{UNTIL_GO}; {HIDE}; exec sleep 60")
    scope_of(harness, attempt)
    harness.executor.close()
    (harness.workspace / "go").touch()
    child = harness.wait_for_pid("child")
    later = RecordedCallbacks()
    harness.open_executor(later).terminate(attempt, at_once=True)
    assert harness.wait_until(lambda: later.count == 1)
    assert not is_alive(child)


@needed
def test_a_stale_cgroup_is_removed_and_one_in_use_is_not(harness: ExecutorHarness) -> None:
    attempt = harness.start(f"{UNTIL_GO}; exec sleep 60")
    used = scope_of(harness, attempt)
    left = cgroup.make_cgroup(f"{tag_prefix(harness.workspace.parent / 'state')}left")
    other = cgroup.make_cgroup("of-another-state-folder")
    assert isinstance(harness.executor, LocalExecutor)
    assert harness.executor.end_leftovers() == 0
    assert [Path(path).exists() for path in (used, left, other)] == [True, False, True]
    assert cgroup.remove_cgroup(other)


@needed
def test_a_short_attempt_gets_no_cgroup(tmp_path: Path) -> None:
    with local_executor_setup(tmp_path) as harness:
        assert harness.run("true") == 0
        assert not list((tmp_path / "state").rglob("scope"))


def test_an_attempt_gets_no_cgroup_where_none_can_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cgroup, "parent_cgroup", lambda: "")
    assert cgroup.make_cgroup("a") == ""
    monkeypatch.setattr(cgroup, "parent_cgroup", lambda: str(tmp_path / "gone"))
    assert cgroup.make_cgroup("a") == ""
    # A folder that is no control group, or one of an older kernel.
    monkeypatch.setattr(cgroup, "parent_cgroup", lambda: str(tmp_path))
    assert cgroup.make_cgroup("a") == ""
    assert list(tmp_path.iterdir()) == []
    assert cgroup.remove_cgroup("")
    assert cgroup.list_members("") == []


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("0::/user.slice/a.scope\n", "/user.slice/a.scope"),
        ("1:cpu:/x\n0::/\n", "/"),
        ("1:cpu:/x\n", ""),
        ("0::/../a\n", ""),
    ],
)
def test_the_own_cgroup_is_read_from_the_line_of_version_2(text: str, own: str) -> None:
    assert cgroup._parse_own_cgroup(text) == own
