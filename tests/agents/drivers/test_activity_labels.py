"""What agents do, as a line for people."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.agents.drivers.activity_labels import describe_tool_use, format_question, shorten_path, strip_shell
from plait.agents.interface import Activity, ActivityKind


@pytest.mark.parametrize(
    ("name", "given_to_it", "shown"),
    [
        ("Write", {"file_path": "/w/src/app.py"}, (ActivityKind.EDITS, "editing src/app.py")),
        ("write_file", {"file_path": "/w/a.txt"}, (ActivityKind.EDITS, "editing a.txt")),
        ("replace", {"file_path": "/w/a.txt"}, (ActivityKind.EDITS, "editing a.txt")),
        ("Read", {"file_path": "/elsewhere/a.txt"}, (ActivityKind.READS, "reading /elsewhere/a.txt")),
        (
            "Bash",
            {"command": "pytest -q\nls", "description": "tests"},
            (ActivityKind.RUNS, "running pytest -q"),
        ),
        ("run_shell_command", {"command": "ls"}, (ActivityKind.RUNS, "running ls")),
        ("Grep", {"pattern": "a.*b"}, (ActivityKind.SEARCHES, "searching for a.*b")),
        ("google_web_search", {"query": "how"}, (ActivityKind.SEARCHES, "searching for how")),
        ("TodoWrite", {"todos": []}, (ActivityKind.THINKS, "planning")),
        ("Task", {"description": "look around"}, (ActivityKind.USES, "using Task: look around")),
        ("mcp__db__query", {"sql": "x"}, (ActivityKind.USES, "using mcp__db__query")),
        ("Write", {"file_path": 7}, (ActivityKind.EDITS, "editing")),
        (None, {}, (ActivityKind.USES, "using None")),
    ],
)
def test_each_tool_has_an_activity_kind(
    name: object, given_to_it: dict[str, object], shown: tuple[ActivityKind, str]
) -> None:
    assert [
        (one.kind, one.text) for one in describe_tool_use(name, given_to_it, "/w") if isinstance(one, Activity)
    ] == [shown]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/bin/bash -lc 'echo hi > b.txt'", "echo hi > b.txt"),
        ("/bin/zsh -lc \"cat > '/w/a' <<'EOF'\nhello\nEOF\"", "cat > '/w/a' <<'EOF'"),
        ("bash -c ls", "ls"),
        ("sh -c 'unfinished", "unfinished"),
        ("git status", "git status"),
        ("", ""),
    ],
)
def test_the_shell_around_a_command_is_stripped(command: str, shown: str) -> None:
    assert strip_shell(command) == shown


@given(st.text())
def test_any_command_is_shown_as_one_line(command: str) -> None:
    assert "\n" not in strip_shell(f"bash -lc {command}")


@pytest.mark.parametrize(
    ("path", "workspace", "shown"),
    [
        ("/w/tree/src/app.py", "/w/tree", "src/app.py"),
        ("/w/treehouse/app.py", "/w/tree", "/w/treehouse/app.py"),
        ("/home/me/state/worktrees/x/src/app.py", "", "…/x/src/app.py"),
        ("/home/me/other/x/src/app.py", "/w/tree", "/home/me/other/x/src/app.py"),
        ("/a/b/c", "", "/a/b/c"),
        ("src/deep/down/below/app.py", "", "src/deep/down/below/app.py"),
    ],
)
def test_a_path_is_shown_relative_to_the_workspace(path: str, workspace: str, shown: str) -> None:
    assert shorten_path(path, workspace) == shown


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (
            {"questions": [{"question": "A?"}, {"question": "B?", "options": ["x", {"label": "y"}, 7]}]},
            "A?\nB? (x, y)",
        ),
        ({"question": "A?"}, "A?"),
        ({"questions": "no list", "question": "A?"}, "A?"),
        ({}, "it asks a question without a text"),
        ({"questions": [7, None]}, "it asks a question without a text"),
    ],
)
def test_a_question_is_shown_with_its_choices(asked: dict[str, object], shown: str) -> None:
    assert format_question(asked) == shown
