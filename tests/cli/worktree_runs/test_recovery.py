"""What to do after a failure: retry with the settings of today, or verify finished work again without an agent."""

from __future__ import annotations

import json

import pytest

from plait.core.task import Step
from plait.store.project_files import load_batch_inputs
from tests.support.temp_project import TempProject

RUN = ("run", "tasks", "--yes", "--retries", "0")


@pytest.fixture
def unverified(project: TempProject) -> TempProject:
    """Two tasks failed, because what verifies them is wrong; a third one needs the first."""
    project.task("01-a", "echo a > a.txt")
    project.task("02-b", "echo b > b.txt")
    project.task("03-c", "cat a.txt > c.txt", needs="[01-a]")
    project.write("plait.toml", '[run]\nverify = "test ! -e a.txt && test ! -e b.txt"')
    project.commit_all()
    assert project.plait("trust", "--yes").code == 0
    assert project.plait(*RUN).code == 1
    assert project.statuses() == {"01-a": "failed", "02-b": "failed", "03-c": "blocked"}
    return project


def count_writes(project: TempProject) -> dict[str, int]:
    return {task.task.id: task.attempt_counts.get(Step.WRITE, 0) for task in project.batch().tasks}


def correct_settings(project: TempProject) -> None:
    project.write("plait.toml", '[run]\nverify = "test -e a.txt || test -e b.txt"')
    assert project.plait("trust", "--yes").code == 0


def test_a_retry_uses_the_settings_of_today(unverified: TempProject) -> None:
    correct_settings(unverified)
    answer = unverified.plait("retry")
    assert answer.code == 0, answer
    assert "uses the current settings: verify changed" in answer.err
    assert unverified.read_merged_files().keys() >= {"a.txt", "b.txt", "c.txt"}


def test_a_recheck_merges_finished_work_and_runs_no_agent(unverified: TempProject) -> None:
    correct_settings(unverified)
    answer = unverified.plait("recheck", "--json")
    assert answer.code == 0, answer
    results = json.loads(answer.out)["results"]
    assert {result["taskId"]: result["status"] for result in results} == {"01-a": "done", "02-b": "done"}
    assert count_writes(unverified) == {"01-a": 1, "02-b": 1, "03-c": 0}
    assert unverified.read_merged_files().keys() >= {"a.txt", "b.txt"}
    # What it blocked needs an agent, so it is left to a retry.
    assert unverified.statuses()["03-c"] == "blocked"
    assert unverified.plait("retry").code == 0
    assert unverified.statuses()["03-c"] == "done"


def test_a_recheck_that_fails_again_says_so_and_runs_no_agent(unverified: TempProject) -> None:
    answer = unverified.plait("recheck", "01-a", "--verify", "exit 7")
    assert answer.code == 1
    assert "01-a is failed: verification failed: exit status 7" in answer.out
    assert count_writes(unverified) == {"01-a": 1, "02-b": 1, "03-c": 0}


def test_edited_commands_have_to_be_trusted_before_a_retry(unverified: TempProject) -> None:
    unverified.write("plait.toml", '[run]\nverify = "touch ../../../../stolen"')
    answer = unverified.plait("retry", "02-b")
    assert answer.code == 2
    assert "haven't trusted" in answer.err
    assert count_writes(unverified)["02-b"] == 1
    assert unverified.batch().settings.verify == "test ! -e a.txt && test ! -e b.txt"


def test_flags_of_the_run_stay_in_force_and_those_of_a_retry_replace_them(project: TempProject) -> None:
    project.task("01-a", "echo $MARK > a.txt; exit $([ -e ok ] && echo 0 || echo 1)")
    project.write("plait.toml", '[run]\nverify = "false"\ntimeout = "5m"')
    project.commit_all()
    assert project.plait("trust", "--yes").code == 0
    assert project.plait(*RUN, "--verify", "true").code == 1
    project.write("plait.toml", '[run]\nverify = "false"\ntimeout = "7m"')
    assert project.plait("retry").code == 1
    settings = project.batch().settings
    assert (settings.verify, settings.timeout, settings.retries) == ("true", 420.0, 0)
    answer = project.plait("retry", "--setup", "touch ok", "--verify", "", "--timeout", "9m", "--model", "small")
    assert answer.code == 0, answer
    settings = project.batch().settings
    assert (settings.verify, settings.timeout) == (None, 540.0)
    inputs = load_batch_inputs(project.place, project.batch().id)
    assert inputs.options.setup.setup == "touch ok"
    assert inputs.tasks_by_id["01-a"].model == "small"


def test_resuming_what_has_ended_suggests_a_retry(unverified: TempProject) -> None:
    batch = unverified.batch().id
    answer = unverified.plait("run", "tasks", "--resume", "--yes")
    assert answer.code == 0
    assert f"2 tasks of batch {batch} can be retried:\n  plait retry {batch}\n" in answer.out
    assert json.loads(unverified.plait("run", "tasks", "--resume", "--json").out) == {
        "batchId": None,
        "retryBatchId": batch,
    }
    answer = unverified.plait("resume")
    assert answer.code == 1
    assert answer.err == f"plait: batch {batch} has ended (failed): retry its tasks instead\n  plait retry {batch}\n"
