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
def plot(tmp_path: Path) -> TaskWorktree:
    return TaskWorktree.create(tmp_path, {"plan.md": TODO, "other.md": TODO, "a.txt": "a\n"})


@pytest.mark.parametrize("committed", [True, False])
def test_a_source_in_which_only_a_status_differs_is_taken_out(plot: TaskWorktree, *, committed: bool) -> None:
    if committed:
        plot.commit("plan.md", DONE)
    plot.write("plan.md", DONE)
    plot.write("other.md", DONE)
    captured = plot.capture(restore=restore)
    assert captured.files == ("other.md",)
    assert captured.reverted_sources == ("plan.md",)
    assert (plot.path / "plan.md").read_text() == TODO
    assert plot.is_clean()


def test_a_status_alone_is_an_empty_change(plot: TaskWorktree) -> None:
    plot.write("plan.md", DONE)
    captured = plot.capture(restore=restore)
    assert (captured.tip, captured.empty, captured.reverted_sources) == (plot.base, True, ("plan.md",))
    assert plot.is_clean()


def test_what_else_was_written_into_a_source_stays(plot: TaskWorktree) -> None:
    plot.write("plan.md", DONE + "- [ ] 1.3 Wait\n")
    captured = plot.capture(restore=restore)
    assert captured.files == ("plan.md",)
    assert captured.reverted_sources == ()
    assert plot.show(captured.tip, "plan.md") + "\n" == TODO + "- [ ] 1.3 Wait\n"
    assert (plot.path / "plan.md").read_text() == TODO + "- [ ] 1.3 Wait\n"
    assert plot.is_clean()
    assert plot.capture(restore=restore) == captured


def test_only_files_that_are_in_both_versions_are_shown(plot: TaskWorktree) -> None:
    seen: list[str] = []

    def look(path: str, base: bytes, new: bytes) -> bytes:
        seen.append(path)
        assert base == b"a\n"
        return new

    plot.write("a.txt", "changed\n")
    plot.write("new.txt", "x\n")
    (plot.path / "plan.md").unlink()
    (plot.path / "other.md").unlink()
    (plot.path / "other.md").symlink_to("a.txt")
    plot.capture(restore=look)
    assert seen == ["a.txt"]


def test_line_ends_of_the_folder_are_kept(plot: TaskWorktree) -> None:
    plot.git("config", "core.autocrlf", "true")
    plot.write("plan.md", (DONE + "more\n").replace("\n", "\r\n"))
    captured = plot.capture(restore=restore)
    assert plot.show(captured.tip, "plan.md") + "\n" == TODO + "more\n"
    assert (plot.path / "plan.md").read_bytes().decode() == (TODO + "more\n").replace("\n", "\r\n")


def test_the_mode_of_a_source_stays_as_the_agent_set_it(plot: TaskWorktree) -> None:
    plot.write("plan.md", DONE)
    (plot.path / "plan.md").chmod(0o755)
    captured = plot.capture(restore=restore)
    assert captured.files == ("plan.md",)
    assert plot.git("ls-tree", captured.tip, "plan.md").startswith("100755")
