"""Where plait stands, and what git has to say about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from plait.client.source_reader import discover_sources, read_named_sources
from plait.core.errors import UserError
from plait.git.location import _find_ordinary_repo, find_repo, list_repo_files


def git(*args: str | Path) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], check=True, capture_output=True)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    git("init", "--quiet", tmp_path / "top")
    return tmp_path / "top"


def test_a_linked_worktree_shares_the_state(top: Path, tmp_path: Path) -> None:
    git("-C", top, "commit", "--allow-empty", "--message", "first")
    git("-C", top, "worktree", "add", "-b", "other", tmp_path / "other")
    location = find_repo(tmp_path / "other")
    assert (location.top, location.state) == (tmp_path / "other", top / ".git" / "plait")


def test_finding_a_repository_runs_none_of_its_programs(top: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    program.chmod(0o755)
    (top / "a.py").write_text("1\n")
    git("-C", top, "add", "a.py")
    git("-C", top, "config", "core.fsmonitor", program)
    (top / "sub").mkdir()
    assert list_repo_files(find_repo(top / "sub")) == ["a.py"]
    assert not (tmp_path / "ran").exists()


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    git("init", "--quiet", "--bare", tmp_path)
    with pytest.raises(UserError, match="work tree") as refused:
        find_repo(tmp_path)
    assert "git worktree add" in refused.value.hint


def test_a_repository_that_git_distrusts_is_refused(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UserError, match="dubious ownership"):
        find_repo(top)


def test_a_path_with_a_line_break_is_refused(tmp_path: Path) -> None:
    git("init", "--quiet", tmp_path / "a\nb")
    with pytest.raises(UserError, match="line break"):
        find_repo(tmp_path / "a\nb")


def test_without_git_a_folder_is_not_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    location = find_repo(tmp_path)
    assert (location.repository, location.state) == (False, tmp_path / ".plait")


def test_a_path_through_a_symlink_is_relative_to_the_top(top: Path, tmp_path: Path) -> None:
    (top / "list.md").write_text("- [ ] Do it\n")
    (tmp_path / "alias").symlink_to(top)
    (found,), _ = read_named_sources(find_repo(top), [str(tmp_path / "alias" / "list.md")], where=top)
    assert found.path == "list.md"


@pytest.mark.parametrize("text", ["plan.md", " plan.md\n", "a\0b", "a" * 300, "../out.md", "", "a\nb"])
def test_a_pointer_to_a_plan_is_followed_only_inside_the_repository(text: str, top: Path) -> None:
    (top / "plan.md").touch()
    (top.parent / "out.md").touch()
    (top / ".claude").mkdir()
    (top / ".claude" / "current-plan.txt").write_text(text)
    assert discover_sources(top) == ([top / "plan.md"] if text.strip() == "plan.md" else [])


def test_a_symlink_to_its_own_folder_is_not_followed(top: Path) -> None:
    (top / "tasks").mkdir()
    (top / "tasks" / "01-one.md").write_text("# One\n")
    (top / "tasks" / "again").symlink_to(".")
    (found,), _ = read_named_sources(find_repo(top), ["tasks/**/*.md", "tasks/01-one.md"], where=top)
    assert [entry.task.id for entry in found.reading.entries] == ["01-one"]


@pytest.mark.parametrize("setting", ["core.worktree=../elsewhere", "core.bare=true", "include.path=../other"])
def test_an_unusual_repository_is_located_by_git(top: Path, setting: str) -> None:
    assert _find_ordinary_repo(top) == find_repo(top)
    git("-C", top, "config", *setting.split("="))
    assert _find_ordinary_repo(top) is None


def test_folders_in_a_repository_belong_to_it(top: Path) -> None:
    inner = top / "a" / "b"
    inner.mkdir(parents=True)
    assert _find_ordinary_repo(inner) == find_repo(top)
    assert _find_ordinary_repo(top / ".git" / "hooks") is None
    (inner / ".git").write_text("gitdir: elsewhere")
    assert _find_ordinary_repo(inner) is None, "a submodule, or a linked worktree"


def test_git_finds_the_same_repository(top: Path) -> None:
    completed = subprocess.run(
        ["git", "-C", top, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    location = _find_ordinary_repo(top)
    assert location
    assert [str(location.top), str(location.state.parent)] == completed
