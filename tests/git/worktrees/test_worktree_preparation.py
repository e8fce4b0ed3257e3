"""A task's own worktree: made from its base, found again as it was left, made anew when it has to be."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import WorldError

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

BRANCH = "refs/heads/plait/task-7f3a-one"


def test_a_workspace_has_its_base_on_the_tasks_branch(repo: WorkspaceRepo) -> None:
    base = repo.head
    repo.commit({"later": "not for this one\n"})
    workspace = repo.prepare(base=base)
    assert str(workspace) == repo.open().path("7f3a", "one")
    assert workspace == repo.root / "batch-7f3a" / "task-one"
    assert (workspace / "src/app.py").read_text() == "print(1)\n"
    assert not (workspace / "later").exists()
    assert repo.git("symbolic-ref", "HEAD", at=workspace) == BRANCH
    assert repo.branch() == base
    assert repo.status(workspace) == ""


def test_commits_in_a_workspace_go_to_its_branch(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    tip = repo.commit({"new": "file\n"}, at=workspace)
    assert repo.branch() == tip


def test_the_users_checkout_and_settings_are_not_changed(repo: WorkspaceRepo) -> None:
    repo.write({"README": "stashed\n"})
    repo.git("stash")
    repo.write({"README": "changed, not staged\n", "staged": "s\n", "untracked": "u\n", "x.log": "ignored"})
    repo.git("add", "staged")
    before = repo.snapshot_user_files()
    base = repo.head
    workspace = repo.prepare()
    repo.write({"README": "agent\n", "made": "m"}, at=workspace)
    repo.release()
    repo.prepare(base=base)
    repo.gate(base)
    repo.release_batch("one")
    repo.open().trim_pool()
    assert repo.snapshot_user_files() == before
    assert repo.worktrees() == []


def test_the_next_attempt_finds_the_work_of_the_last(repo: WorkspaceRepo) -> None:
    base = repo.head
    workspace = repo.prepare()
    tip = repo.commit({"done": "d\n"}, at=workspace)
    repo.write({"README": "half done\n", "new": "n\n", "x.log": "ignored"}, at=workspace)
    repo.git("add", "new", at=workspace)
    before = repo.status(workspace)
    assert repo.prepare(base=base) == workspace
    assert repo.status(workspace) == before
    assert (workspace / "x.log").read_text() == "ignored"
    assert repo.branch() == tip
    assert repo.list_saved() == []


def test_another_base_starts_a_new_worktree_and_saves_the_old_work(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    tip = repo.commit({"done": "d\n"}, at=workspace)
    repo.write({"README": "half done\n", "new": "n\n", "x.log": "ignored"}, at=workspace)
    onto = repo.commit({"other": "merged meanwhile\n"})
    assert repo.prepare(base=onto) == workspace
    assert repo.status(workspace) == ""
    assert sorted(each.name for each in workspace.iterdir()) == [
        ".git",
        ".gitignore",
        "README",
        "other",
        "src",
    ]
    assert repo.branch() == onto
    (saved,) = repo.list_saved()
    assert repo.text(saved, "README") == "half done"
    assert repo.text(saved, "new") == "n"
    assert repo.git("rev-parse", f"{saved}^") == tip


def test_a_branch_of_an_older_run_is_saved_before_it_is_reused(repo: WorkspaceRepo) -> None:
    base = repo.head
    repo.git("switch", "--quiet", "--create", "plait/task-7f3a-one")
    old = repo.commit({"old": "work\n"})
    repo.git("switch", "--quiet", "--detach", base)
    repo.prepare(base=base)
    assert repo.branch() == base
    assert repo.list_saved() == [old]


def test_a_branch_with_reachable_commits_is_not_saved(repo: WorkspaceRepo) -> None:
    base = repo.head
    repo.git("switch", "--quiet", "--create", "plait/task-7f3a-one")
    old = repo.commit({"old": "work\n"})
    repo.git("update-ref", "refs/plait/attempts/7f3a/one/write-1", old)
    repo.git("switch", "--quiet", "--detach", base)
    repo.prepare(base=base)
    assert repo.list_saved() == []


def test_a_branch_checked_out_elsewhere_is_refused(repo: WorkspaceRepo) -> None:
    base = repo.head
    repo.git("switch", "--quiet", "--create", "plait/task-7f3a-one")
    before = repo.snapshot_user_files()
    with pytest.raises(WorldError, match="is checked out in") as error:
        repo.prepare(base=base)
    assert str(repo.top) in error.value.message
    assert "switch --detach" in error.value.hint
    assert repo.snapshot_user_files() == before
    repo.git("switch", "--quiet", "--detach", base)
    assert repo.prepare(base=base).is_dir()


def test_a_removed_folder_is_recreated_with_the_committed_work(repo: WorkspaceRepo) -> None:
    base = repo.head
    workspace = repo.prepare()
    tip = repo.commit({"done": "d\n"}, at=workspace)
    repo.write({"staged": "s\n"}, at=workspace)
    repo.git("add", "staged", at=workspace)
    shutil.rmtree(workspace)
    assert repo.prepare(base=base) == workspace
    assert repo.branch() == tip
    assert repo.status(workspace) == ""
    (saved,) = repo.list_saved()
    assert repo.text(saved, "staged") == "s"


def test_a_folder_unknown_to_git_is_saved_and_recreated(repo: WorkspaceRepo) -> None:
    base = repo.head
    workspace = repo.prepare()
    tip = repo.commit({"done": "d\n"}, at=workspace)
    repo.write({"new": "n\n", "x.log": "ignored"}, at=workspace)
    shutil.rmtree(repo.gitdir(workspace))
    assert repo.prepare(base=base) == workspace
    assert repo.status(workspace) == ""
    assert repo.branch() == base
    (saved,) = repo.list_saved()
    assert repo.git("diff", "--name-only", f"{tip}", saved) == "new"
    assert repo.git("worktree", "prune", "--dry-run", "--verbose") == ""


def test_a_folder_removed_with_git_is_recreated(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    repo.git("worktree", "remove", "--force", str(workspace))
    assert repo.prepare() == workspace
    assert repo.status(workspace) == ""


@pytest.mark.parametrize("name", ["HEAD", "index", "plait.json", "gitdir"])
def test_files_of_a_damaged_workspace_are_saved(repo: WorkspaceRepo, name: str) -> None:
    base = repo.head
    workspace = repo.prepare()
    repo.write({"new": "n\n"}, at=workspace)
    (repo.gitdir(workspace) / name).write_bytes(b"")
    assert repo.prepare(base=base) == workspace
    assert repo.status(workspace) == ""
    assert [repo.text(saved, "new") for saved in repo.list_saved()] == ["n"]


@pytest.mark.parametrize("lost", ["commondir", ".git"])
def test_damaged_git_links_are_repaired(repo: WorkspaceRepo, lost: str) -> None:
    workspace = repo.prepare()
    repo.write({"new": "n\n"}, at=workspace)
    (workspace / ".git" if lost == ".git" else repo.gitdir(workspace) / lost).unlink()
    assert repo.prepare() == workspace
    assert repo.status(workspace) == "?? new"


def test_an_empty_git_file_is_rewritten(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    (workspace / ".git").write_text("")
    repo.write({"new": "n\n"}, at=workspace)
    assert repo.prepare() == workspace
    assert repo.status(workspace) == "?? new"


def test_a_git_file_that_points_to_the_users_checkout_is_ignored(repo: WorkspaceRepo) -> None:
    repo.write({"README": "precious\n", "untracked": "u"})
    workspace = repo.prepare()
    before = repo.snapshot_user_files()
    (workspace / ".git").write_text(f"gitdir: {repo.common}\n")
    repo.write({"new": "n\n"}, at=workspace)
    repo.release()
    assert repo.snapshot_user_files() == before
    assert [repo.text(saved, "new") for saved in repo.list_saved()] == ["n"]


def test_a_repository_made_in_place_of_the_worktree_is_saved(repo: WorkspaceRepo) -> None:
    base = repo.head
    workspace = repo.prepare()
    (workspace / ".git").unlink()
    repo.git("init", "--quiet", at=workspace)
    own = repo.commit({"new": "n\n"}, at=workspace)
    repo.prepare(base=base)
    repo.prepare(base=repo.commit({"onward": "o"}))
    assert repo.git("cat-file", "-t", own) == "commit"
    assert "n" in [repo.text(saved, "new") for saved in repo.list_saved()]
    assert repo.status(workspace) == ""


def test_locks_of_a_killed_git_are_removed_before_the_next_attempt(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    (repo.gitdir(workspace) / "index.lock").touch()
    (repo.gitdir(workspace) / "HEAD.lock").touch()
    repo.prepare()
    repo.commit({"new": "n\n"}, at=workspace)


def test_a_file_in_place_of_the_workspace_is_moved_away(repo: WorkspaceRepo) -> None:
    place = repo.root / "batch-7f3a" / "task-one"
    repo.write({"found": "somebody's\n"}, at=place)
    assert repo.prepare() == place
    assert repo.status(place) == ""
    assert [repo.text(saved, "found") for saved in repo.list_saved()] == ["somebody's"]


def test_a_symlink_in_place_of_the_workspace_is_moved_away_and_not_followed(repo: WorkspaceRepo) -> None:
    place = repo.root / "batch-7f3a" / "task-one"
    place.parent.mkdir(parents=True)
    place.symlink_to(repo.top)
    before = repo.snapshot_user_files()
    assert repo.prepare() == place
    assert not place.is_symlink()
    assert repo.snapshot_user_files() == before


def test_a_missing_base_commit_is_reported(repo: WorkspaceRepo) -> None:
    with pytest.raises(WorldError, match="has no commit 1111") as error:
        repo.prepare(base="1" * 40)
    assert error.value.hint
    assert repo.worktrees() == []


def test_every_id_has_its_own_folder(repo: WorkspaceRepo) -> None:
    strange = ["../../escape", "a b", "A", "a", "ünï/cödé", "x" * 300, "new\nline", ".", "-rf"]
    workspaces = {task: repo.prepare(task) for task in strange}
    assert len({str(each).lower() for each in workspaces.values()}) == len(strange)
    assert all(each.parent == repo.root / "batch-7f3a" for each in workspaces.values())
    assert {repo.status(each) for each in workspaces.values()} == {""}
    for task in strange:
        repo.release(task)
    assert list((repo.root / "batch-7f3a").iterdir()) == []
