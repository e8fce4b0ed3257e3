"""Worktrees that batches left: what is in use stays, what is work is saved, what is incomplete is finished."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.config.loading import merge_layers
from plait.git.gc.collector import GarbageCollector
from plait.git.gc.removal_rules import GcOptions, KeptItem, Removal, WorktreeItem, plan_gc
from plait.git.interfaces import WorkspaceSetup
from plait.git.location import RepoLocation
from plait.git.worktrees.worktree import PIN_FILE, Repository, WorkspaceLayout, find_worktrees_folder
from plait.system.state_paths import StateFolder

if TYPE_CHECKING:
    from tests.git.gc.conftest import GcProject

HOURS = 7200.0


def grow_old(path: Path) -> None:
    then = path.lstat().st_mtime - HOURS
    os.utime(path, (then, then), follow_symlinks=False)


def test_worktrees_of_a_finished_batch_are_removed_after_saving_their_work(project: GcProject) -> None:
    project.batch("beef", "a", "b")
    for task in ("a", "b"):
        project.workspace("beef", task)
    (project.workspace("beef", "a") / "new.txt").write_text("hours of work\n")
    before = project.snapshot_user_files()
    planned = {item.item.task: item.save for item in project.plan().removals if isinstance(item.item, WorktreeItem)}
    assert planned == {"a": True, "b": False}
    outcomes = project.clean()
    assert project.find_kept(outcomes) == {}
    assert project.list_worktrees() == []
    assert list(project.refs("refs/plait/saved")) == ["refs/plait/saved/beef/a/1"]
    assert project.git("show", "refs/plait/saved/beef/a/1:new.txt") == "hours of work"
    assert project.snapshot_user_files() == before
    assert project.clean() == []


def test_what_judges_left_is_removed_with_its_batch_and_not_saved(project: GcProject) -> None:
    project.batch("beef", "a")
    place = project.workspace("beef", "a").with_name("task-a+judge-1")
    project.workspaces.checkout("beef", project.base, WorkspaceSetup(), top=str(project.top), place=str(place))
    (place / "mine.txt").write_text("no work\n")
    planned = {item.item.kind: item.save for item in project.plan().removals if isinstance(item.item, WorktreeItem)}
    assert planned == {"workspace": False, "judge's workspace": False}
    project.clean()
    assert not place.exists()
    assert project.list_worktrees() == []
    assert list(project.refs("refs/plait/saved")) == []


def test_worktrees_of_an_unfinished_batch_are_kept(project: GcProject) -> None:
    project.batch("beef", "a", over=False)
    path = project.workspace("beef", "a")
    assert project.find_kept(project.plan().kept)["task-a"] == "batch beef has not ended"
    assert project.clean() == []
    assert path.is_dir()


def test_a_batch_resumed_after_planning_keeps_its_worktree(
    project: GcProject,
) -> None:
    project.batch("beef", "a")
    path = project.workspace("beef", "a")
    items = project.plan().removals
    project.batches["beef"] = replace(project.batches["beef"], is_over=False)
    outcomes = list(project.make_collector.clean(items, GcOptions()))
    assert project.find_kept(outcomes)["task-a"] == "batch beef has not ended"
    assert path.is_dir()
    assert project.git("status", "--porcelain", at=path) == ""


@contextmanager
def at_work(folder: Path) -> Iterator[int]:
    process = subprocess.Popen(["cat"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.communicate()


def test_a_worktree_with_a_running_process_is_kept(project: GcProject) -> None:
    project.batch("beef", "a")
    path = project.workspace("beef", "a")
    inside = path / "deep"
    inside.mkdir()
    items = project.plan().removals
    with at_work(inside) as pid:
        assert project.find_kept(project.plan().kept)["task-a"] == f"process {pid} is running in it"
        assert project.find_kept(list(project.make_collector.clean(items, GcOptions())))["task-a"].startswith(
            f"process {pid} "
        )
        assert inside.is_dir()
    assert project.find_kept(project.clean()) == {}
    assert not path.exists()


def test_a_locked_worktree_is_kept(project: GcProject) -> None:
    project.batch("beef", "a")
    path = project.workspace("beef", "a")
    project.git("worktree", "lock", "--reason", "mine for now", str(path))
    assert project.find_kept(project.plan().kept)["task-a"] == "locked: mine for now"
    assert project.clean() == []
    assert path.is_dir()


def test_the_users_own_worktrees_are_not_listed(project: GcProject, tmp_path: Path) -> None:
    project.batch("beef", "a")
    project.workspace("beef", "a")
    project.git("worktree", "add", "-q", "-b", "mine", str(tmp_path / "drive"))
    shutil.rmtree(tmp_path / "drive")  # it was unplugged
    project.clean()
    assert str(tmp_path / "drive") in project.git("worktree", "list", "--porcelain")


def test_worktrees_on_an_unmounted_drive_are_kept(project: GcProject, tmp_path: Path) -> None:
    project.batch("beef", "a")
    project.workspace("beef", "a")
    project.location.rename(tmp_path / "unplugged")
    assert project.clean() == []
    (tmp_path / "unplugged").rename(project.location)
    assert project.find_kept(project.clean()) == {}
    assert project.list_worktrees() == []


def test_a_gitdir_without_a_folder_is_removed_after_saving_its_commits(project: GcProject) -> None:
    project.batch("beef", "a")
    path = project.workspace("beef", "a")
    project.git("checkout", "-q", "--detach", at=path)
    (path / "new.txt").write_text("committed on no branch\n")
    project.git("add", "-A", at=path)
    project.git("commit", "-q", "-m", "alone", at=path)
    shutil.rmtree(path)
    outcomes = project.clean()
    assert project.find_removed(outcomes)["task-a"] == "incomplete"
    assert project.list_worktrees() == []
    assert project.git("show", "refs/plait/saved/beef/a/1:new.txt") == "committed on no branch"


def test_a_folder_without_a_gitdir_is_removed_after_saving_its_files(project: GcProject) -> None:
    project.batch("beef", "a")
    path = project.workspace("beef", "a")
    (path / "new.txt").write_text("hours of work\n")
    (gitdir,) = project.repository.worktree_gitdirs
    shutil.rmtree(gitdir)
    outcomes = project.clean()
    assert project.find_kept(outcomes) == {}
    assert project.list_worktrees() == []
    assert project.git("show", "refs/plait/saved/beef/a/1:new.txt") == "hours of work"


def test_incomplete_worktrees_of_dead_processes_are_removed_and_others_kept(project: GcProject) -> None:
    project.batch("beef", "a")
    project.layout.making.mkdir(parents=True)
    dead, fresh = project.layout.making / "plait-00000000dead", project.layout.making / "plait-0000000fresh"
    for folder in (dead, fresh):
        project.git("worktree", "add", "-q", "--no-checkout", "--detach", str(folder))
    grow_old(dead)
    plan = project.plan()
    assert project.find_removed(plan.removals)[dead.name] == "the creator has exited"
    assert project.find_kept(plan.kept)[fresh.name] == "just being made"


def test_the_pool_and_the_trash_are_emptied_when_no_batch_runs(project: GcProject) -> None:
    project.batch("beef", "a", over=False)
    project.workspace("beef", "a")
    project.workspaces.release("beef", "a")
    (pooled,) = project.layout.pool.iterdir()
    assert project.find_kept(project.plan().kept)[pooled.name] == "perhaps for the next task of batch beef"
    project.batches["beef"] = replace(project.batches["beef"], is_over=True)
    (project.layout.trash / "plait-0123").mkdir(parents=True)
    (project.layout.trash / "plait-0123" / "file").write_text("x" * 10_000)
    plan = project.plan()
    assert {pooled.name, "plait-0123"} <= project.find_removed(plan.removals).keys()
    project.clean()
    assert project.list_worktrees() == []


def test_old_workspaces_of_an_unknown_batch_are_removed(
    project: GcProject,
) -> None:
    path = project.workspace("lost", "a")
    (path / "new.txt").write_text("work\n")
    assert project.clean() == []
    grow_old(path)
    assert project.find_kept(project.clean()) == {}
    assert project.git("show", "refs/plait/saved/lost/a/1:new.txt") == "work"


def test_workspaces_of_missing_repositories_are_removed_only_on_request(project: GcProject) -> None:
    other = project.location / "other-2"
    (other / "batch-cafe" / "task-x").mkdir(parents=True)
    (other / "batch-cafe" / "task-x" / ".git").write_text("gitdir: /nowhere/at/all/.git/worktrees/plait-1\n")
    assert project.find_kept(project.plan().kept) == {
        "other-2": "the repository /nowhere/at/all/.git is gone; remove with --forget-lost"
    }
    assert project.clean() == []
    project.clean(GcOptions(lost=True))
    assert not other.exists()


def test_two_collectors_at_once_remove_everything_once(project: GcProject) -> None:
    project.batch("beef", *"abcd")
    for task in "abcd":
        (project.workspace("beef", task) / "new.txt").write_text(f"{task}\n")
    items, outcomes = project.plan().removals, list[Removal | KeptItem]()
    attics = [project.make_collector, project.make_collector]
    threads = [
        threading.Thread(target=lambda each=each: outcomes.extend(each.clean(items, GcOptions()))) for each in attics
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert project.find_kept(outcomes) == {}
    assert project.list_worktrees() == []
    assert len(project.refs("refs/plait/saved")) == 4


def test_what_someone_changed_in_a_pooled_worktree_is_saved(project: GcProject) -> None:
    project.batch("beef", "one")
    project.workspace("beef", "one")
    project.workspaces.release("beef", "one")
    (pooled,) = project.layout.pool.iterdir()
    (pooled / "note.txt").write_text("mine\n")
    assert [removal.item.kind for removal in project.plan().removals if removal.save] == ["pooled worktree"]
    project.clean()
    assert not pooled.exists()
    (saved,) = project.refs("refs/plait/saved/beef/one").values()
    assert project.git("show", f"{saved}:note.txt") == "mine"


def test_a_copy_of_a_repository_leaves_the_worktrees_of_the_original_alone(project: GcProject) -> None:
    (project.workspace("beef", "a") / "new.txt").write_text("hours of work\n")
    project.workspace("beef", "b")
    project.workspaces.release("beef", "b")  # to the pool
    before = project.list_worktrees()
    shutil.copytree(project.top, project.top.with_name("copy"))
    common, root = project.top.with_name("copy") / ".git", project.location / "copy-1"
    copy = GarbageCollector(Repository(common), WorkspaceLayout(root), StateFolder(common / "plait"), dict)
    plan = plan_gc(copy.collect_facts(), GcOptions())
    assert [item.item for item in plan.removals if isinstance(item.item, WorktreeItem)] == []
    kept = {item.why for item in plan.kept if isinstance(item.item, WorktreeItem)}
    assert kept == {f"belongs to the repository in {project.common}, of which this is a copy"}
    list(copy.clean(plan.removals, GcOptions()))
    assert project.list_worktrees() == before
    assert project.git("status", "--porcelain", at=project.workspace("beef", "a")) == "?? new.txt"


def test_worktrees_of_a_repository_that_was_moved_are_its_own(project: GcProject) -> None:
    project.batch("beef", "a")
    path = project.workspace("beef", "a")
    project.top = project.top.rename(project.top.with_name("moved"))
    common = project.top / ".git"
    moved = GarbageCollector(Repository(common), project.layout, StateFolder(common / "plait"), lambda: project.batches)
    items = [item.item for item in plan_gc(moved.collect_facts(), GcOptions()).removals]
    assert [item.path for item in items if isinstance(item, WorktreeItem)] == [str(path)]


@pytest.mark.parametrize(("way", "is_used"), [("moved", True), ("copied", False)])
def test_an_earlier_place_of_worktrees_is_used_unless_it_is_another_repositorys(
    project: GcProject, way: str, *, is_used: bool
) -> None:
    project.workspace("beef", "a")
    (project.common / "plait").mkdir(exist_ok=True)
    (project.common / "plait" / PIN_FILE).write_bytes(os.fsencode(project.root))
    top = project.top.with_name(way)
    if way == "moved":
        project.top.rename(top)
    else:
        shutil.copytree(project.top, top)
    place = RepoLocation(top, top / ".git" / "plait", repository=True)
    assert (find_worktrees_folder(place, merge_layers(())) == project.root) is is_used
