"""Statuses that an agent wrote into sources are not part of its change."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.sources.status_restore import restore_statuses
from plait.sources.text import decode, encode
from tests.support.task_worktree import TaskWorktree

TODO = "## Phase 1: Ground\n- [ ] 1.1 Dig\n- [ ] 1.2 Pour\n"
DONE = TODO.replace("[ ] 1.1", "[x] 1.1")


def restore(path: str, base: bytes, new: bytes) -> bytes:
    return encode(restore_statuses("plan", path, decode(base), decode(new))) if path == "plan.md" else new


@pytest.fixture
def worktree(tmp_path: Path) -> TaskWorktree:
    return TaskWorktree.create(tmp_path, {"plan.md": TODO, "other.md": TODO, "a.txt": "a\n"})


@pytest.mark.parametrize("committed", [True, False])
def test_a_source_in_which_only_a_status_differs_is_reverted(worktree: TaskWorktree, *, committed: bool) -> None:
    if committed:
        worktree.commit("plan.md", DONE)
    worktree.write("plan.md", DONE)
    worktree.write("other.md", DONE)
    captured = worktree.capture(restore=restore)
    assert captured.files == ("other.md",)
    assert captured.reverted_sources == ("plan.md",)
    assert (worktree.path / "plan.md").read_text() == TODO
    assert worktree.is_clean()


def test_a_status_edit_alone_is_an_empty_change(worktree: TaskWorktree) -> None:
    worktree.write("plan.md", DONE)
    captured = worktree.capture(restore=restore)
    assert (captured.tip, captured.empty, captured.reverted_sources) == (worktree.base, True, ("plan.md",))
    assert worktree.is_clean()


def test_other_edits_of_a_source_stay(worktree: TaskWorktree) -> None:
    worktree.write("plan.md", DONE + "- [ ] 1.3 Wait\n")
    captured = worktree.capture(restore=restore)
    assert captured.files == ("plan.md",)
    assert captured.reverted_sources == ()
    assert worktree.show(captured.tip, "plan.md") + "\n" == TODO + "- [ ] 1.3 Wait\n"
    assert (worktree.path / "plan.md").read_text() == TODO + "- [ ] 1.3 Wait\n"
    assert worktree.is_clean()
    assert worktree.capture(restore=restore) == captured


def test_only_modified_files_are_passed_to_restore(worktree: TaskWorktree) -> None:
    paths: list[str] = []

    def look(path: str, base: bytes, new: bytes) -> bytes:
        paths.append(path)
        assert base == b"a\n"
        return new

    worktree.write("a.txt", "changed\n")
    worktree.write("new.txt", "x\n")
    (worktree.path / "plan.md").unlink()
    (worktree.path / "other.md").unlink()
    (worktree.path / "other.md").symlink_to("a.txt")
    worktree.capture(restore=look)
    assert paths == ["a.txt"]


def test_line_endings_of_the_workspace_are_kept(worktree: TaskWorktree) -> None:
    worktree.git("config", "core.autocrlf", "true")
    worktree.write("plan.md", (DONE + "more\n").replace("\n", "\r\n"))
    captured = worktree.capture(restore=restore)
    assert worktree.show(captured.tip, "plan.md") + "\n" == TODO + "more\n"
    assert (worktree.path / "plan.md").read_bytes().decode() == (TODO + "more\n").replace("\n", "\r\n")


def test_the_mode_of_a_source_stays_as_the_agent_set_it(worktree: TaskWorktree) -> None:
    worktree.write("plan.md", DONE)
    (worktree.path / "plan.md").chmod(0o755)
    captured = worktree.capture(restore=restore)
    assert captured.files == ("plan.md",)
    assert worktree.git("ls-tree", captured.tip, "plan.md").startswith("100755")
