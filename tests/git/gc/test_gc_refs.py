"""Branches and refs that batches left: what is merged goes, what is not is kept or saved, and everything comes back by name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import UserError
from plait.core.task import Attempt, Step
from plait.git.gc.items import GcOptions
from plait.git.gc.ref_inventory import RefNames
from plait.git.gc.restore import list_saved_commits, restore_branch
from plait.git.refs import attempt_ref, base_ref, batch_branch, task_branch

if TYPE_CHECKING:
    from tests.git.gc.conftest import GcProject

DAY = 86_400.0


def heads(house: GcProject) -> set[str]:
    return {name.removeprefix("refs/heads/") for name in house.refs("refs/heads/plait")}


@pytest.fixture
def made(house: GcProject) -> dict[str, str]:
    """Batch beef: a is merged into the batch branch, b conflicted; both attempts are kept."""
    house.batch("beef", "a", "b")
    tips = {"a": house.commit(a="a\n"), "b": house.commit(b="b\n")}
    for task, tip in tips.items():
        house.ref(f"refs/heads/{task_branch('beef', task)}", tip)
        house.ref(attempt_ref(Attempt("beef", task, Step.WRITE, 1)), tip)
    house.ref(f"refs/heads/{batch_branch('beef')}", tips["a"])
    house.ref(base_ref("beef"), house.base)
    return tips


def test_what_the_batch_branch_has_goes_and_the_rest_stays(house: GcProject, made: dict[str, str]) -> None:
    before = house.snapshot_user_files()
    house.clean()
    assert heads(house) == {"plait/batch-beef", "plait/task-beef-b"}
    assert set(made.values()) <= set(house.refs("refs/plait").values())
    assert house.snapshot_user_files() == before


@pytest.mark.usefixtures("made")
def test_while_the_batch_is_not_over_every_branch_stays(house: GcProject) -> None:
    house.batch("beef", "a", "b", over=False)
    house.clean(GcOptions(older=0.0))
    assert heads(house) == {"plait/batch-beef", "plait/task-beef-a", "plait/task-beef-b"}


def test_a_batch_branch_that_was_merged_goes(house: GcProject, made: dict[str, str]) -> None:
    house.git("merge", "-q", "--no-ff", "-m", "merged", made["a"])
    house.clean()
    assert heads(house) == {"plait/task-beef-b"}


def test_what_only_a_stash_has_is_not_merged(house: GcProject, made: dict[str, str]) -> None:
    house.ref("refs/stash", made["a"])
    house.clean()
    assert "plait/batch-beef" in heads(house)


def test_a_batch_branch_that_is_only_pushed_stays_until_it_is_old(house: GcProject, made: dict[str, str]) -> None:
    house.ref("refs/remotes/origin/plait/batch-beef", made["a"])
    house.clean()
    assert "plait/batch-beef" in heads(house)
    house.clean(GcOptions(older=14 * DAY))
    assert heads(house) == set()
    assert house.refs("refs/plait/saved") == {}


def test_an_old_branch_that_nothing_else_holds_is_saved_first(house: GcProject) -> None:
    house.batch("beef", "a")
    tip = house.commit(a="a\n")
    house.ref("refs/heads/plait/task-beef-a", tip)
    house.ref("refs/heads/plait/batch-beef", tip)
    house.clean(GcOptions(older=14 * DAY))
    assert heads(house) == set()
    assert list(house.refs("refs/plait/saved").values()) == [tip]


def test_a_branch_that_somebody_has_checked_out_stays(house: GcProject, made: dict[str, str], tmp_path: Path) -> None:
    house.git("merge", "-q", "--no-ff", "-m", "merged", made["a"])
    house.git("worktree", "add", "-q", str(tmp_path / "review"), "plait/batch-beef")
    plan = house.plan()
    assert house.find_kept(plan.kept)["plait/batch-beef"] == f"it is checked out in {tmp_path / 'review'}"


def test_a_branch_that_moves_between_the_plan_and_the_deed_stays(house: GcProject, made: dict[str, str]) -> None:
    items = house.plan().removals
    moved = house.commit(c="c\n")
    house.ref("refs/heads/plait/task-beef-a", moved)
    told = list(house.make_collector.clean(items, GcOptions()))
    assert house.find_kept(told) == {"plait/task-beef-a": "it has moved"}
    assert house.refs("refs/heads/plait/task-beef-a").popitem()[1] == moved
    assert made["a"] in house.refs("refs/plait").values()


@pytest.mark.usefixtures("made")
def test_a_branch_that_somebody_checks_out_between_the_plan_and_the_deed_stays(
    house: GcProject, tmp_path: Path
) -> None:
    items = house.plan().removals
    house.git("worktree", "add", "-q", str(tmp_path / "review"), "plait/task-beef-a")
    told = list(house.make_collector.clean(items, GcOptions()))
    assert house.find_kept(told) == {"plait/task-beef-a": f"it is checked out in {tmp_path / 'review'}"}
    assert "plait/task-beef-a" in heads(house)


@pytest.mark.usefixtures("made")
def test_a_batch_that_is_taken_up_again_between_the_plan_and_the_deed_keeps_everything(
    house: GcProject,
) -> None:
    (house.state.batch("beef") / "tasks").mkdir(parents=True)
    wish = GcOptions(forget=frozenset({"beef"}), unmerged=True)
    items, before = house.plan(wish).removals, house.refs()
    house.batch("beef", "a", "b", over=False)
    told = list(house.make_collector.clean(items, wish))
    assert set(house.find_kept(told).values()) == {"batch beef is not over"}
    assert house.find_removed(told) == {}
    assert house.refs() == before
    assert (house.state.batch("beef") / "tasks").is_dir()


def test_a_worktree_and_its_branch_go_together(house: GcProject) -> None:
    house.batch("beef", "a")
    house.workspace("beef", "a")  # its branch is at the base, which is merged
    assert house.find_kept(house.clean()) == {}
    assert heads(house) == set()


@pytest.mark.usefixtures("made")
def test_forgetting_a_batch_leaves_what_was_never_merged(house: GcProject, made: dict[str, str]) -> None:
    house.git("merge", "-q", "--no-ff", "-m", "merged", made["a"])
    (house.state.batch("beef") / "tasks" / "a" / "write-1").mkdir(parents=True)
    (house.state.batch("beef") / "kit.json").write_text("{}")
    house.clean(GcOptions(forget=frozenset({"beef"})))
    assert heads(house) == set()
    assert set(house.refs("refs/plait")) == {"refs/plait/attempts/beef/b/write-1"}
    assert not house.state.batch("beef").exists()
    house.clean(GcOptions(forget=frozenset({"beef"}), unmerged=True))
    assert house.refs("refs/plait") == {}


@pytest.mark.usefixtures("made")
def test_forgetting_touches_no_other_batch(house: GcProject) -> None:
    house.batch("cafe", "a")
    house.ref("refs/plait/attempts/cafe/a/write-1", house.commit(x="x\n"))
    house.clean(GcOptions(forget=frozenset({"beef"}), unmerged=True))
    assert set(house.refs("refs/plait")) == {"refs/plait/attempts/cafe/a/write-1"}


def test_transcripts_go_when_they_are_old_and_the_kit_stays(house: GcProject) -> None:
    house.batch("beef", "a")
    house.batch("cafe", "a", days=1.0)
    for batch in ("beef", "cafe"):
        (house.state.batch(batch) / "tasks" / "a").mkdir(parents=True)
        (house.state.batch(batch) / "kit.json").write_text("{}")
    house.clean()
    assert (house.state.batch("beef") / "tasks").is_dir()
    house.clean(GcOptions(older=14 * DAY))
    assert [path.name for path in house.state.batch("beef").iterdir()] == ["kit.json"]
    assert (house.state.batch("cafe") / "tasks").is_dir()


def test_what_was_handed_over_and_never_submitted_goes_with_its_secrets(house: GcProject) -> None:
    folder = house.state.batch("dead")
    folder.mkdir(parents=True)
    (folder / "environment.json").write_text("[]")
    house.clean()
    assert folder.is_dir()
    then = time.time() - 7200
    os.utime(folder, (then, then))
    house.clean()
    assert not folder.exists()


def test_a_lock_that_a_git_left_goes_and_a_fresh_one_does_not(house: GcProject, made: dict[str, str]) -> None:
    stale, fresh = (house.common / f"refs/heads/plait/task-beef-{task}.lock" for task in "ab")
    for path in (stale, fresh):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    os.utime(stale, (time.time() - 3600,) * 2)
    house.clean()
    assert not stale.exists()
    assert fresh.exists()
    assert made["b"] in house.refs("refs/heads/plait").values()


def back(house: GcProject, name: str, branch: str | None = None) -> tuple[str, bool]:
    made = restore_branch(house.repository.git, RefNames.from_batches(house.tasks), name, branch)
    assert house.git("rev-parse", made.branch) == made.commit
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
def test_what_is_kept_comes_back_by_name(house: GcProject, made: dict[str, str], name: str) -> None:
    before = house.snapshot_user_files()
    assert back(house, name) == ("restored-beef-b-write-1", True)
    assert house.git("rev-parse", "restored-beef-b-write-1") == made["b"]
    assert back(house, name) == ("restored-beef-b-write-1", False)
    assert before.items() <= house.snapshot_user_files().items()


def test_no_branch_is_ever_moved_by_restoring(house: GcProject, made: dict[str, str]) -> None:
    house.git("branch", "restored-beef-b-write-1")
    assert back(house, "beef/b") == ("restored-beef-b-write-1-2", True)
    with pytest.raises(UserError, match="there is a branch restored-beef-b-write-1 already"):
        back(house, "beef/b", "restored-beef-b-write-1")
    assert house.git("rev-parse", "restored-beef-b-write-1") == house.base
    assert back(house, "beef/b", "mine/again") == ("mine/again", True)
    for name in ("-d", "a..b", "a b", ""):
        with pytest.raises(UserError, match="is not a valid branch name"):
            back(house, "beef/b", name)
    assert made["b"] in house.refs("refs/plait").values()


@pytest.mark.usefixtures("made")
def test_a_name_that_could_be_two_things_is_asked_about(house: GcProject) -> None:
    with pytest.raises(UserError, match="beef could be attempts/beef/"):
        back(house, "beef")
    with pytest.raises(UserError, match="nothing is saved under the name nobody"):
        back(house, "nobody")
    assert {each.name for each in list_saved_commits(house.repository.git)} == {
        "attempts/beef/a/write-1",
        "attempts/beef/b/write-1",
    }
