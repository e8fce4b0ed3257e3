"""Branches and refs that batches left: what is merged goes, what is not is kept or saved, and everything comes back by name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.client.doctor.check import CheckStatus
from plait.client.doctor.checkup import check_refs
from plait.core.errors import UserError
from plait.core.task import Attempt, Step
from plait.git.gc.inventory import RefNames, list_refs
from plait.git.gc.removal_rules import GcOptions
from plait.git.gc.restore import list_saved_commits, restore_branch
from plait.git.refs import BASES, attempt_ref, batch_branch, task_branch
from tests.support.task_worktree import ATTEMPT, TaskWorktree

if TYPE_CHECKING:
    from tests.git.gc.conftest import GcProject

DAY = 86_400.0


def heads(project: GcProject) -> set[str]:
    return {name.removeprefix("refs/heads/") for name in project.refs("refs/heads/plait")}


@pytest.fixture
def made(project: GcProject) -> dict[str, str]:
    """Batch beef: a is merged into the batch branch, b conflicted; both attempts are kept."""
    project.batch("beef", "a", "b")
    tips = {"a": project.commit(a="a\n"), "b": project.commit(b="b\n")}
    for task, tip in tips.items():
        project.ref(f"refs/heads/{task_branch('beef', task)}", tip)
        project.ref(attempt_ref(Attempt("beef", task, Step.WRITE, 1)), tip)
    project.ref(f"refs/heads/{batch_branch('beef')}", tips["a"])
    project.ref(f"{BASES}/beef", project.base)
    return tips


def test_task_branches_in_the_batch_branch_are_removed_and_others_kept(
    project: GcProject, made: dict[str, str]
) -> None:
    before = project.snapshot_user_files()
    project.clean()
    assert heads(project) == {"plait/batch-beef", "plait/task-beef-b"}
    assert set(made.values()) <= set(project.refs("refs/plait").values())
    assert project.snapshot_user_files() == before


@pytest.mark.usefixtures("made")
def test_branches_of_an_unfinished_batch_are_kept(project: GcProject) -> None:
    project.batch("beef", "a", "b", over=False)
    project.clean(GcOptions(older=0.0))
    assert heads(project) == {"plait/batch-beef", "plait/task-beef-a", "plait/task-beef-b"}


def test_a_merged_batch_branch_is_removed(project: GcProject, made: dict[str, str]) -> None:
    project.git("merge", "-q", "--no-ff", "-m", "merged", made["a"])
    project.clean()
    assert heads(project) == {"plait/task-beef-b"}


def test_a_commit_that_only_a_stash_contains_is_not_merged(project: GcProject, made: dict[str, str]) -> None:
    project.ref("refs/stash", made["a"])
    project.clean()
    assert "plait/batch-beef" in heads(project)


def test_a_batch_branch_that_is_only_pushed_is_kept_until_it_is_old(project: GcProject, made: dict[str, str]) -> None:
    project.ref("refs/remotes/origin/plait/batch-beef", made["a"])
    project.clean()
    assert "plait/batch-beef" in heads(project)
    project.clean(GcOptions(older=14 * DAY))
    assert heads(project) == set()
    assert project.refs("refs/plait/saved") == {}


def test_an_old_unmerged_branch_is_saved_before_removal(project: GcProject) -> None:
    project.batch("beef", "a")
    tip = project.commit(a="a\n")
    project.ref("refs/heads/plait/task-beef-a", tip)
    project.ref("refs/heads/plait/batch-beef", tip)
    project.clean(GcOptions(older=14 * DAY))
    assert heads(project) == set()
    assert list(project.refs("refs/plait/saved").values()) == [tip]


def test_a_checked_out_branch_is_kept(project: GcProject, made: dict[str, str], tmp_path: Path) -> None:
    project.git("merge", "-q", "--no-ff", "-m", "merged", made["a"])
    project.git("worktree", "add", "-q", str(tmp_path / "review"), "plait/batch-beef")
    plan = project.plan()
    assert project.find_kept(plan.kept)["plait/batch-beef"] == f"checked out in {tmp_path / 'review'}"


def test_a_branch_that_moves_after_planning_is_kept(project: GcProject, made: dict[str, str]) -> None:
    items = project.plan().removals
    moved = project.commit(c="c\n")
    project.ref("refs/heads/plait/task-beef-a", moved)
    outcomes = list(project.make_collector.clean(items, GcOptions()))
    assert project.find_kept(outcomes) == {"plait/task-beef-a": "it has moved"}
    assert project.refs("refs/heads/plait/task-beef-a").popitem()[1] == moved
    assert made["a"] in project.refs("refs/plait").values()


@pytest.mark.usefixtures("made")
def test_a_branch_checked_out_after_planning_is_kept(project: GcProject, tmp_path: Path) -> None:
    items = project.plan().removals
    project.git("worktree", "add", "-q", str(tmp_path / "review"), "plait/task-beef-a")
    outcomes = list(project.make_collector.clean(items, GcOptions()))
    assert project.find_kept(outcomes) == {"plait/task-beef-a": f"checked out in {tmp_path / 'review'}"}
    assert "plait/task-beef-a" in heads(project)


@pytest.mark.usefixtures("made")
def test_a_batch_resumed_after_planning_keeps_everything(
    project: GcProject,
) -> None:
    (project.state.batch("beef") / "tasks").mkdir(parents=True)
    options = GcOptions(forget=frozenset({"beef"}), unmerged=True)
    items, before = project.plan(options).removals, project.refs()
    project.batch("beef", "a", "b", over=False)
    outcomes = list(project.make_collector.clean(items, options))
    assert set(project.find_kept(outcomes).values()) == {"batch beef has not ended"}
    assert project.find_removed(outcomes) == {}
    assert project.refs() == before
    assert (project.state.batch("beef") / "tasks").is_dir()


def test_a_worktree_and_its_branch_are_removed_together(project: GcProject) -> None:
    project.batch("beef", "a")
    project.workspace("beef", "a")  # its branch is at the base, which is merged
    assert project.find_kept(project.clean()) == {}
    assert heads(project) == set()


@pytest.mark.usefixtures("made")
def test_forgetting_a_batch_removes_its_files_and_keeps_unmerged_work(project: GcProject, made: dict[str, str]) -> None:
    project.git("merge", "-q", "--no-ff", "-m", "merged", made["a"])
    (project.state.batch("beef") / "tasks" / "a" / "write-1").mkdir(parents=True)
    (project.state.batch("beef") / "kit.json").write_text("{}")
    project.clean(GcOptions(forget=frozenset({"beef"})))
    assert heads(project) == set()
    assert set(project.refs("refs/plait")) == {"refs/plait/attempts/beef/b/write-1"}
    assert not project.state.batch("beef").exists()
    project.clean(GcOptions(forget=frozenset({"beef"}), unmerged=True))
    assert project.refs("refs/plait") == {}


@pytest.mark.usefixtures("made")
def test_forgetting_a_batch_changes_no_other_batch(project: GcProject) -> None:
    project.batch("cafe", "a")
    project.ref("refs/plait/attempts/cafe/a/write-1", project.commit(x="x\n"))
    project.clean(GcOptions(forget=frozenset({"beef"}), unmerged=True))
    assert set(project.refs("refs/plait")) == {"refs/plait/attempts/cafe/a/write-1"}


def test_old_transcripts_are_removed_and_batch_inputs_kept(project: GcProject) -> None:
    project.batch("beef", "a")
    project.batch("cafe", "a", days=1.0)
    for batch in ("beef", "cafe"):
        (project.state.batch(batch) / "tasks" / "a").mkdir(parents=True)
        (project.state.batch(batch) / "kit.json").write_text("{}")
    project.clean()
    assert (project.state.batch("beef") / "tasks").is_dir()
    project.clean(GcOptions(older=14 * DAY))
    assert [path.name for path in project.state.batch("beef").iterdir()] == ["kit.json"]
    assert (project.state.batch("cafe") / "tasks").is_dir()


def test_inputs_of_a_batch_that_was_never_submitted_are_removed_with_its_secrets(project: GcProject) -> None:
    folder = project.state.batch("dead")
    folder.mkdir(parents=True)
    (folder / "environment.json").write_text("[]")
    project.clean()
    assert folder.is_dir()
    then = time.time() - 7200
    os.utime(folder, (then, then))
    project.clean()
    assert not folder.exists()


def test_a_stale_lock_is_removed_and_a_fresh_one_kept(project: GcProject, made: dict[str, str]) -> None:
    stale, fresh = (project.common / f"refs/heads/plait/task-beef-{task}.lock" for task in "ab")
    for path in (stale, fresh):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    os.utime(stale, (time.time() - 3600,) * 2)
    project.clean()
    assert not stale.exists()
    assert fresh.exists()
    assert made["b"] in project.refs("refs/heads/plait").values()


def back(project: GcProject, name: str, branch: str | None = None) -> tuple[str, bool]:
    made = restore_branch(project.repository.git, RefNames.from_batches(project.batches), name, branch)
    assert project.git("rev-parse", made.branch) == made.commit
    return made.branch, made.made


@pytest.mark.parametrize(
    "name",
    [
        "refs/plait/attempts/beef/b/write-1",
        "attempts/beef/b/write-1",
        "beef/b/write-1",
        "beef/b",
        "plait/task-beef-b",
    ],
)
def test_saved_work_is_restored_by_name(project: GcProject, made: dict[str, str], name: str) -> None:
    before = project.snapshot_user_files()
    assert back(project, name) == ("restored-beef-b-write-1", True)
    assert project.git("rev-parse", "restored-beef-b-write-1") == made["b"]
    assert back(project, name) == ("restored-beef-b-write-1", False)
    assert before.items() <= project.snapshot_user_files().items()


def test_restoring_never_moves_a_branch(project: GcProject, made: dict[str, str]) -> None:
    project.git("branch", "restored-beef-b-write-1")
    assert back(project, "beef/b") == ("restored-beef-b-write-1-2", True)
    with pytest.raises(UserError, match="there is a branch restored-beef-b-write-1 already"):
        back(project, "beef/b", "restored-beef-b-write-1")
    assert project.git("rev-parse", "restored-beef-b-write-1") == project.base
    assert back(project, "beef/b", "mine/again") == ("mine/again", True)
    for name in ("-d", "a..b", "a b", ""):
        with pytest.raises(UserError, match="is not a valid branch name"):
            back(project, "beef/b", name)
    assert made["b"] in project.refs("refs/plait").values()


@pytest.mark.usefixtures("made")
def test_an_ambiguous_name_is_refused(project: GcProject) -> None:
    with pytest.raises(UserError, match="beef could be attempts/beef/"):
        back(project, "beef")
    with pytest.raises(UserError, match="nothing is saved under the name nobody"):
        back(project, "nobody")
    assert {each.name for each in list_saved_commits(project.repository.git)} == {
        "attempts/beef/a/write-1",
        "attempts/beef/b/write-1",
    }


def break_object(project: GcProject, name: str) -> None:
    oid = project.git("rev-parse", name)
    (project.common / "objects" / oid[:2] / oid[2:]).unlink()


def test_what_is_left_of_a_damaged_result_is_saved_and_its_refs_are_removed(
    project: GcProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.batch("beef", "a", "b")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1700000000 +0100")
    damaged, whole = project.commit(one="1\n", two="2\n"), project.commit(b="b\n")
    for task, tip in {"a": damaged, "b": whole}.items():
        project.ref(attempt_ref(Attempt("beef", task, Step.WRITE, 1)), tip)
    project.ref(f"refs/heads/{task_branch('beef', 'a')}", damaged)
    break_object(project, f"{damaged}:two")
    project.batch("beef", "a", "b", over=False)  # also while the batch runs
    removed = project.find_removed(project.clean())
    assert removed.keys() == {"refs/heads/plait/task-beef-a", "refs/plait/attempts/beef/a/write-1"}
    assert all("missing blob" in why for why in removed.values())
    assert set(project.refs("refs/plait/attempts").values()) == {whole}
    (saved,) = project.refs("refs/plait/saved/beef/a").values()
    assert project.git("ls-tree", "--name-only", saved).split() == ["README", "one"]
    # Whenever each of its refs is saved, it is the same commit.
    assert project.git("show", "--no-patch", "--format=%at %ct", saved).split() == ["1700000000", "1700000000"]
    project.git("gc", "--quiet", "--prune=now")
    project.git("clone", "--quiet", "--mirror", ".", str(project.location / "clone"))


@pytest.mark.parametrize("is_whole_history", [False, True])
def test_a_worktree_at_a_damaged_commit_is_mended_and_removed(project: GcProject, *, is_whole_history: bool) -> None:
    """As a pooled one is whose last result was damaged."""
    project.batch("beef", "a")
    folder = project.workspace("beef", "a")
    project.workspaces.release("beef", "a")
    (folder,) = project.layout.pool.iterdir()
    (folder / "theirs.txt").write_text("theirs\n")
    damaged = project.commit(one="1\n")
    tip = project.git("commit-tree", f"{damaged}^{{tree}}", "-p", damaged, "-m", "on it")
    project.git("update-ref", "--no-deref", f"worktrees/{folder.name}/HEAD", tip)
    break_object(project, tip if is_whole_history else damaged)
    gone = f"commit {tip} is missing" if is_whole_history else f"Could not read {damaged}"
    assert [check.text for check in check_refs(project.repository)] == [
        f"worktrees/{folder.name}/HEAD is broken: {gone}"
    ]
    found = project.clean()
    assert not project.find_kept(found)
    assert {f"worktrees/{folder.name}/HEAD", folder.name} <= project.find_removed(found).keys()
    assert check_refs(project.repository) == []
    (saved,) = project.refs("refs/plait/saved/beef/a").values()
    assert "theirs.txt" in project.git("ls-tree", "--name-only", saved).split()
    project.git("gc", "--quiet", "--prune=now")
    project.git("clone", "--quiet", "--mirror", ".", str(project.location / "clone"))


def test_a_ref_whose_commit_is_gone_blocks_nothing_and_is_removed(project: GcProject, made: dict[str, str]) -> None:
    gone = project.commit(gone="gone\n")
    project.ref("refs/plait/saved/beef/b/1", gone)
    break_object(project, gone)
    listed = [saved.commit for saved in list_saved_commits(project.repository.git)]
    assert gone not in listed
    assert made["b"] in listed
    folder = project.workspace("beef", "c")
    (folder / "new.txt").write_text("new\n")
    project.workspaces.release("beef", "c")
    assert project.refs("refs/plait/saved/beef/c")
    assert project.find_removed(project.clean())["refs/plait/saved/beef/b/1"] == f"commit {gone} is missing"
    assert not project.refs("refs/plait/saved/beef/b")


def test_a_branch_whose_commit_is_gone_is_started_again(project: GcProject) -> None:
    gone, branch = project.commit(gone="gone\n"), task_branch("beef", "a")
    project.ref(f"refs/heads/{branch}", gone)
    break_object(project, gone)
    project.workspace("beef", "a")
    assert project.refs(f"refs/heads/{branch}") == {f"refs/heads/{branch}": project.base}


@pytest.mark.parametrize("content", [b"", b"\0" * 41])
def test_refs_that_a_loss_of_power_emptied_are_named_and_removed_or_made_again(
    project: GcProject, content: bytes
) -> None:
    project.batch("beef", "b")
    names = ["refs/plait/saved/beef/b/1", f"refs/heads/{task_branch('beef', 'b')}"]
    for name in names:
        (project.common / name).parent.mkdir(parents=True, exist_ok=True)
        (project.common / name).write_bytes(content)
    assert {check.text for check in check_refs(project.repository)} == {
        f"{name} is broken: git can't read it" for name in names
    }
    folder = project.workspace("beef", "b")
    assert project.refs(names[1]) == {names[1]: project.git("rev-parse", "HEAD", at=folder)}
    removed = project.find_removed(project.clean())
    assert removed[names[0]] == "git can't read it"
    assert check_refs(project.repository) == []
    project.git("gc", "--quiet", "--prune=now")


def test_an_emptied_ref_of_a_result_is_set_again(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path)
    worktree.write("a.txt", "changed\n")
    for name in (attempt_ref(ATTEMPT), f"refs/heads/{worktree.branch}"):
        (worktree.common / name).parent.mkdir(parents=True, exist_ok=True)
        (worktree.common / name).write_bytes(b"")
    tip = worktree.capture().tip
    assert worktree.git("rev-parse", attempt_ref(ATTEMPT), at=worktree.main) == tip


def test_the_doctor_names_broken_refs(project: GcProject, made: dict[str, str]) -> None:
    assert check_refs(project.repository) == []
    break_object(project, made["b"])
    checks = check_refs(project.repository)
    assert {(check.topic, check.verdict) for check in checks} == {("refs", CheckStatus.PROBLEM)}
    assert any(f"task-beef-b is broken: commit {made['b']} is missing" in check.text for check in checks)


def test_branches_whose_names_have_unusual_line_ends_are_listed(project: GcProject) -> None:
    names = [f"refs/heads/a{end}b" for end in ("\x85", "\u2028", "\u2029")]
    for name in names:
        project.ref(name, project.base)
    assert check_refs(project.repository) == []
    assert set(names) <= set(list_refs(project.repository.git))
