"""Where plait stands, and what git has to say about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from plait.client.source_reader import discover_sources, read_named_sources
from plait.core.errors import UserError
from plait.git.location import _find_ordinary_repo, find_repo, list_repo_files


def git(*words: str | Path) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    git("init", "--quiet", tmp_path / "top")
    return tmp_path / "top"


def test_a_linked_worktree_shares_the_state(top: Path, tmp_path: Path) -> None:
    git("-C", top, "commit", "--allow-empty", "--message", "first")
    git("-C", top, "worktree", "add", "-b", "other", tmp_path / "other")
    place = find_repo(tmp_path / "other")
    assert (place.top, place.state) == (tmp_path / "other", top / ".git" / "plait")


def test_looking_runs_nothing_that_the_repository_is_set_to_run(top: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    program.chmod(0o755)
    (top / "a.py").write_text("1\n")
    git("-C", top, "add", "a.py")
    git("-C", top, "config", "core.fsmonitor", program)
    (top / "sub").mkdir()
    assert list_repo_files(find_repo(top / "sub")) == ["a.py"]
    assert not (tmp_path / "ran").exists()


def test_a_bare_repository_is_no_folder_without_one(tmp_path: Path) -> None:
    git("init", "--quiet", "--bare", tmp_path)
    with pytest.raises(UserError, match="work tree") as refused:
        find_repo(tmp_path)
    assert "git worktree add" in refused.value.hint


def test_a_repository_that_git_distrusts_is_no_folder_without_one(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UserError, match="dubious ownership"):
        find_repo(top)


def test_a_path_with_a_line_break_is_refused(tmp_path: Path) -> None:
    git("init", "--quiet", tmp_path / "a\nb")
    with pytest.raises(UserError, match="line break"):
        find_repo(tmp_path / "a\nb")


def test_without_git_a_folder_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    place = find_repo(tmp_path)
    assert (place.repository, place.state) == (False, tmp_path / ".plait")


def test_a_path_through_a_link_above_is_named_from_the_top(top: Path, tmp_path: Path) -> None:
    (top / "list.md").write_text("- [ ] Do it\n")
    (tmp_path / "alias").symlink_to(top)
    (found,), _ = read_named_sources(find_repo(top), [str(tmp_path / "alias" / "list.md")], where=top)
    assert found.path == "list.md"


@pytest.mark.parametrize("said", ["plan.md", " plan.md\n", "a\0b", "a" * 300, "../out.md", "", "a\nb"])
def test_a_pointer_to_a_plan_leads_there_or_nowhere(said: str, top: Path) -> None:
    (top / "plan.md").touch()
    (top.parent / "out.md").touch()
    (top / ".claude").mkdir()
    (top / ".claude" / "current-plan.txt").write_text(said)
    assert discover_sources(top) == ([top / "plan.md"] if said.strip() == "plan.md" else [])


def test_a_link_to_where_one_is_leads_no_further(top: Path) -> None:
    (top / "tasks").mkdir()
    (top / "tasks" / "01-one.md").write_text("# One\n")
    (top / "tasks" / "again").symlink_to(".")
    (found,), _ = read_named_sources(find_repo(top), ["tasks/**/*.md", "tasks/01-one.md"], where=top)
    assert [entry.task.id for entry in found.reading.entries] == ["01-one"]


@pytest.mark.parametrize("setting", ["core.worktree=../elsewhere", "core.bare=true", "include.path=../other"])
def test_a_repository_that_is_not_ordinary_is_gits_to_tell(top: Path, setting: str) -> None:
    assert _find_ordinary_repo(top) == find_repo(top)
    git("-C", top, "config", *setting.split("="))
    assert _find_ordinary_repo(top) is None


def test_what_lies_in_a_repository_is_of_it(top: Path) -> None:
    inner = top / "a" / "b"
    inner.mkdir(parents=True)
    assert _find_ordinary_repo(inner) == find_repo(top)
    assert _find_ordinary_repo(top / ".git" / "hooks") is None
    (inner / ".git").write_text("gitdir: elsewhere")
    assert _find_ordinary_repo(inner) is None, "a submodule, or a linked worktree"


def test_git_itself_says_the_same(top: Path) -> None:
    told = subprocess.run(
        ["git", "-C", top, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    place = _find_ordinary_repo(top)
    assert place
    assert [str(place.top), str(place.state.parent)] == told
