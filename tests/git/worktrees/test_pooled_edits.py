"""What someone changes in a worktree that no task has is saved before the worktree is used again or removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.git.gc.inventory import RefNames
from plait.git.gc.restore import restore_branch
from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.worktree import Repository
from plait.system import flock

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

Discard = Callable[["WorkspaceRepo"], object]


def reuse(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare("two")
    assert repo.status(workspace) == ""
    assert not (workspace / "note.txt").exists()


def reuse_for_another_base(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare("two", base=repo.commit({"more.txt": "more\n", "README": "other\n"}))
    assert repo.status(workspace) == ""
    assert not (workspace / "note.txt").exists()


def trim(repo: WorkspaceRepo) -> None:
    repo.open().trim_pool()


DISCARDS = pytest.mark.parametrize("discard", [reuse, reuse_for_another_base, trim])


@pytest.fixture
def pooled(repo: WorkspaceRepo) -> Path:
    repo.commit({"README": "read me\n", ".gitignore": "*.o\n"})
    repo.prepare()
    repo.release()
    (folder,) = repo.root.glob("pool/*")
    return folder


@DISCARDS
def test_a_new_file_is_saved(repo: WorkspaceRepo, pooled: Path, discard: Discard) -> None:
    repo.write({"note.txt": "mine\n"}, at=pooled)
    discard(repo)
    (saved,) = repo.list_saved("one")
    assert repo.text(saved, "note.txt") == "mine"
    restored = restore_branch(Repository(repo.common).git, RefNames({}, {}, {}), "saved/", None)
    assert restored.commit == saved


@DISCARDS
def test_an_edited_file_is_saved(repo: WorkspaceRepo, pooled: Path, discard: Discard) -> None:
    repo.write({"README": "edited\n"}, at=pooled)
    discard(repo)
    (saved,) = repo.list_saved("one")
    assert repo.text(saved, "README") == "edited"


@DISCARDS
def test_a_staged_file_is_saved(repo: WorkspaceRepo, pooled: Path, discard: Discard) -> None:
    repo.write({"note.txt": "staged\n"}, at=pooled)
    repo.git("add", "note.txt", at=pooled)
    discard(repo)
    (saved,) = repo.list_saved("one")
    assert repo.text(saved, "note.txt") == "staged"


@DISCARDS
def test_a_commit_is_saved(repo: WorkspaceRepo, pooled: Path, discard: Discard) -> None:
    commit = repo.commit({"note.txt": "committed\n"}, at=pooled)
    discard(repo)
    (saved,) = repo.list_saved("one")
    repo.git("merge-base", "--is-ancestor", commit, saved)


def test_a_worktree_is_reused_without_reading_the_refs_of_other_tasks(
    repo: WorkspaceRepo, pooled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be thousands. Git complains of this one when it reads it."""
    broken = repo.common / "refs" / "heads" / "broken"
    broken.write_text("1" * 40 + "\n")
    base = repo.commit({"README": "later\n"})
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
    workspace = repo.prepare("next", base=base)
    monkeypatch.delenv("GIT_TRACE2_EVENT")
    assert not pooled.exists()
    assert "plait/task-7f3a-next" in trace.read_text()
    assert "heads/broken" not in trace.read_text()
    broken.unlink()
    assert repo.git("for-each-ref", "refs/worktree", at=workspace) == ""


@DISCARDS
def test_nothing_is_saved_of_an_unchanged_worktree(repo: WorkspaceRepo, pooled: Path, discard: Discard) -> None:
    repo.write({"ignored.o": "o\n"}, at=pooled)
    (pooled / "empty").mkdir()
    discard(repo)
    assert repo.list_saved("one") == []


@DISCARDS
def test_what_a_task_left_is_saved_once(repo: WorkspaceRepo, discard: Discard) -> None:
    repo.commit({"README": "read me\n"})
    repo.write({"README": "changed\n", "note.txt": "n\n"}, at=repo.prepare())
    repo.release()
    assert len(repo.list_saved("one")) == 1
    discard(repo)
    assert len(repo.list_saved("one")) == 1


@DISCARDS
def test_a_result_whose_branch_was_deleted_is_not_saved(repo: WorkspaceRepo, discard: Discard) -> None:
    repo.commit({"README": "read me\n"})
    repo.commit({"note.txt": "n\n"}, at=repo.prepare())
    repo.release()
    repo.git("branch", "--delete", "--force", "plait/task-7f3a-one")
    discard(repo)
    assert repo.list_saved("one") == []


def test_what_a_gate_left_and_what_setup_made_is_no_work(repo: WorkspaceRepo) -> None:
    repo.write({"built.txt": "b\n", "README": "changed by the gate\n"}, at=repo.gate(repo.head))
    repo.open().release_gate("7f3a")
    setup = WorkspaceSetup(setup="true", makes=("made",))
    workspace = repo.prepare("two", setup=setup)
    assert repo.status(workspace) == ""
    repo.write({"made/file": "m\n"}, at=workspace)
    gitdir = repo.gitdir(workspace)
    (gitdir / "plait-outfit").write_text(
        '{"key": "k", "ours": ["made"], "fitted": "f", "made": ["made"], "used": true}'
    )
    repo.release("two")
    assert (repo.prepare("three", setup=setup) / "made/file").exists()
    assert repo.git("for-each-ref", "refs/plait/saved") == ""


def test_a_worktree_whose_changes_cannot_be_saved_stays(repo: WorkspaceRepo, pooled: Path) -> None:
    repo.write({"note.txt": "mine\n"}, at=pooled)
    blocker = repo.common / "refs" / "plait" / "saved"
    blocker.parent.mkdir(parents=True, exist_ok=True)
    blocker.write_text(f"{repo.head}\n")  # where the refs would be
    workspace = repo.prepare("two")
    assert repo.status(workspace) == ""
    assert (pooled / "note.txt").read_text() == "mine\n"
    trim(repo)
    assert (pooled / "note.txt").read_text() == "mine\n"
    blocker.unlink()
    trim(repo)
    assert not pooled.exists()
    assert len(repo.list_saved("one")) == 1


def test_a_worktree_that_another_process_is_taking_is_not_discarded(repo: WorkspaceRepo, pooled: Path) -> None:
    descriptor = flock.try_lock_folder(pooled)
    assert descriptor is not None
    trim(repo)
    assert repo.status(pooled) == ""
    os.close(descriptor)
    trim(repo)
    assert not pooled.exists()


@pytest.mark.parametrize("ways", [("pool", "making"), ("making", "pool")])
def test_what_is_in_a_worktree_that_was_just_being_moved_is_saved(
    repo: WorkspaceRepo, pooled: Path, ways: tuple[str, str]
) -> None:
    """A killed process had told its gitdir of the new place, and had not moved it yet."""
    repo.write({"committed.txt": "mine\n"}, at=pooled)
    repo.git("add", "--all", at=pooled)
    repo.git("commit", "--quiet", "--message=mine", at=pooled)
    repo.write({"note.txt": "mine\n"}, at=pooled)
    gitdir, (place, target) = repo.gitdir(pooled), ways
    folder = repo.root / place / pooled.name
    folder.parent.mkdir(exist_ok=True)
    pooled.rename(folder)
    (gitdir / "gitdir").write_text(f"{repo.root / target / pooled.name}/.git\n")
    reuse(repo)
    saved = [repo.git("ls-tree", "--name-only", each).split() for each in repo.list_saved("one")]
    assert any({"committed.txt", "note.txt"} <= {*names} for names in saved)
