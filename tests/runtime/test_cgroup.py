from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL
from subprocess import DEVNULL, Popen

import pytest

from plait.core.task import Attempt
from plait.runtime import cgroup, process_tree
from plait.runtime.local_executor import LocalExecutor
from plait.system.process_identity import tag_prefix
from plait.system.state_paths import StateFolder
from plait.testing.contracts.executor import UNTIL_GO, ExecutorSetup, RecordedCallbacks, is_alive
from tests.support.local_executor import local_executor_setup

needed = pytest.mark.skipif(not cgroup.parent_cgroup(), reason="no control groups can be made here")


@pytest.fixture
def made() -> Iterator[str]:
    path = cgroup.make_cgroup(f"test-{os.getpid()}")
    yield path
    cgroup.kill_members(path)
    while not cgroup.remove_cgroup(path):
        pass


@needed
def test_a_scope_holds_who_joined_it_and_is_killed_as_a_whole(made: str) -> None:
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
def test_making_one_that_is_there_and_removing_one_that_is_gone_is_no_error(made: str) -> None:
    assert cgroup.make_cgroup(f"test-{os.getpid()}") == made
    assert cgroup.remove_cgroup(made)
    assert cgroup.remove_cgroup(made)
    assert cgroup.list_members(made) == []
    cgroup.kill_members(made)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExecutorSetup]:
    """Attempts get their scopes at once."""
    monkeypatch.setattr(process_tree, "MIN_AGE_SECONDS", 0.01)
    with local_executor_setup(tmp_path) as scene:
        yield scene


def scope_of(scene: ExecutorSetup, attempt: Attempt) -> str:
    """Of a running attempt, as soon as all of it is in there."""
    folder = StateFolder(scene.workspace.parent / "state").attempt(attempt).path
    assert scene.wait_until(lambda: len(cgroup.list_members(cgroup.read_cgroup_path(folder))) > 0)
    return cgroup.read_cgroup_path(folder)


@needed
def test_an_attempt_that_lasts_gets_a_scope_without_its_warden(scene: ExecutorSetup) -> None:
    attempt = scene.start("env -i setsid sh -c 'echo $$ >child; exec sleep 60' & : >up; wait")
    child, path = scene.wait_for_pid("child"), scope_of(scene, attempt)
    assert scene.wait_until(lambda: child in cgroup.list_members(path))
    assert scene.callbacks.launches[0][1] not in cgroup.list_members(path)
    scene.executor.terminate(attempt, at_once=True)
    assert scene.wait_for_end(attempt) == 128 + SIGKILL
    assert not Path(path).exists()


HIDE = "env -i setsid sh -c '(setsid sh -c \"echo \\$\\$ >child; exec sleep 60\" &)' & wait"


@needed
def test_nothing_hides_from_a_scope(scene: ExecutorSetup) -> None:
    """No parent, no session, no environment: only the scope knows."""
    attempt = scene.start(f"{UNTIL_GO}; {HIDE}; exec sleep 60")
    scope_of(scene, attempt)
    (scene.workspace / "go").touch()
    child = scene.wait_for_pid("child")
    scene.executor.terminate(attempt, at_once=True)
    assert scene.wait_for_end(attempt) == 128 + SIGKILL
    assert not is_alive(child)


@needed
def test_what_hides_in_a_scope_is_ended_when_its_attempt_exits(scene: ExecutorSetup) -> None:
    attempt = scene.start(f"{UNTIL_GO}; {HIDE}; until [ -s child ]; do sleep 0.02; done")
    path = scope_of(scene, attempt)
    (scene.workspace / "go").touch()
    assert scene.wait_for_end(attempt) == 0
    assert not is_alive(scene.wait_for_pid("child"))
    assert scene.wait_until(lambda: not Path(path).exists())


@needed
def test_a_later_engine_knows_the_scope(scene: ExecutorSetup) -> None:
    attempt = scene.start(f"{UNTIL_GO}; {HIDE}; exec sleep 60")
    scope_of(scene, attempt)
    scene.executor.close()
    (scene.workspace / "go").touch()
    child = scene.wait_for_pid("child")
    later = RecordedCallbacks()
    scene.open_executor(later).terminate(attempt, at_once=True)
    assert scene.wait_until(lambda: later.count == 1)
    assert not is_alive(child)


@needed
def test_a_scope_that_a_dead_engine_left_is_removed_and_one_in_use_is_not(scene: ExecutorSetup) -> None:
    attempt = scene.start(f"{UNTIL_GO}; exec sleep 60")
    used = scope_of(scene, attempt)
    left = cgroup.make_cgroup(f"{tag_prefix(scene.workspace.parent / 'state')}left")
    other = cgroup.make_cgroup("of-another-state-folder")
    assert isinstance(scene.executor, LocalExecutor)
    assert scene.executor.end_leftovers() == 0
    assert [Path(path).exists() for path in (used, left, other)] == [True, False, True]
    assert cgroup.remove_cgroup(other)


@needed
def test_short_attempts_get_no_scope(tmp_path: Path) -> None:
    with local_executor_setup(tmp_path) as scene:
        assert scene.run("true") == 0
        assert not list((tmp_path / "state").rglob("scope"))


def test_where_no_groups_can_be_made_there_is_no_scope(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
def test_its_own_group_is_read_from_the_line_of_version_2(text: str, own: str) -> None:
    assert cgroup._parse_own_cgroup(text) == own
