"""Setup: once for each workspace, and once for all that it would make the same in."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees import metadata
from plait.runtime.setup.spec import SETUP_FAILED_EXIT

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import Bench


@pytest.fixture
def counter(bench: Bench) -> Path:
    """A line for each time that a setup ran."""
    path = bench.root / "counter"
    path.touch()
    return path


@pytest.fixture
def outfit(counter: Path) -> WorkspaceSetup:
    command = f"echo ran >>'{counter}'; mkdir -p out/deep; cp code.txt out/deep/x; ln -s deep out/way; echo noise"
    return WorkspaceSetup(setup=command, reads=("code.txt",), makes=("out",))


def runs(counter: Path) -> int:
    return len(counter.read_text().splitlines())


def test_it_runs_in_a_new_workspace_and_is_told(bench: Bench, counter: Path, outfit: WorkspaceSetup) -> None:
    workspace = bench.worktree()
    assert bench.wanted(workspace, outfit)
    ended = bench.fit(workspace, outfit)
    first, *rest = ended.out.splitlines()
    assert first.startswith("plait: setting up: echo ran >>")
    assert rest == ["noise", "the agent runs"]
    assert (workspace / "out/deep/x").read_text() == "code\n"
    assert not bench.wanted(workspace, outfit)
    assert bench.fit(workspace, outfit).out == "the agent runs\n"
    assert runs(counter) == 1


def test_the_next_workspace_gets_a_copy_of_its_own(bench: Bench, counter: Path, outfit: WorkspaceSetup) -> None:
    one, other = bench.worktree("one"), bench.worktree("other")
    bench.fit(one, outfit, "sh", "-c", "echo changed >out/deep/x")
    ended = bench.fit(other, outfit)
    assert ended.out.splitlines() == ["plait: reused cached setup: out", "the agent runs"]
    assert (other / "out/deep/x").read_text() == "code\n"
    assert (other / "out/deep/x").stat().st_nlink == 1
    assert (other / "out/way").readlink() == Path("deep")
    assert not bench.wanted(other, outfit)
    assert bench.ours(other) == {"out"}
    assert runs(counter) == 1


def test_what_it_reads_tells_whether_it_would_make_the_same(
    bench: Bench, counter: Path, outfit: WorkspaceSetup
) -> None:
    bench.fit(bench.worktree("one"), outfit)
    bench.write("code.txt", "other code")
    bench.commit("code.txt")
    other = bench.worktree("other")
    bench.fit(other, outfit)
    assert (other / "out/deep/x").read_text() == "other code"
    bench.fit(bench.worktree("third"), replace(outfit, setup=f"{outfit.setup}; true"))
    assert runs(counter) == 3


def test_globs_and_folders_are_read_and_ignored_files_by_name_only(
    bench: Bench, counter: Path, outfit: WorkspaceSetup
) -> None:
    outfit = replace(outfit, reads=("**/lock.json", "req", ".env"))
    workspace = bench.worktree()
    bench.fit(workspace, outfit)
    for path in ("packages/a/lock.json", "req/base/all.txt", ".env"):
        file = workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("new")
        assert bench.wanted(workspace, outfit), path
        bench.fit(workspace, outfit)
        assert not bench.wanted(workspace, outfit), path
    (workspace / "node_modules").mkdir()
    (workspace / "node_modules/lock.json").touch()
    assert not bench.wanted(workspace, outfit)
    assert runs(counter) == 4


def test_without_files_to_tell_by_it_runs_in_every_workspace(
    bench: Bench, counter: Path, outfit: WorkspaceSetup
) -> None:
    outfit = replace(outfit, reads=())
    for name in ("one", "other"):
        workspace = bench.worktree(name)
        bench.fit(workspace, outfit)
        assert not bench.wanted(workspace, outfit)
        bench.fit(workspace, outfit)
    assert runs(counter) == 2


def test_two_workspaces_at_once_run_it_once(bench: Bench, counter: Path, outfit: WorkspaceSetup) -> None:
    go = bench.root / "go"
    outfit = replace(outfit, setup=f"{outfit.setup}; while [ ! -e '{go}' ]; do sleep 0.02; done")
    one, other = bench.worktree("one"), bench.worktree("other")
    first = bench.start(one, outfit)
    bench.until(lambda: runs(counter) == 1)
    second = bench.start(other, outfit)
    assert second.stdout is not None
    assert second.stdout.readline().startswith("plait: waiting for the same setup in another workspace: echo ran")
    go.touch()
    assert bench.end(one, first).code == 0
    ended = bench.end(other, second)
    assert ended.out.splitlines() == ["plait: reused cached setup: out", "the agent runs"]
    assert (other / "out/deep/x").read_text() == "code\n"
    assert runs(counter) == 1


def test_who_waits_for_a_setup_that_dies_runs_it(bench: Bench, counter: Path, outfit: WorkspaceSetup) -> None:
    go = bench.root / "go"
    outfit = replace(outfit, setup=f"{outfit.setup}; while [ ! -e '{go}' ]; do sleep 0.02; done")
    one, other = bench.worktree("one"), bench.worktree("other")
    first = bench.start(one, outfit)
    bench.until(lambda: runs(counter) == 1)
    second = bench.start(other, outfit)
    assert second.stdout is not None
    assert "waiting" in second.stdout.readline()
    bench.kill(one, first)
    bench.until(lambda: runs(counter) == 2)
    go.touch()
    assert bench.end(other, second).code == 0


def test_a_failure_is_told_and_the_agent_does_not_run(bench: Bench, outfit: WorkspaceSetup) -> None:
    workspace = bench.worktree()
    ended = bench.fit(workspace, replace(outfit, setup="echo oh no; mkdir out; exit 3"))
    assert ended.code == SETUP_FAILED_EXIT
    assert ended.failure == "setup failed with exit status 3: echo oh no; mkdir out; exit 3"
    assert ended.out.splitlines()[1:] == ["oh no", f"plait: {ended.failure}"]
    assert bench.wanted(workspace, replace(outfit, setup="echo oh no; mkdir out; exit 3"))
    again = bench.fit(workspace, outfit)
    assert (again.code, again.failure) == (0, None)


def test_a_setup_that_was_killed_is_told_by_its_signal(bench: Bench) -> None:
    ended = bench.fit(bench.worktree(), WorkspaceSetup(setup="kill -KILL $$"))
    assert ended.failure == "setup failed with signal 9 (SIGKILL): kill -KILL $$"


def test_a_failed_setup_leaves_nothing_that_counts_as_a_change(bench: Bench) -> None:
    workspace = bench.worktree()
    bench.fit(workspace, WorkspaceSetup(setup="mkdir made; touch made/half stray; false", makes=("made",)))
    assert bench.ours(workspace) == {"made", "stray"}


def test_a_setup_reads_nothing_of_what_the_agent_is_to_read(bench: Bench) -> None:
    workspace = bench.worktree()
    spec = WorkspaceSetup(setup="cat >got")
    process = bench.start(workspace, spec, "cat", stdin=PIPE)
    assert process.stdin is not None
    process.stdin.write("for the agent")
    assert bench.end(workspace, process).out.endswith("\nfor the agent")
    assert (workspace / "got").read_text() == ""


def test_what_it_makes_and_git_does_not_ignore_is_no_part_of_a_change(bench: Bench) -> None:
    workspace = bench.worktree()
    outfit = WorkspaceSetup(setup="mkdir made; touch made/a stray; touch x.log", makes=("made",), reads=("code.txt",))
    ended = bench.fit(workspace, outfit)
    assert bench.ours(workspace) == {"made", "stray"}
    assert "plait: setup made files that git does not ignore; they are left out of the change: stray" in ended.out


def test_an_agents_own_files_stay_its_own_when_setup_runs_again(bench: Bench, outfit: WorkspaceSetup) -> None:
    workspace = bench.worktree()
    bench.fit(workspace, outfit, "sh", "-c", "echo more >>code.txt; touch mine")
    assert bench.wanted(workspace, outfit)
    ended = bench.fit(workspace, outfit)
    assert bench.ours(workspace) == {"out"}
    assert "warning" not in ended.out


def test_what_an_agent_had_its_hands_in_is_not_kept_for_others(
    bench: Bench, counter: Path, outfit: WorkspaceSetup
) -> None:
    workspace = bench.worktree()
    bench.fit(workspace, outfit, "sh", "-c", "echo more >>code.txt; touch out/trojan")
    bench.fit(workspace, outfit)
    bench.write("code.txt", "code\nmore\n")
    bench.commit("code.txt")
    other = bench.worktree("other")
    bench.fit(other, outfit)
    assert not (other / "out/trojan").exists()
    assert runs(counter) == 3


def test_a_tracked_file_that_it_changes_is_told_and_left(bench: Bench) -> None:
    workspace = bench.worktree()
    ended = bench.fit(workspace, WorkspaceSetup(setup="echo more >>code.txt"))
    assert ended.code == 0
    assert "plait: warning: setup changed tracked files; the changes count as the agent's: code.txt" in ended.out
    assert bench.status(workspace) == " M code.txt"


def test_tracked_files_among_what_it_makes_are_the_commits(bench: Bench, counter: Path) -> None:
    bench.write("out/readme", "of the commit")
    bench.commit("out/readme")
    command = f"echo ran >>'{counter}'; touch out/made"
    outfit = WorkspaceSetup(setup=command, reads=("code.txt",), makes=("out",))
    bench.fit(bench.worktree("one"), outfit)
    bench.write("out/readme", "of a later commit")
    bench.commit("out/readme")
    other = bench.worktree("other")
    bench.fit(other, outfit)
    assert (other / "out/readme").read_text() == "of a later commit"
    assert bench.ours(other) == {"out/made"}
    bench.git("rm", "-q", "out/readme")
    bench.git("commit", "-q", "-m", "gone")
    third = bench.worktree("third")
    bench.fit(third, outfit)
    assert [each.name for each in (third / "out").iterdir()] == ["made"]
    assert runs(counter) == 1


def test_what_is_missing_afterwards_is_told_and_nothing_is_kept(bench: Bench, counter: Path) -> None:
    outfit = WorkspaceSetup(setup=f"echo ran >>'{counter}'", reads=("code.txt",), makes=("out",))
    one = bench.worktree("one")
    assert "plait: warning: setup made no out" in bench.fit(one, outfit).out
    assert not bench.wanted(one, outfit)
    bench.fit(bench.worktree("other"), outfit)
    assert runs(counter) == 2


def test_what_was_made_and_is_gone_is_fetched_again(bench: Bench, counter: Path, outfit: WorkspaceSetup) -> None:
    workspace = bench.worktree()
    bench.fit(workspace, outfit, "rm", "-r", "out")
    assert bench.wanted(workspace, outfit)
    bench.fit(workspace, outfit)
    assert (workspace / "out/deep/x").exists()
    assert runs(counter) == 1


def test_what_is_fetched_replaces_what_an_earlier_setup_made(bench: Bench, outfit: WorkspaceSetup) -> None:
    bench.fit(bench.worktree("one"), outfit)
    other = bench.worktree("other")
    (other / "out/deep").mkdir(parents=True)
    (other / "out/stale").touch()
    (other / "out/deep/x").write_text("stale")
    bench.fit(other, outfit)
    assert sorted(each.name for each in (other / "out").iterdir()) == ["deep", "way"]
    assert (other / "out/deep/x").read_text() == "code\n"


@pytest.mark.parametrize("path", ["../x", "/etc", ".", "", "a/../../b", ".git/hooks"])
def test_paths_out_of_the_workspace_are_refused(bench: Bench, path: str) -> None:
    workspace = bench.worktree()
    for outfit in (
        WorkspaceSetup(setup="true", makes=(path,)),
        WorkspaceSetup(setup="true", reads=(path,), makes=("out",)),
    ):
        assert bench.wanted(workspace, outfit)
        ended = bench.fit(workspace, outfit)
        assert ended.code == SETUP_FAILED_EXIT
        assert ended.failure is not None
        assert ended.failure.startswith(f"setup can't read or make {path!r}")


def test_a_link_to_what_never_ends_is_not_read(bench: Bench, outfit: WorkspaceSetup) -> None:
    (bench.top / "lock").symlink_to("/dev/zero")
    bench.commit("lock")
    workspace = bench.worktree()
    assert bench.fit(workspace, replace(outfit, reads=("lock",))).code == 0
    assert not bench.wanted(workspace, replace(outfit, reads=("lock",)))


def test_nothing_is_made_or_kept_through_a_link(bench: Bench, counter: Path) -> None:
    outside = bench.root / "outside"
    outside.mkdir()
    command = f"echo ran >>'{counter}'; mkdir -p a; touch a/made"
    outfit = WorkspaceSetup(setup=command, reads=("code.txt",), makes=("a/made",))
    bench.fit(bench.worktree("one"), outfit)
    other = bench.worktree("other")
    (other / "a").symlink_to(outside)
    ended = bench.fit(other, outfit)
    assert "a/made is left out: something else than a folder is where a should be" in ended.out
    assert [*outside.iterdir()] == []


def test_a_workspace_that_goes_to_another_task_keeps_what_setup_made(
    bench: Bench, counter: Path, outfit: WorkspaceSetup
) -> None:
    bench.write(".env", "first")
    workspace, outfit = bench.worktree(), replace(outfit, copy=(".env",))
    bench.fit(workspace, outfit)
    bench.git("clean", "-ffdxq", "-e", "/out", where=workspace)
    metadata.reset_setup_metadata(workspace)
    assert bench.ours(workspace) == {"out"}
    assert bench.wanted(workspace, outfit)
    bench.write(".env", "second")
    bench.fit(workspace, outfit)
    assert (workspace / ".env").read_text() == "second"
    assert runs(counter) == 1


def test_a_person_may_interrupt_it(bench: Bench, counter: Path) -> None:
    workspace = bench.worktree()
    outfit = WorkspaceSetup(setup=f"trap '' INT; echo ran >>'{counter}'; while :; do sleep 0.05; done")
    process = bench.start(workspace, outfit)
    bench.until(lambda: runs(counter) == 1)
    process.send_signal(signal.SIGINT)
    bench.until(lambda: os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None)
    ended = bench.kill(workspace, process)
    assert ended.code == -signal.SIGINT
    assert "Traceback" not in ended.out
