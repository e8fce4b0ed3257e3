"""Checkouts of a mirror: exactly the commit, never moved under a batch that uses one, and nothing in them is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.core.errors import WorldError
from plait.git.command import Git
from plait.git.location import find_repo
from plait.git.mirror import Mirror, list_stale_checkouts, remove_checkout

Open = Callable[[str | Path], Mirror]
Commit = Callable[..., str]


def saved(made: Mirror) -> list[str]:
    return made.git.text("for-each-ref", "--format=%(refname)", "refs/plait/saved").splitlines()


def names(path: Path) -> set[str]:
    return {each.name for each in path.iterdir()} - {".git"}


@pytest.fixture
def made(mirror: Open, commit: Commit, bare: Path) -> Mirror:
    commit("two.txt")
    return mirror(bare)


@pytest.fixture
def head(made: Mirror) -> str:
    return made.resolve()


def test_a_checkout_has_the_commit_and_keeps_its_state_in_the_mirror(made: Mirror, head: str) -> None:
    path = made.checkout(head)
    assert names(path) == {"one.txt", "two.txt"}
    assert path.name == "site"
    location = find_repo(path)
    assert (location.top, location.state) == (path, made.git_dir / "plait")
    assert made.checkout(head) == path


def test_a_checkout_in_use_stays_when_the_remote_moves(
    made: Mirror, head: str, mirror: Open, commit: Commit, bare: Path
) -> None:
    before = made.checkout(head)
    commit("three.txt")
    later = mirror(bare)
    after = later.checkout(later.resolve())
    assert names(before) == {"one.txt", "two.txt"}
    assert names(after) == {"one.txt", "two.txt", "three.txt"}


def test_running_worktrees_are_not_disturbed_by_a_fetch(
    made: Mirror, head: str, mirror: Open, commit: Commit, bare: Path
) -> None:
    work = made.git_dir.parent / "task"
    made.git.run("worktree", "add", "--quiet", "-b", "plait/task-1", str(work), head)
    (work / "draft.txt").touch()
    commit("three.txt", branch="plait/task-1")
    later = mirror(bare)
    later.checkout(later.resolve())
    assert names(work) == {"one.txt", "two.txt", "draft.txt"}
    assert Git(work).text("rev-parse", "HEAD") == head


def test_changes_in_a_checkout_are_saved_before_it_is_reset(made: Mirror, head: str) -> None:
    path = made.checkout(head)
    (path / "one.txt").write_text("changed\n")
    (path / "two.txt").unlink()
    (path / "new.txt").write_text("new\n")
    assert made.checkout(head) == path
    assert names(path) == {"one.txt", "two.txt"}
    (ref,) = saved(made)
    assert made.git.text("show", f"{ref}:one.txt") == "changed"
    assert made.git.text("ls-tree", "--name-only", ref).splitlines() == ["new.txt", "one.txt"]


def test_commits_in_a_checkout_are_saved_and_the_branch_stays(made: Mirror, head: str) -> None:
    path = made.checkout(head)
    own = made.git_at(path)
    own.run("switch", "--quiet", "-c", "mine")
    own.run("commit", "--quiet", "--allow-empty", "-m", "Mine")
    tip = own.text("rev-parse", "HEAD")
    assert made.checkout(head) == path
    assert own.text("rev-parse", "HEAD") == head
    assert made.git.text("rev-parse", *saved(made), "refs/heads/mine").splitlines() == [tip, tip]


def test_each_saved_change_of_a_checkout_has_its_own_ref(made: Mirror, head: str) -> None:
    path = made.checkout(head)
    for text in ("first", "second", "second"):
        (path / "note.txt").write_text(text)
        made.checkout(head)
    result = [made.git.text("show", f"{ref}:note.txt") for ref in saved(made)]
    assert result[:2] == ["first", "second"]


def test_a_checkout_changed_by_an_open_batch_is_not_reset(made: Mirror, head: str) -> None:
    used = made.checkout(head)
    (used / "one.txt").write_text("the batch's status\n")
    other = made.checkout(head, in_use=[used])
    assert other != used
    assert (used / "one.txt").read_text() == "the batch's status\n"
    assert (other / "one.txt").read_text() == "one.txt\n"
    assert saved(made) == []


def test_ignored_files_in_a_checkout_stay(made: Mirror, head: str) -> None:
    path = made.checkout(head)
    (made.git_dir / "info").mkdir(exist_ok=True)
    (made.git_dir / "info" / "exclude").write_text(".env\n")
    (path / ".env").write_text("key\n")
    (path / "one.txt").write_text("changed\n")
    assert made.checkout(head) == path
    assert names(path) == {"one.txt", "two.txt", ".env"}


def test_a_checkout_with_a_nested_repository_is_kept(made: Mirror, head: str, env: dict[str, str]) -> None:
    path = made.checkout(head)
    inner = path / "inner"
    for args in (
        ["init", "--quiet", str(inner)],
        ["-C", str(inner), "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *args], env=env, check=True)
    assert made.checkout(head) != path
    assert not remove_checkout(made, path)
    assert (inner / ".git").is_dir()


def test_an_incomplete_checkout_is_made_again(made: Mirror, head: str) -> None:
    path = made.checkout(head)
    (path.parent / ".ready").unlink()
    (path / "one.txt").unlink()
    (path / "half").touch()
    assert names(made.checkout(head)) == {"one.txt", "two.txt"}
    assert saved(made) == []


def test_a_checkout_whose_folder_is_missing_is_made_again(made: Mirror, head: str) -> None:
    path = made.checkout(head)
    shutil.rmtree(path)
    assert names(made.checkout(head)) == {"one.txt", "two.txt"}
    shutil.rmtree(path.parent.parent)
    assert names(made.checkout(head)) == {"one.txt", "two.txt"}


def test_unused_checkouts_are_removed_after_saving_their_changes(
    made: Mirror, head: str, mirror: Open, commit: Commit, bare: Path
) -> None:
    old = made.checkout(head)
    (old / "note.txt").write_text("note\n")
    commit("three.txt")
    later = mirror(bare)
    new = later.checkout(later.resolve())
    assert list_stale_checkouts(later, in_use=[]) == []  # somebody may be about to submit a batch of it
    assert list_stale_checkouts(later, in_use=[new], min_age=0) == [old]
    assert remove_checkout(later, old)
    assert not old.parent.exists()
    assert later.git.text("worktree", "list", "--porcelain").count("worktree ") == 2
    (ref,) = saved(later)
    assert later.git.text("show", f"{ref}:note.txt") == "note"


def test_a_mirror_with_missing_objects_is_reported_as_damaged(made: Mirror, head: str) -> None:
    blob = made.git.text("rev-parse", f"{head}:two.txt")
    (made.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(WorldError, match="is damaged") as caught:
        made.checkout(head)
    assert "rm -r" in caught.value.hint
