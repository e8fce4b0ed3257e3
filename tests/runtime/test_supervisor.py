"""The supervisor's script by itself, under every installed shell that may be `sh` on some system."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGQUIT, SIGTERM, Signals
from subprocess import DEVNULL, Popen
from threading import Thread

import pytest

from plait.runtime import supervisor
from plait.runtime.supervisor import EXIT_CANNOT_WRITE, EXIT_CLAIMED, PROCESS_NAME, read_script
from plait.system.state_paths import AttemptFolder
from tests.support.leaked_processes import kill_leaked_processes

SIGNATURE = "17 some-boot"
NAMES = ("sh", "dash", "bash", "busybox")
SHELLS = sorted({os.path.realpath(shell) for name in NAMES if (shell := shutil.which(name))})
StartSupervisor = Callable[..., "Popen[bytes]"]


@pytest.fixture
def folder(tmp_path: Path) -> AttemptFolder:
    (tmp_path / "attempt").mkdir()
    return AttemptFolder(tmp_path / "attempt")


@pytest.fixture(params=SHELLS)
def start_supervisor(
    request: pytest.FixtureRequest, tmp_path: Path, folder: AttemptFolder
) -> Iterator[StartSupervisor]:
    """Start a supervisor with a command, in a session of its own; the transcript is `output`."""

    def start(*argv: str, cwd: Path = tmp_path, env: dict[str, str] | None = None) -> Popen[bytes]:
        command = ["sh", "-c", read_script(), PROCESS_NAME, str(folder.path), str(cwd), SIGNATURE, *argv]
        with (tmp_path / "output").open("ab") as output:
            return Popen(
                command,
                executable=request.param,
                env={**os.environ, **(env or {})},
                stdin=DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    yield start
    kill_leaked_processes(tmp_path)


def test_a_supervisor_writes_its_pidfile_and_the_exit_status(
    start_supervisor: StartSupervisor, folder: AttemptFolder
) -> None:
    process = start_supervisor("sh", "-c", "exit 7")
    assert process.wait(30) == 0
    signed = supervisor.read_pidfile(folder.pidfile)
    assert signed is not None
    assert signed == supervisor.PidFile(process.pid, SIGNATURE)
    assert folder.exit_status.read_bytes() == b"007\n"


def test_one_of_many_supervisors_runs_the_command(
    start_supervisor: StartSupervisor, tmp_path: Path, folder: AttemptFolder
) -> None:
    processes = [start_supervisor("sh", "-c", "echo ran >>runs") for _ in range(8)]
    assert sorted(process.wait(30) for process in processes) == [0] + [EXIT_CLAIMED] * 7
    assert (tmp_path / "runs").read_text() == "ran\n"
    assert supervisor.read_exit_status(folder.exit_status) == 0
    assert (tmp_path / "output").read_bytes() == b""


def test_an_empty_pidfile_prevents_the_launch(
    start_supervisor: StartSupervisor, tmp_path: Path, folder: AttemptFolder
) -> None:
    assert supervisor.block_launch(folder.pidfile)
    assert not supervisor.block_launch(folder.pidfile)
    assert start_supervisor("touch", "ran").wait(30) == EXIT_CLAIMED
    assert not (tmp_path / "ran").exists()
    assert supervisor.read_pidfile(folder.pidfile) == supervisor.PidFile()


def test_a_supervisor_without_disk_space_runs_nothing(
    start_supervisor: StartSupervisor, tmp_path: Path, folder: AttemptFolder, small_disk: Path
) -> None:
    folder.path.rmdir()
    folder.path.symlink_to(small_disk)
    _fill(small_disk / "all")
    assert start_supervisor("touch", str(tmp_path / "ran")).wait(30) == EXIT_CANNOT_WRITE
    assert not (tmp_path / "ran").exists()
    assert supervisor.read_pidfile(folder.pidfile) == supervisor.PidFile()


def test_a_disk_that_fills_up_does_not_lose_the_exit_status(
    start_supervisor: StartSupervisor, tmp_path: Path, folder: AttemptFolder, small_disk: Path
) -> None:
    folder.path.rmdir()
    folder.path.symlink_to(small_disk)
    process = start_supervisor(
        "sh", "-c", f": >up; until [ -e go ]; do sleep 0.05; done; echo x >{small_disk}/more; exit 9"
    )
    while not (tmp_path / "up").exists():
        assert process.poll() is None
    _fill(small_disk / "all")
    (tmp_path / "go").touch()
    assert process.wait(30) == 0
    assert (small_disk / "more").read_bytes() == b""
    assert supervisor.read_exit_status(folder.exit_status) == 9


def _fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


def test_a_supervisor_that_cannot_write_runs_nothing(
    start_supervisor: StartSupervisor, tmp_path: Path, folder: AttemptFolder
) -> None:
    folder.path.rmdir()
    assert start_supervisor("touch", "ran").wait(30) == EXIT_CANNOT_WRITE
    assert not (tmp_path / "ran").exists()


def test_a_reader_never_sees_another_exit_status(start_supervisor: StartSupervisor, folder: AttemptFolder) -> None:
    seen: set[int | None] = set()
    over = False

    def watch() -> None:
        while not over:
            seen.add(supervisor.read_exit_status(folder.exit_status))

    reader = Thread(target=watch)
    reader.start()
    try:
        for _ in range(20):
            for file in (folder.pidfile, folder.exit_status):
                file.unlink(missing_ok=True)
            assert start_supervisor("sh", "-c", "exit 213").wait(30) == 0
    finally:
        over = True
        reader.join()
    assert seen <= {None, 213}


@pytest.mark.parametrize("number", [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
def test_a_supervisor_survives_the_signals_of_its_command(
    start_supervisor: StartSupervisor, tmp_path: Path, folder: AttemptFolder, number: Signals
) -> None:
    """A signal to the whole group: the command exits in its own way, and the supervisor writes the status."""
    process = start_supervisor("sh", "-c", f"trap 'exit 42' {number.value}; : >up; while :; do sleep 0.02; done")
    while not (tmp_path / "up").exists():
        assert process.poll() is None
    os.killpg(process.pid, number)
    assert process.wait(30) == 0
    assert supervisor.read_exit_status(folder.exit_status) == 42


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells it")
def test_the_command_inherits_no_ignored_signal(start_supervisor: StartSupervisor, tmp_path: Path) -> None:
    assert start_supervisor("sh", "-c", "cat /proc/self/status >status").wait(30) == 0
    lines = dict(line.split(":\t") for line in (tmp_path / "status").read_text().splitlines() if ":\t" in line)
    # 32 and 33 belong to the C library: they can't be set, and the tests may inherit them as ignored.
    ours = ~(0b11 << 31)
    assert int(lines["SigIgn"], 16) & ours == int(lines["SigBlk"], 16) & ours == 0


def test_the_command_gets_the_environment_unchanged(start_supervisor: StartSupervisor, tmp_path: Path) -> None:
    """None of the supervisor's variables is exported, and none of the command's is overwritten."""
    given = {"plait": "p", "start": "s", "code": "c", "line": "", "A": "a\nb ", "PLAIT_MARK": "m"}
    program = "import os, json; print(json.dumps(dict(os.environ)))"
    assert start_supervisor(sys.executable, "-Sc", program, env=given).wait(30) == 0
    found = json.loads((tmp_path / "output").read_text())
    assert {name: found[name] for name in given} == given
    assert found.keys() - given.keys() - os.environ.keys() <= {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}


def test_shell_options_in_the_environment_do_not_disturb_the_supervisor(
    start_supervisor: StartSupervisor, folder: AttemptFolder
) -> None:
    """bash takes them from there, even as sh."""
    start_supervisor("sh", "-c", "exit 3", env={"SHELLOPTS": "errexit:nounset:noglob:xtrace"}).wait(30)
    assert supervisor.read_exit_status(folder.exit_status) == 3


def test_shell_options_of_the_supervisor_do_not_reach_the_command(
    start_supervisor: StartSupervisor, tmp_path: Path
) -> None:
    """bash hands them on in the same way."""
    assert start_supervisor("env", env={"SHELLOPTS": "braceexpand"}).wait(30) == 0
    assert "noclobber" not in (tmp_path / "output").read_text()


def test_the_transcript_says_that_the_workspace_is_gone(
    start_supervisor: StartSupervisor, tmp_path: Path, folder: AttemptFolder
) -> None:
    assert start_supervisor("touch", "ran", cwd=tmp_path / "gone").wait(30) == 0
    assert supervisor.read_exit_status(folder.exit_status) == 126
    assert "gone" in (tmp_path / "output").read_text()


def test_the_transcript_says_that_the_command_does_not_exist(
    start_supervisor: StartSupervisor, tmp_path: Path, folder: AttemptFolder
) -> None:
    start_supervisor("there-is-no-such-command").wait(30)
    assert supervisor.read_exit_status(folder.exit_status) == 127
    assert "there-is-no-such-command" in (tmp_path / "output").read_text()
