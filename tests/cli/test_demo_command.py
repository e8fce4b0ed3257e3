"""The demonstration, for real: it goes as designed, and what it says to try next works."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.cli.commands.demo import EXPECTED_STATUSES, make_site
from plait.client.project_sources import load_sources
from tests.support.temp_project import TempProject, plait_command, temp_project as make_project
from tests.support.terminal import Terminal


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with make_project(tmp_path) as made:
        yield made


def test_the_demo_ends_with_all_tasks_done_on_one_branch_and_its_suggestions_work(
    project: TempProject, tmp_path: Path
) -> None:
    (tmp_path / "tmp").mkdir()
    project.env |= {"TMPDIR": str(tmp_path / "tmp"), "PLAIT_VERIFY": "false", "GIT_CONFIG_GLOBAL": os.devnull}
    terminal = project.terminal("demo", columns=80)
    assert terminal.wait() == 0, terminal.text
    assert "partial: 8 merged, 2 not merged · 1 failed · 1 blocked" in terminal.text
    assert "warning" not in terminal.text
    (top,) = (tmp_path / "tmp").glob("*/site")
    last_screen = read_last_screen(terminal)
    check_table(last_screen, 80)
    result = next(line for line in last_screen if line.startswith("10 of 10 tasks are done, on one branch: "))
    branch = result.split()[-1]
    assert project.git_in(top, "rev-parse", branch) == project.git_in(top.parent / "remote.git", "rev-parse", branch)
    assert project.git_in(top, "status", "--porcelain") == ""
    assert "quick" in project.git_in(top, "show", f"{branch}:README.md")
    assert "pages/menu.html" in project.git_in(top, "ls-tree", "-r", "--name-only", branch)

    wide = Terminal(plait_command("watch"), cwd=top, env=project.env, columns=120)
    project.terminals.append(wide)
    assert wide.wait() == 0
    check_table(read_last_screen(wide), 120)

    suggestions = last_screen[last_screen.index("What to try next") :]
    log, diff, explain, drop = (line.strip() for line in suggestions if "  # " in line)
    assert "Translate the pages" in project.git_in(top, *shlex.split(log, comments=True)[1:])
    run = [project.plait("-C", str(top), *shlex.split(line, comments=True)[1:]) for line in (diff, explain, drop)]
    assert [answer.code for answer in run] == [0, 0, 0]
    assert "style.css" in run[0].out
    assert "there is no dictionary.txt" in run[1].out
    assert "the pencil broke" in project.plait("-C", str(top), "logs", "04-logo", "--attempt", "1").out
    assert "white" not in project.git_in(top, "show", f"{branch}:pages/style.css").split("dark")[0]


def read_last_screen(terminal: Terminal) -> list[str]:
    """From the last table of tasks on."""
    text = terminal.text.replace("\r", "")
    return text[text.rindex("  01-pages ") :].splitlines()


def check_table(lines: list[str], columns: int) -> None:
    """A line for each task, with aligned columns, and nothing wider than the terminal."""
    assert max(len(line) for line in lines if "plait-demo-" not in line) <= columns  # its folder has a long name
    rows = lines[: len(EXPECTED_STATUSES)]
    assert [row.split()[:2] for row in rows] == [[name, "done"] for name in EXPECTED_STATUSES]
    for pattern in (r" done ", r"\d+s ", r" [+]\d+ \u2212\d+ ", r" [0-9a-f]{10} "):
        found = [re.search(pattern, row) for row in rows]
        assert len({match.end() if pattern.endswith("s ") else match.start() for match in found if match}) == 1
        assert None not in found


def test_the_demo_has_a_task_for_each_expected_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    make_site(tmp_path / "site")
    seen = load_sources(tmp_path / "site")
    assert [entry.task.id for entry in seen.source_set.entries] == list(EXPECTED_STATUSES)
    assert seen.problems == ()
