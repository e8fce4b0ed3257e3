"""What a later engine finds of an attempt, and what it must never take for one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from subprocess import DEVNULL, Popen

import pytest

from plait.core.task import Attempt, Step
from plait.git.worktrees.workspaces import GitWorkspaces
from plait.runtime import supervisor
from plait.runtime.executor import ExitedProcess, LostProcess, ProbeResult, RunningProcess
from plait.runtime.local_executor import LocalExecutor
from plait.runtime.local_workspaces import LocalWorkspaces
from plait.runtime.reactor import SelectReactor
from plait.runtime.supervisor import PROCESS_NAME
from plait.runtime.worker_pool import WorkerPool
from plait.system import processes
from plait.system.process_identity import attempt_tag, tag_prefix
from plait.system.state_paths import AttemptFolder, StateFolder
from plait.testing.contracts.executor import (
    IGNORES_SIGNALS,
    UNTIL_GO,
    ExecutorHarness,
    RecordedCallbacks,
    is_alive,
)

ATTEMPT = Attempt("batch", "one", Step.WRITE, 1)


@pytest.fixture
def folder(tmp_path: Path) -> AttemptFolder:
    folder = StateFolder(tmp_path / "state").attempt(ATTEMPT)
    folder.path.mkdir(parents=True)
    return folder


@pytest.fixture
def other_process(tmp_path: Path) -> Iterator[Popen[bytes]]:
    """A process that has nothing to do with us."""
    with Popen(["sleep", "60"], stdin=DEVNULL, cwd=tmp_path, start_new_session=True) as process:
        yield process
        process.kill()


def found(harness: ExecutorHarness, folder: AttemptFolder, *line: object) -> ProbeResult:
    folder.pidfile.write_text(" ".join(map(str, line)) + "\n")
    return harness.executor.adopt(ATTEMPT)


def identity(pid: int) -> tuple[int, str]:
    process = processes.read_process(pid)
    assert process is not None
    return process.start, processes.boot_id()


def test_an_unrelated_process_with_the_same_pid_is_not_adopted(
    bare_harness: ExecutorHarness, folder: AttemptFolder, other_process: Popen[bytes]
) -> None:
    start, boot = identity(other_process.pid)
    for line in ((other_process.pid, start, boot), (other_process.pid, 0, boot), (other_process.pid,)):
        assert isinstance(found(bare_harness, folder, *line), LostProcess)
        bare_harness.executor.terminate(ATTEMPT, at_once=True)
        bare_harness.executor.start(bare_harness.make_job("true"))
    assert bare_harness.callbacks.count == 6
    assert other_process.poll() is None


@dataclass(frozen=True)
class Look:
    """What can be seen of a process that may be a supervisor. `since` is counted from now."""

    since: int = -100
    boot: str = ""
    signature: str | None = None
    name: str = PROCESS_NAME
    folder: Path | None = None
    marker: str | None = None


@pytest.mark.skipif(not processes.boot_id(), reason="claims have no signature here")
@pytest.mark.parametrize(
    ("look", "is_taken"),
    [
        (Look(), True),
        (Look(since=1000), False),
        (Look(boot="another-boot"), False),
        (Look(signature="17 its-own"), False),
        (Look(name="supervisor"), False),
        (Look(folder=Path("/elsewhere")), False),
        (Look(marker="another-one"), False),
    ],
)
def test_a_supervisor_is_recognised_only_if_everything_matches(
    bare_harness: ExecutorHarness, folder: AttemptFolder, tmp_path: Path, look: Look, *, is_taken: bool
) -> None:
    signature = f"{processes.clock_ticks() + look.since} {look.boot or processes.boot_id()}"
    words = [look.name, str(look.folder or folder.path), "/tmp", look.signature or signature]
    environment = {
        **os.environ,
        "PLAIT_MARK": look.marker or attempt_tag(tag_prefix(tmp_path / "state"), ATTEMPT),
    }
    with Popen(["sh", "-c", "sleep 60; :", *words], env=environment, start_new_session=True) as process:
        folder.pidfile.write_text(f"{process.pid} {signature}\n")
        assert bare_harness.wait_until(lambda: len(processes.command_line(process.pid)) == 7)
        signed = supervisor.read_pidfile(folder.pidfile)
        assert signed is not None
        found = supervisor.find_supervisor(folder, signed, attempt_tag(tag_prefix(tmp_path / "state"), ATTEMPT))
        os.killpg(process.pid, SIGKILL)
    assert (found is not None) == is_taken
    if found is not None and found.fd is not None:
        os.close(found.fd)


def test_another_process_of_the_attempt_with_the_same_pid_is_not_its_supervisor(
    bare_harness: ExecutorHarness, folder: AttemptFolder, tmp_path: Path
) -> None:
    """It has the right tag. Without its supervisor it is ended, and the attempt is lost."""
    environment = {**os.environ, "PLAIT_MARK": attempt_tag(tag_prefix(tmp_path / "state"), ATTEMPT)}
    with Popen(["sleep", "60"], env=environment, start_new_session=True) as orphan:
        start, boot = identity(orphan.pid)
        assert found(bare_harness, folder, orphan.pid, start, boot) == RunningProcess(orphan.pid)
        assert bare_harness.wait_for_end(ATTEMPT) == "the process is gone and left no exit status"
        assert orphan.wait(30) == -SIGKILL


def test_after_a_reboot_every_attempt_is_lost(
    bare_harness: ExecutorHarness, folder: AttemptFolder, other_process: Popen[bytes]
) -> None:
    start, _ = identity(other_process.pid)
    gone = found(bare_harness, folder, other_process.pid, start, "another-boot")
    assert gone == LostProcess("the machine was restarted while it ran")
    folder.exit_status.write_bytes(b"003\n")
    assert bare_harness.executor.adopt(ATTEMPT) == ExitedProcess(3)


def test_a_zombie_supervisor_has_exited(bare_harness: ExecutorHarness) -> None:
    attempt = bare_harness.start(IGNORES_SIGNALS)
    bare_harness.executor.close()
    supervisor_pid = bare_harness.callbacks.launches[0][1]
    os.kill(supervisor_pid, SIGKILL)
    os.waitid(os.P_PID, supervisor_pid, os.WEXITED | os.WNOWAIT)
    later = RecordedCallbacks()
    # Its command still runs, and must not.
    assert isinstance(bare_harness.open_executor(later).adopt(attempt), RunningProcess)
    assert bare_harness.wait_until(lambda: later.count == 1)
    assert isinstance(later.ends[attempt], str)
    assert bare_harness.open_executor(RecordedCallbacks()).adopt(attempt) == LostProcess(
        "the process is gone and left no exit status"
    )


@pytest.mark.parametrize(
    "text", [b"", b"123", b"\xff\xfe\n", b"-1 0 x\n", b"x" * 10_000, b"99999999999999999999 1 b\n"]
)
def test_an_empty_pidfile_without_a_supervisor_is_a_lost_attempt(
    bare_harness: ExecutorHarness, folder: AttemptFolder, text: bytes
) -> None:
    folder.pidfile.write_bytes(text)
    assert isinstance(bare_harness.executor.adopt(ATTEMPT), LostProcess)


def test_a_supervisor_that_has_not_written_its_pid_yet_is_found(bare_harness: ExecutorHarness, tmp_path: Path) -> None:
    attempt = bare_harness.start(f"{UNTIL_GO}; exit 4")
    bare_harness.executor.close()
    path = StateFolder(tmp_path / "state").attempt(attempt).pidfile
    path.write_bytes(b"")
    later = RecordedCallbacks()
    assert bare_harness.open_executor(later).adopt(attempt) == RunningProcess(bare_harness.callbacks.launches[0][1])
    (bare_harness.workspace / "go").touch()
    assert bare_harness.wait_until(lambda: later.count == 1)
    assert later.ends == {attempt: 4}


def test_an_unreadable_pidfile_does_not_count_as_missing(bare_harness: ExecutorHarness, folder: AttemptFolder) -> None:
    folder.pidfile.symlink_to(folder.pidfile)
    assert isinstance(bare_harness.executor.adopt(ATTEMPT), LostProcess)


def test_a_supervisor_with_an_unreadable_pidfile_is_found(bare_harness: ExecutorHarness, tmp_path: Path) -> None:
    attempt = bare_harness.start(f"{UNTIL_GO}; exit 4")
    bare_harness.executor.close()
    path = StateFolder(tmp_path / "state").attempt(attempt).pidfile
    path.unlink()
    path.mkdir()
    later = RecordedCallbacks()
    assert bare_harness.open_executor(later).adopt(attempt) == RunningProcess(bare_harness.callbacks.launches[0][1])
    (bare_harness.workspace / "go").touch()
    assert bare_harness.wait_until(lambda: later.count == 1)
    assert later.ends == {attempt: 4}


def test_an_unreadable_exit_status_counts_as_missing(bare_harness: ExecutorHarness, folder: AttemptFolder) -> None:
    folder.pidfile.write_bytes(b"")
    folder.exit_status.mkdir()
    assert isinstance(bare_harness.executor.adopt(ATTEMPT), LostProcess)


def no_worktrees() -> GitWorkspaces:
    raise AssertionError("all attempts are in place")


def test_an_attempt_is_found_through_a_link_to_the_state_folder(bare_harness: ExecutorHarness, tmp_path: Path) -> None:
    attempt = bare_harness.start(f"{UNTIL_GO}; exit 4")
    bare_harness.executor.close()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    with closing(SelectReactor()) as reactor:
        linked = StateFolder(tmp_path / "link")
        spaces = LocalWorkspaces(no_worktrees, WorkerPool(reactor), linked, linked.root)
        executor = LocalExecutor(RecordedCallbacks(), reactor, spaces)
        assert executor.adopt(attempt) == RunningProcess(bare_harness.callbacks.launches[0][1])
        executor.close()


def test_a_supervisor_that_was_faster_is_adopted(
    bare_harness: ExecutorHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine died between launching a supervisor and its pidfile; the next one launched another."""
    job = bare_harness.make_job(f"echo ran >>runs; {UNTIL_GO}; exit 6")
    bare_harness.executor.start(job)
    assert bare_harness.wait_until((bare_harness.workspace / "up").exists)
    bare_harness.executor.close()
    later = RecordedCallbacks()
    second = bare_harness.open_executor(later)
    with monkeypatch.context() as blind:
        blind.setattr(supervisor, "read_pidfile", lambda _: None)
        second.start(job)
    assert bare_harness.wait_until(lambda: len(later.launches) == 2)
    assert later.launches[1] == bare_harness.callbacks.launches[0] != later.launches[0]
    assert second.adopt(job.attempt) == RunningProcess(bare_harness.callbacks.launches[0][1])
    (bare_harness.workspace / "go").touch()
    assert bare_harness.wait_until(lambda: later.count == 1)
    assert later.ends == {job.attempt: 6}
    assert (bare_harness.workspace / "runs").read_text() == "ran\n"


def test_the_exit_of_a_supervisor_that_was_faster_is_reported(
    bare_harness: ExecutorHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bare_harness.run("echo ran >>runs; exit 6") == 6
    later = RecordedCallbacks()
    with monkeypatch.context() as blind:
        blind.setattr(supervisor, "read_pidfile", lambda _: None)
        bare_harness.open_executor(later).start(bare_harness.make_job(""))
    assert bare_harness.wait_until(lambda: later.count == 1)
    assert later.ends == {ATTEMPT: 6}


def test_terminating_ends_the_supervisor_that_was_faster(
    bare_harness: ExecutorHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = bare_harness.start(f"echo $$ >self; {IGNORES_SIGNALS}")
    bare_harness.executor.close()
    later = RecordedCallbacks()
    second = bare_harness.open_executor(later)
    with monkeypatch.context() as blind:
        blind.setattr(supervisor, "read_pidfile", lambda _: None)
        second.start(bare_harness.make_job("exit 0"))
        second.terminate(attempt, at_once=False)
    assert bare_harness.wait_until(lambda: later.count == 1)
    assert later.ends == {attempt: 128 + SIGKILL}
    assert not is_alive(bare_harness.wait_for_pid("self"))
