"""What every Executor must do, as tests to derive from, and helpers for attempts that run `sh`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from signal import SIGKILL

import psutil
import pytest

from plait.core.errors import WorldError
from plait.core.task import Attempt, Step, make_gate_attempt
from plait.git.interfaces import CapturedChange, CommitInfo, WorkspaceSetup
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

    launches: list[tuple[Attempt, int]] = field(default_factory=list)
    ends: dict[Attempt, int | str] = field(default_factory=dict)
    count: int = 0

    def on_launched(self, attempt: Attempt, pid: int) -> None:
        self.launches.append((attempt, pid))

    def on_start_failed(self, attempt: Attempt, error: Exception) -> None:
        self.ends[attempt] = f"{error}"
        self.count += 1

    def on_exited(self, attempt: Attempt, code: int) -> None:
        self.ends[attempt] = code
        self.count += 1

    def on_lost(self, attempt: Attempt, why: str) -> None:
        self.ends[attempt] = why
        self.count += 1


@dataclass(slots=True)
class ExecutorSetup:
    """`open_executor` opens an executor for the same machine each time. `wait_until` runs its loop until a condition
    holds, or gives up. `repository` is the checkout whose worktrees it makes; `executor` is the first one opened.
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
        """These lines of `sh`, in place."""
        environment = {"PATH": os.environ["PATH"], **(env or {})}
        return AttemptSpec(Attempt("batch", task, Step.WRITE, 1), ("sh", "-c", lines), str(self.workspace), environment)

    def make_worktree_job(self, lines: str, base: str, task: str = "one") -> AttemptSpec:
        """These lines of `sh`, in the task's own workspace."""
        job = self.make_job(lines, task)
        path = self.executor.workspaces.path(job.attempt)
        return replace(
            job, kind=AttemptKind.WORKTREE, workspace=path, checkout=str(self.repository), base=base, task_base=base
        )

    def git(self, *args: str) -> str:
        command = ["git", "-C", str(self.repository), *args]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit_file(self, name: str, text: str) -> str:
        """Commit a file to the repository, which is made if needed. The commit."""
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
        """What the attempt left, as a commit."""
        results: list[CapturedChange | Exception] = []
        spec = CaptureSpec(job.attempt, job.base, CommitInfo("result"))
        self.executor.workspaces.capture(spec, results.append, results.append)
        assert self.wait_until(lambda: bool(results)), "it was not captured"
        return results[0]

    def start(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> Attempt:
        """Start a script, and wait until it says `: >up`."""
        job = self.make_job(lines, task, env)
        (self.workspace / "up").unlink(missing_ok=True)
        self.executor.start(job)
        assert self.wait_until((self.workspace / "up").exists), "it did not come up"
        return job.attempt

    def run(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> int | str:
        """Start a script, and wait for its end."""
        job = self.make_job(lines, task, env)
        self.executor.start(job)
        return self.wait_for_end(job.attempt)

    def wait_for_end(self, attempt: Attempt) -> int | str:
        assert self.wait_until(lambda: attempt in self.callbacks.ends), "its end was not told"
        return self.callbacks.ends[attempt]

    def wait_for_pid(self, name: str) -> int:
        """The number that a script writes to this file."""
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
    """Provide `scene`: an executor on a new machine."""

    @pytest.fixture
    def scene(self) -> ExecutorSetup:
        raise NotImplementedError

    @pytest.mark.parametrize("code", [0, 1, 74, 75, 126, 127, 130, 255])
    def test_the_exit_status_is_told(self, scene: ExecutorSetup, code: int) -> None:
        job = scene.make_job(f"exit {code}")
        scene.executor.start(job)
        assert [attempt for attempt, _ in scene.callbacks.launches] == [job.attempt]
        assert scene.wait_for_end(job.attempt) == code
        assert scene.callbacks.count == 1

    @pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("KILL", 137), ("SEGV", 139)])
    def test_death_by_a_signal_is_told_as_a_shell_does(self, scene: ExecutorSetup, name: str, code: int) -> None:
        assert scene.run(f"kill -{name} $$; sleep 10") == code

    def test_what_cannot_be_executed_exits_as_in_a_shell(self, scene: ExecutorSetup) -> None:
        (scene.workspace / "plain").write_text("no program")
        commands = {("there-is-no-such-command",): 127, ("./plain",): 126, ("exit", "0"): 127}
        for number, (argv, code) in enumerate(commands.items()):
            job = replace(scene.make_job("", f"{number}"), argv=argv)
            scene.executor.start(job)
            assert scene.wait_for_end(job.attempt) == code, argv

    def test_a_command_runs_in_its_workspace_with_its_own_words_and_environment(self, scene: ExecutorSetup) -> None:
        words = ("", " ", "$HOME", "*", "a\nb", "-n", "ü", "'\"\\")
        job = scene.make_job(
            'printf "%s\\0" "$@" >words; printf %s "$CHEER" >cheer; printf %s "${HOME-unset}" >home',
            env={"CHEER": "olé\n "},
        )
        scene.executor.start(replace(job, argv=(*job.argv, "sh", *words)))
        assert scene.wait_for_end(job.attempt) == 0
        assert (scene.workspace / "words").read_bytes().decode().split("\0")[:-1] == list(words)
        assert (scene.workspace / "cheer").read_text() == "olé\n "
        assert (scene.workspace / "home").read_text() == "unset"

    def test_standard_input_is_a_file_or_nothing(self, scene: ExecutorSetup) -> None:
        (scene.workspace / "prompt").write_bytes(b"\x00do it\n")
        job = replace(scene.make_job("cat >read"), stdin=str(scene.workspace / "prompt"))
        scene.executor.start(job)
        assert scene.wait_for_end(job.attempt) == 0
        assert (scene.workspace / "read").read_bytes() == b"\x00do it\n"
        assert scene.run("cat >nothing", "two") == 0
        assert (scene.workspace / "nothing").read_bytes() == b""

    def test_files_are_written_before_the_command_starts(self, scene: ExecutorSetup) -> None:
        job = scene.make_job('cat >read; cat "$0" >>read; stat -c %a "$0" >mode')
        folder = Path(scene.executor.attempt_folder(job.attempt))
        prompt = AttemptFile(str(folder / "prompt.md"), b"\x00do it\n")
        task = AttemptFile(str(folder.parent / "task.md"), "olé\n".encode())
        assert scene.workspace not in folder.parents
        job = replace(job, argv=(*job.argv, task.path), stdin=prompt.path, files=(prompt, task))
        scene.executor.start(job)
        assert scene.wait_for_end(job.attempt) == 0
        assert (scene.workspace / "read").read_bytes() == prompt.data + task.data
        assert (scene.workspace / "mode").read_text() == "600\n"

    def test_files_of_a_launched_attempt_stay_as_they_are(self, scene: ExecutorSetup) -> None:
        job = scene.make_job(f'{UNTIL_GO}; cat "$0" >read')
        path = f"{scene.executor.attempt_folder(job.attempt)}/job.json"
        job = replace(job, argv=(*job.argv, path), files=(AttemptFile(path, b"first"),))
        scene.executor.start(job)
        scene.executor.start(replace(job, files=(AttemptFile(path, b"second"),)))
        (scene.workspace / "go").touch()
        assert scene.wait_for_end(job.attempt) == 0
        assert (scene.workspace / "read").read_bytes() == b"first"

    def test_what_cannot_be_started_is_said_at_once(self, scene: ExecutorSetup) -> None:
        job = scene.make_job("true")
        with pytest.raises(WorldError, match="nowhere"):
            scene.executor.start(replace(job, workspace="/nowhere/at all"))
        with pytest.raises(WorldError):
            scene.executor.start(replace(job, argv=("echo", "a\0b")))
        with pytest.raises(WorldError):
            scene.executor.start(replace(job, argv=()))
        assert scene.callbacks == RecordedCallbacks()

    def test_starting_twice_starts_once(self, scene: ExecutorSetup) -> None:
        job = scene.make_job(f"echo ran >>runs; {UNTIL_GO}")
        scene.executor.start(job)
        scene.executor.start(job)
        assert scene.wait_until((scene.workspace / "up").exists)
        assert len(set(scene.callbacks.launches)) == 1
        (scene.workspace / "go").touch()
        assert scene.wait_for_end(job.attempt) == 0
        scene.executor.start(job)
        assert scene.callbacks.count == 2
        assert scene.callbacks.ends == {job.attempt: 0}
        assert (scene.workspace / "runs").read_text() == "ran\n"

    def test_one_that_was_never_started_is_not_found(self, scene: ExecutorSetup) -> None:
        assert scene.executor.adopt(scene.make_job("true").attempt) is None

    def test_an_attempt_outlives_its_executor_and_is_adopted(self, scene: ExecutorSetup) -> None:
        attempt = scene.start(f"{UNTIL_GO}; exit 5")
        scene.executor.close()
        later = RecordedCallbacks()
        second = scene.open_executor(later)
        assert second.adopt(attempt) == RunningProcess(scene.callbacks.launches[0][1]) == second.adopt(attempt)
        (scene.workspace / "go").touch()
        assert scene.wait_until(lambda: later.count == 1)
        assert later.ends == {attempt: 5}
        assert scene.callbacks.ends == {}
        assert scene.open_executor(RecordedCallbacks()).adopt(attempt) == ExitedProcess(5)

    def test_an_end_that_nobody_saw_is_found(self, scene: ExecutorSetup) -> None:
        job = scene.make_job(f"{UNTIL_GO}; exit 6")
        scene.executor.start(job)
        scene.executor.close()
        (scene.workspace / "go").touch()
        later = RecordedCallbacks()
        second = scene.open_executor(later)
        assert scene.wait_until(lambda: second.adopt(job.attempt) == ExitedProcess(6))
        second.start(job)
        assert later.ends == {job.attempt: 6}

    def test_one_that_is_asked_to_end_may_end_in_its_own_way(self, scene: ExecutorSetup) -> None:
        attempt = scene.start(ENDS_ON_INT)
        scene.executor.terminate(attempt, at_once=False)
        scene.executor.terminate(attempt, at_once=False)
        assert scene.wait_for_end(attempt) == 3
        assert (scene.workspace / "asked").read_text() == "asked\n"

    def test_one_that_will_not_hear_is_killed(self, scene: ExecutorSetup) -> None:
        attempt = scene.start(IGNORES_SIGNALS)
        scene.executor.terminate(attempt, at_once=False)
        assert scene.wait_for_end(attempt) == 128 + SIGKILL

    def test_now_does_not_ask(self, scene: ExecutorSetup) -> None:
        attempt = scene.start(ENDS_ON_INT)
        scene.executor.terminate(attempt, at_once=True)
        assert scene.wait_for_end(attempt) == 128 + SIGKILL
        assert not (scene.workspace / "asked").exists()

    def test_an_attempt_ends_with_all_that_it_started(self, scene: ExecutorSetup) -> None:
        attempt = scene.start("setsid sh -c 'echo $$ >child; while :; do sleep 0.05; done' & : >up; wait")
        child = scene.wait_for_pid("child")
        scene.executor.terminate(attempt, at_once=True)
        assert scene.wait_for_end(attempt) == 128 + SIGKILL
        assert not is_alive(child)

    def test_one_that_is_over_is_told_again(self, scene: ExecutorSetup) -> None:
        assert scene.run("exit 4") == 4
        attempt = scene.make_job("").attempt
        scene.executor.terminate(attempt, at_once=True)
        later = RecordedCallbacks()
        scene.open_executor(later).terminate(attempt, at_once=False)
        assert scene.callbacks.ends == later.ends == {attempt: 4}
        assert (scene.callbacks.count, later.count) == (2, 1)

    def test_one_that_was_never_started_ends_and_never_starts(self, scene: ExecutorSetup) -> None:
        job = scene.make_job(": >ran")
        scene.executor.terminate(job.attempt, at_once=False)
        assert scene.callbacks.ends == {job.attempt: "it was never launched"}
        scene.executor.start(job)
        assert scene.wait_until(lambda: scene.callbacks.count == 2)
        assert isinstance(scene.executor.adopt(job.attempt), LostProcess)
        assert not (scene.workspace / "ran").exists()

    def test_an_adopted_one_can_be_ended(self, scene: ExecutorSetup) -> None:
        attempt = scene.start(ENDS_ON_INT)
        scene.executor.close()
        later = RecordedCallbacks()
        scene.open_executor(later).terminate(attempt, at_once=False)
        assert scene.wait_until(lambda: later.count == 1)
        assert later.ends == {attempt: 3}

    def test_footprints_are_those_of_what_runs(self, scene: ExecutorSetup) -> None:
        assert scene.executor.measure_memory() == {}
        attempt = scene.start(IGNORES_SIGNALS)
        assert list(scene.executor.measure_memory()) == [attempt]
        assert scene.executor.measure_memory()[attempt] > 100_000
        scene.executor.terminate(attempt, at_once=True)
        assert scene.wait_for_end(attempt) == 128 + SIGKILL
        assert scene.executor.measure_memory() == {}

    def test_many_at_once_are_told_apart(self, scene: ExecutorSetup) -> None:
        jobs = [scene.make_job(f"exit {number}", f"{number}") for number in range(20)]
        for job in jobs:
            scene.executor.start(job)
        assert scene.wait_until(lambda: scene.callbacks.count == 20)
        assert scene.callbacks.ends == {job.attempt: number for number, job in enumerate(jobs)}
        assert len({pid for _, pid in scene.callbacks.launches}) == 20

    def test_a_transcript_is_read_from_any_offset(self, scene: ExecutorSetup) -> None:
        job = scene.make_job("echo one; echo two >&2; printf three")
        transcript = scene.executor.open_transcript(job.attempt)
        assert (transcript.size(), transcript.read(0, 10).data, transcript.tail(10)) == (0, b"", b"")
        scene.executor.start(job)
        assert scene.wait_for_end(job.attempt) == 0
        assert transcript.size() == 13
        assert transcript.read(0, 100).data == b"one\ntwo\nthree"
        assert transcript.read(4, 3).data == b"two"
        assert transcript.read(13, 100).data == b""
        assert transcript.tail(5) == b"three"
        assert transcript.last_written() > 0

    def test_a_transcript_beyond_its_limit_keeps_its_beginning_its_end_and_its_offsets(
        self, scene: ExecutorSetup
    ) -> None:
        job = scene.make_job("echo first; yes | head -c 3000000; echo last")
        scene.executor.start(replace(job, limits=AttemptLimits(transcript_bytes=1 << 20)))
        assert scene.wait_for_end(job.attempt) == 0
        transcript = scene.executor.open_transcript(job.attempt)
        assert transcript.size() == 3_000_011
        assert transcript.read(0, 6).data == b"first\n"
        assert transcript.tail(5) == b"last\n"
        second = transcript.read(transcript.read(0, 3_000_011).end, 3_000_011)
        assert second.end in {0, 3_000_011}

    def test_what_an_attempt_leaves_in_its_workspace_becomes_a_commit(self, scene: ExecutorSetup) -> None:
        base = scene.commit_file("file", "old\n")
        later = scene.commit_file("file", "later\n")
        job = scene.make_worktree_job("cat file >seen; echo new >file", base)
        scene.executor.start(job)
        assert scene.wait_for_end(job.attempt) == 0
        change = scene.capture(job)
        assert isinstance(change, CapturedChange)
        assert change.files == ("file", "seen")
        assert scene.git("show", f"{change.tip}:seen") == "old"
        assert scene.git("rev-parse", "HEAD") == later
        assert scene.capture(job) == change

    def test_a_check_leaves_nothing_in_the_workspace(self, scene: ExecutorSetup) -> None:
        base = scene.commit_file("file", "old\n")
        write = scene.make_worktree_job("echo new >file", base)
        scene.executor.start(write)
        assert scene.wait_for_end(write.attempt) == 0
        change = scene.capture(write)
        assert isinstance(change, CapturedChange)
        name = Attempt("batch", "one", Step.VERIFY, 1)
        check = replace(scene.make_worktree_job("cat file; echo changed >file", change.tip), attempt=name)
        scene.executor.start(check)
        assert scene.wait_for_end(name) == 0
        assert scene.executor.open_transcript(name).tail(10) == b"new\n"
        done: list[Exception | None] = []
        scene.executor.workspaces.reset(name, change.tip, lambda: done.append(None), done.append)
        assert scene.wait_until(lambda: bool(done))
        assert done == [None]
        preview = scene.executor.workspaces.preview_commit("batch", "one", base)
        assert scene.git("rev-parse", f"{preview}^{{tree}}") == scene.git("rev-parse", f"{change.tip}^{{tree}}")

    def test_a_gate_runs_on_exactly_its_commit(self, scene: ExecutorSetup) -> None:
        commit = scene.commit_file("file", "merged\n")
        scene.commit_file("file", "later\n")
        name = make_gate_attempt("batch", 1)
        path = scene.executor.workspaces.path(name)
        job = scene.make_worktree_job("cat file; exit 3", commit)
        scene.executor.start(replace(job, attempt=name, kind=AttemptKind.GATE, workspace=path))
        assert scene.wait_for_end(name) == 3
        assert scene.executor.open_transcript(name).tail(20) == b"merged\n"

    def test_a_workspace_is_set_up_before_the_command(self, scene: ExecutorSetup) -> None:
        base = scene.commit_file("file", "old\n")
        job = scene.make_worktree_job("cat made", base)
        scene.executor.start(replace(job, setup=WorkspaceSetup(setup="echo made >made")))
        assert scene.wait_for_end(job.attempt) == 0
        assert scene.executor.open_transcript(job.attempt).tail(5) == b"made\n"
        assert scene.executor.workspaces.find_setup_failure(job.attempt) is None
        other = scene.make_worktree_job("true", base, "two")
        scene.executor.start(replace(other, setup=WorkspaceSetup(setup="exit 9")))
        assert scene.wait_for_end(other.attempt) not in {0, 9}
        assert "9" in (scene.executor.workspaces.find_setup_failure(other.attempt) or "")

    def test_a_workspace_that_cannot_be_prepared_is_reported(self, scene: ExecutorSetup) -> None:
        scene.commit_file("file", "old\n")
        job = scene.make_worktree_job("true", "0" * 40)
        scene.executor.start(job)
        assert "0" * 40 in str(scene.wait_for_end(job.attempt))
        assert scene.callbacks.launches == []
        assert scene.executor.adopt(job.attempt) is None

    def test_one_that_is_ended_while_its_workspace_is_prepared_never_starts(self, scene: ExecutorSetup) -> None:
        base = scene.commit_file("file", "old\n")
        job = scene.make_worktree_job("true", base)
        scene.executor.start(job)
        scene.executor.terminate(job.attempt, at_once=False)
        assert scene.callbacks.ends == {job.attempt: "it was never launched"}
        assert isinstance(scene.capture(job), CapturedChange)  # after the preparation, in the same order
        assert scene.callbacks.launches == []

    def test_another_spec_replaces_the_one_whose_workspace_is_being_prepared(self, scene: ExecutorSetup) -> None:
        job = scene.make_worktree_job('echo "$KEY"; cat "$0"', scene.commit_file("file", "old\n"))
        path = f"{scene.executor.attempt_folder(job.attempt)}/prompt.md"
        for key in ("first", "second"):
            file = AttemptFile(path, f"{key} prompt\n".encode())
            env = {**job.env, "KEY": key}
            scene.executor.start(replace(job, argv=(*job.argv, path), env=env, files=(file,)))
        assert scene.wait_for_end(job.attempt) == 0
        assert scene.executor.open_transcript(job.attempt).tail(100) == b"second\nsecond prompt\n"
        assert len(scene.callbacks.launches) == 1

    def test_closing_twice_is_closing(self, scene: ExecutorSetup) -> None:
        scene.executor.close()
        scene.executor.close()
