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


def test_a_clean_workspace_goes_to_the_pool_and_its_branch_stays(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    tip = repo.commit({"done": "d\n"}, at=workspace)
    repo.release()
    assert not workspace.exists()
    assert len(repo.list_pooled()) == 1
    assert repo.branch() == tip
    assert repo.list_saved() == []
    repo.git("branch", "--quiet", "--delete", "--force", f"plait/task-{BATCH}-one")


def test_releasing_twice_is_harmless(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    repo.write({"new": "n\n"}, at=workspace)
    repo.release()
    repo.release()
    repo.release("never prepared")
    assert len(repo.list_saved()) == 1


def test_work_that_no_ref_contains_is_saved(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    loose = repo.commit({"loose": "l\n"}, at=workspace)
    repo.git("switch", "--quiet", "--detach", at=workspace)
    detached = repo.commit({"detached": "d\n"}, at=workspace)
    repo.git("branch", "--quiet", "--force", f"plait/task-{BATCH}-one", repo.head, at=workspace)
    repo.write({"README": "staged\n"}, at=workspace)
    repo.git("add", "README", at=workspace)
    repo.write({"README": "edited\n", "new file": "n\n", "x.log": "ignored"}, at=workspace)
    (workspace / "src/app.py").unlink()
    repo.release()
    (saved,) = repo.list_saved()
    assert repo.text(saved, "README") == "edited"
    assert repo.git("ls-tree", "-r", "--name-only", saved).splitlines() == [
        ".gitignore",
        "README",
        "detached",
        "loose",
        "new file",
    ]
    assert repo.text(f"{saved}^2", "README") == "staged"
    assert repo.git("merge-base", loose, saved) == loose
    assert repo.git("merge-base", detached, saved) == detached


def test_work_on_files_hidden_by_index_flags_is_saved(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    repo.git("update-index", "--assume-unchanged", "README", at=workspace)
    repo.git("update-index", "--skip-worktree", "src/app.py", at=workspace)
    repo.write({"README": "hidden\n", "src/app.py": "hidden\n"}, at=workspace)
    repo.release()
    (saved,) = repo.list_saved()
    assert (repo.text(saved, "README"), repo.text(saved, "src/app.py")) == ("hidden", "hidden")


def test_a_reused_worktree_has_nothing_of_the_previous_task(repo: WorkspaceRepo) -> None:
    first = repo.prepare("one")
    repo.write({"README": "dirty\n", "new": "n", "x.log": "ignored", "deep/er/x.log": "i"}, at=first)
    repo.git("init", "--quiet", "nested", at=first)
    repo.commit({"inside": "i"}, at=first / "nested")
    repo.git("update-index", "--skip-worktree", "src/app.py", at=first)
    repo.write({"src/app.py": "hidden\n"}, at=first)
    gitdir = repo.gitdir(first)
    repo.write({"rebase-merge/head-name": "x", "BISECT_LOG": "b", "MERGE_MSG": "m", "index.lock": ""}, at=gitdir)
    repo.release("one")
    second = repo.prepare("two")
    assert repo.gitdir(second) == gitdir  # the very same one
    assert repo.status(second) == ""
    assert sorted(each.name for each in second.iterdir()) == [".git", ".gitignore", "README", "src"]
    assert (second / "src/app.py").read_text() == "print(1)\n"
    assert (second / "README").read_text() == "read me\n"
    assert "rebas" not in repo.git("status", at=second)
    assert "dirty" not in repo.git("reflog", at=second)
    assert repo.git("symbolic-ref", "--short", "HEAD", at=second) == f"plait/task-{BATCH}-two"


def test_a_pooled_worktree_is_reused_for_another_base(repo: WorkspaceRepo) -> None:
    repo.prepare("one")
    repo.release("one")
    repo.git("rm", "--quiet", "README")
    base = repo.commit({"src/app.py": "print(2)\n", "src/new/deep.py": "d\n"})
    workspace = repo.prepare("two")
    assert repo.git("rev-parse", "HEAD", at=workspace) == base
    assert repo.status(workspace) == ""
    assert not (workspace / "README").exists()
    assert (workspace / "src/new/deep.py").read_text() == "d\n"


def test_declared_outputs_of_a_setup_are_kept_for_the_next_task(repo: WorkspaceRepo) -> None:
    first = repo.prepare("one", setup=VENDOR)
    _set_up(first, VENDOR)
    repo.write({".env.log": "copied", "build/other": "not declared"}, at=first)
    repo.release("one")
    second = repo.prepare("two", setup=VENDOR)
    kept = sorted(str(each.relative_to(second)) for each in second.rglob("*") if each.name == "made")
    assert kept == ["build/out/made", "vendor/made"]
    assert not (second / "build/other").exists()
    assert not (second / ".env.log").exists()
    metadata_now = metadata.read_setup_metadata(second)
    assert (metadata_now.key, metadata_now.fitted, metadata_now.used) == (
        "key",
        "",
        False,
    )  # the setup counts, copies are due again


def test_setup_outputs_are_kept_only_if_complete_and_declared(repo: WorkspaceRepo) -> None:
    _set_up(repo.prepare("one", setup=VENDOR), VENDOR)
    repo.release("one")
    other = repo.prepare("two")
    assert repo.status(other) == ""
    assert not (other / "vendor").exists()
    assert metadata.read_setup_metadata(other).key == ""
    repo.release("two")
    third = repo.prepare("three", setup=VENDOR)
    _set_up(third, VENDOR)
    shutil.rmtree(third / "vendor")
    repo.release("three")
    fourth = repo.prepare("four", setup=VENDOR)
    assert not (fourth / "build").exists()
    assert metadata.read_setup_metadata(fourth).key == ""


def test_a_task_gets_the_worktree_whose_outputs_it_declares(repo: WorkspaceRepo) -> None:
    one = repo.prepare("one", setup=VENDOR)
    repo.prepare("two")
    _set_up(one, VENDOR)
    repo.release("one")
    repo.release("two")
    assert (repo.prepare("three", setup=VENDOR) / "vendor/made").exists()


def test_patterns_in_the_names_of_outputs_are_only_names(repo: WorkspaceRepo) -> None:
    odd = WorkspaceSetup(setup="x", makes=("*",))
    workspace = repo.prepare("one", setup=odd)
    repo.write({"*": "output", "other": "o"}, at=workspace)
    repo.release("one")
    second = repo.prepare("two", setup=odd)
    assert (second / "*").exists()
    assert not (second / "other").exists()


def test_the_pool_keeps_at_most_the_given_number(repo: WorkspaceRepo) -> None:
    for task in ("one", "two", "three"):
        repo.prepare(task)
    for task in ("one", "two", "three"):
        repo.release(task, keep=2)
    assert len(repo.list_pooled()) == 2
    assert len(repo.worktrees()) == 2
    assert list(repo.root.glob("trash/*")) == []
    repo.prepare("four", keep=0)
    repo.release("four", keep=0)
    assert repo.list_pooled() == []


def test_folders_without_write_permission_are_removed(repo: WorkspaceRepo) -> None:
    workspace = repo.prepare()
    repo.write({"vendor/module/file": "v"}, at=workspace)
    (workspace / "vendor/module").chmod(0o500)
    repo.release(keep=0)
    assert list(repo.root.glob("trash/*")) == []


def test_the_end_of_a_batch_leaves_nothing_but_refs(repo: WorkspaceRepo) -> None:
    one, two = repo.prepare("one"), repo.prepare("two")
    repo.gate(repo.head)
    repo.write({"new": "n\n"}, at=one)
    repo.git("switch", "--quiet", "--detach", at=two)
    loose = repo.commit({"loose": "l\n"}, at=two)
    shutil.rmtree(two)
    repo.release_batch("one", "two")
    repo.release_batch("one", "two")
    repo.open().trim_pool()
    assert repo.worktrees() == []
    assert [each for each in repo.root.rglob("*") if each.is_file()] == []
    assert not (repo.root / f"batch-{BATCH}").exists()
    assert [repo.text(saved, "new") for saved in repo.list_saved("one")] == ["n"]
    assert repo.list_saved("two") == [loose]
    assert sorted(each.name for each in (repo.common / "plait").iterdir()) == ["packs", "trash", "workspaces.lock"]


def test_a_workspace_that_cannot_be_saved_stays_and_the_others_are_released(repo: WorkspaceRepo) -> None:
    one, two = repo.prepare("one"), repo.prepare("two")
    repo.write({"new": "n\n"}, at=one)
    repo.write({f"refs/plait/saved/{BATCH}/one": f"{repo.head}\n"}, at=repo.common)  # where its refs would be
    with pytest.raises(WorldError):
        repo.release("one")
    repo.release("two")
    assert (one / "new").read_text() == "n\n"
    assert not two.exists()


def test_the_gate_sees_exactly_its_commit(repo: WorkspaceRepo) -> None:
    first = repo.head
    second = repo.commit({"more": "m\n"})
    place = repo.gate(first)
    assert place == repo.root / f"batch-{BATCH}" / "gate"
    assert not (place / "more").exists()
    repo.write({"README": "dirt of the gate\n", "new": "n", "x.log": "i"}, at=place)
    assert repo.gate(second) == place
    assert repo.git("rev-parse", "HEAD", at=place) == second
    assert repo.status(place) == ""
    assert not (place / "x.log").exists()
    repo.write({"README": "dirt again\n", "x.log": "i"}, at=place)
    repo.gate(second)
    assert (place / "README").read_text() == "read me\n"
    assert repo.git("branch", "--show-current", at=place) == ""
    repo.write({"x.log": "a cache"}, at=place)
    repo.gate(second)
    assert (place / "x.log").exists()  # nothing was out of place, so nothing was done


def side(repo: WorkspaceRepo, number: int, task: str = "one") -> Path:
    place = repo.root / f"batch-{BATCH}" / f"task-{task}+judge-{number}"
    return Path(repo.open().checkout(BATCH, repo.head, WorkspaceSetup(), top=str(repo.top), place=str(place)))


def test_checkouts_beside_a_workspace_go_with_it(repo: WorkspaceRepo) -> None:
    """Nothing in them is work: what was changed there is neither saved nor seen by the next one."""
    repo.prepare("one")
    repo.prepare("one-more")
    first, second, other = side(repo, 1), side(repo, 2), side(repo, 1, "one-more")
    repo.commit({"README": "another\n", "mine": "m\n"}, at=first)
    assert (second / "README").read_text() == "read me\n"
    assert side(repo, 1) == first
    assert repo.git("rev-parse", "HEAD", at=first) == repo.head
    assert repo.status(first) == ""
    repo.write({"README": "dirt\n"}, at=second)
    repo.release("one")
    assert not first.exists()
    assert not second.exists()
    assert other.exists()  # of a task whose name begins in the same way
    repo.prepare("next")  # in a worktree of the pool
    repo.prepare("another")
    assert repo.git("for-each-ref", "refs/plait/saved") == ""
    repo.release("one-more", keep=0)
    assert [path for path in repo.worktrees() if "+judge" in path] == []


def test_checkouts_of_a_task_whose_workspace_is_gone_go_with_the_batch(repo: WorkspaceRepo) -> None:
    place = side(repo, 1)
    repo.open().release_gate(BATCH)
    assert not place.exists()


def test_a_checkout_is_only_made_beside_a_workspace_of_its_batch(repo: WorkspaceRepo) -> None:
    for place in (repo.root / "batch-other" / "task-one+judge-1", repo.root / f"batch-{BATCH}" / "task-one"):
        with pytest.raises(WorldError, match="is not beside a workspace"):
            repo.open().checkout(BATCH, repo.head, WorkspaceSetup(), top=str(repo.top), place=str(place))
