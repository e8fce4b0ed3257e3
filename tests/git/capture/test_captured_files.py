"""What of the folder is in the commit."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from plait.git.worktrees.metadata import SetupMetadata
from plait.git.worktrees.result_checks import UnfinishedError
from tests.support.task_worktree import TaskWorktree


def test_files_are_captured_whatever_the_index_says(worktree: TaskWorktree) -> None:
    worktree.write("a.txt", "staged\n")
    worktree.write("only-staged.txt", "x\n")
    worktree.git("add", "-A")
    worktree.write("a.txt", "in the file\n")
    (worktree.path / "only-staged.txt").unlink()
    worktree.git("rm", "-q", "--cached", "b.txt")
    captured = worktree.capture()
    assert captured.files == ("a.txt",)
    assert worktree.show(captured.tip, "a.txt") == "in the file"
    assert worktree.is_clean()


def test_ignored_files_stay_out_and_tracked_ones_that_are_ignored_stay_in(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path, {".gitignore": "*.log\nbuild/\n", "kept.log": "1\n"})
    worktree.write("kept.log", "2\n")
    worktree.write("other.log", "noise\n")
    worktree.write("build/out", "noise\n")
    captured = worktree.capture()
    assert captured.files == ("kept.log",)
    assert worktree.show(captured.tip, "kept.log") == "2"
    assert (worktree.path / "other.log").exists()


def test_an_ignored_file_removed_from_the_index_stays_untracked(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path, {"secret.env": "1\n"})
    worktree.write(".gitignore", "*.env\n")
    worktree.git("rm", "-q", "--cached", "secret.env")
    assert worktree.capture().files == (".gitignore", "secret.env")
    assert (worktree.path / "secret.env").exists()


def test_an_ignored_file_that_the_agent_staged_is_captured(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path, {".gitignore": "*.log\n"})
    worktree.write("wanted.log", "1\n")
    worktree.git("add", "-f", "wanted.log")
    assert worktree.capture().files == ("wanted.log",)


def test_files_with_unusual_names_are_captured(worktree: TaskWorktree) -> None:
    names = [
        "with space",
        "-dash",
        "#hash",
        "ümläut",
        "new\nline",
        "tab\t",
        "*star?",
        ":colon",
        "quote\"'",
        "a\\b",
    ]
    for name in names:
        worktree.write(name, "x\n")
    (worktree.path / os.fsdecode(b"\xff\xfe")).write_bytes(b"not utf-8")
    captured = worktree.capture()
    assert set(captured.files) == {*names, os.fsdecode(b"\xff\xfe")}
    assert worktree.is_clean()


def test_modes_and_symlinks_are_captured(worktree: TaskWorktree) -> None:
    (worktree.path / "a.txt").chmod(0o755)
    (worktree.path / "link").symlink_to("d/c.txt")
    (worktree.path / "nowhere").symlink_to("/no/such/place")
    (worktree.path / "b.txt").unlink()
    (worktree.path / "b.txt").symlink_to("a.txt")
    captured = worktree.capture()
    listing = worktree.git("ls-tree", "-r", captured.tip).splitlines()
    modes = {line.split("\t")[1]: line.split()[0] for line in listing}
    assert modes == {
        "a.txt": "100755",
        "b.txt": "120000",
        "d/c.txt": "100644",
        "link": "120000",
        "nowhere": "120000",
    }


def test_a_file_can_replace_a_folder_and_a_folder_a_file(worktree: TaskWorktree) -> None:
    (worktree.path / "d" / "c.txt").unlink()
    (worktree.path / "d").rmdir()
    worktree.write("d", "a file\n")
    (worktree.path / "a.txt").unlink()
    worktree.write("a.txt/inside", "x\n")
    captured = worktree.capture()
    assert worktree.files(captured.tip) == {"a.txt/inside": "x", "b.txt": "b", "d": "a file"}
    assert worktree.is_clean()


def test_a_symlink_can_replace_a_folder(worktree: TaskWorktree) -> None:
    (worktree.path / "d").rename(worktree.path / "e")
    (worktree.path / "d").symlink_to("e")
    captured = worktree.capture()
    assert captured.files == ("d", "d/c.txt", "e/c.txt")
    assert worktree.is_clean()


def test_special_files_are_skipped(worktree: TaskWorktree) -> None:
    os.mkfifo(worktree.path / "pipe")
    (worktree.path / "a.txt").unlink()
    os.mkfifo(worktree.path / "a.txt")
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("a.txt", "one.txt")


def test_line_endings_follow_the_repository_settings(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path, {".gitattributes": "*.txt text\n", "a.txt": "a\n", "b.bin": "b\n"})
    worktree.git("config", "core.autocrlf", "true")
    worktree.git("config", "core.safecrlf", "true")
    worktree.write("a.txt", "a\r\nmore\n")
    worktree.write("new.txt", "x\r\n")
    captured = worktree.capture()
    assert worktree.git("cat-file", "-p", f"{captured.tip}:a.txt") == "a\nmore"
    assert captured.files == ("a.txt", "new.txt")
    assert worktree.is_clean()


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_of_a_file_hidden_by_index_flags_is_captured(worktree: TaskWorktree, bit: str) -> None:
    worktree.git("update-index", bit, "a.txt")
    worktree.write("a.txt", "changed\n")
    assert worktree.capture().files == ("a.txt",)
    assert worktree.git("ls-files", "-v", "a.txt") == "H a.txt"


def test_an_edit_that_keeps_size_and_time_is_captured(worktree: TaskWorktree) -> None:
    worktree.git("config", "core.trustctime", "false")
    file = worktree.path / "a.txt"
    os.utime(file, (1_000_000, 1_000_000))
    worktree.git("update-index", "--refresh")
    known = int(file.stat().st_ctime)
    while int(file.stat().st_ctime) == known:  # git counts whole seconds
        time.sleep(0.01)
        file.write_text("z\n")
        os.utime(file, (1_000_000, 1_000_000))
    assert worktree.capture().files == ("a.txt",)


@pytest.mark.parametrize("cone", ["--cone", "--no-cone", "without a setting"])
@pytest.mark.parametrize("index", ["kept", "lost"])
def test_files_outside_a_sparse_checkout_are_not_deleted(tmp_path: Path, cone: str, index: str) -> None:
    worktree = TaskWorktree.create(
        tmp_path,
        {"top.txt": "t\n", "in/a.txt": "a\n", "in/b.txt": "b\n", "out/c.txt": "c\n", "out/d.txt": "d\n"},
    )
    if cone == "without a setting":
        worktree.sparse("in")
    else:
        worktree.git("sparse-checkout", "set", cone, "in" if cone == "--cone" else "/in/")
    assert not (worktree.path / "out").exists()
    worktree.write("in/a.txt", "changed\n")
    (worktree.path / "in/b.txt").unlink()
    worktree.write("out/d.txt", "written all the same\n")
    worktree.write("out/new.txt", "new\n")
    if index == "lost":
        (worktree.gitdir / "index").unlink()
    captured = worktree.capture()
    assert captured.files == ("in/a.txt", "in/b.txt", "out/d.txt", "out/new.txt")
    assert worktree.show(captured.tip, "out/c.txt") == "c"


@pytest.mark.parametrize("content", [None, b"", b"not an index"])
def test_a_missing_or_damaged_index_does_not_prevent_capture(worktree: TaskWorktree, content: bytes | None) -> None:
    (worktree.gitdir / "index").unlink()
    if content is not None:
        (worktree.gitdir / "index").write_bytes(content)
    worktree.write("a.txt", "changed\n")
    assert worktree.capture().files == ("a.txt",)
    assert worktree.is_clean()


def test_a_lock_left_by_a_killed_git_does_not_prevent_capture(worktree: TaskWorktree) -> None:
    (worktree.gitdir / "index.lock").touch()
    (worktree.gitdir / "HEAD.lock").touch()
    (worktree.common / f"refs/heads/{worktree.branch}.lock").touch()
    worktree.git("checkout", "-q", "--detach", fails=True)
    (worktree.gitdir / "HEAD").write_text(f"{worktree.base}\n")
    worktree.write("a.txt", "changed\n")
    assert worktree.capture().files == ("a.txt",)
    assert worktree.is_clean()
    assert not [*worktree.gitdir.glob("*.lock"), *worktree.common.glob("refs/**/*.lock")]


@pytest.mark.parametrize("commits", [True, False])
def test_files_of_a_nested_repository_are_captured(worktree: TaskWorktree, *, commits: bool) -> None:
    inner = worktree.path / "vendor" / "lib"
    inner.mkdir(parents=True)
    worktree.git("init", "-q", at=inner)
    worktree.write("x.txt", "x\n", at=inner)
    worktree.write(".gitignore", "*.o\n", at=inner)
    worktree.write("x.o", "noise\n", at=inner)
    if commits:
        worktree.git("add", "-A", at=inner)
        worktree.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "inner", at=inner)
    deep = inner / "deep"
    deep.mkdir()
    worktree.git("init", "-q", at=deep)
    worktree.write("y.txt", "y\n", at=deep)
    captured = worktree.capture()
    assert captured.files == ("vendor/lib/.gitignore", "vendor/lib/deep/y.txt", "vendor/lib/x.txt")
    assert worktree.is_clean()
    worktree.write("z.txt", "z\n", at=inner)
    assert worktree.capture().files == (*captured.files, "vendor/lib/z.txt")
    assert (inner / ".git").is_dir()


def test_a_repository_made_in_a_tracked_folder_hides_no_files(worktree: TaskWorktree) -> None:
    worktree.git("init", "-q", at=worktree.path / "d")
    worktree.write("d/c.txt", "changed\n")
    worktree.write("d/new.txt", "new\n")
    assert worktree.capture().files == ("d/c.txt", "d/new.txt")


def test_a_moved_submodule_commit_is_captured(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path / "r")
    other = TaskWorktree.create(tmp_path / "other")
    allowed = ("-c", "protocol.file.allow=always")
    worktree.git(*allowed, "submodule", "--quiet", "add", str(other.main), "sub")
    first = worktree.capture()
    assert first.files == (".gitmodules", "sub")
    worktree.write("sub/new.txt", "new\n")
    commit_in(worktree, "sub")
    worktree.git("push", "-q", "origin", "HEAD:refs/heads/new", at=worktree.path / "sub")
    moved = worktree.capture()
    assert worktree.git("rev-parse", f"{moved.tip}:sub") == worktree.git("rev-parse", "HEAD", at=worktree.path / "sub")


def commit_in(worktree: TaskWorktree, folder: str) -> None:
    at = worktree.path / folder
    worktree.git("add", "-A", at=at)
    worktree.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "inner", at=at)


@pytest.fixture
def nested(tmp_path: Path) -> TaskWorktree:
    """A worktree with the submodule `sub`, which has the submodule `inner`."""
    allowed = ("-c", "protocol.file.allow=always")
    inner = TaskWorktree.create(tmp_path / "inner", {"a.txt": "a\n"})
    outer = TaskWorktree.create(tmp_path / "outer", {"a.txt": "a\n"})
    outer.git(*allowed, "submodule", "--quiet", "add", str(inner.main), "inner", at=outer.main)
    outer.git("commit", "-q", "-m", "inner", at=outer.main)
    worktree = TaskWorktree.create(tmp_path / "r")
    worktree.git(*allowed, "submodule", "--quiet", "add", str(outer.main), "sub")
    worktree.git(*allowed, "submodule", "--quiet", "update", "--init", "--recursive")
    worktree.capture()
    return worktree


@pytest.mark.parametrize("name", ["sub/a.txt", "sub/new.txt", "sub/new/er.txt", "sub/inner/a.txt", "sub/inner/new.txt"])
@pytest.mark.parametrize("ignore", ["none", "all"])
def test_uncommitted_files_in_a_submodule_are_refused(nested: TaskWorktree, name: str, ignore: str) -> None:
    nested.git("config", "--file", ".gitmodules", "submodule.sub.ignore", ignore)
    nested.git("config", "status.showUntrackedFiles", "no", at=nested.path / "sub")
    nested.write(name, "changed\n")
    with pytest.raises(UnfinishedError, match=f"in the submodule sub.* not committed there.*: {name}"):
        nested.capture()
    assert (nested.path / name).read_text() == "changed\n"


def test_ignored_files_in_a_submodule_are_no_change(nested: TaskWorktree) -> None:
    (nested.gitdir / "modules/sub/info").mkdir(exist_ok=True)
    (nested.gitdir / "modules/sub/info/exclude").write_text("*.log\n")
    nested.write("sub/x.log", "x\n")
    nested.write("beside.txt", "new\n")
    assert "beside.txt" in nested.capture().files


@pytest.mark.parametrize("folder", ["sub", "sub/inner"])
def test_a_commit_that_no_remote_of_the_submodule_has_is_refused(nested: TaskWorktree, folder: str) -> None:
    nested.write(f"{folder}/new.txt", "new\n")
    commit_in(nested, folder)
    if folder != "sub":
        commit_in(nested, "sub")
        nested.git("push", "-q", "origin", "HEAD:refs/heads/new", at=nested.path / "sub")
    with pytest.raises(
        UnfinishedError, match=f"submodule {folder} has a commit that none of its remotes has"
    ) as caught:
        nested.capture()
    assert "Push it" in caught.value.hint
    nested.git("push", "-q", "origin", "HEAD:refs/heads/new", at=nested.path / folder)
    assert nested.capture().files == (".gitmodules", "sub")


def test_a_commit_that_is_left_on_a_branch_of_the_submodule_is_refused(nested: TaskWorktree) -> None:
    nested.git("checkout", "-q", "-b", "mine", at=nested.path / "sub")
    nested.write("sub/new.txt", "new\n")
    commit_in(nested, "sub")
    nested.git("checkout", "-q", "--detach", "HEAD~", at=nested.path / "sub")
    with pytest.raises(UnfinishedError, match="submodule sub has a commit"):
        nested.capture()


def test_files_in_a_submodule_that_is_not_checked_out_are_refused(nested: TaskWorktree) -> None:
    nested.git("submodule", "--quiet", "deinit", "--force", "sub")
    nested.write("beside.txt", "new\n")
    assert "beside.txt" in nested.capture().files
    nested.write("sub/deep/new.txt", "new\n")
    with pytest.raises(UnfinishedError, match=r"sub is not checked out here.*: sub/deep/new.txt"):
        nested.capture()


def test_a_repository_that_the_agent_added_as_a_submodule_is_refused(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path / "r")
    worktree.git("init", "-q", "made")
    worktree.write("made/x.txt", "x\n")
    commit_in(worktree, "made")
    worktree.git("add", "-A")
    worktree.git("commit", "-q", "-m", "with a repository inside")
    with pytest.raises(UnfinishedError, match="submodule made has a commit that none of its remotes has"):
        worktree.capture()


def test_a_submodule_that_is_set_to_be_ignored_is_captured_at_its_new_commit(nested: TaskWorktree) -> None:
    nested.git("config", "--file", ".gitmodules", "submodule.sub.ignore", "all")
    nested.write("sub/new.txt", "new\n")
    commit_in(nested, "sub")
    nested.git("push", "-q", "origin", "HEAD:refs/heads/new", at=nested.path / "sub")
    tip = nested.capture().tip
    assert nested.git("rev-parse", f"{tip}:sub") == nested.git("rev-parse", "HEAD", at=nested.path / "sub")


def test_files_made_by_setup_are_not_captured(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path, {"a.txt": "a\n", "config/base.ini": "1\n"})
    ours = ["node_modules", "config", "with *"]
    (worktree.gitdir / "plait-outfit").write_text(json.dumps(asdict(SetupMetadata("k", tuple(ours)))))
    (worktree.path / "node_modules").symlink_to(tmp_path)
    worktree.write("config/local.ini", "secret\n")
    worktree.write("config/base.ini", "2\n")
    worktree.write("with */x", "x\n")
    worktree.write("with y", "taken\n")
    captured = worktree.capture()
    assert captured.files == ("config/base.ini", "with y")
    worktree.git("add", "-A")
    worktree.git("commit", "-q", "-m", "everything")
    again = worktree.capture()
    assert again.files == captured.files
    assert (worktree.path / "node_modules").is_symlink()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"ours": 3}', b'{"ours": [3, "", "/"]}'])
def test_damaged_setup_metadata_does_not_prevent_capture(worktree: TaskWorktree, text: bytes) -> None:
    (worktree.gitdir / "plait-outfit").write_bytes(text)
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)


def test_the_worktrees_folder_may_be_moved_and_replaced_by_a_symlink(worktree: TaskWorktree) -> None:
    worktree.write("one.txt", "1\n")
    moved = worktree.path.parent.with_name("elsewhere")
    worktree.path.parent.rename(moved)
    worktree.path.parent.symlink_to(moved)
    assert worktree.capture().files == ("one.txt",)
