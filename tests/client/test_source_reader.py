"""What named files, folders and patterns are read as."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.client.source_reader import discover_sources, read_named_sources
from plait.core.errors import UserError
from plait.git.location import find_repo

PLAN = "## Phase 1: A\n\n- [ ] 1.1 One\n"
FILES = {
    "tasks/01-walls.md": "# Task 01: Walls\n",
    "tasks/door.md": "# Door\n\n- [ ] It closes\n",
    "tasks/roof.md": "# Roof\n",
    "tasks/README.md": "# About\n\n- [ ] Read me\n",
    "tasks/PHASES.md": "| Task | Status | Blocked By |\n|--|--|--|\n| roof | TODO | 01-walls |\n",
    "tasks/sub/deep/cellar.md": "Dig.\n",
    "tasks/docs/README.md": "# About\n",
    "plans/one.md": PLAN,
    "plans/two.md": PLAN,
    "plans/README.md": "# About\n",
    "mixed/one.md": PLAN,
    "mixed/notes.md": "# Notes\n",
}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def ids(top: Path, *named: str) -> dict[str, list[str]]:
    found, problems = read_named_sources(find_repo(top), named, where=top)
    assert not problems
    return {each.path: [entry.task.id for entry in each.reading.entries] for each in found}


def test_a_pattern_reads_task_files_like_their_folder(top: Path) -> None:
    assert ids(top, "tasks/*.md") == ids(top, "tasks") == {"tasks": ["01-walls", "door", "roof"]}


def test_a_pattern_reads_subfolders_and_skips_those_without_tasks(top: Path) -> None:
    assert ids(top, "tasks/**/*.md") == {
        "tasks": ["01-walls", "door", "roof"],
        "tasks/sub/deep": ["cellar"],
    }


def test_the_table_among_the_files_of_a_pattern_is_read(top: Path) -> None:
    (found,), _ = read_named_sources(find_repo(top), ["tasks/*.md"], where=top)
    assert [need.on for need in found.reading.entries[2].task.needs] == ["01-walls"]


def test_files_listed_by_a_shell_are_task_files(top: Path) -> None:
    names = ("tasks/01-walls.md", "tasks/PHASES.md", "tasks/README.md", "tasks/roof.md")
    assert ids(top, *names) == {"tasks": ["01-walls", "roof"]}


def test_a_pattern_of_plans_reads_plans(top: Path) -> None:
    assert ids(top, "plans/*.md") == {"plans/one.md": ["1.1"], "plans/two.md": ["1.1"]}


ORG_FORMAT = """
from plait.core.task import Origin, Task
from plait.sources.formats import Confidence, Format
from plait.sources.source_model import Reading, SourceEntry

def read(source):
    return Reading((SourceEntry(Task("one", origin=Origin(source.path, 1))),))

FORMAT = Format(lambda source: Confidence.NO, read)
"""


def test_a_file_of_another_format_is_not_checked_as_markdown(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "org_format").mkdir()
    (top / "org_format/tasks.py").write_text(ORG_FORMAT)
    monkeypatch.syspath_prepend(top)
    deep = "- " * 300 + "[ ] 1.1 One\n"
    (top / "TODO.org").write_text(deep)
    (top / "deep.md").write_text(PLAN + deep)
    (org,), _ = read_named_sources(find_repo(top), ["TODO.org"], where=top, format_name="org_format.tasks")
    assert not org.reading.problems
    (plan,), _ = read_named_sources(find_repo(top), ["deep.md"], where=top, format_name="plan")
    assert "nested too deep" in plan.reading.problems[0].message


@pytest.mark.parametrize("named", ["mixed/*.md", "tasks/roof.md", "tasks/docs/README.md"])
def test_a_file_of_no_known_format_is_an_error(top: Path, named: str) -> None:
    with pytest.raises(UserError, match="unknown format, no tasks read"):
        ids(top, named)


def test_an_epic_is_found_with_its_tasks_folder_and_one_without_tasks_is_not(tmp_path: Path) -> None:
    for name in ("a/epic.md", "a/tasks/001-dig.md", "b/12.md", "c/epic.md"):
        path = tmp_path / ".claude/epics" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("---\nname: Dig\nstatus: open\n---\n")
    found = [path.relative_to(tmp_path).as_posix() for path in discover_sources(tmp_path)]
    assert found == [".claude/epics/b", ".claude/epics/a/tasks"]
