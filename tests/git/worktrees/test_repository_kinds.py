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


def _round(repo: WorkspaceRepo) -> Path:
    """Made, worked in, given back, made again from the pool."""
    before = repo.snapshot_user_files()
    first = repo.prepare("one")
    assert repo.status(first) == ""
    repo.write({"new": "n\n"}, at=first)
    repo.release("one")
    assert [repo.text(saved, "new") for saved in repo.list_saved("one")] == ["n"]
    second = repo.prepare("two")
    assert repo.status(second) == ""
    assert repo.git("rev-parse", "HEAD^{tree}", at=second) == repo.git("rev-parse", "HEAD^{tree}")
    assert repo.snapshot_user_files() == before
    return second


def test_workspaces_work_with_a_detached_head(repo: WorkspaceRepo) -> None:
    repo.git("switch", "--quiet", "--detach")
    _round(repo)


def test_workspaces_work_in_a_bare_repository(repo: WorkspaceRepo, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    repo.git("clone", "--quiet", "--bare", str(repo.top), str(bare))
    config = (bare / "config").read_bytes()
    workspaces = GitWorkspaces(bare, repo.root)
    for task in ("one", "two"):
        workspace = Path(workspaces.prepare("7f3a", task, repo.head, WorkspaceSetup(), top=str(bare)))
        assert repo.status(workspace) == ""
        repo.write({"new": "n\n"}, at=workspace)
        workspaces.release("7f3a", task)
        assert repo.git("show", f"refs/plait/saved/7f3a/{task}/1:new", at=bare) == "n"
    assert (bare / "config").read_bytes() == config


def test_workspaces_work_in_a_shallow_clone(repo: WorkspaceRepo, tmp_path: Path) -> None:
    repo.commit({"more": "m\n"})
    repo.git("clone", "--quiet", "--depth=1", repo.top.as_uri(), str(tmp_path / "shallow"))
    repo.top = tmp_path / "shallow"
    _round(repo)


def test_a_partial_clone_fetches_what_a_workspace_needs(repo: WorkspaceRepo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    args = ("clone", "--quiet", "--filter=blob:none", "--no-checkout", repo.top.as_uri())
    repo.git(*args, str(tmp_path / "partial"))
    repo.top = tmp_path / "partial"
    workspace = repo.prepare()
    assert (workspace / "src/app.py").read_text() == "print(1)\n"


def test_workspaces_work_from_a_linked_worktree(repo: WorkspaceRepo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "mine", str(tmp_path / "linked"))
    repo.top = tmp_path / "linked"
    _round(repo)


def test_a_configured_work_tree_that_is_missing_is_ignored(repo: WorkspaceRepo) -> None:
    common = repo.common
    base = repo.head
    repo.git("config", "core.worktree", "../gone")
    workspaces = GitWorkspaces(common, repo.root)
    for task in ("one", "two"):
        workspace = Path(workspaces.prepare("7f3a", task, base, WorkspaceSetup(), top=str(repo.top)))
        assert repo.status(workspace) == ""
        assert (workspace / "README").read_text() == "read me\n"
        workspaces.release("7f3a", task)


def test_per_worktree_settings_are_copied_except_those_about_the_checkout(
    repo: WorkspaceRepo,
) -> None:
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--worktree", "user.nickname", "me")
    repo.git("sparse-checkout", "set", "--cone", "docs")
    assert not (repo.top / "src").exists()
    workspace = _round(repo)
    assert (workspace / "src/app.py").exists()
    assert repo.git("config", "user.nickname", at=workspace) == "me"


def test_a_sparse_checkout_of_the_user_does_not_affect_workspaces(repo: WorkspaceRepo) -> None:
    repo.git("config", "core.sparseCheckout", "true")
    repo.write({"info/sparse-checkout": "/*\n!/*/\n"}, at=repo.common)
    repo.git("read-tree", "-mu", "HEAD")
    assert not (repo.top / "src").exists()
    workspace = _round(repo)
    assert (workspace / "src/app.py").exists()


@pytest.mark.parametrize("location", ["the cache", "inside of another repository"])
def test_locks_and_repositories_around_have_no_effect(repo: WorkspaceRepo, tmp_path: Path, location: str) -> None:
    if location != "the cache":
        repo.git("init", "--quiet", str(tmp_path / "around"))
        repo.root = tmp_path / "around" / "deep" / "workspaces"
        (tmp_path / "around" / "precious").touch()
    (repo.common / "index.lock").touch()
    workspace = repo.prepare()
    (workspace / ".git").unlink()  # git would now look above
    repo.write({"new": "n\n"}, at=workspace)
    repo.release()
    repo.prepare("two")
    assert (repo.common / "index.lock").exists()
    assert location == "the cache" or (tmp_path / "around" / "precious").exists()


def test_files_with_unusual_names_are_checked_out(repo: WorkspaceRepo) -> None:
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
    repo.commit({f"{name}/{name}": name for name in names if "\udcff" not in name})
    Path(os.fsdecode(os.fsencode(repo.top / "a\udcffb"))).write_bytes(b"bytes")
    repo.commit({})
    repo.root = repo.root.with_name("ünï code 'quoted\"")
    workspace = _round(repo)
    for name in names[:-1]:
        assert (workspace / name / name).read_text() == name
    assert (workspace / "a\udcffb").read_bytes() == b"bytes"


def test_a_location_with_a_line_break_is_refused(repo: WorkspaceRepo) -> None:
    repo.root = repo.root.with_name("two\nlines")
    with pytest.raises(UserError, match="line break") as error:
        repo.prepare()
    assert "[workspace] location" in error.value.hint


def test_files_that_differ_only_in_case_are_checked_out(repo: WorkspaceRepo) -> None:
    repo.commit({"Name": "1\n", "name": "2\n", "NAME/x": "3\n"})
    workspace = _round(repo)
    assert (workspace / "Name").read_text() == "1\n"
    assert (workspace / "name").read_text() == "2\n"


def test_nothing_is_removed_through_a_symlink(repo: WorkspaceRepo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    repo.write({"precious": "p"}, at=outside)
    (repo.top / "link").symlink_to("README")
    (repo.top / "away").symlink_to(outside)
    repo.commit({})
    workspace = repo.prepare()
    assert (workspace / "link").readlink() == Path("README")
    shutil.rmtree(workspace / "src")
    (workspace / "src").symlink_to(outside)  # an agent's
    (workspace / "vendor").symlink_to(outside)
    repo.release()
    second = repo.prepare("two")
    assert (second / "src/app.py").read_text() == "print(1)\n"
    repo.release("two", keep=0)
    assert [each.name for each in outside.iterdir()] == ["precious"]


@pytest.mark.parametrize("value", ["true", "input", "false"])
def test_line_endings_are_those_of_git(repo: WorkspaceRepo, value: str) -> None:
    repo.git("config", "core.autocrlf", value)
    repo.git("config", "core.safecrlf", "true")
    (repo.top / ".gitattributes").write_bytes(b"*.bat text eol=crlf\n")
    (repo.top / "run.bat").write_bytes(b"one\r\ntwo\r\n")
    repo.git("-c", "core.safecrlf=false", "add", "--all")
    repo.git("commit", "--quiet", "-m", "a change")
    workspace = _round(repo)
    assert (workspace / "run.bat").read_bytes() == b"one\r\ntwo\r\n"
    assert (workspace / "README").read_bytes() == (b"read me\r\n" if value == "true" else b"read me\n")
    (workspace / "mixed").write_bytes(b"one\r\ntwo\n")
    repo.release("two")
    assert repo.list_saved("two")


class Lfs:
    """A stand-in for git-lfs: contents by pointer, from a folder beside the objects."""

    POINTER = "version https://git-lfs.github.com/spec/v1\n"

    def __init__(self, repo: WorkspaceRepo, smudge: str) -> None:
        repo.git("config", "filter.lfs.smudge", smudge)
        repo.git("config", "filter.lfs.clean", "cat")
        repo.git("config", "filter.lfs.required", "true")
        repo.write({".gitattributes": "*.bin filter=lfs\n", "big.bin": self.POINTER})
        repo.git("-c", "filter.lfs.clean=cat", "add", "--all")
        repo.git("commit", "--quiet", "-m", "large files")


def test_lfs_files_come_from_the_local_lfs_storage(repo: WorkspaceRepo) -> None:
    (repo.common / "lfs").mkdir()
    (repo.common / "lfs" / "content").write_text("large\n")
    Lfs(repo, f"cat > /dev/null; cat {repo.common}/lfs/content")
    assert (repo.prepare() / "big.bin").read_text() == "large\n"


@pytest.mark.parametrize("smudge", ["git-lfs-that-is-not-there smudge -- %f", "exit 2"])
def test_unavailable_lfs_files_stay_pointers(repo: WorkspaceRepo, smudge: str) -> None:
    Lfs(repo, smudge)
    workspace = repo.prepare()
    assert (workspace / "big.bin").read_text() == Lfs.POINTER
    repo.release()
    assert (repo.prepare("two") / "big.bin").read_text() == Lfs.POINTER


def test_hooks_are_not_run(repo: WorkspaceRepo, tmp_path: Path) -> None:
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        repo.write({hook: f"#!/bin/sh\ntouch {tmp_path}/ran\n"}, at=repo.common / "hooks")
        (repo.common / "hooks" / hook).chmod(0o755)
    workspaces = repo.open()
    base = "HEAD"
    workspaces.prepare("7f3a", "one", base, WorkspaceSetup(), top=str(repo.top))
    workspaces.release("7f3a", "one")
    assert not (tmp_path / "ran").exists()


def test_workspaces_work_with_sha256_ids(repo: WorkspaceRepo, tmp_path: Path) -> None:
    repo.top = tmp_path / "sha256"
    repo.top.mkdir()
    repo.git("init", "--quiet", "--object-format=sha256")
    repo.commit({"README": "read me\n"})
    _round(repo)
