"""What people see of a batch in worktrees once it is over: where everything is, and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli_runner import CliResult, Say, ask
from tests.support.temp_project import TempProject, temp_project as make
from tests.support.waiting import wait_until

MEET = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-a ] && [ -e ../../02-b ]; do sleep 0.02; done"
GATE = "echo looking; test ! -e 03-bad.txt"


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TempProject, CliResult]]:
    """Two conflict, the gate finds one guilty, and what is good is pushed."""
    folder: Path = tmp_path_factory.mktemp("seen")
    with make(folder, worktrees=True) as made:
        made.write("one.txt", "base")
        made.task("01-a", f"{MEET}; echo a > one.txt")
        made.task("02-b", f"{MEET}; echo b > one.txt")
        made.task("03-bad", "echo bad > 03-bad.txt")
        made.task("04-c", "echo c > c.txt; echo d >> c.txt", needs="[03-bad]")
        made.task("05-free", "true", allow_empty="true")
        made.commit_all()
        yield made, made.plait("run", "tasks", "--yes", "--retries", "0", "--gate", GATE, "--push")


@pytest.fixture
def say(landed: tuple[TempProject, CliResult], capsys: pytest.CaptureFixture[str]) -> Say:
    return lambda *words: ask(capsys, landed[0].top, *words)


def lost(made: TempProject) -> str:
    return next(name for name, status in made.statuses().items() if status == "conflicted")


def won(made: TempProject) -> str:
    return {"01-a": "02-b", "02-b": "01-a"}[lost(made)]


def test_the_output_of_a_run_repeats_nothing(landed: tuple[TempProject, CliResult]) -> None:
    made, answer = landed
    output = [line.split("  ", 2)[1:] for line in answer.out.splitlines() if re.match(r"\d\d:\d\d:\d\d  ", line)]
    named = [(who.strip(), " ".join(what.split())) for who, what in output]
    lines = [f"{who}: {what}" for who, what in named if who != "plait"]  # of the machine there may be more to tell
    assert len(lines) == len(set(lines))
    batch, head = made.batch(), made.git("rev-parse", made.branch)
    assert any(line.startswith(f"{won(made)}: merged as ") for line in lines)
    assert any(
        line.startswith(f"{lost(made)}: conflicted: ") and line.endswith(f"plait diff {batch.id} {lost(made)}")
        for line in lines
    )
    assert f"03-bad: failed: the gate failed with its change · plait logs {batch.id} 03-bad --gate" in lines
    assert f"batch {batch.id}: rebuilding the batch branch without 03-bad" in lines
    assert f"batch {batch.id}: published, at {head[:10]}" in lines


def test_status_shows_the_branch_and_the_place_of_each_result(landed: tuple[TempProject, CliResult], say: Say) -> None:
    made, _ = landed
    batch, head = made.batch(), made.git("rev-parse", made.branch)
    lines = say("status", batch.id).out.splitlines()
    assert f"branch {made.branch} at {head[:10]}, pushed" in lines
    at = next(number for number, line in enumerate(lines) if line.startswith(f"  {lost(made)} "))
    assert "+1 −1 · its change conflicts with what was merged before: one.txt" in lines[at]  # noqa: RUF001
    assert lines[at + 1].strip() == f"on branch plait/task-{batch.id}-{lost(made)}"
    assert made.git("rev-parse", f"plait/task-{batch.id}-{lost(made)}")
    (good,) = (line for line in lines if line.startswith(f"  {won(made)} "))
    commit = batch.tasks[batch.index[won(made)]].commit
    assert commit is not None
    assert f" {commit[:10]} " in good
    (free,) = (line for line in lines if line.startswith("  05-free "))
    assert "no change" in free
    assert say("status").out.splitlines()[0].endswith(" · pushed")


def test_explain_shows_the_result_of_a_task(landed: tuple[TempProject, CliResult], say: Say) -> None:
    made, _ = landed
    batch, head = made.batch(), made.git("rev-parse", made.branch)
    good = say("explain", won(made)).out
    tip = made.git("rev-parse", f"plait/task-{batch.id}-{won(made)}")
    assert "  changed   +1 −1 in one.txt\n" in good  # noqa: RUF001
    assert f"  branch    plait/task-{batch.id}-{won(made)} at {tip[:10]}\n" in good
    assert f", 1 of 1 in {made.branch}\n" in good
    assert re.search(rf"(?m)^  gate      gate \d \({re.escape(GATE)}\), on [0-9a-f]{{10}}, passed$", good)
    assert f"  published pushed, with the batch branch at {head[:10]}\n" in good
    bad = json.loads(say("explain", "03-bad", "--json").out)["result"]
    assert (bad["gate"]["passed"], bad["commit"], bad["files"]) == (False, None, ["03-bad.txt"])
    assert "retries it on the current batch branch" in say("explain", lost(made)).out


def test_logs_shows_the_output_of_a_gate(landed: tuple[TempProject, CliResult], say: Say) -> None:
    made, _ = landed
    batch = made.batch()
    newest = say("logs", batch.id, "--gate")
    assert (newest.code, newest.out) == (0, "looking\n")
    assert say("logs", "03-bad", "--gate").out == "looking\n"
    assert say("logs", "03-bad").out == "looking\n"  # the step that failed
    (line,) = say("logs", "--gate", "--attempt", "1", "--json").out.splitlines()
    data = json.loads(line)
    assert (data["taskId"], data["step"], data["attempt"], data["entry"]["text"]) == (
        None,
        "gate",
        1,
        "looking",
    )
    unknown = say("logs", "--gate", "--attempt", "99")
    assert unknown.code == 2
    assert f"batch {batch.id} has no gate 99" in unknown.err
    undecided = say("logs", lost(made), "--gate")
    assert undecided.code == 1
    assert f"no gate has decided about {lost(made)}" in undecided.err
    assert say("logs", "--gate", "--step", "write").code == 2


def test_a_missing_branch_is_not_shown(landed: tuple[TempProject, CliResult], say: Say) -> None:
    made, _ = landed
    branch = f"plait/task-{made.batch().id}-{won(made)}"
    tip = made.git("rev-parse", branch)
    made.git("update-ref", "-d", f"refs/heads/{branch}")
    try:
        output = say("explain", won(made)).out
    finally:
        made.git("update-ref", f"refs/heads/{branch}", tip)
    assert f"{branch} is gone; refs/plait/attempts/{made.batch().id}/{won(made)}/write-1 has its work\n" in output


def test_a_gate_can_be_followed_while_it_runs(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.commit_all()
    go = project.top.parent / "go"
    gate = f"echo one; until [ -e {go} ]; do sleep 0.02; done; echo two"
    run = project.start("run", "tasks", "--yes", "--gate", gate)
    wait_until(lambda: project.state().batches and project.batch().gate)
    assert "gate 1 runs on it now: plait logs " in project.plait("explain", "01-a").out
    follower = project.start("logs", "--gate", "--follow")
    assert follower.stdout is not None
    assert follower.stdout.readline() == "one\n"
    go.touch()
    assert project.finish(run).code == 0
    assert project.finish(follower).out == "two\n"


def test_statuses_that_cannot_be_written_are_shown_until_they_are(project: TempProject) -> None:
    todo = project.top / "TODO.md"
    todo.write_text("# TODO\n\n### 1. Walls\n**Status**: [NOT STARTED]\n")
    project.commit_all()
    kept = project.top.parent / "kept.md"
    command = f"sh -c 'mv {todo} {kept}; mkdir {todo}; echo walls > walls.txt'"
    run = project.plait("run", "TODO.md", "--yes", "--retries", "0", "--agent-command", command)
    assert run.code == 1, run
    why = f"statuses are not in TODO.md: no status could be written to {todo}, it is not a file any more"
    assert why in run.out
    project.wait_for_exit()
    batch = project.batch().id
    assert "statuses are not in TODO.md" in project.plait("status").out
    assert why in project.plait("status", batch).out
    (source,) = json.loads(project.plait("status", batch, "--json").out)["batches"][0]["unwritten"]
    assert (source["source"], source["retried"]) == ("TODO.md", True)
    assert f"statuses of batch {batch} are not in TODO.md" in project.plait("doctor").out

    todo.rmdir()
    kept.rename(todo)
    project.task("02-roof", "echo roof > roof.txt")
    project.commit_all()
    assert project.plait("run", "tasks", "--yes").code == 0
    project.wait_for_exit()
    assert "[COMPLETED]" in todo.read_text()
    assert "statuses are not in" not in project.plait("status").out
