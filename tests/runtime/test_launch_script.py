from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import run

import pytest

from plait.core.errors import WorldError
from plait.core.task import Attempt, Step
from plait.runtime import supervisor
from plait.system.process_identity import TAG_VARIABLE, attempt_tag, tag_prefix
from plait.system.state_paths import StateFolder
from plait.testing.contracts.executor import ExecutorHarness


def test_each_attempt_has_a_session_of_its_own(bare_harness: ExecutorHarness) -> None:
    assert bare_harness.run("ps -o sess= -p $$ >session") == 0
    assert (
        int((bare_harness.workspace / "session").read_text()) == bare_harness.callbacks.launches[0][1] != os.getsid(0)
    )


def test_each_attempt_has_its_own_tag_whatever_its_environment(bare_harness: ExecutorHarness, tmp_path: Path) -> None:
    job = bare_harness.make_job('printf %s "$PLAIT_MARK" >marker', env={TAG_VARIABLE: "another's"})
    bare_harness.executor.start(job)
    assert bare_harness.wait_for_end(job.attempt) == 0
    assert (bare_harness.workspace / "marker").read_text() == attempt_tag(tag_prefix(tmp_path / "state"), job.attempt)


def test_a_tag_depends_on_the_state_folder_and_the_attempt_alone(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    here, there = tag_prefix(tmp_path / "state"), tag_prefix(tmp_path / "other")
    assert here == tag_prefix(tmp_path / "link" / "state") != there
    names = [("b", "t", 1), ("b", "t", 2), ("bt", "", 1), ("", "bt", 1), ("b", "\udc80", 1)]
    attempts = [Attempt(batch, task, step, n) for batch, task, n in names for step in (Step.WRITE, Step.VERIFY)]
    assert len({attempt_tag(place, attempt) for place in (here, there) for attempt in attempts}) == 20


def test_the_output_is_the_transcript_and_the_folder_is_private(bare_harness: ExecutorHarness, tmp_path: Path) -> None:
    job = bare_harness.make_job("echo out; echo err >&2; printf '\\377\\000'")
    bare_harness.executor.start(job)
    assert bare_harness.wait_for_end(job.attempt) == 0
    folder = StateFolder(tmp_path / "state").attempt(job.attempt)
    assert folder.transcript.read_bytes() == b"out\nerr\n\xff\x00"
    assert folder.transcript.stat().st_mode & 0o777 == 0o600
    for each in (folder.path, folder.path.parent, folder.path.parent.parent):
        assert each.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def _deaf() -> Iterator[None]:
    """As a process that was started by `nohup`, and that has a handler for another signal."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal(signal.SIGTERM, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    yield
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    signal.signal(signal.SIGINT, before[0])
    signal.signal(signal.SIGTERM, before[1])


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells it")
@pytest.mark.usefixtures("_deaf")
def test_no_attempt_inherits_an_ignored_or_blocked_signal(bare_harness: ExecutorHarness) -> None:
    assert bare_harness.run("cat /proc/self/status >status") == 0
    lines = (bare_harness.workspace / "status").read_text().splitlines()
    masks = {line[:6]: int(line.split()[1], 16) for line in lines if line.startswith(("SigIgn", "SigBlk"))}
    ours = sum(1 << (number - 1) for number in signal.valid_signals())  # the C library keeps two for itself
    assert {name: mask & ours for name, mask in masks.items()} == {"SigBlk": 0, "SigIgn": 0}


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells it")
def test_no_attempt_inherits_a_descriptor(bare_harness: ExecutorHarness) -> None:
    assert bare_harness.run("ls /proc/self/fd >fds") == 0
    # ls itself has its folder open.
    assert (bare_harness.workspace / "fds").read_text().split() == ["0", "1", "2", "3"]


def test_a_command_that_is_too_long_is_an_error(bare_harness: ExecutorHarness) -> None:
    job = replace(bare_harness.make_job(""), argv=("echo", *["x" * 100_000] * 30))
    with pytest.raises(WorldError, match="too long for the system") as error:
        bare_harness.executor.start(job)
    assert "standard input" in error.value.hint
    bare_harness.executor.start(replace(job, argv=("true",)))
    assert bare_harness.wait_for_end(job.attempt) == 0


def test_a_missing_standard_input_is_an_error(bare_harness: ExecutorHarness) -> None:
    with pytest.raises(WorldError, match=r"/nowhere/prompt\.md"):
        bare_harness.executor.start(replace(bare_harness.make_job(""), stdin="/nowhere/prompt.md"))


def test_a_folder_that_cannot_be_made_is_an_error(bare_harness: ExecutorHarness, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(WorldError, match="can't make the folder") as error:
        bare_harness.executor.start(bare_harness.make_job(""))
    assert error.value.hint
    bare_harness.executor.terminate(bare_harness.make_job("").attempt, at_once=True)
    assert bare_harness.callbacks.ends == {bare_harness.make_job("").attempt: "it was never launched"}


def test_a_full_disk_is_an_error(bare_harness: ExecutorHarness, tmp_path: Path, small_disk: Path) -> None:
    """Either at once, or by the supervisor, which then runs nothing."""
    (tmp_path / "state").symlink_to(small_disk)
    with (small_disk / "all").open("wb", buffering=0) as file, pytest.raises(OSError, match="space"):
        file.writelines([b"x" * 4096] * 100)
    assert bare_harness.run(": >ran") == "it did not start: its folder is not writable, or the disk is full"
    assert not (bare_harness.workspace / "ran").exists()


def test_the_script_is_in_the_package_and_has_no_comments_when_it_runs() -> None:
    """It is part of every supervisor's command line."""
    assert supervisor.read_script().startswith("set ")
    assert "#" not in supervisor.read_script()
    run(["sh", "-n", "-c", supervisor.read_script()], check=True)
