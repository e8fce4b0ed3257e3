"""What every Executor must do, as tests to derive from, and helpers for attempts that run `sh`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from signal import SIGKILL
from typing import Any

import psutil
import pytest

from plait.core.errors import WorldError
from plait.core.task import Attempt, Step, make_gate_attempt
from plait.git.interfaces import CapturedChange, CommitInfo, WorkspaceSetup
from plait.git.worktrees.agent_worktree import WorktreeError
from plait.runtime.executor import (
    AttemptFile,
    AttemptKind,
    AttemptLimits,
    AttemptSpec,
    CaptureSpec,
    Executor,
    ExecutorCallbacks,
    ExitedProcess,
    LostProcess,
    RunningProcess,
)


@dataclass(slots=True)
class RecordedCallbacks:
    """Callbacks that keep what was reported. `ends`: exit statuses, and why attempts were lost or did not start."""

    launches: list[tuple[Attempt, Any]] = field(default_factory=list)  # Any: tests of local executors use it as a pid
    ends: dict[Attempt, int | str] = field(default_factory=dict)
    count: int = 0

    def on_launched(self, attempt: Attempt, pid: int | None) -> None:
        self.launches.append((attempt, pid))

    def on_start_failed(self, attempt: Attempt, error: Exception) -> None:
        self.ends[attempt] = f"{error}"
        self.count += 1

    def on_exited(self, attempt: Attempt, code: int) -> None:
        self.ends[attempt] = code
        self.count += 1

    def on_lost(self, attempt: Attempt, why: str, *, is_outage: bool = False) -> None:  # noqa: ARG002
        self.ends[attempt] = why
        self.count += 1


@dataclass(slots=True)
class ExecutorHarness:
    """What the contract needs. `open_executor` opens an executor for the same machine each time. `wait_until` runs its
    loop until a condition is true, or gives up. `repository` is the checkout whose worktrees it makes; `executor` is
    the first one opened.
    """

    open_executor: Callable[[ExecutorCallbacks], Executor]
    wait_until: Callable[[Callable[[], bool]], bool]
    workspace: Path
    repository: Path
    callbacks: RecordedCallbacks = field(default_factory=RecordedCallbacks)
    executor: Executor = field(init=False)

    def __post_init__(self) -> None:
        self.workspace.mkdir(parents=True)
        self.executor = self.open_executor(self.callbacks)

    def make_job(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> AttemptSpec:
        """Make an attempt that runs these lines of `sh` in place."""
        environment = {"PATH": os.environ["PATH"], **(env or {})}
        return AttemptSpec(Attempt("batch", task, Step.WRITE, 1), ("sh", "-c", lines), str(self.workspace), environment)

    def make_worktree_job(self, lines: str, base: str, task: str = "one") -> AttemptSpec:
        """Make an attempt that runs these lines of `sh` in the task's own workspace."""
        job = self.make_job(lines, task)
        return self.put_into_worktree(job, base)

    def put_into_worktree(self, job: AttemptSpec, base: str) -> AttemptSpec:
        return replace(
            job,
            kind=AttemptKind.WORKTREE,
            workspace=self.executor.workspaces.path(job.attempt),
            checkout=str(self.repository),
            base=base,
            task_base=base,
            capture=CaptureSpec(job.attempt, base, CommitInfo("result")),
        )

    def git(self, *args: str) -> str:
        command = ["git", "-C", str(self.repository), *args]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit_file(self, name: str, text: str) -> str:
        """Commit a file to the repository, which is made if needed; return the commit."""
        if not self.repository.exists():
            self.repository.mkdir(parents=True)
            self.git("init", "--quiet")
            self.git("config", "user.name", "Contract")
            self.git("config", "user.email", "contract@example.org")
        (self.repository / name).write_text(text)
        self.git("add", name)
        self.git("commit", "--quiet", "--message", name)
        return self.git("rev-parse", "HEAD")

    def capture(self, job: AttemptSpec) -> CapturedChange | Exception:
        """Commit what the attempt left; return the change, or the error."""
        results: list[CapturedChange | Exception] = []
        spec = job.capture or CaptureSpec(job.attempt, job.base, CommitInfo("result"))
        self.executor.workspaces.capture(spec, results.append, results.append, lambda _: None)
        assert self.wait_until(lambda: bool(results)), "it was not captured"
        return results[0]

    def start(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> Attempt:
        """Start a script, and wait until it runs `: >up`."""
        job = self.make_job(lines, task, env)
        (self.workspace / "up").unlink(missing_ok=True)
        self.executor.start(job)
        assert self.wait_until((self.workspace / "up").exists), "it did not come up"
        assert self.wait_until(lambda: job.attempt in {attempt for attempt, _ in self.callbacks.launches})
        return job.attempt

    def run(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> int | str:
        """Start a script, wait for its end, and return that."""
        job = self.make_job(lines, task, env)
        self.executor.start(job)
        return self.wait_for_end(job.attempt)

    def wait_for_end(self, attempt: Attempt) -> int | str:
        assert self.wait_until(lambda: attempt in self.callbacks.ends), "its end was not told"
        return self.callbacks.ends[attempt]

    def wait_for_pid(self, name: str) -> int:
        """Return the number that a script writes to this file."""
        path = self.workspace / name
        assert self.wait_until(lambda: path.exists() and path.read_text().endswith("\n")), f"no {name}"
        return int(path.read_text())


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie doesn't."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


IGNORES_SIGNALS = "trap '' INT TERM; : >up; while :; do sleep 0.05; done"
ENDS_ON_INT = "trap 'echo asked >>asked; exit 3' INT; : >up; while :; do sleep 0.05; done"
UNTIL_GO = ": >up; until [ -e go ]; do sleep 0.05; done"


class ExecutorContract:
    """Provide `harness`: an executor without any attempts."""

    @pytest.fixture
    def harness(self) -> ExecutorHarness:
        raise NotImplementedError

    @pytest.mark.parametrize("code", [0, 1, 74, 75, 126, 127, 130, 255])
    def test_the_exit_status_is_reported(self, harness: ExecutorHarness, code: int) -> None:
        job = harness.make_job(f"exit {code}")
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == code
        assert {attempt for attempt, _ in harness.callbacks.launches} == {job.attempt}
        assert harness.callbacks.count == 1

    @pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("KILL", 137), ("SEGV", 139)])
    def test_death_by_a_signal_is_reported_as_in_a_shell(self, harness: ExecutorHarness, name: str, code: int) -> None:
        assert harness.run(f"kill -{name} $$; sleep 10") == code

    def test_a_command_that_cannot_be_executed_exits_as_in_a_shell(self, harness: ExecutorHarness) -> None:
        (harness.workspace / "plain").write_text("no program")
        commands = {("there-is-no-such-command",): 127, ("./plain",): 126, ("exit", "0"): 127}
        for number, (argv, code) in enumerate(commands.items()):
            job = replace(harness.make_job("", f"{number}"), argv=argv)
            harness.executor.start(job)
            assert harness.wait_for_end(job.attempt) == code, argv

    def test_a_command_runs_in_its_workspace_with_its_own_arguments_and_environment(
        self, harness: ExecutorHarness
    ) -> None:
        words = ("", " ", "$HOME", "*", "a\nb", "-n", "ü", "'\"\\")
        job = harness.make_job(
            'printf "%s\\0" "$@" >words; printf %s "$CHEER" >cheer; printf %s "${HOME-unset}" >home',
            env={"CHEER": "olé\n "},
        )
        harness.executor.start(replace(job, argv=(*job.argv, "sh", *words)))
        assert harness.wait_for_end(job.attempt) == 0
        assert (harness.workspace / "words").read_bytes().decode().split("\0")[:-1] == list(words)
        assert (harness.workspace / "cheer").read_text() == "olé\n "
        assert (harness.workspace / "home").read_text() == "unset"

    def test_standard_input_is_a_file_or_nothing(self, harness: ExecutorHarness) -> None:
        (harness.workspace / "prompt").write_bytes(b"\x00do it\n")
        job = replace(harness.make_job("cat >read"), stdin=str(harness.workspace / "prompt"))
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == 0
        assert (harness.workspace / "read").read_bytes() == b"\x00do it\n"
        assert harness.run("cat >nothing", "two") == 0
        assert (harness.workspace / "nothing").read_bytes() == b""

    def test_files_are_written_before_the_command_starts(self, harness: ExecutorHarness) -> None:
        job = harness.make_job('cat >read; cat "$0" >>read; stat -c %a "$0" >mode')
        folder = Path(harness.executor.attempt_folder(job.attempt))
        prompt = AttemptFile(str(folder / "prompt.md"), b"\x00do it\n")
        task = AttemptFile(str(folder.parent / "task.md"), "olé\n".encode())
        assert harness.workspace not in folder.parents
        job = replace(job, argv=(*job.argv, task.path), stdin=prompt.path, files=(prompt, task))
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == 0
        assert (harness.workspace / "read").read_bytes() == prompt.data + task.data
        assert (harness.workspace / "mode").read_text() == "600\n"

    def test_files_of_a_launched_attempt_stay_as_they_are(self, harness: ExecutorHarness) -> None:
        job = harness.make_job(f'{UNTIL_GO}; cat "$0" >read')
        path = f"{harness.executor.attempt_folder(job.attempt)}/job.json"
        job = replace(job, argv=(*job.argv, path), files=(AttemptFile(path, b"first"),))
        harness.executor.start(job)
        assert harness.wait_until((harness.workspace / "up").exists)
        harness.executor.start(replace(job, files=(AttemptFile(path, b"second"),)))
        (harness.workspace / "go").touch()
        assert harness.wait_for_end(job.attempt) == 0
        assert (harness.workspace / "read").read_bytes() == b"first"

    def test_a_command_that_cannot_be_started_is_an_error_at_once(self, harness: ExecutorHarness) -> None:
        job = harness.make_job("true")
        with pytest.raises(WorldError, match="nowhere"):
            harness.executor.start(replace(job, workspace="/nowhere/at all"))
        with pytest.raises(WorldError):
            harness.executor.start(replace(job, argv=("echo", "a\0b")))
        with pytest.raises(WorldError):
            harness.executor.start(replace(job, argv=()))
        assert harness.callbacks == RecordedCallbacks()

    def test_starting_twice_starts_once(self, harness: ExecutorHarness) -> None:
        job = harness.make_job(f"echo ran >>runs; {UNTIL_GO}")
        harness.executor.start(job)
        harness.executor.start(job)
        assert harness.wait_until((harness.workspace / "up").exists)
        assert harness.wait_until(lambda: len(set(harness.callbacks.launches)) == 1)
        (harness.workspace / "go").touch()
        assert harness.wait_for_end(job.attempt) == 0
        harness.executor.start(job)
        assert harness.callbacks.count == 2
        assert harness.callbacks.ends == {job.attempt: 0}
        assert (harness.workspace / "runs").read_text() == "ran\n"

    def test_an_attempt_that_was_never_started_is_not_found(self, harness: ExecutorHarness) -> None:
        assert harness.executor.adopt(harness.make_job("true").attempt) is None

    def test_an_attempt_outlives_its_executor_and_is_adopted(self, harness: ExecutorHarness) -> None:
        attempt = harness.start(f"{UNTIL_GO}; exit 5")
        harness.executor.close()
        later = RecordedCallbacks()
        second = harness.open_executor(later)
        assert second.adopt(attempt) == RunningProcess(harness.callbacks.launches[0][1]) == second.adopt(attempt)
        (harness.workspace / "go").touch()
        assert harness.wait_until(lambda: later.count == 1)
        assert later.ends == {attempt: 5}
        assert harness.callbacks.ends == {}
        assert harness.open_executor(RecordedCallbacks()).adopt(attempt) == ExitedProcess(5)

    def test_an_exit_without_an_executor_is_found(self, harness: ExecutorHarness) -> None:
        job = harness.make_job(f"{UNTIL_GO}; exit 6")
        harness.executor.start(job)
        assert harness.wait_until((harness.workspace / "up").exists)
        harness.executor.close()
        (harness.workspace / "go").touch()
        later = RecordedCallbacks()
        second = harness.open_executor(later)
        assert harness.wait_until(lambda: second.adopt(job.attempt) == ExitedProcess(6))
        second.start(job)
        assert later.ends == {job.attempt: 6}

    def test_a_terminated_attempt_can_exit_by_itself(self, harness: ExecutorHarness) -> None:
        attempt = harness.start(ENDS_ON_INT)
        harness.executor.terminate(attempt, at_once=False)
        harness.executor.terminate(attempt, at_once=False)
        assert harness.wait_for_end(attempt) == 3
        assert (harness.workspace / "asked").read_text() == "asked\n"

    def test_an_attempt_that_ignores_signals_is_killed(self, harness: ExecutorHarness) -> None:
        attempt = harness.start(IGNORES_SIGNALS)
        harness.executor.terminate(attempt, at_once=False)
        assert harness.wait_for_end(attempt) == 128 + SIGKILL

    def test_terminating_at_once_kills_without_a_signal_before(self, harness: ExecutorHarness) -> None:
        attempt = harness.start(ENDS_ON_INT)
        harness.executor.terminate(attempt, at_once=True)
        assert harness.wait_for_end(attempt) == 128 + SIGKILL
        assert not (harness.workspace / "asked").exists()

    def test_an_attempt_ends_with_all_its_processes(self, harness: ExecutorHarness) -> None:
        attempt = harness.start("setsid sh -c 'echo $$ >child; while :; do sleep 0.05; done' & : >up; wait")
        child = harness.wait_for_pid("child")
        harness.executor.terminate(attempt, at_once=True)
        assert harness.wait_for_end(attempt) == 128 + SIGKILL
        assert not is_alive(child)

    def test_terminating_an_ended_attempt_reports_its_end_again(self, harness: ExecutorHarness) -> None:
        assert harness.run("exit 4") == 4
        attempt = harness.make_job("").attempt
        harness.executor.terminate(attempt, at_once=True)
        later = RecordedCallbacks()
        harness.open_executor(later).terminate(attempt, at_once=False)
        assert harness.callbacks.ends == later.ends == {attempt: 4}
        assert (harness.callbacks.count, later.count) == (2, 1)

    def test_a_terminated_attempt_that_was_not_started_never_starts(self, harness: ExecutorHarness) -> None:
        job = harness.make_job(": >ran")
        harness.executor.terminate(job.attempt, at_once=False)
        assert harness.callbacks.ends == {job.attempt: "it was never launched"}
        harness.executor.start(job)
        assert harness.wait_until(lambda: harness.callbacks.count == 2)
        assert isinstance(harness.executor.adopt(job.attempt), LostProcess)
        assert not (harness.workspace / "ran").exists()

    def test_an_adopted_attempt_can_be_terminated(self, harness: ExecutorHarness) -> None:
        attempt = harness.start(ENDS_ON_INT)
        harness.executor.close()
        later = RecordedCallbacks()
        harness.open_executor(later).terminate(attempt, at_once=False)
        assert harness.wait_until(lambda: later.count == 1)
        assert later.ends == {attempt: 3}

    def test_memory_is_measured_for_running_attempts(self, harness: ExecutorHarness) -> None:
        assert harness.executor.measure_memory() == {}
        attempt = harness.start(IGNORES_SIGNALS)
        assert harness.wait_until(lambda: list(harness.executor.measure_memory()) == [attempt])
        assert harness.executor.measure_memory()[attempt] > 100_000
        harness.executor.terminate(attempt, at_once=True)
        assert harness.wait_for_end(attempt) == 128 + SIGKILL
        assert harness.executor.measure_memory() == {}

    def test_many_attempts_at_once_are_reported_separately(self, harness: ExecutorHarness) -> None:
        jobs = [harness.make_job(f"exit {number}", f"{number}") for number in range(20)]
        for job in jobs:
            harness.executor.start(job)
        assert harness.wait_until(lambda: harness.callbacks.count == 20)
        assert harness.callbacks.ends == {job.attempt: number for number, job in enumerate(jobs)}
        pids = {pid for _, pid in harness.callbacks.launches}
        assert len(pids) == 20 or pids == {None}

    def test_a_transcript_is_read_from_any_offset(self, harness: ExecutorHarness) -> None:
        job = harness.make_job("echo one; echo two >&2; printf three")
        transcript = harness.executor.open_transcript(job.attempt)
        assert (transcript.size(), transcript.read(0, 10).data, transcript.tail(10)) == (0, b"", b"")
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == 0
        assert transcript.size() == 13
        assert transcript.read(0, 100).data == b"one\ntwo\nthree"
        assert transcript.read(4, 3).data == b"two"
        assert transcript.read(13, 100).data == b""
        assert transcript.tail(5) == b"three"
        assert transcript.last_written() > 0

    def test_a_transcript_beyond_its_limit_keeps_its_beginning_its_end_and_its_offsets(
        self, harness: ExecutorHarness
    ) -> None:
        job = harness.make_job("echo first; yes | head -c 3000000; echo last")
        harness.executor.start(replace(job, limits=AttemptLimits(transcript_bytes=1 << 20)))
        assert harness.wait_for_end(job.attempt) == 0
        transcript = harness.executor.open_transcript(job.attempt)
        assert transcript.size() == 3_000_011
        assert transcript.read(0, 6).data == b"first\n"
        assert transcript.tail(5) == b"last\n"
        second = transcript.read(transcript.read(0, 3_000_011).end, 3_000_011)
        assert second.end in {0, 3_000_011}

    def test_the_changes_of_an_attempt_become_a_commit(self, harness: ExecutorHarness) -> None:
        base = harness.commit_file("file", "old\n")
        later = harness.commit_file("file", "later\n")
        job = harness.make_worktree_job("cat file >seen; echo new >file", base)
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == 0
        change = harness.capture(job)
        assert isinstance(change, CapturedChange)
        assert change.files == ("file", "seen")
        assert harness.git("show", f"{change.tip}:seen") == "old"
        assert harness.git("rev-parse", "HEAD") == later
        assert harness.capture(job) == change

    def test_what_was_not_captured_is_saved_when_the_workspace_is_released(self, harness: ExecutorHarness) -> None:
        base = harness.commit_file("file", "old\n")
        job = harness.make_worktree_job("echo new >file", base)
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == 0
        harness.executor.workspaces.release(job.attempt.batch, job.attempt.task)
        assert harness.wait_until(lambda: bool(harness.git("for-each-ref", "refs/plait/saved/")))
        saved = harness.git("for-each-ref", "--format=%(refname)", "refs/plait/saved/")
        assert harness.git("show", f"{saved}:file") == "new"
        assert harness.git("rev-parse", f"{saved}^") == base

    def test_a_check_leaves_nothing_in_the_workspace(self, harness: ExecutorHarness) -> None:
        base = harness.commit_file("file", "old\n")
        write = harness.make_worktree_job("echo new >file", base)
        harness.executor.start(write)
        assert harness.wait_for_end(write.attempt) == 0
        change = harness.capture(write)
        assert isinstance(change, CapturedChange)
        name = Attempt("batch", "one", Step.VERIFY, 1)
        check = harness.make_worktree_job("cat file; echo changed >file", change.tip)
        check = replace(check, attempt=name, capture=None)
        harness.executor.start(check)
        assert harness.wait_for_end(name) == 0
        assert harness.executor.open_transcript(name).tail(10) == b"new\n"
        done: list[Exception | None] = []
        harness.executor.workspaces.reset(name, change.tip, lambda: done.append(None), done.append)
        assert harness.wait_until(lambda: bool(done))
        assert done == [None]
        preview = harness.executor.workspaces.preview_commit("batch", "one", base)
        assert harness.git("rev-parse", f"{preview}^{{tree}}") == harness.git("rev-parse", f"{change.tip}^{{tree}}")

    def test_a_gate_runs_on_exactly_its_commit(self, harness: ExecutorHarness) -> None:
        commit = harness.commit_file("file", "merged\n")
        harness.commit_file("file", "later\n")
        name = make_gate_attempt("batch", 1)
        path = harness.executor.workspaces.path(name)
        job = harness.make_worktree_job("cat file; exit 3", commit)
        harness.executor.start(replace(job, attempt=name, kind=AttemptKind.GATE, workspace=path, capture=None))
        assert harness.wait_for_end(name) == 3
        assert harness.executor.open_transcript(name).tail(20) == b"merged\n"

    def test_a_workspace_is_set_up_before_the_command(self, harness: ExecutorHarness) -> None:
        base = harness.commit_file("file", "old\n")
        job = harness.make_worktree_job("cat made", base)
        harness.executor.start(replace(job, setup=WorkspaceSetup(setup="echo made >made")))
        assert harness.wait_for_end(job.attempt) == 0
        assert harness.executor.open_transcript(job.attempt).tail(5) == b"made\n"
        assert harness.executor.workspaces.find_setup_failure(job.attempt) is None
        other = harness.make_worktree_job("true", base, "two")
        harness.executor.start(replace(other, setup=WorkspaceSetup(setup="exit 9")))
        assert harness.wait_for_end(other.attempt) not in {0, 9}
        assert "9" in (harness.executor.workspaces.find_setup_failure(other.attempt) or "")

    def test_a_workspace_that_cannot_be_prepared_is_reported(self, harness: ExecutorHarness) -> None:
        harness.commit_file("file", "old\n")
        job = harness.make_worktree_job("true", "0" * 40)
        harness.executor.start(job)
        assert "0" * 40 in str(harness.wait_for_end(job.attempt))
        assert harness.callbacks.launches == []
        assert harness.executor.adopt(job.attempt) is None

    def test_an_attempt_terminated_while_its_workspace_is_prepared_never_starts(self, harness: ExecutorHarness) -> None:
        base = harness.commit_file("file", "old\n")
        job = harness.make_worktree_job("true", base)
        harness.executor.start(job)
        harness.executor.terminate(job.attempt, at_once=False)
        assert harness.wait_for_end(job.attempt) == "it was never launched"
        # Captured after the preparation, in the same order; or there was none: it was still waiting for a machine.
        assert isinstance(harness.capture(job), CapturedChange | WorktreeError)
        assert harness.callbacks.launches == []

    def test_another_spec_replaces_the_one_whose_workspace_is_being_prepared(self, harness: ExecutorHarness) -> None:
        job = harness.make_worktree_job('echo "$KEY"; cat "$0"', harness.commit_file("file", "old\n"))
        path = f"{harness.executor.attempt_folder(job.attempt)}/prompt.md"
        for key in ("first", "second"):
            file = AttemptFile(path, f"{key} prompt\n".encode())
            env = {**job.env, "KEY": key}
            harness.executor.start(replace(job, argv=(*job.argv, path), env=env, files=(file,)))
        assert harness.wait_for_end(job.attempt) == 0
        assert harness.executor.open_transcript(job.attempt).tail(100) == b"second\nsecond prompt\n"
        assert len(harness.callbacks.launches) == 1

    def test_an_executor_can_be_closed_twice(self, harness: ExecutorHarness) -> None:
        harness.executor.close()
        harness.executor.close()
