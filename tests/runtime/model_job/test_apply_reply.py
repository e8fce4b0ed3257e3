"""Agents that only read: what they answer is applied in their place, all of it or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.temp_project import WorktreeProject, worktree_project as make

GOOD = "Here you are.\n\nFILE: new/a.md\n```\nhello\n```\n\nFILE: b.txt\nFIND:\nold\nREPLACE:\nnew\nEND\n"


@pytest.fixture
def estate(tmp_path: Path) -> Iterator[WorktreeProject]:
    with make(tmp_path) as made:
        made.env["PLAIT_AGENTS_REPLIES"] = "command"
        made.write("b.txt", "old")
        made.write("tasks/01-one.md", "# One\n\nDo it.\n")
        yield made


def run(estate: WorktreeProject, script: str, *words: str) -> tuple[int, str]:
    (estate.top.parent / "tool").write_text(script)
    estate.commit_all()
    command = f"sh {estate.top.parent / 'tool'}"
    answer = estate.plait("run", "tasks", "--agent-command", command, "--retries", "0", *words)
    return answer.code, answer.out + answer.err


def says(text: str) -> str:
    return f"cat <<'END_OF_ANSWER'\n{text}END_OF_ANSWER\n"


def test_what_an_agent_answers_is_written_for_it(estate: WorktreeProject) -> None:
    code, said = run(estate, f"cat > {estate.top.parent}/prompt\n{says(GOOD)}")
    assert code == 0, said
    assert (estate.read_merged_files()["new/a.md"], estate.read_merged_files()["b.txt"]) == ("hello", "new")
    prompt = (estate.top.parent / "prompt").read_text()
    assert "Do it." in prompt
    assert "FILE: path/to/file" in prompt


def test_what_it_prints_is_in_the_log_as_it_was(estate: WorktreeProject) -> None:
    run(estate, f"{says(GOOD)}echo beside >&2\n")
    (batch,) = estate.state().batches
    log = estate.plait("logs", batch, "01-one").out
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
def test_an_answer_that_can_t_be_applied_is_a_failure_and_nothing_is_written(
    estate: WorktreeProject, said: str, why: str
) -> None:
    code, told = run(estate, says(said))
    assert code == 1
    assert why in told
    assert estate.statuses() == {"01-one": "failed"}
    assert not (estate.top.parent / "a.md").exists()


def test_a_tool_that_fails_is_not_taken_at_its_word(estate: WorktreeProject) -> None:
    code, told = run(estate, f"{says(GOOD)}echo 'it broke' >&2\nexit 9\n")
    assert code == 1
    assert "exit status 9" in told


def test_a_tool_that_is_not_there_is_told_as_such(estate: WorktreeProject) -> None:
    estate.commit_all()
    answer = estate.plait("run", "tasks", "--agent-command", "no-such-tool-at-all", "--retries", "0")
    assert answer.code == 1
    assert "the command can't be run" in answer.out + answer.err


def test_cancelling_ends_the_tool_too(estate: WorktreeProject) -> None:
    (estate.top.parent / "tool").write_text(f"touch {estate.top.parent}/begun\nexec sleep 1000\n")
    estate.commit_all()
    front = estate.start("run", "tasks", "--agent-command", f"sh {estate.top.parent / 'tool'}")
    estate.wait_until((estate.top.parent / "begun").exists)
    (batch,) = estate.state().batches
    assert estate.plait("cancel", batch).code == 0
    estate.finish(front)
    estate.wait_for_exit()


def test_of_a_tool_that_speaks_in_events_its_last_message_counts(estate: WorktreeProject) -> None:
    tool = estate.top.parent / "claude"
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s-1", "cwd": "."},
        {
            "type": "assistant",
            "message": {"content": [{"type": "text", "text": GOOD.replace("hello", "a draft")}]},
        },
        {"type": "result", "subtype": "success", "is_error": False, "result": GOOD, "session_id": "s-1"},
    ]
    told = "\n".join(json.dumps(line) for line in lines)
    tool.write_text(f"#!/bin/sh\ncat > {estate.top.parent}/prompt\n{says(told + chr(10))}")
    tool.chmod(0o755)
    estate.env |= {"PLAIT_AGENTS_REPLIES": "claude", "PLAIT_AGENTS_PROGRAMS": f"claude={tool}"}
    estate.commit_all()
    answer = estate.plait("run", "tasks", "--agent", "claude", "--retries", "0")
    assert answer.code == 0, answer
    assert estate.read_merged_files()["new/a.md"] == "hello"
    assert "FILE: path/to/file" in (estate.top.parent / "prompt").read_text()
