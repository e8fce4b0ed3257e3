"""What of the folder is in the commit."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from plait.git.worktrees.result_checks import UnfinishedError
from tests.support.task_worktree import TaskWorktree


def test_the_files_win_over_the_index(plot: TaskWorktree) -> None:
    plot.write("a.txt", "staged\n")
    plot.write("only-staged.txt", "x\n")
    plot.git("add", "-A")
    plot.write("a.txt", "in the file\n")
    (plot.path / "only-staged.txt").unlink()
    plot.git("rm", "-q", "--cached", "b.txt")
    captured = plot.capture()
    assert captured.files == ("a.txt",)
    assert plot.show(captured.tip, "a.txt") == "in the file"
    assert plot.is_clean()


def test_ignored_files_stay_out_and_tracked_ones_that_are_ignored_stay_in(tmp_path: Path) -> None:
    plot = TaskWorktree.create(tmp_path, {".gitignore": "*.log\nbuild/\n", "kept.log": "1\n"})
    plot.write("kept.log", "2\n")
    plot.write("other.log", "noise\n")
    plot.write("build/out", "noise\n")
    captured = plot.capture()
    assert captured.files == ("kept.log",)
    assert plot.show(captured.tip, "kept.log") == "2"
    assert (plot.path / "other.log").exists()


def test_an_ignored_file_that_was_taken_out_of_the_index_is_untracked_on_purpose(tmp_path: Path) -> None:
    plot = TaskWorktree.create(tmp_path, {"secret.env": "1\n"})
    plot.write(".gitignore", "*.env\n")
    plot.git("rm", "-q", "--cached", "secret.env")
    assert plot.capture().files == (".gitignore", "secret.env")
    assert (plot.path / "secret.env").exists()


def test_an_ignored_file_that_the_agent_staged_is_taken(tmp_path: Path) -> None:
    plot = TaskWorktree.create(tmp_path, {".gitignore": "*.log\n"})
    plot.write("wanted.log", "1\n")
    plot.git("add", "-f", "wanted.log")
    assert plot.capture().files == ("wanted.log",)


def test_names_of_all_kinds(plot: TaskWorktree) -> None:
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
        plot.write(name, "x\n")
    (plot.path / os.fsdecode(b"\xff\xfe")).write_bytes(b"not utf-8")
    captured = plot.capture()
    assert set(captured.files) == {*names, os.fsdecode(b"\xff\xfe")}
    assert plot.is_clean()


def test_modes_and_symlinks(plot: TaskWorktree) -> None:
    (plot.path / "a.txt").chmod(0o755)
    (plot.path / "link").symlink_to("d/c.txt")
    (plot.path / "nowhere").symlink_to("/no/such/place")
    (plot.path / "b.txt").unlink()
    (plot.path / "b.txt").symlink_to("a.txt")
    captured = plot.capture()
    told = plot.git("ls-tree", "-r", captured.tip).splitlines()
    modes = {line.split("\t")[1]: line.split()[0] for line in told}
    assert modes == {
        "a.txt": "100755",
        "b.txt": "120000",
        "d/c.txt": "100644",
        "link": "120000",
        "nowhere": "120000",
    }


def test_a_file_in_place_of_a_folder_and_a_folder_in_place_of_a_file(plot: TaskWorktree) -> None:
    (plot.path / "d" / "c.txt").unlink()
    (plot.path / "d").rmdir()
    plot.write("d", "a file\n")
    (plot.path / "a.txt").unlink()
    plot.write("a.txt/inside", "x\n")
    captured = plot.capture()
    assert plot.files(captured.tip) == {"a.txt/inside": "x", "b.txt": "b", "d": "a file"}
    assert plot.is_clean()


def test_a_link_in_place_of_a_folder(plot: TaskWorktree) -> None:
    (plot.path / "d").rename(plot.path / "e")
    (plot.path / "d").symlink_to("e")
    captured = plot.capture()
    assert captured.files == ("d", "d/c.txt", "e/c.txt")
    assert plot.is_clean()


def test_what_is_neither_file_nor_folder_is_passed_over(plot: TaskWorktree) -> None:
    os.mkfifo(plot.path / "pipe")
    (plot.path / "a.txt").unlink()
    os.mkfifo(plot.path / "a.txt")
    plot.write("one.txt", "1\n")
    assert plot.capture().files == ("a.txt", "one.txt")


def test_line_ends_are_kept_as_the_repository_keeps_them(tmp_path: Path) -> None:
    plot = TaskWorktree.create(tmp_path, {".gitattributes": "*.txt text\n", "a.txt": "a\n", "b.bin": "b\n"})
    plot.git("config", "core.autocrlf", "true")
    plot.git("config", "core.safecrlf", "true")
    plot.write("a.txt", "a\r\nmore\n")
    plot.write("new.txt", "x\r\n")
    captured = plot.capture()
    assert plot.git("cat-file", "-p", f"{captured.tip}:a.txt") == "a\nmore"
    assert captured.files == ("a.txt", "new.txt")
    assert plot.is_clean()


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_of_a_file_that_git_was_told_not_to_look_at(plot: TaskWorktree, bit: str) -> None:
    plot.git("update-index", bit, "a.txt")
    plot.write("a.txt", "changed\n")
    assert plot.capture().files == ("a.txt",)
    assert plot.git("ls-files", "-v", "a.txt") == "H a.txt"


def test_an_edit_that_keeps_size_and_time(plot: TaskWorktree) -> None:
    plot.git("config", "core.trustctime", "false")
    file = plot.path / "a.txt"
    os.utime(file, (1_000_000, 1_000_000))
    plot.git("update-index", "--refresh")
    known = int(file.stat().st_ctime)
    while int(file.stat().st_ctime) == known:  # git counts whole seconds
        time.sleep(0.01)
        file.write_text("z\n")
        os.utime(file, (1_000_000, 1_000_000))
    assert plot.capture().files == ("a.txt",)


@pytest.mark.parametrize("cone", ["--cone", "--no-cone", "without a setting"])
@pytest.mark.parametrize("index", ["kept", "lost"])
def test_what_a_sparse_checkout_leaves_out_is_not_deleted(tmp_path: Path, cone: str, index: str) -> None:
    plot = TaskWorktree.create(
        tmp_path,
        {"top.txt": "t\n", "in/a.txt": "a\n", "in/b.txt": "b\n", "out/c.txt": "c\n", "out/d.txt": "d\n"},
    )
    if cone == "without a setting":
        plot.sparse("in")
    else:
        plot.git("sparse-checkout", "set", cone, "in" if cone == "--cone" else "/in/")
    assert not (plot.path / "out").exists()
    plot.write("in/a.txt", "changed\n")
    (plot.path / "in/b.txt").unlink()
    plot.write("out/d.txt", "written all the same\n")
    plot.write("out/new.txt", "new\n")
    if index == "lost":
        (plot.admin / "index").unlink()
    captured = plot.capture()
    assert captured.files == ("in/a.txt", "in/b.txt", "out/d.txt", "out/new.txt")
    assert plot.show(captured.tip, "out/c.txt") == "c"


@pytest.mark.parametrize("content", [None, b"", b"not an index"])
def test_an_index_that_is_gone_or_damaged(plot: TaskWorktree, content: bytes | None) -> None:
    (plot.admin / "index").unlink()
    if content is not None:
        (plot.admin / "index").write_bytes(content)
    plot.write("a.txt", "changed\n")
    assert plot.capture().files == ("a.txt",)
    assert plot.is_clean()


def test_a_lock_that_a_killed_git_left(plot: TaskWorktree) -> None:
    (plot.admin / "index.lock").touch()
    (plot.admin / "HEAD.lock").touch()
    (plot.common / f"refs/heads/{plot.branch}.lock").touch()
    plot.git("checkout", "-q", "--detach", fails=True)
    (plot.admin / "HEAD").write_text(f"{plot.base}\n")
    plot.write("a.txt", "changed\n")
    assert plot.capture().files == ("a.txt",)
    assert plot.is_clean()
    assert not [*plot.admin.glob("*.lock"), *plot.common.glob("refs/**/*.lock")]


@pytest.mark.parametrize("commits", [True, False])
def test_the_files_of_a_repository_inside_are_taken(plot: TaskWorktree, *, commits: bool) -> None:
    inner = plot.path / "vendor" / "lib"
    inner.mkdir(parents=True)
    plot.git("init", "-q", at=inner)
    plot.write("x.txt", "x\n", at=inner)
    plot.write(".gitignore", "*.o\n", at=inner)
    plot.write("x.o", "noise\n", at=inner)
    if commits:
        plot.git("add", "-A", at=inner)
        plot.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "inner", at=inner)
    deep = inner / "deep"
    deep.mkdir()
    plot.git("init", "-q", at=deep)
    plot.write("y.txt", "y\n", at=deep)
    captured = plot.capture()
    assert captured.files == ("vendor/lib/.gitignore", "vendor/lib/deep/y.txt", "vendor/lib/x.txt")
    assert plot.is_clean()
    plot.write("z.txt", "z\n", at=inner)
    assert plot.capture().files == (*captured.files, "vendor/lib/z.txt")
    assert (inner / ".git").is_dir()


def test_a_repository_made_in_a_tracked_folder_hides_nothing(plot: TaskWorktree) -> None:
    plot.git("init", "-q", at=plot.path / "d")
    plot.write("d/c.txt", "changed\n")
    plot.write("d/new.txt", "new\n")
    assert plot.capture().files == ("d/c.txt", "d/new.txt")


def test_a_submodule_is_where_the_agent_moved_it(tmp_path: Path) -> None:
    plot = TaskWorktree.create(tmp_path / "r")
    other = TaskWorktree.create(tmp_path / "other")
    allowed = ("-c", "protocol.file.allow=always")
    plot.git(*allowed, "submodule", "--quiet", "add", str(other.main), "sub")
    first = plot.capture()
    assert first.files == (".gitmodules", "sub")
    plot.write("sub/new.txt", "new\n")
    assert plot.capture().tip == first.tip
    plot.git("add", "-A", at=plot.path / "sub")
    plot.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "inner", at=plot.path / "sub")
    moved = plot.capture()
    assert plot.git("rev-parse", f"{moved.tip}:sub") == plot.git("rev-parse", "HEAD", at=plot.path / "sub")


def test_edits_in_a_submodule_are_no_result_until_they_are_committed_there(tmp_path: Path) -> None:
    plot = TaskWorktree.create(tmp_path / "r")
    other = TaskWorktree.create(tmp_path / "other", {"a.txt": "a\n"})
    plot.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.main), "sub")
    plot.capture()
    plot.write("sub/a.txt", "changed\n")
    plot.write("beside.txt", "new\n")
    with pytest.raises(UnfinishedError, match="submodule sub"):
        plot.capture()
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    plot.git(*who, "commit", "-q", "-a", "-m", "inner", at=plot.path / "sub")
    assert "beside.txt" in plot.capture().files


def test_what_outfitting_put_there_stays_out(tmp_path: Path) -> None:
    plot = TaskWorktree.create(tmp_path, {"a.txt": "a\n", "config/base.ini": "1\n"})
    ours = ["node_modules", "config", "with *"]
    (plot.admin / "plait-outfit").write_text(json.dumps({"key": "k", "ours": ours}))
    (plot.path / "node_modules").symlink_to(tmp_path)
    plot.write("config/local.ini", "secret\n")
    plot.write("config/base.ini", "2\n")
    plot.write("with */x", "x\n")
    plot.write("with y", "taken\n")
    captured = plot.capture()
    assert captured.files == ("config/base.ini", "with y")
    plot.git("add", "-A")
    plot.git("commit", "-q", "-m", "everything")
    again = plot.capture()
    assert again.files == captured.files
    assert (plot.path / "node_modules").is_symlink()


@pytest.mark.parametrize("said", [b"", b"{", b"[]", b'{"ours": 3}', b'{"ours": [3, "", "/"]}'])
def test_what_outfitting_wrote_may_be_damaged(plot: TaskWorktree, said: bytes) -> None:
    (plot.admin / "plait-outfit").write_bytes(said)
    plot.write("one.txt", "1\n")
    assert plot.capture().files == ("one.txt",)


def test_the_folder_of_all_worktrees_may_be_moved_with_a_link_in_its_place(plot: TaskWorktree) -> None:
    plot.write("one.txt", "1\n")
    moved = plot.path.parent.with_name("elsewhere")
    plot.path.parent.rename(moved)
    plot.path.parent.symlink_to(moved)
    assert plot.capture().files == ("one.txt",)
