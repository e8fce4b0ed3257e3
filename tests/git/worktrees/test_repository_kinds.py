"""Repositories of every kind: each gives workspaces that hold exactly what they should."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import UserError
from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.workspaces import GitWorkspaces

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo


def _round(ground: WorkspaceRepo) -> Path:
    """Made, worked in, given back, made again from the pool."""
    before = ground.snapshot_user_files()
    first = ground.prepare("one")
    assert ground.status(first) == ""
    ground.write({"new": "n\n"}, at=first)
    ground.release("one")
    assert [ground.text(saved, "new") for saved in ground.list_saved("one")] == ["n"]
    second = ground.prepare("two")
    assert ground.status(second) == ""
    assert ground.git("rev-parse", "HEAD^{tree}", at=second) == ground.git("rev-parse", "HEAD^{tree}")
    assert ground.snapshot_user_files() == before
    return second


def test_workspaces_work_with_a_detached_head(ground: WorkspaceRepo) -> None:
    ground.git("switch", "--quiet", "--detach")
    _round(ground)


def test_workspaces_work_in_a_bare_repository(ground: WorkspaceRepo, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    ground.git("clone", "--quiet", "--bare", str(ground.top), str(bare))
    config = (bare / "config").read_bytes()
    workspaces = GitWorkspaces(bare, ground.root)
    for task in ("one", "two"):
        workspace = Path(workspaces.prepare("7f3a", task, ground.head, WorkspaceSetup(), top=str(bare)))
        assert ground.status(workspace) == ""
        ground.write({"new": "n\n"}, at=workspace)
        workspaces.release("7f3a", task)
        assert ground.git("show", f"refs/plait/saved/7f3a/{task}/1:new", at=bare) == "n"
    assert (bare / "config").read_bytes() == config


def test_workspaces_work_in_a_shallow_clone(ground: WorkspaceRepo, tmp_path: Path) -> None:
    ground.commit({"more": "m\n"})
    ground.git("clone", "--quiet", "--depth=1", ground.top.as_uri(), str(tmp_path / "shallow"))
    ground.top = tmp_path / "shallow"
    _round(ground)


def test_a_partial_clone_fetches_what_a_workspace_needs(ground: WorkspaceRepo, tmp_path: Path) -> None:
    ground.git("config", "uploadpack.allowFilter", "true")
    words = ("clone", "--quiet", "--filter=blob:none", "--no-checkout", ground.top.as_uri())
    ground.git(*words, str(tmp_path / "partial"))
    ground.top = tmp_path / "partial"
    workspace = ground.prepare()
    assert (workspace / "src/app.py").read_text() == "print(1)\n"


def test_workspaces_work_from_a_linked_worktree(ground: WorkspaceRepo, tmp_path: Path) -> None:
    ground.git("worktree", "add", "--quiet", "-b", "mine", str(tmp_path / "linked"))
    ground.top = tmp_path / "linked"
    _round(ground)


def test_a_configured_work_tree_that_is_missing_is_ignored(ground: WorkspaceRepo) -> None:
    common = ground.common
    base = ground.head
    ground.git("config", "core.worktree", "../gone")
    workspaces = GitWorkspaces(common, ground.root)
    for task in ("one", "two"):
        workspace = Path(workspaces.prepare("7f3a", task, base, WorkspaceSetup(), top=str(ground.top)))
        assert ground.status(workspace) == ""
        assert (workspace / "README").read_text() == "read me\n"
        workspaces.release("7f3a", task)


def test_per_worktree_settings_are_copied_except_those_about_the_checkout(
    ground: WorkspaceRepo,
) -> None:
    ground.git("config", "extensions.worktreeConfig", "true")
    ground.git("config", "--worktree", "user.nickname", "me")
    ground.git("sparse-checkout", "set", "--cone", "docs")
    assert not (ground.top / "src").exists()
    workspace = _round(ground)
    assert (workspace / "src/app.py").exists()
    assert ground.git("config", "user.nickname", at=workspace) == "me"


def test_a_sparse_checkout_of_the_user_does_not_affect_workspaces(ground: WorkspaceRepo) -> None:
    ground.git("config", "core.sparseCheckout", "true")
    ground.write({"info/sparse-checkout": "/*\n!/*/\n"}, at=ground.common)
    ground.git("read-tree", "-mu", "HEAD")
    assert not (ground.top / "src").exists()
    workspace = _round(ground)
    assert (workspace / "src/app.py").exists()


@pytest.mark.parametrize("location", ["the cache", "inside of another repository"])
def test_locks_and_repositories_around_have_no_effect(ground: WorkspaceRepo, tmp_path: Path, location: str) -> None:
    if location != "the cache":
        ground.git("init", "--quiet", str(tmp_path / "around"))
        ground.root = tmp_path / "around" / "deep" / "workspaces"
        (tmp_path / "around" / "precious").touch()
    (ground.common / "index.lock").touch()
    workspace = ground.prepare()
    (workspace / ".git").unlink()  # git would now look above
    ground.write({"new": "n\n"}, at=workspace)
    ground.release()
    ground.prepare("two")
    assert (ground.common / "index.lock").exists()
    assert location == "the cache" or (tmp_path / "around" / "precious").exists()


def test_files_with_unusual_names_are_checked_out(ground: WorkspaceRepo) -> None:
    names = [
        "with space",
        "ünï-cödé",
        "new\nline",
        'quo"te',
        "tab\tbed",
        "-dash",
        "*",
        "back\\slash",
        "a\udcffb",
    ]
    ground.commit({f"{name}/{name}": name for name in names if "\udcff" not in name})
    Path(os.fsdecode(os.fsencode(ground.top / "a\udcffb"))).write_bytes(b"bytes")
    ground.commit({})
    ground.root = ground.root.with_name("ünï code 'quoted\"")
    workspace = _round(ground)
    for name in names[:-1]:
        assert (workspace / name / name).read_text() == name
    assert (workspace / "a\udcffb").read_bytes() == b"bytes"


def test_a_location_with_a_line_break_is_refused(ground: WorkspaceRepo) -> None:
    ground.root = ground.root.with_name("two\nlines")
    with pytest.raises(UserError, match="line break") as told:
        ground.prepare()
    assert "[workspace] location" in told.value.hint


def test_files_that_differ_only_in_case_are_checked_out(ground: WorkspaceRepo) -> None:
    ground.commit({"Name": "1\n", "name": "2\n", "NAME/x": "3\n"})
    workspace = _round(ground)
    assert (workspace / "Name").read_text() == "1\n"
    assert (workspace / "name").read_text() == "2\n"


def test_nothing_is_removed_through_a_symlink(ground: WorkspaceRepo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    ground.write({"precious": "p"}, at=outside)
    (ground.top / "link").symlink_to("README")
    (ground.top / "away").symlink_to(outside)
    ground.commit({})
    workspace = ground.prepare()
    assert (workspace / "link").readlink() == Path("README")
    shutil.rmtree(workspace / "src")
    (workspace / "src").symlink_to(outside)  # an agent's
    (workspace / "vendor").symlink_to(outside)
    ground.release()
    second = ground.prepare("two")
    assert (second / "src/app.py").read_text() == "print(1)\n"
    ground.release("two", keep=0)
    assert [each.name for each in outside.iterdir()] == ["precious"]


@pytest.mark.parametrize("value", ["true", "input", "false"])
def test_line_endings_are_those_of_git(ground: WorkspaceRepo, value: str) -> None:
    ground.git("config", "core.autocrlf", value)
    ground.git("config", "core.safecrlf", "true")
    (ground.top / ".gitattributes").write_bytes(b"*.bat text eol=crlf\n")
    (ground.top / "run.bat").write_bytes(b"one\r\ntwo\r\n")
    ground.git("-c", "core.safecrlf=false", "add", "--all")
    ground.git("commit", "--quiet", "-m", "a change")
    workspace = _round(ground)
    assert (workspace / "run.bat").read_bytes() == b"one\r\ntwo\r\n"
    assert (workspace / "README").read_bytes() == (b"read me\r\n" if value == "true" else b"read me\n")
    (workspace / "mixed").write_bytes(b"one\r\ntwo\n")
    ground.release("two")
    assert ground.list_saved("two")


class Lfs:
    """A stand-in for git-lfs: contents by pointer, from a folder beside the objects."""

    POINTER = "version https://git-lfs.github.com/spec/v1\n"

    def __init__(self, ground: WorkspaceRepo, smudge: str) -> None:
        ground.git("config", "filter.lfs.smudge", smudge)
        ground.git("config", "filter.lfs.clean", "cat")
        ground.git("config", "filter.lfs.required", "true")
        ground.write({".gitattributes": "*.bin filter=lfs\n", "big.bin": self.POINTER})
        ground.git("-c", "filter.lfs.clean=cat", "add", "--all")
        ground.git("commit", "--quiet", "-m", "large files")


def test_lfs_files_come_from_the_local_lfs_storage(ground: WorkspaceRepo) -> None:
    (ground.common / "lfs").mkdir()
    (ground.common / "lfs" / "content").write_text("large\n")
    Lfs(ground, f"cat > /dev/null; cat {ground.common}/lfs/content")
    assert (ground.prepare() / "big.bin").read_text() == "large\n"


@pytest.mark.parametrize("smudge", ["git-lfs-that-is-not-there smudge -- %f", "exit 2"])
def test_unavailable_lfs_files_stay_pointers(ground: WorkspaceRepo, smudge: str) -> None:
    Lfs(ground, smudge)
    workspace = ground.prepare()
    assert (workspace / "big.bin").read_text() == Lfs.POINTER
    ground.release()
    assert (ground.prepare("two") / "big.bin").read_text() == Lfs.POINTER


def test_hooks_are_not_run(ground: WorkspaceRepo, tmp_path: Path) -> None:
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        ground.write({hook: f"#!/bin/sh\ntouch {tmp_path}/ran\n"}, at=ground.common / "hooks")
        (ground.common / "hooks" / hook).chmod(0o755)
    workspaces = ground.open()
    base = "HEAD"
    workspaces.prepare("7f3a", "one", base, WorkspaceSetup(), top=str(ground.top))
    workspaces.release("7f3a", "one")
    assert not (tmp_path / "ran").exists()


def test_workspaces_work_with_sha256_ids(ground: WorkspaceRepo, tmp_path: Path) -> None:
    ground.top = tmp_path / "sha256"
    ground.top.mkdir()
    ground.git("init", "--quiet", "--object-format=sha256")
    ground.commit({"README": "read me\n"})
    _round(ground)
