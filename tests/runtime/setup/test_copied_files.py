"""Ignored files of the checkout that a workspace gets a copy of."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plait.git.interfaces import WorkspaceSetup
from plait.runtime.setup.setup_command import SETUP_FAILED_EXIT

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import SetupHarness

NONE = WorkspaceSetup()


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_ignored_files_that_worktreeinclude_names_are_copied_and_no_others(harness: SetupHarness) -> None:
    harness.write(".worktreeinclude", "# what others need\n.env*\n!.env.mine\n/deep/**/x.log\n")
    harness.write(".env", "SECRET=1")
    harness.write(".env.mine")
    harness.write("deep/er/x.log")
    harness.write("x.log")
    harness.write("sub/.env.local")
    workspace = harness.worktree()
    assert harness.wanted(workspace, NONE)
    ended = harness.fit(workspace, NONE)
    assert (ended.code, ended.failure) == (0, None)
    assert ended.out.splitlines() == [
        "plait: copied from the checkout: .env, deep/er/x.log, sub/.env.local",
        "the agent runs",
    ]
    assert (workspace / ".env").read_text() == "SECRET=1"
    assert not (workspace / ".env.mine").exists()
    assert not (workspace / "x.log").exists()
    assert harness.ours(workspace) == {".env", "deep/er/x.log", "sub/.env.local"}
    assert harness.status(workspace) == ""
    assert not harness.wanted(workspace, NONE)


def test_a_file_that_git_does_not_ignore_is_not_copied(harness: SetupHarness) -> None:
    harness.write(".worktreeinclude", "notes.txt\ncode.txt\n")
    harness.write("notes.txt", "a person's own")
    harness.write("code.txt", "changed in the checkout")
    workspace = harness.worktree()
    assert harness.fit(workspace, NONE).code == 0
    assert not (workspace / "notes.txt").exists()
    assert (workspace / "code.txt").read_text() == "code\n"
    assert harness.status(workspace) == ""


def test_no_setup_is_needed_without_options(harness: SetupHarness) -> None:
    harness.write(".env")
    assert not harness.wanted(harness.worktree(), NONE)


def test_patterns_of_the_settings_come_after_those_of_worktreeinclude(harness: SetupHarness) -> None:
    harness.write(".worktreeinclude", ".env*\n")
    harness.write(".env.a")
    harness.write(".env.b")
    harness.write("node_modules/p/index.js")
    workspace = harness.worktree()
    harness.fit(workspace, WorkspaceSetup(copy=("node_modules", "!.env.b")))
    assert harness.ours(workspace) == {".env.a", "node_modules"}
    assert (workspace / "node_modules/p/index.js").exists()
    assert not (workspace / ".env.b").exists()


def test_a_plain_name_that_matches_nothing_is_reported(harness: SetupHarness) -> None:
    harness.write("seen.txt")
    out = harness.fit(harness.worktree(), WorkspaceSetup(copy=("gone.txt", "seen.txt", "../other"))).out
    assert out.splitlines()[:3] == [
        "plait: warning: gone.txt is not in the checkout",
        "plait: warning: seen.txt is not ignored by git: what the commit holds is there already",
        "plait: warning: ../other is outside of the checkout",
    ]


def test_modes_times_and_links_are_kept(harness: SetupHarness) -> None:
    tool = harness.write("node_modules/bin/tool", "#!/bin/sh\n", mode=0o755)
    os.utime(tool, ns=(10**18, 10**18 + 7))
    harness.write(".env", "S", mode=0o600)
    locked = harness.write("node_modules/cache/read-only", mode=0o444).parent
    os.utime(locked, ns=(10**18, 10**18 + 9))
    locked.chmod(0o555)
    (harness.top / "node_modules/away").symlink_to("/nowhere/at/all")
    (harness.top / "node_modules/up").symlink_to("bin")
    workspace = harness.worktree()
    assert harness.fit(workspace, WorkspaceSetup(copy=(".env", "node_modules"))).code == 0

    def seen(path: str) -> tuple[str, int]:
        status = (workspace / path).stat()
        return oct(stat.S_IMODE(status.st_mode)), status.st_mtime_ns - 10**18

    assert seen("node_modules/bin/tool") == ("0o755", 7)
    assert seen("node_modules/cache") == ("0o555", 9)
    assert seen(".env")[0] == "0o600"
    assert seen("node_modules/cache/read-only")[0] == "0o444"
    assert (workspace / "node_modules/away").readlink() == Path("/nowhere/at/all")
    assert (workspace / "node_modules/up").readlink() == Path("bin")
    for folder in (locked, workspace / "node_modules/cache"):
        folder.chmod(0o755)


def test_files_with_unusual_names_are_copied(harness: SetupHarness) -> None:
    odd = ["a b", "ü", "-x", "new\nline", "back\\slash", ":(glob)*", "\x1b[31m"]
    for name in odd:
        harness.write(f"data/{name}", name)
    harness.write(f"data/{os.fsdecode(bytes([255]))}")
    workspace = harness.worktree()
    ended = harness.fit(workspace, WorkspaceSetup(copy=("data/*",)))
    assert names(workspace / "data") == names(harness.top / "data")
    assert "\x1b" not in ended.out
    assert len(ended.out.splitlines()) == 2
    assert harness.ours(workspace) == {f"data/{name}" for name in names(harness.top / "data")}


def test_sockets_and_pipes_are_skipped(harness: SetupHarness) -> None:
    harness.write("data/file")
    os.mkfifo(harness.top / "data/pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(harness.top / "data")  # its address has to be short
        try:
            bound.bind("socket")
        finally:
            os.chdir(here)
    workspace = harness.worktree()
    assert harness.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    assert names(workspace / "data") == ["file"]


def test_an_unreadable_file_is_skipped_with_a_warning(harness: SetupHarness, humble: tuple[str, ...]) -> None:
    harness.write("data/closed", mode=0)
    harness.write("data/open")
    workspace = harness.worktree()
    ended = harness.fit(workspace, WorkspaceSetup(copy=("data",)), prefix=humble)
    assert ended.code == 0
    assert f"plait: warning: {harness.top}/data/closed is not copied: Permission denied" in ended.out
    assert names(workspace / "data") == ["open"]


def test_only_the_first_of_many_warnings_are_shown(harness: SetupHarness) -> None:
    for n in range(50):
        harness.write(f"data/{n}/.git", "gitdir: elsewhere")
    out = harness.fit(harness.worktree(), WorkspaceSetup(copy=("data",))).out
    assert out.count("plait: warning: ") == 21
    assert "plait: warning: … and 30 more like these" in out


def test_holes_stay_holes(harness: SetupHarness) -> None:
    with harness.write("data/image").open("r+b") as image:
        image.write(b"first")
        image.seek(5 << 30)
        image.write(b"last")
        image.truncate(6 << 30)
    workspace = harness.worktree()
    assert harness.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    with (workspace / "data/image").open("rb") as copied:
        assert os.fstat(copied.fileno()).st_size == 6 << 30
        assert os.fstat(copied.fileno()).st_blocks * 512 < 1 << 20
        assert copied.read(5) == b"first"
        copied.seek(5 << 30)
        assert copied.read(5) == b"last\0"


def test_neither_another_worktree_nor_the_workspace_itself_is_copied(harness: SetupHarness) -> None:
    harness.write("data/file")
    workspace = harness.top / "data" / "work"
    harness.git("worktree", "add", "-q", "--detach", str(workspace))
    harness.git("worktree", "add", "-q", "--detach", str(harness.top / "data" / "other"))
    assert harness.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    assert names(workspace / "data") == ["file"]


def test_a_cache_in_the_checkout_is_not_copied(harness: SetupHarness) -> None:
    harness.write("data/file")
    harness = replace(harness, cache_name="checkout/data/cache")
    harness.write("data/cache/made")
    workspace = harness.worktree()
    assert harness.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    assert names(workspace / "data") == ["file"]


def test_a_committed_file_is_never_overwritten(harness: SetupHarness) -> None:
    harness.write(".env", "of the commit")
    harness.write("data/kept", "of the commit")
    harness.commit(".env", "data/kept")
    workspace = harness.worktree()
    harness.git("rm", "-q", "-r", "--cached", ".env", "data")
    harness.git("commit", "-q", "-m", "no longer tracked")
    harness.write(".env", "of the checkout")
    harness.write("data/kept", "of the checkout")
    harness.write("data/more")
    ended = harness.fit(workspace, WorkspaceSetup(copy=(".env", "data")))
    assert ended.code == 0
    assert (workspace / ".env").read_text() == "of the commit"
    assert (workspace / "data/kept").read_text() == "of the commit"
    assert (workspace / "data/more").exists()
    assert harness.ours(workspace) == {"data/more"}
    assert harness.status(workspace) == ""


def test_a_tracked_file_that_is_not_checked_out_is_not_made(harness: SetupHarness) -> None:
    harness.write("data/kept/file")
    harness.commit("data/kept/file")
    workspace = harness.worktree()
    harness.git("sparse-checkout", "set", "nothing", where=workspace)
    harness.git("rm", "-q", "-r", "--cached", "data")
    harness.write("data/kept/file")
    harness.write("data/more")
    assert harness.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    assert not (workspace / "data/kept/file").exists()
    assert (workspace / "data/more").exists()


def test_a_committed_link_leads_no_copy_out_of_the_workspace(harness: SetupHarness) -> None:
    outside = harness.root / "outside"
    outside.mkdir()
    (harness.top / "config").symlink_to(outside)
    harness.commit("config")
    workspace = harness.worktree()
    (workspace / "later").symlink_to(outside)
    harness.git("rm", "-q", "config")
    harness.write("config/.env")
    harness.write("later/.env")
    ended = harness.fit(workspace, WorkspaceSetup(copy=(".env",)))
    assert ended.code == 0
    assert "later/.env is left out: something else than a folder is where later should be" in ended.out
    assert names(outside) == []


def test_a_link_in_the_checkout_is_copied_as_a_link(harness: SetupHarness) -> None:
    outside = harness.root / "outside"
    outside.mkdir()
    (outside / ".env").touch()
    (harness.top / "data").mkdir()
    (harness.top / "data/away").symlink_to(outside)
    workspace = harness.worktree()
    assert harness.fit(workspace, WorkspaceSetup(copy=("data", ".env"))).code == 0
    assert (workspace / "data/away").readlink() == outside
    assert names(outside) == [".env"]


def test_patterns_select_nothing_outside_the_checkout(harness: SetupHarness) -> None:
    (harness.root / ".env").touch()
    harness.write(".worktreeinclude", f"../.env\n{harness.root}/.env\n/../.env\n../*\n")
    workspace = harness.worktree()
    ended = harness.fit(workspace, WorkspaceSetup(copy=("../.env", f"{harness.root}/.env", "..")))
    assert ended.code == 0
    assert harness.ours(workspace) == set()
    assert names(workspace) == [".git", ".gitignore", "code.txt"]


def test_a_worktreeinclude_that_is_not_a_regular_file_is_not_read(harness: SetupHarness) -> None:
    (harness.top / ".worktreeinclude").symlink_to("/dev/zero")
    workspace = harness.worktree()
    assert not harness.wanted(workspace, NONE)
    assert harness.fit(workspace, NONE).code == 0


def test_an_existing_file_stays_and_is_reported(harness: SetupHarness) -> None:
    harness.write(".env", "of the checkout")
    workspace = harness.worktree()
    (workspace / ".env").write_text("of an agent")
    ended = harness.fit(workspace, WorkspaceSetup(copy=(".env",)))
    assert "plait: warning: .env is there already and is left as it is" in ended.out
    assert (workspace / ".env").read_text() == "of an agent"
    assert harness.ours(workspace) == set()


def test_files_are_copied_once_whatever_the_agent_does_to_them(harness: SetupHarness) -> None:
    harness.write(".env", "of the checkout")
    workspace, setup = harness.worktree(), WorkspaceSetup(copy=(".env",))
    harness.fit(workspace, setup, "rm", ".env")
    assert not harness.wanted(workspace, setup)
    assert harness.fit(workspace, setup).out == "the agent runs\n"
    assert not (workspace / ".env").exists()


def test_a_copied_file_is_never_part_of_the_change_even_if_the_commit_does_not_ignore_it(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    harness.write(".env", "SECRET=1")
    harness.fit(workspace, WorkspaceSetup(copy=(".env",)), "sh", "-c", ": >.gitignore")
    assert "?? .env" in harness.status(workspace)
    assert harness.ours(workspace) == {".env"}


def test_a_copy_leaves_the_minimum_of_free_space(harness: SetupHarness) -> None:
    harness.write("data/file", "some")
    workspace = harness.worktree()
    ended = harness.fit(workspace, WorkspaceSetup(copy=("data",)), spare=1 << 60)
    assert ended.code == SETUP_FAILED_EXIT
    assert ended.failure is not None
    assert ended.failure.startswith(f"there is no room to copy more to {workspace}: less than ")
    assert "the agent runs" not in ended.out
    assert harness.status(workspace) == ""
    assert not (workspace / "data").exists()
    assert harness.fit(workspace, WorkspaceSetup(copy=("data",))).failure is None


def test_without_a_checkout_there_is_nothing_to_copy(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    bare = harness.root / "bare.git"
    harness.git("clone", "-q", "--bare", str(harness.top), str(bare))
    shutil.move(harness.top, harness.root / "moved")
    harness.git("worktree", "repair", str(workspace), where=harness.root / "moved")
    bare.rename(harness.top)
    assert not harness.wanted(workspace, NONE)
    ended = harness.fit(workspace, WorkspaceSetup(copy=(".env",)))
    assert ended.code == 0
    assert "plait: warning: there is no checkout to copy files from" in ended.out


def test_a_batch_submitted_from_a_subfolder_copies_from_the_whole_checkout(harness: SetupHarness) -> None:
    harness.write(".worktreeinclude", ".env\n")
    harness.write(".env", "above")
    workspace = harness.worktree()
    (harness.top / "inner").mkdir()
    inner = replace(harness, top_name="checkout/inner")
    assert inner.wanted(workspace, NONE)
    assert inner.fit(workspace, NONE).code == 0
    assert (workspace / ".env").read_text() == "above"


def test_the_checkout_stays_unchanged(harness: SetupHarness) -> None:
    harness.write(".env", "S")
    harness.write("untracked.txt")
    harness.write("code.txt", "edited")
    harness.git("add", "code.txt")
    workspace = harness.worktree()

    def seen() -> list[tuple[str, int, bytes]]:
        files = (each for each in sorted(harness.top.rglob("*")) if each.is_file() and "worktrees" not in each.parts)
        return [(str(each), each.stat().st_mtime_ns, each.read_bytes()) for each in files]

    before = seen()
    assert harness.fit(workspace, WorkspaceSetup(copy=(".env",), setup="true")).code == 0
    assert seen() == before


def test_a_repository_with_a_file_of_the_staging_name_is_reported(harness: SetupHarness) -> None:
    (harness.top / ".plait-outfit").symlink_to("/")
    harness.commit(".plait-outfit")
    harness.write(".env")
    ended = harness.fit(harness.worktree(), WorkspaceSetup(copy=(".env",)))
    assert ended.code == SETUP_FAILED_EXIT
    assert ended.failure == "the repository has a file .plait-outfit of its own, which plait needs the name of"
