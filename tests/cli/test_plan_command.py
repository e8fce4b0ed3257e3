"""What people see, word for word: the sessions beside this file, played again.

After a change that is meant: PLAIT_WRITE_SESSIONS=1 pytest tests/cli/test_plan.py, and read the difference.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli_runner import CliResult, ask

SESSIONS = Path(__file__).parent / "sessions"

FILES = {
    "plan.md": """\
# Plan

## Phase 1: Ground

- [x] 1.1 Write the schema in `src/schema.py`
- [ ] 1.2 Read it in `src/read.py`
- [ ] 1.3 Document `src/read.py`

## Phase 2: House

**Execution Note:** Tasks 2.1-2.2 are [SEQUENTIAL] - both move the same walls

- [ ] 2.1 Put up the walls
- [ ] 2.2 Move the walls
- [ ] 2.3 Open the door (depends: 1.2)
""",
    "TODO.md": """\
# TODO

## High Priority

### 63. Lay the floor
**Status**: [COMPLETED]

### 64. Paint the wall
**Status**: [NOT STARTED]
**Dependencies**: 63

### 65. Hang the door
**Status**: [NOT STARTED]
**Dependencies**: 64, 12

### 66. Ring the bell
**Status**: [ABANDONED]
""",
    "ring.md": """\
# Plan

## Phase 1: Ring

- [ ] 1.1 One (depends: 1.3)
- [ ] 1.2 Two (depends: 1.1)
- [ ] 1.3 Three (depends: 1.2)
""",
    "bullets.md": "# List\n\n- one\n- two\n",
    "hostile.md": "# To do\n\n- [ ] Clear \x1b[2J the screen\n- [ ] Bad \udcff byte\n",
    "both.md": "# Plan\n\n## Phase 1: A\n\n- [ ] 1.2 Something else\n",
    "tasks/README.md": "# Not a task\n",
    "tasks/01-walls.md": "# Task 01: Walls\n\n**Files:** src/walls.py\n",
    "tasks/02-paint.md": "---\nneeds: [01-walls]\nwieght: 3\n---\n# Paint\n",
    "broken/01-odd.md": "---\nneeds: [\n---\n# Odd\n",
    "broken/02-fine.md": "# Fine\n",
    "plain/wall.md": "Build a wall.\n",
    "plain/paint.md": "Paint it.\n",
    "plain/README.md": "- [ ] Not a task\n",
}


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "linked.md").symlink_to("TODO.md")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    return tmp_path


def play(capture: pytest.CaptureFixture[str], top: Path, command: str) -> CliResult:
    answer = ask(capture, top, *shlex.split(command)[1:])
    out, err = (text.replace(str(top), "TOP") for text in (answer.out, answer.err))
    return CliResult(answer.code, out, err)


@pytest.mark.parametrize("name", sorted(path.stem for path in SESSIONS.glob("*.txt")))
def test_the_output_of_a_session_equals_the_stored_one(
    name: str, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = SESSIONS / f"{name}.txt"
    commands = re.findall(r"(?m)^\$ (.*)$", path.read_text())
    played = "\n".join(f"$ {command}\n{play(capsys, top, command)}" for command in commands)
    if os.environ.get("PLAIT_WRITE_SESSIONS"):
        path.write_text(played)
    assert played == path.read_text()


def test_json_has_the_documented_fields(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = play(capsys, top, "plait plan plan.md --json")
    data = json.loads(answer.out)
    assert answer.code == 0
    assert data["waves"] == [["1.2", "1.3"], ["2.1", "2.3"], ["2.2"]]
    assert data["conflicts"] == [{"file": "src/read.py", "tasks": ["1.2", "1.3"]}]
    assert data["criticalPath"] == ["1.2", "2.3"]
    (last,) = [task for task in data["tasks"] if task["id"] == "2.2"]
    assert last == {
        "id": "2.2",
        "title": "Move the walls",
        "status": "pending",
        "source": "plan.md:14",
        "needs": [{"id": "2.1", "kind": "chain", "reason": "both move the same walls", "at": "plan.md:11"}],
        "touches": [],
        "phase": "2",
        "wave": 3,
        "weight": 1.0,
        "agent": None,
        "entrantOf": None,
    }
    assert data["problems"] == [
        {
            "severity": "info",
            "message": "1 of 6 tasks is complete already",
            "file": None,
            "line": None,
            "hint": None,
        }
    ]


@pytest.mark.parametrize("words", ["ring.md", "nowhere.md", "bullets.md", "TODO.md -s 67-65", "TODO.md -p many"])
def test_errors_are_json_with_json(words: str, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = play(capsys, top, f"plait plan --json {words}")
    data = json.loads(answer.out)
    assert answer.code == 2
    assert data["tasks"] == []
    assert [problem["severity"] for problem in data["problems"]][:1] == ["error"]
    assert answer.err == ""


def test_a_cycle_is_reported_with_its_path(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(play(capsys, top, "plait plan --json ring.md").out)
    assert "1.1 → 1.2 → 1.3 → 1.1" in data["problems"][0]["message"]


def test_control_characters_of_files_are_replaced(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        "plan hostile.md",
        "next hostile.md",
        "plan hostile.md --format dot",
        "plan hostile.md --format mermaid",
    ):
        answer = play(capsys, top, f"plait {words}")
        assert answer.code == 0
        assert "\x1b" not in answer.out + answer.err, words
