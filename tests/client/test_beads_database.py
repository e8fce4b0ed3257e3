"""Beads' Dolt database: read with bd and written with bd; without bd, explained. Its exports are never changed."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plait.client.source_reader import LoadedSource, discover_sources, read_named_sources
from plait.core.errors import UserError
from plait.core.plan import Problem, Severity
from plait.engine.status_writeback import open_source_writer
from plait.git.location import find_repo
from plait.sources.formats import load_format
from plait.sources.source_model import SourceStatus
from plait.sources.status_changes import StatusChange
from plait.system import beads_database

# A bd that keeps its issues in one file, as the real one does in its database, and runs hooks as the real one does: if
# they are executable, and since 1.0 unless they are switched off.
BD = (
    f"#!{sys.executable}\n"
    """\
import json, os, pathlib, subprocess, sys
version = pathlib.Path("version").read_text() if pathlib.Path("version").exists() else "1.0.2"
store = pathlib.Path(".beads/database")
words = sys.argv[1:]
pathlib.Path("calls").open("a").write(" ".join(words) + "\\n")
if not store.exists() or (words[0] == "export" and pathlib.Path("old").exists()):
    sys.exit("Error: no database found")
if words[0] == "version":
    sys.exit(print(f"bd version {version} (8a1b0c2: main@0.1)"))
issues = [json.loads(line) for line in store.read_text().splitlines()]
if words[0] == "export":
    print(store.read_text(), end="")
elif words[0] == "list":
    print(json.dumps({"schema_version": 1, "data": issues}))
else:
    status = "closed" if words[0] == "close" else words[words.index("--status") + 1]
    for issue in issues:
        if issue["id"] in words:
            issue["status"] = status
    store.write_text("".join(json.dumps(issue) + "\\n" for issue in issues))
    hook = pathlib.Path(".beads/hooks/on_close" if words[0] == "close" else ".beads/hooks/on_update")
    if os.access(hook, os.X_OK) and (version.startswith("0.") or os.environ.get("BD_NO_HOOKS") != "1"):
        subprocess.run([hook.absolute()], check=True)
"""
)
ISSUES: list[dict[str, object]] = [
    {"id": "b-1", "title": "Dig", "status": "open"},
    {"id": "b-2", "title": "Pour", "status": "open", "dependencies": [{"issue_id": "b-2", "depends_on_id": "b-1", "type": "blocks"}]},
]  # fmt: skip
EXPORT = '{"id":"b-1","title":"Dig","status":"closed"}\n'


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a Dolt database, and no bd."""
    top = tmp_path / "project"
    (top / ".beads").mkdir(parents=True)
    (top / ".beads/metadata.json").write_text('{"database": "dolt", "backend": "dolt"}')
    (top / ".beads/PRIME.md").write_text("# Task: Workflow\n\nPush.\n")
    (tmp_path / "bin").mkdir()
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin/git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return top


@pytest.fixture
def bd(top: Path) -> Path:
    """The same with bd and two issues; returns the file of its calls."""
    (top / ".beads/database").write_text("".join(json.dumps(issue) + "\n" for issue in ISSUES))
    program = top.parent / "bin/bd"
    program.write_text(BD)
    program.chmod(0o755)
    return top / "calls"


def read(top: Path, name: str = ".beads") -> tuple[LoadedSource, list[Problem]]:
    (source,), _ = read_named_sources(find_repo(top), [name], where=top)
    return source, [problem for problem in source.reading.problems if problem.severity is not Severity.INFO]


def write(top: Path, *changes: tuple[str, SourceStatus]) -> list[Problem]:
    at = datetime(2026, 3, 14, tzinfo=UTC)
    wanted = [StatusChange(name, status, at, ".beads/issues.jsonl", batch="none") for name, status in changes]
    (writer,) = load_format("beads").writers(".beads", wanted)
    return list(open_source_writer(find_repo(top))(writer, wanted))


def statuses(top: Path) -> dict[str, str]:
    lines = (top / ".beads/database").read_text().splitlines()
    return {issue["id"]: issue["status"] for issue in map(json.loads, lines)}


@pytest.mark.parametrize("name", [".beads", ".beads/issues.jsonl"])
def test_bd_is_asked_for_the_issues_even_if_there_is_an_export(top: Path, bd: Path, name: str) -> None:
    (top / ".beads/issues.jsonl").write_text(EXPORT)
    source, problems = read(top, name)
    assert (source.format, source.path, problems) == ("beads", ".beads", [])
    assert [(entry.task.id, [need.on for need in entry.task.needs]) for entry in source.reading.entries] == [
        ("b-1", []), ("b-2", ["b-1"])
    ]  # fmt: skip
    assert {entry.status for entry in source.reading.entries} == {SourceStatus.TODO}
    assert bd.read_text() == "export --json\n"


def test_a_bd_without_export_is_asked_for_a_list(top: Path, bd: Path) -> None:
    (top / "old").touch()
    assert [entry.task.id for entry in read(top)[0].reading.entries] == ["b-1", "b-2"]
    assert bd.read_text().splitlines()[-1] == "list --all --limit 0 --json"


def test_bd_writes_the_statuses_once_and_the_export_stays(top: Path, bd: Path) -> None:
    (top / ".beads/issues.jsonl").write_text(EXPORT)
    assert write(top, ("b-1", SourceStatus.DONE), ("b-2", SourceStatus.DOING)) == []
    assert statuses(top) == {"b-1": "closed", "b-2": "in_progress"}
    assert bd.read_text().splitlines() == ["export --json", "close b-1", "update b-2 --status in_progress"]
    assert write(top, ("b-1", SourceStatus.DONE), ("b-2", SourceStatus.DOING)) == []
    assert len(bd.read_text().splitlines()) == 4  # it looked, and there was nothing to write
    assert (top / ".beads/issues.jsonl").read_text() == EXPORT


@pytest.mark.usefixtures("bd")
def test_a_missing_issue_is_reported_and_the_others_are_written(top: Path) -> None:
    (problem,) = write(top, ("b-9", SourceStatus.DONE), ("b-1", SourceStatus.DONE))
    assert "b-9" in problem.message
    assert statuses(top)["b-1"] == "closed"


@pytest.mark.usefixtures("bd")
def test_writing_a_status_with_bd_runs_no_hook_of_the_repository(top: Path) -> None:
    hook = top / ".beads/hooks/on_close"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\n: > ran\n")
    hook.chmod(0o755)
    assert write(top, ("b-1", SourceStatus.DONE)) == []
    (top / "version").write_text("0.49.6")
    (problem,) = write(top, ("b-2", SourceStatus.DONE))
    assert "would run the repository's hook hooks/on_close" in problem.message
    assert not (top / "ran").exists()
    assert statuses(top) == {"b-1": "closed", "b-2": "open"}
    hook.chmod(0o644)
    assert write(top, ("b-2", SourceStatus.DONE)) == []


@pytest.mark.usefixtures("bd")
def test_a_failing_bd_is_tried_again_later(top: Path) -> None:
    (top / ".beads/database").unlink()
    with pytest.raises(beads_database.BeadsError, match="no database found"):
        write(top, ("b-1", SourceStatus.DONE))


def test_without_bd_the_export_is_read_with_a_warning_and_never_written(top: Path) -> None:
    (top / ".beads/issues.jsonl").write_text(EXPORT)
    source, (problem,) = read(top)
    assert [entry.task.id for entry in source.reading.entries] == ["b-1"]
    assert problem.severity is Severity.WARNING
    assert "bd, which reads it, is not installed" in problem.message
    (problem,) = write(top, ("b-1", SourceStatus.TODO))
    assert "bd is not installed: no status was written" in problem.message
    assert (top / ".beads/issues.jsonl").read_text() == EXPORT


def test_without_bd_a_backup_is_read_with_its_dependencies(top: Path) -> None:
    (top / ".beads/backup").mkdir()
    lines = "".join(json.dumps({**issue, "dependencies": []}) + "\n" for issue in ISSUES)
    (top / ".beads/backup/issues.jsonl").write_text(lines)
    edge = '{"issue_id": "b-2", "depends_on_id": "b-1", "type": "blocks", "metadata": "{}"}\n'
    (top / ".beads/backup/dependencies.jsonl").write_text(edge)
    for name in (".beads", ".beads/backup/issues.jsonl"):
        entries = read(top, name)[0].reading.entries
        assert [[need.on for need in entry.task.needs] for entry in entries] == [[], ["b-1"]]
    assert load_format("beads").writers(".beads/backup/issues.jsonl", ()) == []


def test_without_bd_and_export_the_reason_is_given_and_the_notes_are_no_tasks(top: Path) -> None:
    with pytest.raises(UserError, match="is a Dolt database, and bd, which reads it, is not installed"):
        read(top)
    (top / ".beads/metadata.json").unlink()
    with pytest.raises(UserError, match=r"\.beads has no issues\.jsonl"):
        read(top)
    (top / ".beads/issues.jsonl").write_text(EXPORT)
    (source,), _ = read_named_sources(find_repo(top), [".beads/PRIME.md", ".beads/issues.jsonl"], where=top)
    assert [entry.task.id for entry in source.reading.entries] == ["b-1"]


def test_a_database_is_found_without_being_named(top: Path) -> None:
    assert [path.name for path in discover_sources(top)] == [".beads"]
    (top / ".beads/issues.jsonl").write_text(EXPORT)
    assert [path.name for path in discover_sources(top)] == ["issues.jsonl"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"metadata.json": '{"backend": "dolt"}'}, True),
        ({"metadata.json": '{"database": "beads.db"}'}, False),
        ({"metadata.json": '{"backend": "dolt"}', "config.yaml": "# x\nno-db: true\n"}, False),
        ({"backup/backup_state.json": '{"last_dolt_commit": "x"}'}, True),
        ({"dolt/x": ""}, True),
        ({"metadata.json": "{"}, False),
        ({}, False),
    ],
)
def test_what_a_dolt_database_looks_like(tmp_path: Path, files: dict[str, str], expected: bool) -> None:  # noqa: FBT001
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert beads_database.is_dolt_database(tmp_path) is expected
