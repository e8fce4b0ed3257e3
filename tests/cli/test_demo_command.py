"""The demonstration, for real: it goes as designed, and what it says to try next works."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.cli.commands.demo import EXPECTED_STATUSES, make_site
from plait.client.project_sources import load_sources
from tests.support.temp_project import TempProject, temp_project as make_project
from tests.support.waiting import wait_until


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with make_project(tmp_path) as made:
        yield made


def test_the_demo_ends_as_designed_and_its_suggestions_work(project: TempProject, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    answer = project.plait("demo", env={"TMPDIR": str(tmp_path / "tmp"), "PLAIT_VERIFY": "false"})
    assert answer.code == 0, answer
    assert "8 done · 1 failed · 1 blocked" in answer.out
    assert "retrying at" in answer.out
    (top,) = (tmp_path / "tmp").glob("*/site")
    assert project.git_in(top, "status", "--porcelain") == ""
    _, _, tips = answer.out.partition("What to try next")
    commands = [shlex.split(line) for line in re.findall(r"^  (\S+ -C .*)$", tips, re.MULTILINE)]
    log, *others = commands
    branch = log[-1]
    assert project.git_in(top, "rev-parse", branch) == project.git_in(top.parent / "remote.git", "rev-parse", branch)
    assert "quick" in project.git_in(top, "show", f"{branch}:README.md")
    diff, drop, logs, explain, retry = (words[1:] for words in others)
    assert "style.css" in project.plait(*diff).out
    assert "there is no dictionary.txt" in project.plait(*logs).out
    assert "06-translation" in project.plait(*explain).out
    (top / "dictionary.txt").write_text("hello\n")
    assert project.plait(*retry).code == 0
    wait_until(lambda: "pages/menu.html" in project.git_in(top, "ls-tree", "-r", "--name-only", branch))
    assert project.plait(*drop).code == 0
    wait_until(lambda: "white" not in project.git_in(top, "show", f"{branch}:pages/style.css").split("dark")[0])


def test_the_demo_has_a_task_for_each_expected_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    make_site(tmp_path / "site")
    seen = load_sources(tmp_path / "site")
    assert [entry.task.id for entry in seen.source_set.entries] == list(EXPECTED_STATUSES)
    assert seen.problems == ()
