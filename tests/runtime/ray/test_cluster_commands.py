"""`plait doctor`, `plait run` and `plait status` with a cluster, as a person uses them. Part of `make test-ray`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.core.reports import AttemptLost
from plait.core.status import TaskStatus
from plait.runtime.ray.placements import Placements
from plait.store.project_files import open_state_paths
from plait.testing.contest_agents import SCRIPTS_VARIABLE
from tests.support.contest_project import AMBER, BIRCH, JUDGE
from tests.support.judge_scripts import FOR_FIRST, FOR_SECOND, write_judges
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PLAIT_RAY_LONG"), reason="make test-ray"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster({}) as cluster:
        cluster.add_node("one", 2, AMBER)
        cluster.add_node("two", 1, BIRCH)
        yield cluster


@pytest.fixture
def project(tmp_path: Path, cluster: RayCluster) -> Iterator[TempProject]:
    with temp_project(tmp_path / "project", worktrees=True, forks=False) as project:
        project.env["PLAIT_RAY_ADDRESS"] = cluster.address
        yield project


def test_a_batch_runs_on_the_cluster_and_its_nodes_are_shown(project: TempProject, tmp_path: Path) -> None:
    go = tmp_path / "go"
    project.task("01-one", f"while [ ! -e {go} ]; do sleep 0.1; done; echo done > one.txt")
    project.task("02-two", f"while [ ! -e {go} ]; do sleep 0.1; done; echo done > two.txt")
    for name in ("03-three", "04-four"):
        project.task(name, f"echo done > {name}.txt")
    project.commit_all()

    doctor = project.plait("doctor", "--executor", "ray", "--json")
    checks = json.loads(doctor.out)["checks"]
    (summary,) = (each for each in checks if each["topic"] == "cluster")
    assert summary["message"].endswith("with 3 slots")
    for node in ("one", "two"):
        texts = [each["message"] for each in checks if each["topic"] == node]
        assert any(text.startswith("git: git 2.") for text in texts), checks
        assert {text.partition(":")[0] for text in texts} >= {"git", "sh", "disk", "memory", "agents", "clock"}

    started = project.plait("run", "tasks", "--executor", "ray", "--detach", "--yes")
    assert started.code == 0, started
    wait_until(lambda: "2/4 done" in project.plait("status").out)
    wait_until(lambda: "cluster: 2 nodes, 2 of 3 slots used" in project.plait("status").out)
    status = json.loads(project.plait("status", "--json").out)
    nodes = {node["name"]: node for node in status["engine"]["nodes"] if node["slots"]}
    assert {name: node["slots"] for name, node in nodes.items()} == {"one": 2, "two": 1}
    explanation = project.plait("explain", "01-one").out
    assert any(line.strip() in {"on one", "on two"} for line in explanation.splitlines()), explanation
    go.touch()
    watched = project.plait("watch")
    assert watched.code == 0, watched
    (batch,) = project.state().batches.values()
    assert [task.status for task in batch.tasks] == [TaskStatus.DONE] * 4
    assert project.git("show", f"{batch.branch}:one.txt") == "done"
    assert not (project.top / "one.txt").exists()


def test_an_agent_runs_where_it_is_installed(project: TempProject, cluster: RayCluster) -> None:
    only_two, program = cluster.nodes["two"].folder / "bin", "greeter"
    only_two.mkdir(parents=True)
    (only_two / program).write_text('#!/bin/sh\necho hello > "$PLAIT_TASK_ID.txt"\n')
    (only_two / program).chmod(0o755)
    for name in ("one", "two"):
        project.task(name)
    project.commit_all()
    run = ("run", "tasks", "--executor", "ray", "--yes", "--retries", "0", "--agent-command")
    answer = project.plait(*run, program)
    assert answer.code == 0, answer
    assert project.read_merged_files().keys() >= {"one.txt", "two.txt"}
    placements = Placements(open_state_paths(project.place)).list_batch(project.batch().id)
    assert {placement.node_name for placement in placements} == {"two"}
    # The services of the batch before this one were just ending.
    assert not [record for record in project.read_records() if isinstance(record.event, AttemptLost)]


def test_setup_and_checks_pass_on_a_node_before_any_agent_starts(project: TempProject) -> None:
    project.env["PLAIT_PREFLIGHT"] = "true"
    for name in ("one", "two"):
        project.task(name)
    project.commit_all()
    run = ("run", "tasks", "--executor", "ray", "--yes", "--retries", "0", "--agent-command")

    missing = project.plait(*run, "no-such-agent")
    assert missing.code == 2
    assert "the agent command can't run: no node of the cluster can run it: no-such-agent is not installed there" in (
        missing.err
    )
    failing = project.plait(*run, "sh {task_file}", "--verify", "echo in $PWD; exit 3", env={"TOKEN": "a-secret-12345"})
    assert failing.code == 2
    assert "verify fails on the base commit" in failing.err
    assert "/two/" in failing.err or "/one/" in failing.err  # a node's folder
    assert not project.state().batches
    passing = project.plait(
        *(*run, "touch $PLAIT_TASK_ID.txt; :", "--setup", "touch built; env > environment"),
        *("--verify", "test -e built; ! grep a-secret-12345 environment", "--gate", "test -e built"),
        env={"TOKEN": "a-secret-12345"},
    )
    assert passing.code == 0, passing
    assert passing.err.splitlines()[0] == "Looking for a node that can run the agent command"
    again = project.plait("retry", "one", "--verify", "exit 4")
    assert again.code == 2, again


def test_a_check_is_not_taken_for_that_of_a_preflight_that_was_killed(project: TempProject) -> None:
    """Both have the same name, and the node still has the first one."""
    project.env["PLAIT_PREFLIGHT"] = "true"
    project.task("one", "true", allow_empty=True)
    project.commit_all()
    verify = f"touch {project.folder}/checks; until [ -e {project.folder}/go ]; do sleep 0.1; done"
    run = ("run", "tasks", "--executor", "ray", "--yes", "--retries", "0", "--verify", verify)
    front = project.start(*run)
    wait_until((project.folder / "checks").exists)
    front.kill()
    front.communicate()
    (project.folder / "go").touch()
    answer = project.plait(*run)
    assert answer.code == 0, answer


def test_a_contest_is_decided_on_another_node(project: TempProject, tmp_path: Path) -> None:
    """The entrants run on different nodes, and the judges where the referee runs, in sandboxes of their own if there are any."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    project.env |= {SCRIPTS_VARIABLE: str(scripts), "PLAIT_RAY_ENV": SCRIPTS_VARIABLE}
    project.env["PLAIT_SANDBOX_WRITABLE"] = str(scripts)
    (scripts / "amber.sh").write_text("cat >/dev/null; echo amber >a.txt\n")
    (scripts / "birch.sh").write_text("cat >/dev/null; printf 'birch\\nbirch\\n' >a.txt\n")
    write_judges(scripts, FOR_FIRST, FOR_FIRST, FOR_SECOND, first="+birch", second="+amber")
    project.task("a")
    project.commit_all()
    judges = ",".join([JUDGE] * 3)
    answer = project.plait(
        *("run", "tasks", "--yes", "--retries", "0", "--executor", "ray"),
        *("--contest", f"{AMBER},{BIRCH}", "--judge", judges, "--sandbox", "auto"),
    )
    assert answer.code == 0, answer
    assert project.read_merged_files()["a.txt"] == "birch\nbirch"
    contest = json.loads(project.plait("explain", "a", "--json").out)["contest"]
    assert contest["summary"] == "3 of 3 judges voted; majority"
    assert [row["rank"] for row in contest["entrants"]] == [
        1,
        2,
    ]  # read from the file that the referee left on its node
    assert "a@Birch" in contest["why"]
    placements = Placements(open_state_paths(project.place)).list_batch(project.batch().id)
    nodes = {each.attempt.task: each.node_name for each in placements}
    assert (nodes["a@Amber"], nodes["a@Birch"]) == ("one", "two")  # those that name the agent


def test_a_cluster_that_is_not_there_is_a_problem(project: TempProject) -> None:
    answer = project.plait("doctor", "--executor", "ray", env={"PLAIT_RAY_ADDRESS": "127.0.0.1:1"})
    assert answer.code == 1
    assert "can't reach the Ray cluster at 127.0.0.1:1" in answer.out
