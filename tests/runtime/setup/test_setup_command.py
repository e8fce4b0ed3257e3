"""Setup: once for each workspace, and once for all that it would make the same in."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees import metadata
from plait.runtime.setup import setup_command
from plait.runtime.setup.setup_command import SETUP_FAILED_EXIT

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import SetupHarness


@pytest.fixture
def counter(harness: SetupHarness) -> Path:
    """A line for each time that a setup ran."""
    path = harness.root / "counter"
    path.touch()
    return path


@pytest.fixture
def setup(counter: Path) -> WorkspaceSetup:
    command = f"echo ran >>'{counter}'; mkdir -p out/deep; cp code.txt out/deep/x; ln -s deep out/way; echo noise"
    return WorkspaceSetup(setup=command, reads=("code.txt",), makes=("out",))


def runs(counter: Path) -> int:
    return len(counter.read_text().splitlines())


def test_setup_runs_in_a_new_workspace_and_is_printed(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    workspace = harness.worktree()
    assert harness.wanted(workspace, setup)
    ended = harness.fit(workspace, setup)
    first, *rest = ended.out.splitlines()
    assert first.startswith("plait: setting up: echo ran >>")
    assert rest == ["noise", "the agent runs"]
    assert (workspace / "out/deep/x").read_text() == "code\n"
    assert not harness.wanted(workspace, setup)
    assert harness.fit(workspace, setup).out == "the agent runs\n"
    assert runs(counter) == 1


def test_the_next_workspace_gets_its_own_copy_of_the_result(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    one, other = harness.worktree("one"), harness.worktree("other")
    harness.fit(one, setup, "sh", "-c", "echo changed >out/deep/x")
    ended = harness.fit(other, setup)
    assert ended.out.splitlines() == ["plait: reused cached setup: out", "the agent runs"]
    assert (other / "out/deep/x").read_text() == "code\n"
    assert (other / "out/deep/x").stat().st_nlink == 1
    assert (other / "out/way").readlink() == Path("deep")
    assert not harness.wanted(other, setup)
    assert harness.ours(other) == {"out"}
    assert runs(counter) == 1


def test_the_result_is_reused_while_the_files_it_reads_are_the_same(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    harness.fit(harness.worktree("one"), setup)
    harness.write("code.txt", "other code")
    harness.commit("code.txt")
    other = harness.worktree("other")
    harness.fit(other, setup)
    assert (other / "out/deep/x").read_text() == "other code"
    harness.fit(harness.worktree("third"), replace(setup, setup=f"{setup.setup}; true"))
    assert runs(counter) == 3


def test_globs_and_folders_are_read_and_ignored_files_by_name_only(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    setup = replace(setup, reads=("**/lock.json", "req", ".env"))
    workspace = harness.worktree()
    harness.fit(workspace, setup)
    for path in ("packages/a/lock.json", "req/base/all.txt", ".env"):
        file = workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("new")
        assert harness.wanted(workspace, setup), path
        harness.fit(workspace, setup)
        assert not harness.wanted(workspace, setup), path
    (workspace / "node_modules").mkdir()
    (workspace / "node_modules/lock.json").touch()
    assert not harness.wanted(workspace, setup)
    assert runs(counter) == 4


def test_setup_without_reads_runs_in_every_workspace(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    setup = replace(setup, reads=())
    for name in ("one", "other"):
        workspace = harness.worktree(name)
        harness.fit(workspace, setup)
        assert not harness.wanted(workspace, setup)
        harness.fit(workspace, setup)
    assert runs(counter) == 2


def test_two_workspaces_at_once_run_setup_once(harness: SetupHarness, counter: Path, setup: WorkspaceSetup) -> None:
    go = harness.root / "go"
    setup = replace(setup, setup=f"{setup.setup}; while [ ! -e '{go}' ]; do sleep 0.02; done")
    one, other = harness.worktree("one"), harness.worktree("other")
    first = harness.start(one, setup)
    harness.until(lambda: runs(counter) == 1)
    second = harness.start(other, setup)
    assert second.stdout is not None
    assert second.stdout.readline().startswith("plait: waiting for the same setup in another workspace: echo ran")
    go.touch()
    assert harness.end(one, first).code == 0
    ended = harness.end(other, second)
    assert ended.out.splitlines() == ["plait: reused cached setup: out", "the agent runs"]
    assert (other / "out/deep/x").read_text() == "code\n"
    assert runs(counter) == 1


def test_a_workspace_waiting_for_a_setup_that_dies_runs_it_itself(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    go = harness.root / "go"
    setup = replace(setup, setup=f"{setup.setup}; while [ ! -e '{go}' ]; do sleep 0.02; done")
    one, other = harness.worktree("one"), harness.worktree("other")
    first = harness.start(one, setup)
    harness.until(lambda: runs(counter) == 1)
    second = harness.start(other, setup)
    assert second.stdout is not None
    assert "waiting" in second.stdout.readline()
    harness.kill(one, first)
    harness.until(lambda: runs(counter) == 2)
    go.touch()
    assert harness.end(other, second).code == 0


def test_a_failed_setup_is_reported_and_the_agent_does_not_run(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    workspace = harness.worktree()
    ended = harness.fit(workspace, replace(setup, setup="echo oh no; mkdir out; exit 3"))
    assert ended.code == SETUP_FAILED_EXIT
    assert ended.failure == "setup failed with exit status 3: echo oh no; mkdir out; exit 3"
    assert ended.out.splitlines()[1:] == ["oh no", f"plait: {ended.failure}"]
    assert harness.wanted(workspace, replace(setup, setup="echo oh no; mkdir out; exit 3"))
    again = harness.fit(workspace, setup)
    assert (again.code, again.failure) == (0, None)


def test_a_killed_setup_is_reported_with_its_signal(harness: SetupHarness) -> None:
    ended = harness.fit(harness.worktree(), WorkspaceSetup(setup="kill -KILL $$"))
    assert ended.failure == "setup failed with signal 9 (SIGKILL): kill -KILL $$"


def test_a_failed_setup_leaves_nothing_that_counts_as_a_change(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    harness.fit(workspace, WorkspaceSetup(setup="mkdir made; touch made/half stray; false", makes=("made",)))
    assert harness.ours(workspace) == {"made", "stray"}


def test_setup_does_not_read_the_agents_input(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    spec = WorkspaceSetup(setup="cat >got")
    process = harness.start(workspace, spec, "cat", stdin=PIPE)
    assert process.stdin is not None
    process.stdin.write("for the agent")
    assert harness.end(workspace, process).out.endswith("\nfor the agent")
    assert (workspace / "got").read_text() == ""


def test_unignored_files_made_by_setup_are_not_part_of_the_change(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    setup = WorkspaceSetup(setup="mkdir made; touch made/a stray; touch x.log", makes=("made",), reads=("code.txt",))
    ended = harness.fit(workspace, setup)
    assert harness.ours(workspace) == {"made", "stray"}
    assert "plait: setup made files that git does not ignore; they are left out of the change: stray" in ended.out


def test_files_that_setup_makes_in_a_submodule_are_not_part_of_the_change(harness: SetupHarness) -> None:
    harness.git("init", "-q", str(harness.root / "library"))
    (harness.root / "library/code.txt").write_text("code\n")
    harness.git("add", "-A", where=harness.root / "library")
    harness.git("commit", "-q", "-m", "code", where=harness.root / "library")
    allow = ("-c", "protocol.file.allow=always")
    harness.git(*allow, "submodule", "--quiet", "add", str(harness.root / "library"), "lib")
    harness.commit(".")
    workspace = harness.worktree()
    harness.git(*allow, "submodule", "--quiet", "update", "--init", where=workspace)
    setup = WorkspaceSetup(
        setup="mkdir lib/made; touch lib/made/a lib/stray; echo >> lib/code.txt", makes=("lib/made",)
    )
    harness.fit(workspace, setup)
    assert harness.ours(workspace) == {"lib/made/a", "lib/stray"}, (
        "a changed file of the submodule may be the agent's next"
    )


def test_a_repository_that_a_sandboxed_setup_puts_in_the_place_of_the_worktrees_own_runs_nothing(
    harness: SetupHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount protects `.git` only in the sandbox's own namespace."""
    monkeypatch.setattr(setup_command, "build_spec", partial(setup_command.build_spec, sandbox=("env",)))
    proof, workspace = harness.root / "proof", harness.worktree()
    command = (
        "echo '* filter=evil' >.gitattributes; rm .git; git init -q; git add code.txt; echo changed >code.txt;"
        f" git config filter.evil.clean 'touch {proof}; cat'; cp code.txt out.txt; git status >../seen"
    )
    ended = harness.fit(workspace, WorkspaceSetup(setup=f"{command}; rm -f {proof}", makes=("out.txt",)))
    assert "the agent runs" in ended.out
    assert "modified:   code.txt" in (harness.root / "seen").read_text()
    assert not proof.exists()
    assert harness.git("rev-parse", "HEAD", where=workspace) == harness.git("rev-parse", "HEAD")


def test_an_agents_own_files_stay_its_own_when_setup_runs_again(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    workspace = harness.worktree()
    harness.fit(workspace, setup, "sh", "-c", "echo more >>code.txt; touch mine")
    assert harness.wanted(workspace, setup)
    ended = harness.fit(workspace, setup)
    assert harness.ours(workspace) == {"out"}
    assert "warning" not in ended.out


def test_a_result_that_an_agent_could_change_is_not_cached(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    workspace = harness.worktree()
    harness.fit(workspace, setup, "sh", "-c", "echo more >>code.txt; touch out/trojan")
    harness.fit(workspace, setup)
    harness.write("code.txt", "code\nmore\n")
    harness.commit("code.txt")
    other = harness.worktree("other")
    harness.fit(other, setup)
    assert not (other / "out/trojan").exists()
    assert runs(counter) == 3


def test_a_tracked_file_changed_by_setup_is_reported_and_kept(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    ended = harness.fit(workspace, WorkspaceSetup(setup="echo more >>code.txt"))
    assert ended.code == 0
    assert "plait: warning: setup changed tracked files; the changes count as the agent's: code.txt" in ended.out
    assert harness.status(workspace) == " M code.txt"


def test_tracked_files_in_the_result_come_from_the_commit(harness: SetupHarness, counter: Path) -> None:
    harness.write("out/readme", "of the commit")
    harness.commit("out/readme")
    command = f"echo ran >>'{counter}'; touch out/made"
    setup = WorkspaceSetup(setup=command, reads=("code.txt",), makes=("out",))
    harness.fit(harness.worktree("one"), setup)
    harness.write("out/readme", "of a later commit")
    harness.commit("out/readme")
    other = harness.worktree("other")
    harness.fit(other, setup)
    assert (other / "out/readme").read_text() == "of a later commit"
    assert harness.ours(other) == {"out/made"}
    harness.git("rm", "-q", "out/readme")
    harness.git("commit", "-q", "-m", "gone")
    third = harness.worktree("third")
    harness.fit(third, setup)
    assert [each.name for each in (third / "out").iterdir()] == ["made"]
    assert runs(counter) == 1


def test_a_missing_result_is_reported_and_nothing_is_cached(harness: SetupHarness, counter: Path) -> None:
    setup = WorkspaceSetup(setup=f"echo ran >>'{counter}'", reads=("code.txt",), makes=("out",))
    one = harness.worktree("one")
    assert "plait: warning: setup made no out" in harness.fit(one, setup).out
    assert not harness.wanted(one, setup)
    harness.fit(harness.worktree("other"), setup)
    assert runs(counter) == 2


def test_a_removed_result_is_fetched_from_the_cache_again(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    workspace = harness.worktree()
    harness.fit(workspace, setup, "rm", "-r", "out")
    assert harness.wanted(workspace, setup)
    harness.fit(workspace, setup)
    assert (workspace / "out/deep/x").exists()
    assert runs(counter) == 1


def test_a_cached_result_replaces_an_earlier_one(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    harness.fit(harness.worktree("one"), setup)
    other = harness.worktree("other")
    (other / "out/deep").mkdir(parents=True)
    (other / "out/stale").touch()
    (other / "out/deep/x").write_text("stale")
    harness.fit(other, setup)
    assert sorted(each.name for each in (other / "out").iterdir()) == ["deep", "way"]
    assert (other / "out/deep/x").read_text() == "code\n"


@pytest.mark.parametrize("path", ["../x", "/etc", ".", "", "a/../../b", ".git/hooks"])
def test_paths_out_of_the_workspace_are_refused(harness: SetupHarness, path: str) -> None:
    workspace = harness.worktree()
    for setup in (
        WorkspaceSetup(setup="true", makes=(path,)),
        WorkspaceSetup(setup="true", reads=(path,), makes=("out",)),
    ):
        assert harness.wanted(workspace, setup)
        ended = harness.fit(workspace, setup)
        assert ended.code == SETUP_FAILED_EXIT
        assert ended.failure is not None
        assert ended.failure.startswith(f"setup can't read or make {path!r}")


def test_a_link_to_an_endless_file_is_not_read(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    (harness.top / "lock").symlink_to("/dev/zero")
    harness.commit("lock")
    workspace = harness.worktree()
    assert harness.fit(workspace, replace(setup, reads=("lock",))).code == 0
    assert not harness.wanted(workspace, replace(setup, reads=("lock",)))


def test_nothing_is_restored_or_cached_through_a_link(harness: SetupHarness, counter: Path) -> None:
    outside = harness.root / "outside"
    outside.mkdir()
    command = f"echo ran >>'{counter}'; mkdir -p a; touch a/made"
    setup = WorkspaceSetup(setup=command, reads=("code.txt",), makes=("a/made",))
    harness.fit(harness.worktree("one"), setup)
    other = harness.worktree("other")
    (other / "a").symlink_to(outside)
    ended = harness.fit(other, setup)
    assert "a/made is left out: something else than a folder is where a should be" in ended.out
    assert [*outside.iterdir()] == []


def test_a_workspace_that_goes_to_another_task_keeps_what_setup_made(
    harness: SetupHarness, counter: Path, setup: WorkspaceSetup
) -> None:
    harness.write(".env", "first")
    workspace, setup = harness.worktree(), replace(setup, copy=(".env",))
    harness.fit(workspace, setup)
    harness.git("clean", "-ffdxq", "-e", "/out", where=workspace)
    metadata.reset_setup_metadata(workspace)
    assert harness.ours(workspace) == {"out"}
    assert harness.wanted(workspace, setup)
    harness.write(".env", "second")
    harness.fit(workspace, setup)
    assert (workspace / ".env").read_text() == "second"
    assert runs(counter) == 1


def test_setup_can_be_interrupted(harness: SetupHarness, counter: Path) -> None:
    workspace = harness.worktree()
    setup = WorkspaceSetup(setup=f"trap '' INT; echo ran >>'{counter}'; while :; do sleep 0.05; done")
    process = harness.start(workspace, setup)
    harness.until(lambda: runs(counter) == 1)
    process.send_signal(signal.SIGINT)
    harness.until(lambda: os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None)
    ended = harness.kill(workspace, process)
    assert ended.code == -signal.SIGINT
    assert "Traceback" not in ended.out
