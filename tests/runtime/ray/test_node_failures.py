"""What becomes of attempts, results and files when nodes hang, answers are lost, services are killed and disks are full.

The nodes are threads of this process: Ray carries nothing here (tests/support/loopback_cluster.py).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Never

import pytest

from plait.config.ray_keys import RayConfig
from plait.core.errors import WorldError
from plait.core.task import Attempt, Step
from plait.git.bundles import BundleError
from plait.git.interfaces import CapturedChange, WorkspaceSetup
from plait.git.node_mirror import has_saved_work
from plait.git.refs import task_branch
from plait.runtime.executor import AttemptSpec
from plait.runtime.ray import engine_space, wire
from plait.runtime.ray.executor import RayExecutor
from plait.runtime.ray.placements import Placements
from plait.system.flock import hold_lock
from plait.system.state_paths import StateFolder
from plait.testing.contracts.executor import RecordedCallbacks, is_alive
from tests.support.loopback_cluster import LoopbackNode, loopback_nodes
from tests.support.ray_harness import RayHarness, loopback_harness


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[dict[str, LoopbackNode]]:
    with loopback_nodes(tmp_path / "nodes", {"one": 4}) as nodes:
        yield nodes


@pytest.fixture
def harness(tmp_path: Path, nodes: dict[str, LoopbackNode]) -> Iterator[RayHarness]:
    with loopback_harness(tmp_path, nodes) as harness:
        yield harness


def find_mirror(node: LoopbackNode) -> Path:
    return next(node.folder.glob("engine-*")) / "mirror.git"


def count(node: LoopbackNode, kind: type[wire.Request]) -> int:
    return sum(isinstance(each, kind) for each in node.requests)


def run(harness: RayHarness, job: AttemptSpec) -> int | str:
    harness.executor.start(job)
    return harness.wait_for_end(job.attempt)


def shorten_lease(harness: RayHarness) -> None:
    """To a second. An attempt that is at work may lose one that is so short, on a busy machine."""
    executor = harness.executor
    assert isinstance(executor, RayExecutor)
    executor._config = executor.connections._config = RayConfig(lease=1.0)


def test_a_start_that_is_repeated_while_the_node_is_at_work_on_it_happens_once(
    harness: RayHarness, nodes: dict[str, LoopbackNode]
) -> None:
    """The second one must not begin before the commits are there."""
    node = nodes["one"]
    assert harness.run("true") == 0
    runs = harness.workspace / "runs"
    job = harness.make_worktree_job(f"echo run >>'{runs}'", harness.commit_file("new", "new"), "two")
    with hold_lock(find_mirror(node).with_name("mirror.git.lock")):
        started = count(node, wire.Start)
        node.loses = lambda request: isinstance(request, wire.Start) and count(node, wire.Start) == started + 1
        harness.executor.start(job)
        assert harness.wait_until(lambda: count(node, wire.Start) >= started + 2)
    assert harness.wait_for_end(job.attempt) == 0
    assert runs.read_text() == "run\n"


def test_what_a_node_has_of_a_batch_goes_after_the_work_of_its_tasks_is_here(
    harness: RayHarness, nodes: dict[str, LoopbackNode]
) -> None:
    node, base = nodes["one"], harness.commit_file("file", "old\n")
    job = replace(harness.make_worktree_job("true", base), argv=("sh", "-c", "echo new >file; exit 1"), capture=None)
    assert run(harness, job) == 1
    node.held = (wire.Release,)
    harness.executor.workspaces.release_batch("batch", ["one"], has_ended=True)

    def list_released() -> list[str]:
        return [each.task for each in node.requests if isinstance(each, wire.Release)]

    assert harness.wait_until(lambda: bool(list_released()))
    assert list_released() == ["one"]
    node.held = ()
    assert harness.wait_until(lambda: list_released() == ["one", ""])
    assert (
        harness.git("show", f"{harness.git('for-each-ref', '--format=%(refname)', 'refs/plait/saved/')}:file") == "new"
    )
    assert harness.wait_until(lambda: not has_saved_work(find_mirror(node)))


@pytest.mark.parametrize("is_released", [True, False])
def test_nothing_of_a_batch_that_has_ended_stays_on_its_nodes(
    tmp_path: Path,
    harness: RayHarness,
    nodes: dict[str, LoopbackNode],
    is_released: bool,  # noqa: FBT001
) -> None:
    """Also if the work of all tasks was fetched, and their workspaces given back, before it ended."""
    workspaces, placements = harness.executor.workspaces, Placements(StateFolder(tmp_path / "state"))
    base = harness.commit_file("file", "old\n")
    jobs = [replace(harness.make_worktree_job("", base, task), argv=("touch", "new")) for task in ("one", "two")]
    for job in jobs:
        assert run(harness, job) == 0
        assert isinstance(harness.capture(job), CapturedChange)
        workspaces.release("batch", job.attempt.task)
        assert harness.wait_until(
            lambda: not is_released or not any(each.node for each in placements.list_batch("batch"))
        )
    workspaces.release_batch("batch", ["one", "two"], has_ended=True)
    mirror = find_mirror(nodes["one"])
    for folder, pattern in (("worktrees", "batch-*"), ("checkouts", "*"), ("state/batches", "*")):
        assert harness.wait_until(lambda: [*(mirror.parent / folder).glob(pattern)] == []), folder  # noqa: B023
    assert placements.list_nodes("batch") == []
    harness.executor.close()
    assert harness.wait_until(lambda: not nodes["one"].service.spaces)
    refs = subprocess.check_output(["git", "-C", mirror, "for-each-ref", "--format=%(refname)"], text=True)
    assert refs.split() == [f"refs/plait/bases/{base}"]


def test_a_task_of_a_batch_that_had_ended_gets_the_ignored_files_again(
    harness: RayHarness, nodes: dict[str, LoopbackNode]
) -> None:
    harness.commit_file(".gitignore", "private.txt\n")
    (harness.repository / "private.txt").write_text("private")
    job = harness.make_worktree_job("", harness.git("rev-parse", "HEAD"))
    job = replace(job, setup=WorkspaceSetup(copy=("private.txt",)), argv=("cat", "private.txt"))
    assert run(harness, job) == 0
    harness.executor.workspaces.release("batch", "one")
    harness.executor.workspaces.release_batch("batch", ["one"], has_ended=True)
    checkouts = find_mirror(nodes["one"]).parent / "checkouts"
    assert harness.wait_until(lambda: [*checkouts.iterdir()] == [])
    again = replace(job, attempt=replace(job.attempt, n=2))
    assert run(harness, again) == 0, harness.executor.open_transcript(again.attempt).tail(1000)


def test_a_node_that_hangs_does_not_keep_others_waiting(tmp_path: Path) -> None:
    """It gets most of the attempts, and as many requests at once as there are threads for all nodes."""
    with (
        loopback_nodes(tmp_path / "nodes", {"hangs": 20, "works": 4}) as nodes,
        loopback_harness(tmp_path, nodes, lease_seconds=6.0) as harness,
    ):
        base = harness.commit_file("file", "")
        nodes["hangs"].stop()
        jobs = [harness.make_worktree_job("true", base, f"task-{number}") for number in range(20)]
        for job in jobs:
            harness.executor.start(job)
        placements = Placements(StateFolder(tmp_path / "state"))

        def list_placed() -> dict[Attempt, str]:
            return {each.attempt: each.node for each in placements.list_batch("batch")}

        assert harness.wait_until(lambda: len(list_placed()) == len(jobs))
        there = {attempt for attempt, node in list_placed().items() if node == "works"}
        assert 0 < len(there) <= 4
        assert harness.wait_until(lambda: len(harness.callbacks.ends) >= len(there))
        assert harness.callbacks.ends == dict.fromkeys(there, 0)


def test_an_engine_whose_disk_is_full_keeps_its_lease(tmp_path: Path, nodes: dict[str, LoopbackNode]) -> None:
    with loopback_harness(tmp_path, nodes) as harness:
        lines = "i=0; : >up; until [ -e go ]; do i=$((i+1)); echo line $i; sleep 0.05; done"
        attempt = harness.start(lines)
        transcript = StateFolder(tmp_path / "state").attempt(attempt).transcript
        assert harness.wait_until(transcript.exists)
        aside, [space] = transcript.with_name("aside"), nodes["one"].service.spaces.values()
        transcript.rename(aside)
        transcript.mkdir()  # it can't be written
        for _ in range(2):  # an answer from before is seen at most once more
            end = space.lease.end
            assert harness.wait_until(lambda end=end: space.lease.end > end + 0.5)  # type: ignore[misc]
        transcript.rmdir()
        aside.rename(transcript)
        (harness.workspace / "go").touch()
        assert harness.wait_for_end(attempt) == 0
        printed = transcript.read_text().splitlines()
        assert printed == [f"line {number}" for number in range(1, len(printed) + 1)]


def test_an_attempt_that_was_lost_does_not_go_on(tmp_path: Path, harness: RayHarness) -> None:
    """As when its node's service was started again, and had missed the end of its lease."""
    attempt = harness.start("echo $$ >pid; : >up; while :; do sleep 1; done")
    harness.executor.close()
    placements = Placements(StateFolder(tmp_path / "state"))
    placement = placements.read(attempt)
    assert placement is not None
    placements.write(replace(placement, node="", why="lost"))
    harness.open_executor(RecordedCallbacks())
    pid = int((harness.workspace / "pid").read_text())
    assert harness.wait_until(lambda: not is_alive(pid))


def test_a_process_that_finds_lost_work_leaves_the_next_attempt_alone(tmp_path: Path) -> None:
    """As a preflight does, beside the engine, on a node that came back and has the task's next attempt."""
    go, placements = tmp_path / "go", Placements(StateFolder(tmp_path / "state"))
    with (
        loopback_nodes(tmp_path / "nodes", {"one": 1, "two": 1}) as nodes,
        loopback_harness(tmp_path, nodes, lease_seconds=4.0) as harness,
    ):
        script, base = f"until [ -e {go} ]; do sleep 0.05; done; echo done >file", harness.commit_file("file", "")
        lost, other = (
            replace(harness.make_worktree_job("", base, task), argv=("sh", "-c", script), capture=None)
            for task in ("lost", "other")
        )
        for job in (lost, other):
            harness.executor.start(job)
        assert harness.wait_until(lambda: len(harness.callbacks.launches) == 2)
        first = placements.read(lost.attempt)
        assert first is not None
        nodes[first.node].stop()
        assert isinstance(harness.wait_for_end(lost.attempt), str)
        again = replace(lost, attempt=replace(lost.attempt, n=2))
        harness.executor.start(again)  # it waits: the other node is full
        nodes[first.node].running.set()
        assert harness.wait_until(lambda: len(harness.callbacks.launches) == 3)
        harness.open_executor(RecordedCallbacks())
        assert harness.wait_until(lambda: getattr(placements.read(lost.attempt), "node", None) == "")
        go.touch()
        assert harness.wait_for_end(again.attempt) == 0
        assert isinstance(harness.capture(again), CapturedChange)


def test_a_node_that_lost_its_files_gets_the_ignored_ones_again(
    harness: RayHarness, nodes: dict[str, LoopbackNode]
) -> None:
    harness.commit_file(".gitignore", "private.txt\n")
    base = harness.git("rev-parse", "HEAD")
    (harness.repository / "private.txt").write_text("private")
    setup, node = WorkspaceSetup(copy=("private.txt",)), nodes["one"]
    for name in ("one", "two"):
        job = replace(harness.make_worktree_job("true", base, name), setup=setup, argv=("cat", "private.txt"))
        assert run(harness, job) == 0, harness.executor.open_transcript(job.attempt).tail(1000)
        assert harness.executor.open_transcript(job.attempt).tail(7) == b"private"
        node.kill()
        shutil.rmtree(node.folder)
        node.start()
        assert harness.wait_until(lambda: harness.executor.slots == 4)


def test_a_result_that_was_taken_over_is_found_when_its_node_is_lost(
    harness: RayHarness, nodes: dict[str, LoopbackNode]
) -> None:
    """The engine was killed before it could say that it had it."""
    base = harness.commit_file("file", "old\n")
    job = replace(harness.make_worktree_job("true", base), argv=("sh", "-c", "echo new >file"))
    assert run(harness, job) == 0
    change = harness.capture(job)
    assert isinstance(change, CapturedChange)
    shorten_lease(harness)
    nodes["one"].stop()
    assert harness.wait_until(lambda: not any(each.is_alive for each in harness.executor.list_nodes()))
    assert harness.capture(job) == change


def test_a_file_whose_name_is_no_utf_8_comes_back(harness: RayHarness) -> None:
    base = harness.commit_file("file", "old\n")
    script = 'echo new >"$(printf "a\\377.txt")"; echo new >file'
    job = replace(harness.make_worktree_job("true", base), argv=("sh", "-c", script))
    assert run(harness, job) == 0
    change = harness.capture(job)
    assert isinstance(change, CapturedChange), change
    assert change.files == (os.fsdecode(b"a\xff.txt"), "file")
    assert change.diffstat == (2, 2, 1)


def test_a_task_that_comes_back_to_a_node_continues_what_it_left_on_another(tmp_path: Path) -> None:
    """And a check that ran elsewhere doesn't make that its home."""
    with (
        loopback_nodes(tmp_path / "nodes", {"one": 1, "two": 1}) as nodes,
        loopback_harness(tmp_path, nodes) as harness,
    ):
        base = harness.commit_file("file", "0\n")
        placements = Placements(StateFolder(tmp_path / "state"))

        def list_usable() -> set[str]:
            assert isinstance(harness.executor, RayExecutor)
            known = harness.executor._list_known_nodes()
            return {node.name for node in known if node.free > 0 and not node.problem and not node.is_refusing}

        def run_step(step: Step, n: int, start: str, without: str) -> str:
            """The node that it ran on, while this one has no slots."""
            for node in nodes.values():
                node.node = replace(node.node, slots=0 if node.node.name == without else 1)
            assert harness.wait_until(lambda: list_usable() == nodes.keys() - {without})
            job = harness.make_worktree_job("", start)
            name, command = replace(job.attempt, step=step, n=n), ("sh", "-c", "cat file; echo $(cat file)1 >file")
            capture = replace(job.capture, attempt=name) if job.capture is not None else None
            job = replace(job, attempt=name, argv=command, task_base=base, capture=capture)
            assert run(harness, job) == 0
            if step is Step.WRITE:
                change = harness.capture(job)
                assert isinstance(change, CapturedChange), change
                tips.append(change.tip)
            placement = placements.read(name)
            assert placement is not None
            return placement.node

        tips: list[str] = []
        assert run_step(Step.WRITE, 1, base, "two") == "one"
        assert run_step(Step.VERIFY, 1, tips[-1], "one") == "two"
        assert run_step(Step.WRITE, 2, base, "one") == "two"
        assert run_step(Step.WRITE, 3, base, "two") == "one"
        assert [harness.git("show", f"{tip}:file") for tip in tips] == ["01", "011", "0111"]
        assert run_step(Step.VERIFY, 2, tips[-1], "one") == "two"
        assert run_step(Step.WRITE, 4, base, "") == "one"


def test_a_node_that_is_not_in_the_cluster_is_not_waited_for(harness: RayHarness) -> None:
    """As after a restart of the engine: releasing what was on nodes that are gone must not keep others waiting."""
    assert isinstance(harness.executor, RayExecutor)
    connections = harness.executor.connections
    with pytest.raises(wire.NodeGoneError):
        connections.request(connections.find("gone"), wire.Release("batch", "one"), wire.ReleaseReply, 1e6)


def test_an_attempt_does_not_begin_where_an_earlier_one_was(
    harness: RayHarness, nodes: dict[str, LoopbackNode]
) -> None:
    """The one before it ran elsewhere, and the workspace can't be made as that has left it."""
    base = harness.commit_file("file", "base\n")
    job = replace(harness.make_worktree_job("true", base), argv=("sh", "-c", "echo first >file"))
    assert run(harness, job) == 0
    change = harness.capture(job)
    assert isinstance(change, CapturedChange)
    branch = f"refs/heads/{task_branch('batch', 'one')}"
    second = harness.git("commit-tree", "-p", change.tip, "-m", "second", f"{base}^{{tree}}")
    harness.git("update-ref", branch, second)
    lock = find_mirror(nodes["one"]) / f"{branch}.lock"
    (lock / "held").mkdir(parents=True)  # no lock that a killed git has left
    job = replace(job, argv=("cat", "file"), capture=None)
    assert isinstance(run(harness, replace(job, attempt=replace(job.attempt, n=3))), str)
    shutil.rmtree(lock)
    last = replace(job, attempt=replace(job.attempt, n=4))
    assert run(harness, last) == 0
    assert harness.executor.open_transcript(last.attempt).tail(100) == b"base\n"


def test_an_engine_that_starts_what_has_ended_is_told_so(
    tmp_path: Path, harness: RayHarness, nodes: dict[str, LoopbackNode]
) -> None:
    """As when its state folder was restored from a copy."""
    job = harness.make_worktree_job("exit 3", harness.commit_file("file", ""))
    other = harness.start("echo $$ >pid; : >up; while :; do sleep 1; done", "two")  # so that the node keeps what it has
    assert run(harness, job) == 3
    harness.executor.close()
    Placements(StateFolder(tmp_path / "state")).remove(job.attempt)
    later = RecordedCallbacks()
    executor = harness.open_executor(later)
    assert harness.wait_until(lambda: executor.slots == 4)
    polls = count(nodes["one"], wire.Poll)
    assert harness.wait_until(lambda: count(nodes["one"], wire.Poll) > polls + 1)  # it has listed all attempts
    executor.start(job)
    assert harness.wait_until(lambda: later.ends.get(job.attempt) == 3)
    executor.terminate(other, at_once=True)


def test_attempts_are_lost_in_time_while_the_head_hangs(harness: RayHarness) -> None:
    assert isinstance(harness.executor, RayExecutor)
    connections, returns = harness.executor.connections, Event()

    def hang(_: object = None) -> Never:
        returns.wait()
        raise WorldError("the head does not answer")

    attempt = harness.start(": >up; sleep 600")
    cluster = connections._cluster
    assert cluster is not None
    cluster.list_nodes = hang  # type: ignore[method-assign]
    shorten_lease(harness)
    try:
        assert str(harness.wait_for_end(attempt)).startswith("its node one has not answered for 1 s")
    finally:
        returns.set()


def test_no_node_can_make_a_transcript_larger_than_any_file(harness: RayHarness) -> None:
    assert isinstance(harness.executor, RayExecutor)
    connections, attempt = harness.executor.connections, Attempt("batch", "one", Step.WRITE, 1)
    link = connections.find("one")
    connections.watch(link, attempt, 1 << 20)
    with pytest.raises(WorldError, match="bytes"):
        connections._store_chunks(link, [wire.Chunk(attempt, 1 << 63, b"x")])


def test_a_damaged_result_changes_nothing_and_is_fetched_again(
    harness: RayHarness, nodes: dict[str, LoopbackNode]
) -> None:
    node = nodes["one"]
    job = replace(
        harness.make_worktree_job("true", harness.commit_file("file", "old\n")), argv=("sh", "-c", "echo new >file")
    )
    assert run(harness, job) == 0
    [space] = node.service.spaces.values()
    result = space._results[job.attempt]
    reply = result.reply.result()
    damaged: Future[wire.CaptureReply] = Future()
    damaged.set_result(replace(reply, commits=reply.commits[:-30] + bytes(30)))
    space._results[job.attempt] = replace(result, reply=damaged)
    refs = harness.git("for-each-ref")
    error = harness.capture(job)
    assert isinstance(error, BundleError)
    assert error.message.startswith("node one sent a damaged result of batch/one/write-1: ")
    assert harness.git("for-each-ref") == refs
    change = harness.capture(job)
    assert isinstance(change, CapturedChange), change
    assert harness.git("show", f"{change.tip}:file") == "new"


def test_an_attempt_is_placed_by_the_memory_that_its_agent_took_before(
    harness: RayHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_space, "MEMORY_SECONDS", 0.1)
    executor = harness.executor
    assert isinstance(executor, RayExecutor)
    job = replace(harness.make_job("until [ -e go ]; do sleep 0.05; done"), agent="amber")
    executor.start(job)
    assert harness.wait_until(lambda: executor._needs.describe(replace(job, agent="amber")).memory > 0)
    assert executor._needs.describe(replace(job, agent="birch")).memory == 0
    (harness.workspace / "go").touch()
    assert harness.wait_for_end(job.attempt) == 0
