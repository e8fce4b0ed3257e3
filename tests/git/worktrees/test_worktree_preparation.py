"""A task's own worktree: made from its base, found again as it was left, made anew when it has to be."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import WorldError

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

BRANCH = "refs/heads/plait/task-7f3a-one"


def test_a_workspace_has_its_base_on_the_tasks_branch(ground: WorkspaceRepo) -> None:
    base = ground.head
    ground.commit({"later": "not for this one\n"})
    workspace = ground.prepare(base=base)
    assert str(workspace) == ground.open().path("7f3a", "one")
    assert workspace == ground.root / "batch-7f3a" / "task-one"
    assert (workspace / "src/app.py").read_text() == "print(1)\n"
    assert not (workspace / "later").exists()
    assert ground.git("symbolic-ref", "HEAD", at=workspace) == BRANCH
    assert ground.branch() == base
    assert ground.status(workspace) == ""


def test_commits_in_a_workspace_go_to_its_branch(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    tip = ground.commit({"new": "file\n"}, at=workspace)
    assert ground.branch() == tip


def test_the_users_checkout_and_settings_are_not_changed(ground: WorkspaceRepo) -> None:
    ground.write({"README": "stashed\n"})
    ground.git("stash")
    ground.write({"README": "changed, not staged\n", "staged": "s\n", "untracked": "u\n", "x.log": "ignored"})
    ground.git("add", "staged")
    before = ground.snapshot_user_files()
    base = ground.head
    workspace = ground.prepare()
    ground.write({"README": "agent\n", "made": "m"}, at=workspace)
    ground.release()
    ground.prepare(base=base)
    ground.gate(base)
    ground.open().release_batch("7f3a")
    ground.open().trim_pool()
    assert ground.snapshot_user_files() == before
    assert ground.worktrees() == []


def test_the_next_attempt_finds_the_work_of_the_last(ground: WorkspaceRepo) -> None:
    base = ground.head
    workspace = ground.prepare()
    tip = ground.commit({"done": "d\n"}, at=workspace)
    ground.write({"README": "half done\n", "new": "n\n", "x.log": "ignored"}, at=workspace)
    ground.git("add", "new", at=workspace)
    before = ground.status(workspace)
    assert ground.prepare(base=base) == workspace
    assert ground.status(workspace) == before
    assert (workspace / "x.log").read_text() == "ignored"
    assert ground.branch() == tip
    assert ground.list_saved() == []


def test_another_base_starts_a_new_worktree_and_saves_the_old_work(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    tip = ground.commit({"done": "d\n"}, at=workspace)
    ground.write({"README": "half done\n", "new": "n\n", "x.log": "ignored"}, at=workspace)
    onto = ground.commit({"other": "merged meanwhile\n"})
    assert ground.prepare(base=onto) == workspace
    assert ground.status(workspace) == ""
    assert sorted(each.name for each in workspace.iterdir()) == [
        ".git",
        ".gitignore",
        "README",
        "other",
        "src",
    ]
    assert ground.branch() == onto
    (saved,) = ground.list_saved()
    assert ground.text(saved, "README") == "half done"
    assert ground.text(saved, "new") == "n"
    assert ground.git("rev-parse", f"{saved}^") == tip


def test_a_branch_of_an_older_run_is_saved_before_it_is_reused(ground: WorkspaceRepo) -> None:
    base = ground.head
    ground.git("switch", "--quiet", "--create", "plait/task-7f3a-one")
    old = ground.commit({"old": "work\n"})
    ground.git("switch", "--quiet", "--detach", base)
    ground.prepare(base=base)
    assert ground.branch() == base
    assert ground.list_saved() == [old]


def test_a_branch_with_reachable_commits_is_not_saved(ground: WorkspaceRepo) -> None:
    base = ground.head
    ground.git("switch", "--quiet", "--create", "plait/task-7f3a-one")
    old = ground.commit({"old": "work\n"})
    ground.git("update-ref", "refs/plait/attempts/7f3a/one/write-1", old)
    ground.git("switch", "--quiet", "--detach", base)
    ground.prepare(base=base)
    assert ground.list_saved() == []


def test_a_branch_checked_out_elsewhere_is_refused(ground: WorkspaceRepo) -> None:
    base = ground.head
    ground.git("switch", "--quiet", "--create", "plait/task-7f3a-one")
    before = ground.snapshot_user_files()
    with pytest.raises(WorldError, match="is checked out in") as told:
        ground.prepare(base=base)
    assert str(ground.top) in told.value.message
    assert "switch --detach" in told.value.hint
    assert ground.snapshot_user_files() == before
    ground.git("switch", "--quiet", "--detach", base)
    assert ground.prepare(base=base).is_dir()


def test_a_removed_folder_is_recreated_with_the_committed_work(ground: WorkspaceRepo) -> None:
    base = ground.head
    workspace = ground.prepare()
    tip = ground.commit({"done": "d\n"}, at=workspace)
    ground.write({"staged": "s\n"}, at=workspace)
    ground.git("add", "staged", at=workspace)
    shutil.rmtree(workspace)
    assert ground.prepare(base=base) == workspace
    assert ground.branch() == tip
    assert ground.status(workspace) == ""
    (saved,) = ground.list_saved()
    assert ground.text(saved, "staged") == "s"


def test_a_folder_unknown_to_git_is_saved_and_recreated(ground: WorkspaceRepo) -> None:
    base = ground.head
    workspace = ground.prepare()
    tip = ground.commit({"done": "d\n"}, at=workspace)
    ground.write({"new": "n\n", "x.log": "ignored"}, at=workspace)
    shutil.rmtree(ground.admin(workspace))
    assert ground.prepare(base=base) == workspace
    assert ground.status(workspace) == ""
    assert ground.branch() == base
    (saved,) = ground.list_saved()
    assert ground.git("diff", "--name-only", f"{tip}", saved) == "new"
    assert ground.git("worktree", "prune", "--dry-run", "--verbose") == ""


def test_a_folder_removed_with_git_is_recreated(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    ground.git("worktree", "remove", "--force", str(workspace))
    assert ground.prepare() == workspace
    assert ground.status(workspace) == ""


@pytest.mark.parametrize("name", ["HEAD", "index", "plait.json", "gitdir"])
def test_files_of_a_damaged_workspace_are_saved(ground: WorkspaceRepo, name: str) -> None:
    base = ground.head
    workspace = ground.prepare()
    ground.write({"new": "n\n"}, at=workspace)
    (ground.admin(workspace) / name).write_bytes(b"")
    assert ground.prepare(base=base) == workspace
    assert ground.status(workspace) == ""
    assert [ground.text(saved, "new") for saved in ground.list_saved()] == ["n"]


@pytest.mark.parametrize("lost", ["commondir", ".git"])
def test_damaged_git_links_are_repaired(ground: WorkspaceRepo, lost: str) -> None:
    workspace = ground.prepare()
    ground.write({"new": "n\n"}, at=workspace)
    (workspace / ".git" if lost == ".git" else ground.admin(workspace) / lost).unlink()
    assert ground.prepare() == workspace
    assert ground.status(workspace) == "?? new"


def test_an_empty_git_file_is_rewritten(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    (workspace / ".git").write_text("")
    ground.write({"new": "n\n"}, at=workspace)
    assert ground.prepare() == workspace
    assert ground.status(workspace) == "?? new"


def test_a_git_file_that_points_to_the_users_checkout_is_ignored(ground: WorkspaceRepo) -> None:
    ground.write({"README": "precious\n", "untracked": "u"})
    workspace = ground.prepare()
    before = ground.snapshot_user_files()
    (workspace / ".git").write_text(f"gitdir: {ground.common}\n")
    ground.write({"new": "n\n"}, at=workspace)
    ground.release()
    assert ground.snapshot_user_files() == before
    assert [ground.text(saved, "new") for saved in ground.list_saved()] == ["n"]


def test_a_repository_made_in_place_of_the_worktree_is_saved(ground: WorkspaceRepo) -> None:
    base = ground.head
    workspace = ground.prepare()
    (workspace / ".git").unlink()
    ground.git("init", "--quiet", at=workspace)
    own = ground.commit({"new": "n\n"}, at=workspace)
    ground.prepare(base=base)
    ground.prepare(base=ground.commit({"onward": "o"}))
    assert ground.git("cat-file", "-t", own) == "commit"
    assert "n" in [ground.text(saved, "new") for saved in ground.list_saved()]
    assert ground.status(workspace) == ""


def test_locks_of_a_killed_git_are_removed_before_the_next_attempt(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    (ground.admin(workspace) / "index.lock").touch()
    (ground.admin(workspace) / "HEAD.lock").touch()
    ground.prepare()
    ground.commit({"new": "n\n"}, at=workspace)


def test_a_file_in_place_of_the_workspace_is_moved_away(ground: WorkspaceRepo) -> None:
    place = ground.root / "batch-7f3a" / "task-one"
    ground.write({"found": "somebody's\n"}, at=place)
    assert ground.prepare() == place
    assert ground.status(place) == ""
    assert [ground.text(saved, "found") for saved in ground.list_saved()] == ["somebody's"]


def test_a_symlink_in_place_of_the_workspace_is_moved_away_and_not_followed(ground: WorkspaceRepo) -> None:
    place = ground.root / "batch-7f3a" / "task-one"
    place.parent.mkdir(parents=True)
    place.symlink_to(ground.top)
    before = ground.snapshot_user_files()
    assert ground.prepare() == place
    assert not place.is_symlink()
    assert ground.snapshot_user_files() == before


def test_a_missing_base_commit_is_reported(ground: WorkspaceRepo) -> None:
    with pytest.raises(WorldError, match="has no commit 1111") as told:
        ground.prepare(base="1" * 40)
    assert told.value.hint
    assert ground.worktrees() == []


def test_every_id_has_its_own_folder(ground: WorkspaceRepo) -> None:
    strange = ["../../escape", "a b", "A", "a", "ünï/cödé", "x" * 300, "new\nline", ".", "-rf"]
    workspaces = {task: ground.prepare(task) for task in strange}
    assert len({str(each).lower() for each in workspaces.values()}) == len(strange)
    assert all(each.parent == ground.root / "batch-7f3a" for each in workspaces.values())
    assert {ground.status(each) for each in workspaces.values()} == {""}
    for task in strange:
        ground.release(task)
    assert list((ground.root / "batch-7f3a").iterdir()) == []
