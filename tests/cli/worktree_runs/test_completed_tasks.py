"""What an earlier batch completed with the same text doesn't run again, unless --again is given."""

from __future__ import annotations

import json

import pytest

from tests.support.temp_project import TempProject

RUN = ("run", "tasks", "--yes", "--retries", "0")


@pytest.fixture
def completed(project: TempProject) -> TempProject:
    project.task("01-a", "echo a > a.txt", phase="1")
    project.task("02-b", "echo b > b.txt", phase="1")
    project.commit_all()
    assert project.plait(*RUN).code == 0
    return project


def list_planned(project: TempProject, *words: str) -> list[str]:
    return [task["id"] for task in json.loads(project.plait("plan", "tasks", "--json", *words).out)["tasks"]]


def test_completed_tasks_are_skipped_with_a_note_that_names_the_batch(completed: TempProject) -> None:
    batch = completed.batch().id
    answer = completed.plait(*RUN)
    assert answer.code == 0
    assert f"note 01-a, 02-b are skipped: batch {batch} completed them with the same text" in answer.err
    assert "--again runs them again" in answer.err
    assert "there is nothing to do" in answer.out
    assert list(completed.state().batches) == [batch]
    named = completed.plait(*RUN, "--select", "02")
    assert f"02-b is skipped: batch {batch} completed it" in named.err
    assert completed.plait("next").out.startswith("Everything is complete")
    assert list_planned(completed, "--again") == ["01-a", "02-b"]


def test_again_runs_them(completed: TempProject) -> None:
    assert completed.plait(*RUN, "--again").code == 0
    assert [len(batch.tasks) for batch in completed.state().batches.values()] == [2, 2]


def test_changed_and_dropped_tasks_run_again(completed: TempProject) -> None:
    completed.task("01-a", "echo A > a.txt", phase="1")
    assert list_planned(completed) == ["01-a"]
    assert completed.plait("drop", "02-b").code == 0
    assert list_planned(completed) == ["01-a", "02-b"]


def test_what_a_forgotten_batch_completed_runs_again(completed: TempProject) -> None:
    completed.wait_for_exit()
    assert completed.plait("gc", "--forget", completed.batch().id, "--yes").code == 0
    assert list_planned(completed) == ["01-a", "02-b"]


def test_dependents_and_later_phases_start_and_are_warned_of_a_base_without_the_work(completed: TempProject) -> None:
    completed.task("03-c", "echo c > c.txt", needs="[01-a]", phase="2")
    completed.commit_all()
    batch, branch = completed.batch().id, completed.branch
    answer = completed.plait(*RUN)
    assert answer.code == 0, answer
    assert f"03-c: the base doesn't contain 01-a, which batch {batch} completed on {branch}" in answer.err
    assert f"--base {branch}" in answer.err


@pytest.mark.parametrize("way", ["merged", "squashed", "squashed and changed since"])
def test_nothing_is_warned_of_where_the_base_has_the_work(completed: TempProject, way: str) -> None:
    completed.git("merge", "--quiet", *([] if way == "merged" else ["--squash"]), completed.branch)
    if way == "squashed and changed since":
        completed.git("commit", "--quiet", "--message", f"Two tasks\n\nPlait-Batch: {completed.batch().id}")
        completed.write("a.txt", "another text in its place")
    completed.write("later.txt", "committed on top")
    completed.task("03-c", "cat a.txt > c.txt", needs="[01-a]")
    completed.commit_all()
    answer = completed.plait(*RUN)
    assert answer.code == 0, answer
    assert "doesn't contain" not in answer.err


def test_a_source_with_statuses_decides_itself_where_plait_writes_them(project: TempProject) -> None:
    project.write("TODO.md", "# TODO\n\n- [ ] First\n")
    project.commit_all()
    words = ("run", "TODO.md", "--yes", "--agent-command", "echo x > x.txt", "--agent-shell")
    assert project.plait(*words).code == 0
    project.write("TODO.md", "# TODO\n\n- [ ] First\n")  # a person wants it again
    planned = json.loads(project.plait("plan", "TODO.md", "--json").out)["tasks"]
    assert len(planned) == 1


def test_statuses_that_plait_does_not_write_to_the_checkout_come_from_the_journal(project: TempProject) -> None:
    project.write("TODO.md", "# TODO\n\n- [ ] First\n")
    project.commit_all()
    words = ("run", "TODO.md", "--yes", "--agent-command", "echo x > x.txt", "--agent-shell")
    assert project.plait(*words, env={"PLAIT_SOURCES_WRITE_BACK": "branch"}).code == 0
    answer = project.plait(*words)
    assert "completed it with the same text" in answer.err
