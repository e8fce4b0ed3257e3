"""A workspace that is given back: its work saved, its folder kept for the next task or thrown away."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import WorldError
from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees import metadata, metadata as outfits

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

BATCH = "7f3a"
VENDOR = WorkspaceSetup(setup="make vendor", makes=("vendor", "build/out"))


def _set_up(workspace: Path, setup: WorkspaceSetup) -> None:
    """As a setup does that was run to the end."""
    for path in setup.makes:
        (workspace / path).mkdir(parents=True)
        (workspace / path / "made").write_text("by the setup")
    outfits.write_setup_metadata(workspace, outfits.SetupMetadata("key", setup.makes, "fitted", setup.makes, used=True))


def test_a_clean_workspace_goes_to_the_pool_and_its_branch_stays(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    tip = ground.commit({"done": "d\n"}, at=workspace)
    ground.release()
    assert not workspace.exists()
    assert len(ground.list_pooled()) == 1
    assert ground.branch() == tip
    assert ground.list_saved() == []
    ground.git("branch", "--quiet", "--delete", "--force", f"plait/task-{BATCH}-one")


def test_releasing_twice_is_harmless(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    ground.write({"new": "n\n"}, at=workspace)
    ground.release()
    ground.release()
    ground.release("never prepared")
    assert len(ground.list_saved()) == 1


def test_work_that_no_ref_contains_is_saved(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    loose = ground.commit({"loose": "l\n"}, at=workspace)
    ground.git("switch", "--quiet", "--detach", at=workspace)
    detached = ground.commit({"detached": "d\n"}, at=workspace)
    ground.git("branch", "--quiet", "--force", f"plait/task-{BATCH}-one", ground.head, at=workspace)
    ground.write({"README": "staged\n"}, at=workspace)
    ground.git("add", "README", at=workspace)
    ground.write({"README": "edited\n", "new file": "n\n", "x.log": "ignored"}, at=workspace)
    (workspace / "src/app.py").unlink()
    ground.release()
    (saved,) = ground.list_saved()
    assert ground.text(saved, "README") == "edited"
    assert ground.git("ls-tree", "-r", "--name-only", saved).splitlines() == [
        ".gitignore",
        "README",
        "detached",
        "loose",
        "new file",
    ]
    assert ground.text(f"{saved}^2", "README") == "staged"
    assert ground.git("merge-base", loose, saved) == loose
    assert ground.git("merge-base", detached, saved) == detached


def test_work_on_files_hidden_by_index_flags_is_saved(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    ground.git("update-index", "--assume-unchanged", "README", at=workspace)
    ground.git("update-index", "--skip-worktree", "src/app.py", at=workspace)
    ground.write({"README": "hidden\n", "src/app.py": "hidden\n"}, at=workspace)
    ground.release()
    (saved,) = ground.list_saved()
    assert (ground.text(saved, "README"), ground.text(saved, "src/app.py")) == ("hidden", "hidden")


def test_a_reused_worktree_has_nothing_of_the_previous_task(ground: WorkspaceRepo) -> None:
    first = ground.prepare("one")
    ground.write({"README": "dirty\n", "new": "n", "x.log": "ignored", "deep/er/x.log": "i"}, at=first)
    ground.git("init", "--quiet", "nested", at=first)
    ground.commit({"inside": "i"}, at=first / "nested")
    ground.git("update-index", "--skip-worktree", "src/app.py", at=first)
    ground.write({"src/app.py": "hidden\n"}, at=first)
    admin = ground.admin(first)
    ground.write({"rebase-merge/head-name": "x", "BISECT_LOG": "b", "MERGE_MSG": "m", "index.lock": ""}, at=admin)
    ground.release("one")
    second = ground.prepare("two")
    assert ground.admin(second) == admin  # the very same one
    assert ground.status(second) == ""
    assert sorted(each.name for each in second.iterdir()) == [".git", ".gitignore", "README", "src"]
    assert (second / "src/app.py").read_text() == "print(1)\n"
    assert (second / "README").read_text() == "read me\n"
    assert "rebas" not in ground.git("status", at=second)
    assert "dirty" not in ground.git("reflog", at=second)
    assert ground.git("symbolic-ref", "--short", "HEAD", at=second) == f"plait/task-{BATCH}-two"


def test_a_pooled_worktree_is_reused_for_another_base(ground: WorkspaceRepo) -> None:
    ground.prepare("one")
    ground.release("one")
    ground.git("rm", "--quiet", "README")
    base = ground.commit({"src/app.py": "print(2)\n", "src/new/deep.py": "d\n"})
    workspace = ground.prepare("two")
    assert ground.git("rev-parse", "HEAD", at=workspace) == base
    assert ground.status(workspace) == ""
    assert not (workspace / "README").exists()
    assert (workspace / "src/new/deep.py").read_text() == "d\n"


def test_declared_outputs_of_a_setup_are_kept_for_the_next_task(ground: WorkspaceRepo) -> None:
    first = ground.prepare("one", setup=VENDOR)
    _set_up(first, VENDOR)
    ground.write({".env.log": "copied", "build/other": "not declared"}, at=first)
    ground.release("one")
    second = ground.prepare("two", setup=VENDOR)
    kept = sorted(str(each.relative_to(second)) for each in second.rglob("*") if each.name == "made")
    assert kept == ["build/out/made", "vendor/made"]
    assert not (second / "build/other").exists()
    assert not (second / ".env.log").exists()
    told = metadata.read_setup_metadata(second)
    assert (told.key, told.fitted, told.used) == ("key", "", False)  # the setup counts, copies are due again


def test_setup_outputs_are_kept_only_if_complete_and_declared(ground: WorkspaceRepo) -> None:
    _set_up(ground.prepare("one", setup=VENDOR), VENDOR)
    ground.release("one")
    other = ground.prepare("two")
    assert ground.status(other) == ""
    assert not (other / "vendor").exists()
    assert metadata.read_setup_metadata(other).key == ""
    ground.release("two")
    third = ground.prepare("three", setup=VENDOR)
    _set_up(third, VENDOR)
    shutil.rmtree(third / "vendor")
    ground.release("three")
    fourth = ground.prepare("four", setup=VENDOR)
    assert not (fourth / "build").exists()
    assert metadata.read_setup_metadata(fourth).key == ""


def test_a_task_gets_the_worktree_whose_outputs_it_declares(ground: WorkspaceRepo) -> None:
    one = ground.prepare("one", setup=VENDOR)
    ground.prepare("two")
    _set_up(one, VENDOR)
    ground.release("one")
    ground.release("two")
    assert (ground.prepare("three", setup=VENDOR) / "vendor/made").exists()


def test_patterns_in_the_names_of_outputs_are_only_names(ground: WorkspaceRepo) -> None:
    odd = WorkspaceSetup(setup="x", makes=("*",))
    workspace = ground.prepare("one", setup=odd)
    ground.write({"*": "output", "other": "o"}, at=workspace)
    ground.release("one")
    second = ground.prepare("two", setup=odd)
    assert (second / "*").exists()
    assert not (second / "other").exists()


def test_the_pool_keeps_at_most_the_given_number(ground: WorkspaceRepo) -> None:
    for task in ("one", "two", "three"):
        ground.prepare(task)
    for task in ("one", "two", "three"):
        ground.release(task, keep=2)
    assert len(ground.list_pooled()) == 2
    assert len(ground.worktrees()) == 2
    assert list(ground.root.glob("trash/*")) == []
    ground.prepare("four", keep=0)
    ground.release("four", keep=0)
    assert ground.list_pooled() == []


def test_folders_without_write_permission_are_removed(ground: WorkspaceRepo) -> None:
    workspace = ground.prepare()
    ground.write({"vendor/module/file": "v"}, at=workspace)
    (workspace / "vendor/module").chmod(0o500)
    ground.release(keep=0)
    assert list(ground.root.glob("trash/*")) == []


def test_the_end_of_a_batch_leaves_nothing_but_refs(ground: WorkspaceRepo) -> None:
    one, two = ground.prepare("one"), ground.prepare("two")
    ground.gate(ground.head)
    ground.write({"new": "n\n"}, at=one)
    ground.git("switch", "--quiet", "--detach", at=two)
    loose = ground.commit({"loose": "l\n"}, at=two)
    shutil.rmtree(two)
    ground.open().release_batch(BATCH)
    ground.open().release_batch(BATCH)
    ground.open().trim_pool()
    assert ground.worktrees() == []
    assert [each for each in ground.root.rglob("*") if each.is_file()] == []
    assert not (ground.root / f"batch-{BATCH}").exists()
    assert [ground.text(saved, "new") for saved in ground.list_saved("one")] == ["n"]
    assert ground.list_saved("two") == [loose]
    assert sorted(each.name for each in (ground.common / "plait").iterdir()) == ["trash", "workspaces.lock"]


def test_a_workspace_that_cannot_be_saved_stays_and_the_others_are_released(ground: WorkspaceRepo) -> None:
    one, two = ground.prepare("one"), ground.prepare("two")
    ground.write({"new": "n\n"}, at=one)
    ground.write({f"refs/plait/saved/{BATCH}/one": f"{ground.head}\n"}, at=ground.common)  # where its refs would be
    with pytest.raises(WorldError):
        ground.open().release_batch(BATCH)
    assert (one / "new").read_text() == "n\n"
    assert not two.exists()


def test_the_gate_sees_exactly_its_commit(ground: WorkspaceRepo) -> None:
    first = ground.head
    second = ground.commit({"more": "m\n"})
    place = ground.gate(first)
    assert place == ground.root / f"batch-{BATCH}" / "gate"
    assert not (place / "more").exists()
    ground.write({"README": "dirt of the gate\n", "new": "n", "x.log": "i"}, at=place)
    assert ground.gate(second) == place
    assert ground.git("rev-parse", "HEAD", at=place) == second
    assert ground.status(place) == ""
    assert not (place / "x.log").exists()
    ground.write({"README": "dirt again\n", "x.log": "i"}, at=place)
    ground.gate(second)
    assert (place / "README").read_text() == "read me\n"
    assert ground.git("branch", "--show-current", at=place) == ""
    ground.write({"x.log": "a cache"}, at=place)
    ground.gate(second)
    assert (place / "x.log").exists()  # nothing was out of place, so nothing was done
