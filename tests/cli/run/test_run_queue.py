"""A queue: one task at a time, each after approval."""

from __future__ import annotations

import json

from tests.support.temp_project import TempProject


def test_without_a_terminal_a_queue_prints_what_it_waits_for_and_exits(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    answer = project.plait("run", "--mode", "queue")
    assert answer.code == 3
    batch = project.batch()
    assert f"plait approve {batch.id[:4]}" in answer.out + answer.err
    assert batch.ended is None
    assert not (project.top / "walls").exists()


def test_with_json_the_next_command_is_printed_on_stderr(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    answer = project.plait("run", "--mode", "queue", "--json")
    assert answer.code == 3
    assert all(json.loads(line)["type"] for line in answer.out.splitlines())
    assert f"plait approve {project.batch().id}" in answer.err


def test_another_process_can_approve(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    project.task("02-paint", "touch paint")
    assert project.plait("run", "--mode", "queue").code == 3
    assert project.plait("approve").code == 0
    project.wait_for_file("walls")
    assert project.plait("run", "--resume").code == 3
    assert not (project.top / "paint").exists()
    assert project.plait("approve").code == 0
    answer = project.plait("run", "--resume")
    assert (answer.code, project.statuses()) == (0, {"01-walls": "done", "02-paint": "done"}), answer


def test_auto_approve_waits_for_no_approval(project: TempProject) -> None:
    for name in ("01-walls", "02-paint", "03-door"):
        project.task(name, "echo + >> log; sleep 0.05; echo - >> log")
    assert project.plait("run", "--mode", "queue", "--auto-approve").code == 0
    assert project.read("log").split() == ["+", "-"] * 3
