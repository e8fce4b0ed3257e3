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
from plait.runtime.setup.spec import SETUP_FAILED_EXIT

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import Bench

NONE = WorkspaceSetup()


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_ignored_files_that_worktreeinclude_names_are_copied_and_no_others(bench: Bench) -> None:
    bench.write(".worktreeinclude", "# what others need\n.env*\n!.env.mine\n/deep/**/x.log\n")
    bench.write(".env", "SECRET=1")
    bench.write(".env.mine")
    bench.write("deep/er/x.log")
    bench.write("x.log")
    bench.write("sub/.env.local")
    workspace = bench.worktree()
    assert bench.wanted(workspace, NONE)
    ended = bench.fit(workspace, NONE)
    assert (ended.code, ended.failure) == (0, None)
    assert ended.out.splitlines() == [
        "plait: copied from the checkout: .env, deep/er/x.log, sub/.env.local",
        "the agent runs",
    ]
    assert (workspace / ".env").read_text() == "SECRET=1"
    assert not (workspace / ".env.mine").exists()
    assert not (workspace / "x.log").exists()
    assert bench.ours(workspace) == {".env", "deep/er/x.log", "sub/.env.local"}
    assert bench.status(workspace) == ""
    assert not bench.wanted(workspace, NONE)


def test_what_git_does_not_ignore_is_not_copied(bench: Bench) -> None:
    bench.write(".worktreeinclude", "notes.txt\ncode.txt\n")
    bench.write("notes.txt", "a person's own")
    bench.write("code.txt", "changed in the checkout")
    workspace = bench.worktree()
    assert bench.fit(workspace, NONE).code == 0
    assert not (workspace / "notes.txt").exists()
    assert (workspace / "code.txt").read_text() == "code\n"
    assert bench.status(workspace) == ""


def test_where_nothing_is_asked_for_nothing_is_wanted(bench: Bench) -> None:
    bench.write(".env")
    assert not bench.wanted(bench.worktree(), NONE)


def test_patterns_of_the_outfit_count_like_those_of_the_file_and_after_them(bench: Bench) -> None:
    bench.write(".worktreeinclude", ".env*\n")
    bench.write(".env.a")
    bench.write(".env.b")
    bench.write("node_modules/p/index.js")
    workspace = bench.worktree()
    bench.fit(workspace, WorkspaceSetup(copy=("node_modules", "!.env.b")))
    assert bench.ours(workspace) == {".env.a", "node_modules"}
    assert (workspace / "node_modules/p/index.js").exists()
    assert not (workspace / ".env.b").exists()


def test_a_plain_name_that_chooses_nothing_is_told(bench: Bench) -> None:
    bench.write("seen.txt")
    out = bench.fit(bench.worktree(), WorkspaceSetup(copy=("gone.txt", "seen.txt", "../other"))).out
    assert out.splitlines()[:3] == [
        "plait: warning: gone.txt is not in the checkout",
        "plait: warning: seen.txt is not ignored by git: what the commit holds is there already",
        "plait: warning: ../other is outside of the checkout",
    ]


def test_modes_times_and_links_are_kept(bench: Bench) -> None:
    tool = bench.write("node_modules/bin/tool", "#!/bin/sh\n", mode=0o755)
    os.utime(tool, ns=(10**18, 10**18 + 7))
    bench.write(".env", "S", mode=0o600)
    locked = bench.write("node_modules/cache/read-only", mode=0o444).parent
    os.utime(locked, ns=(10**18, 10**18 + 9))
    locked.chmod(0o555)
    (bench.top / "node_modules/away").symlink_to("/nowhere/at/all")
    (bench.top / "node_modules/up").symlink_to("bin")
    workspace = bench.worktree()
    assert bench.fit(workspace, WorkspaceSetup(copy=(".env", "node_modules"))).code == 0

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


def test_names_of_any_kind(bench: Bench) -> None:
    odd = ["a b", "ü", "-x", "new\nline", "back\\slash", ":(glob)*", "\x1b[31m"]
    for name in odd:
        bench.write(f"data/{name}", name)
    bench.write(f"data/{os.fsdecode(bytes([255]))}")
    workspace = bench.worktree()
    ended = bench.fit(workspace, WorkspaceSetup(copy=("data/*",)))
    assert names(workspace / "data") == names(bench.top / "data")
    assert "\x1b" not in ended.out
    assert len(ended.out.splitlines()) == 2
    assert bench.ours(workspace) == {f"data/{name}" for name in names(bench.top / "data")}


def test_sockets_and_pipes_are_passed_over(bench: Bench) -> None:
    bench.write("data/file")
    os.mkfifo(bench.top / "data/pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(bench.top / "data")  # its address has to be short
        try:
            bound.bind("socket")
        finally:
            os.chdir(here)
    workspace = bench.worktree()
    assert bench.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    assert names(workspace / "data") == ["file"]


def test_a_file_that_cannot_be_read_costs_itself_and_is_told(bench: Bench, humble: tuple[str, ...]) -> None:
    bench.write("data/closed", mode=0)
    bench.write("data/open")
    workspace = bench.worktree()
    ended = bench.fit(workspace, WorkspaceSetup(copy=("data",)), prefix=humble)
    assert ended.code == 0
    assert f"plait: warning: {bench.top}/data/closed is not copied: Permission denied" in ended.out
    assert names(workspace / "data") == ["open"]


def test_of_very_many_warnings_the_first_are_shown(bench: Bench) -> None:
    for n in range(50):
        bench.write(f"data/{n}/.git", "gitdir: elsewhere")
    out = bench.fit(bench.worktree(), WorkspaceSetup(copy=("data",))).out
    assert out.count("plait: warning: ") == 21
    assert "plait: warning: … and 30 more like these" in out


def test_holes_stay_holes(bench: Bench) -> None:
    with bench.write("data/image").open("r+b") as image:
        image.write(b"first")
        image.seek(5 << 30)
        image.write(b"last")
        image.truncate(6 << 30)
    workspace = bench.worktree()
    assert bench.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    with (workspace / "data/image").open("rb") as copied:
        assert os.fstat(copied.fileno()).st_size == 6 << 30
        assert os.fstat(copied.fileno()).st_blocks * 512 < 1 << 20
        assert copied.read(5) == b"first"
        copied.seek(5 << 30)
        assert copied.read(5) == b"last\0"


def test_another_worktree_in_the_checkout_is_not_copied_nor_the_workspace_into_itself(bench: Bench) -> None:
    bench.write("data/file")
    workspace = bench.top / "data" / "work"
    bench.git("worktree", "add", "-q", "--detach", str(workspace))
    bench.git("worktree", "add", "-q", "--detach", str(bench.top / "data" / "other"))
    assert bench.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    assert names(workspace / "data") == ["file"]


def test_a_cache_in_the_checkout_is_not_copied(bench: Bench) -> None:
    bench.write("data/file")
    bench = replace(bench, cache_name="checkout/data/cache")
    bench.write("data/cache/made")
    workspace = bench.worktree()
    assert bench.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    assert names(workspace / "data") == ["file"]


def test_what_the_commit_holds_is_never_overwritten(bench: Bench) -> None:
    bench.write(".env", "of the commit")
    bench.write("data/kept", "of the commit")
    bench.commit(".env", "data/kept")
    workspace = bench.worktree()
    bench.git("rm", "-q", "-r", "--cached", ".env", "data")
    bench.git("commit", "-q", "-m", "no longer tracked")
    bench.write(".env", "of the checkout")
    bench.write("data/kept", "of the checkout")
    bench.write("data/more")
    ended = bench.fit(workspace, WorkspaceSetup(copy=(".env", "data")))
    assert ended.code == 0
    assert (workspace / ".env").read_text() == "of the commit"
    assert (workspace / "data/kept").read_text() == "of the commit"
    assert (workspace / "data/more").exists()
    assert bench.ours(workspace) == {"data/more"}
    assert bench.status(workspace) == ""


def test_a_tracked_file_that_is_not_checked_out_is_not_made(bench: Bench) -> None:
    bench.write("data/kept/file")
    bench.commit("data/kept/file")
    workspace = bench.worktree()
    bench.git("sparse-checkout", "set", "nothing", where=workspace)
    bench.git("rm", "-q", "-r", "--cached", "data")
    bench.write("data/kept/file")
    bench.write("data/more")
    assert bench.fit(workspace, WorkspaceSetup(copy=("data",))).code == 0
    assert not (workspace / "data/kept/file").exists()
    assert (workspace / "data/more").exists()


def test_no_link_of_the_commit_leads_a_copy_out_of_the_workspace(bench: Bench) -> None:
    outside = bench.root / "outside"
    outside.mkdir()
    (bench.top / "config").symlink_to(outside)
    bench.commit("config")
    workspace = bench.worktree()
    (workspace / "later").symlink_to(outside)
    bench.git("rm", "-q", "config")
    bench.write("config/.env")
    bench.write("later/.env")
    ended = bench.fit(workspace, WorkspaceSetup(copy=(".env",)))
    assert ended.code == 0
    assert "later/.env is left out: something else than a folder is where later should be" in ended.out
    assert names(outside) == []


def test_a_link_in_the_checkout_is_copied_as_it_is_and_not_walked_into(bench: Bench) -> None:
    outside = bench.root / "outside"
    outside.mkdir()
    (outside / ".env").touch()
    (bench.top / "data").mkdir()
    (bench.top / "data/away").symlink_to(outside)
    workspace = bench.worktree()
    assert bench.fit(workspace, WorkspaceSetup(copy=("data", ".env"))).code == 0
    assert (workspace / "data/away").readlink() == outside
    assert names(outside) == [".env"]


def test_patterns_lead_nowhere_else(bench: Bench) -> None:
    (bench.root / ".env").touch()
    bench.write(".worktreeinclude", f"../.env\n{bench.root}/.env\n/../.env\n../*\n")
    workspace = bench.worktree()
    ended = bench.fit(workspace, WorkspaceSetup(copy=("../.env", f"{bench.root}/.env", "..")))
    assert ended.code == 0
    assert bench.ours(workspace) == set()
    assert names(workspace) == [".git", ".gitignore", "code.txt"]


def test_a_file_of_patterns_that_is_none_is_not_read(bench: Bench) -> None:
    (bench.top / ".worktreeinclude").symlink_to("/dev/zero")
    workspace = bench.worktree()
    assert not bench.wanted(workspace, NONE)
    assert bench.fit(workspace, NONE).code == 0


def test_somebody_elses_file_stays_and_is_told(bench: Bench) -> None:
    bench.write(".env", "of the checkout")
    workspace = bench.worktree()
    (workspace / ".env").write_text("of an agent")
    ended = bench.fit(workspace, WorkspaceSetup(copy=(".env",)))
    assert "plait: warning: .env is there already and is left as it is" in ended.out
    assert (workspace / ".env").read_text() == "of an agent"
    assert bench.ours(workspace) == set()


def test_it_is_done_once_whatever_the_agent_does_to_it(bench: Bench) -> None:
    bench.write(".env", "of the checkout")
    workspace, outfit = bench.worktree(), WorkspaceSetup(copy=(".env",))
    bench.fit(workspace, outfit, "rm", ".env")
    assert not bench.wanted(workspace, outfit)
    assert bench.fit(workspace, outfit).out == "the agent runs\n"
    assert not (workspace / ".env").exists()


def test_a_commit_that_ignores_less_is_no_reason_for_secrets_to_be_part_of_a_change(bench: Bench) -> None:
    workspace = bench.worktree()
    bench.write(".env", "SECRET=1")
    bench.fit(workspace, WorkspaceSetup(copy=(".env",)), "sh", "-c", ": >.gitignore")
    assert "?? .env" in bench.status(workspace)
    assert bench.ours(workspace) == {".env"}


def test_no_copy_takes_the_last_room_on_the_disk(bench: Bench) -> None:
    bench.write("data/file", "some")
    workspace = bench.worktree()
    ended = bench.fit(workspace, WorkspaceSetup(copy=("data",)), spare=1 << 60)
    assert ended.code == SETUP_FAILED_EXIT
    assert ended.failure is not None
    assert ended.failure.startswith(f"there is no room to copy more to {workspace}: less than ")
    assert "the agent runs" not in ended.out
    assert bench.status(workspace) == ""
    assert not (workspace / "data").exists()
    assert bench.fit(workspace, WorkspaceSetup(copy=("data",))).failure is None


def test_without_a_checkout_there_is_nothing_to_copy(bench: Bench) -> None:
    workspace = bench.worktree()
    bare = bench.root / "bare.git"
    bench.git("clone", "-q", "--bare", str(bench.top), str(bare))
    shutil.move(bench.top, bench.root / "moved")
    bench.git("worktree", "repair", str(workspace), where=bench.root / "moved")
    bare.rename(bench.top)
    assert not bench.wanted(workspace, NONE)
    ended = bench.fit(workspace, WorkspaceSetup(copy=(".env",)))
    assert ended.code == 0
    assert "plait: warning: there is no checkout to copy files from" in ended.out


def test_from_a_folder_of_the_checkout_the_whole_of_it_counts(bench: Bench) -> None:
    bench.write(".worktreeinclude", ".env\n")
    bench.write(".env", "above")
    workspace = bench.worktree()
    (bench.top / "inner").mkdir()
    inner = replace(bench, top_name="checkout/inner")
    assert inner.wanted(workspace, NONE)
    assert inner.fit(workspace, NONE).code == 0
    assert (workspace / ".env").read_text() == "above"


def test_the_checkout_is_left_as_it_was(bench: Bench) -> None:
    bench.write(".env", "S")
    bench.write("untracked.txt")
    bench.write("code.txt", "edited")
    bench.git("add", "code.txt")
    workspace = bench.worktree()

    def seen() -> list[tuple[str, int, bytes]]:
        files = (each for each in sorted(bench.top.rglob("*")) if each.is_file() and "worktrees" not in each.parts)
        return [(str(each), each.stat().st_mtime_ns, each.read_bytes()) for each in files]

    before = seen()
    assert bench.fit(workspace, WorkspaceSetup(copy=(".env",), setup="true")).code == 0
    assert seen() == before


def test_a_repository_that_needs_our_name_is_told(bench: Bench) -> None:
    (bench.top / ".plait-outfit").symlink_to("/")
    bench.commit(".plait-outfit")
    bench.write(".env")
    ended = bench.fit(bench.worktree(), WorkspaceSetup(copy=(".env",)))
    assert ended.code == SETUP_FAILED_EXIT
    assert ended.failure == "the repository has a file .plait-outfit of its own, which plait needs the name of"
