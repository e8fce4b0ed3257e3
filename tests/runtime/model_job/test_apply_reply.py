"""Agents that only read: what they answer is applied in their place, all of it or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.temp_project import TempProject, temp_project as make
from tests.support.waiting import wait_until

GOOD = "Here you are.\n\nFILE: new/a.md\n```\nhello\n```\n\nFILE: b.txt\nFIND:\nold\nREPLACE:\nnew\nEND\n"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with make(tmp_path, worktrees=True) as made:
        made.env["PLAIT_AGENTS_REPLIES"] = "command"
        made.write("b.txt", "old")
        made.write("tasks/01-one.md", "# One\n\nDo it.\n")
        yield made


def run(project: TempProject, script: str, *words: str) -> tuple[int, str]:
    (project.top.parent / "tool").write_text(script)
    project.commit_all()
    command = f"sh {project.top.parent / 'tool'}"
    answer = project.plait("run", "tasks", "--agent-command", command, "--retries", "0", *words)
    return answer.code, answer.out + answer.err


def says(text: str) -> str:
    return f"cat <<'END_OF_ANSWER'\n{text}END_OF_ANSWER\n"


def test_the_files_in_an_answer_are_written(project: TempProject) -> None:
    code, said = run(project, f"cat > {project.top.parent}/prompt\n{says(GOOD)}")
    assert code == 0, said
    assert (project.read_merged_files()["new/a.md"], project.read_merged_files()["b.txt"]) == ("hello", "new")
    prompt = (project.top.parent / "prompt").read_text()
    assert "Do it." in prompt
    assert "FILE: path/to/file" in prompt


def test_the_output_of_the_tool_is_passed_on_unchanged(project: TempProject) -> None:
    run(project, f"{says(GOOD)}echo beside >&2\n")
    (batch,) = project.state().batches
    log = project.plait("logs", batch, "01-one").out
    assert "Here you are." in log
    assert "beside" in log
    assert "wrote new/a.md" in log


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("I have no idea.\n", "can't apply"),
        (GOOD.replace("new/a.md", "../a.md"), "../a.md"),
        (GOOD.replace("FIND:\nold", "FIND:\nolder"), "b.txt"),
        (GOOD.replace("new/a.md", ".git/hooks/pre-commit"), ".git"),
    ],
)
def test_an_answer_that_cannot_be_applied_fails_and_writes_nothing(project: TempProject, said: str, why: str) -> None:
    code, result = run(project, says(said))
    assert code == 1
    assert why in result
    assert project.statuses() == {"01-one": "failed"}
    assert not (project.top.parent / "a.md").exists()


def test_the_answer_of_a_failed_tool_is_not_applied(project: TempProject) -> None:
    code, result = run(project, f"{says(GOOD)}echo 'it broke' >&2\nexit 9\n")
    assert code == 1
    assert "exit status 9" in result


def test_a_missing_tool_is_reported(project: TempProject) -> None:
    project.commit_all()
    answer = project.plait("run", "tasks", "--agent-command", "./no-such-tool-at-all", "--retries", "0")
    assert answer.code == 1
    assert "the command can't be run" in answer.out + answer.err


def test_cancelling_ends_the_tool_too(project: TempProject) -> None:
    (project.top.parent / "tool").write_text(f"touch {project.top.parent}/begun\nexec sleep 1000\n")
    project.commit_all()
    front = project.start("run", "tasks", "--agent-command", f"sh {project.top.parent / 'tool'}")
    wait_until((project.top.parent / "begun").exists)
    (batch,) = project.state().batches
    assert project.plait("cancel", batch).code == 0
    project.finish(front)
    project.wait_for_exit()


def test_the_last_message_of_a_json_tool_is_applied(project: TempProject) -> None:
    tool = project.top.parent / "claude"
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s-1", "cwd": "."},
        {
            "type": "assistant",
            "message": {"content": [{"type": "text", "text": GOOD.replace("hello", "a draft")}]},
        },
        {"type": "result", "subtype": "success", "is_error": False, "result": GOOD, "session_id": "s-1"},
    ]
    result = "\n".join(json.dumps(line) for line in lines)
    tool.write_text(f"#!/bin/sh\ncat > {project.top.parent}/prompt\n{says(result + chr(10))}")
    tool.chmod(0o755)
    project.env |= {"PLAIT_AGENTS_REPLIES": "claude", "PLAIT_AGENTS_PROGRAMS": f"claude={tool}"}
    project.commit_all()
    answer = project.plait("run", "tasks", "--agent", "claude", "--retries", "0")
    assert answer.code == 0, answer
    assert project.read_merged_files()["new/a.md"] == "hello"
    assert "FILE: path/to/file" in (project.top.parent / "prompt").read_text()
