"""The machine is kept awake by a program of the system's; here, by one that says what it was asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from plait.system.engine_slots import identify_process
from plait.system.sleep_inhibitor import SleepInhibitor
from tests.support.waiting import wait_until

Child = Callable[..., Popen[str]]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")

KEEPER = """#!/bin/sh
trap '' TERM
{ echo $$; echo "$*"; } > 'FOLDER/asked.new'
mv 'FOLDER/asked.new' 'FOLDER/asked'
echo this goes nowhere
echo this neither >&2
cat
touch 'FOLDER/ended'
"""


@pytest.fixture
def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a system that can be kept awake."""
    install(tmp_path, KEEPER, monkeypatch)
    return tmp_path


def install(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "systemd-inhibit"
    program.write_text(text.replace("FOLDER", str(folder)))
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def asked(folder: Path) -> tuple[int, str]:
    wait_until((folder / "asked").exists)
    pid, lines = (folder / "asked").read_text().splitlines()
    return int(pid), lines


def gone(pid: int) -> bool:
    """A zombie is still there."""
    return not Path(f"/proc/{pid}").exists()


def test_the_inhibitor_runs_as_long_as_it_is_held(keeper: Path, capfd: pytest.CaptureFixture[str]) -> None:
    awake = SleepInhibitor(enabled=True)
    awake.acquire()
    pid, args = asked(keeper)
    assert args == "--what=idle:sleep --who=plait --why=a batch is running --mode=block cat"
    awake.acquire()
    assert awake.problem == ""
    assert identify_process(pid)
    awake.release()
    wait_until(lambda: gone(pid))
    assert (keeper / "ended").exists()
    assert awake.problem == ""
    awake.release()
    assert capfd.readouterr() == ("", "")


def test_the_inhibitor_can_be_acquired_again(keeper: Path) -> None:
    awake = SleepInhibitor(enabled=True)
    pids = set()
    for _ in range(3):
        (keeper / "asked").unlink(missing_ok=True)
        awake.acquire()
        pids.add(asked(keeper)[0])
        awake.release()
    wait_until(lambda: all(map(gone, pids)))
    assert len(pids) == 3


def test_the_inhibitor_ends_with_its_engine(keeper: Path, child: Child) -> None:
    engine = child("awake", keeper)
    pid, _ = asked(keeper)
    engine.kill()
    wait_until((keeper / "ended").exists)
    wait_until(lambda: identify_process(pid) is None)


def test_the_inhibitor_inherits_no_files_of_the_engine(keeper: Path) -> None:
    journal = os.open(keeper / "journal.db", os.O_RDWR | os.O_CREAT)
    os.set_inheritable(journal, True)  # noqa: FBT003
    awake = SleepInhibitor(enabled=True)
    awake.acquire()
    pid, _ = asked(keeper)
    links = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
    assert str(keeper / "journal.db") not in links
    assert "/dev/null" in links
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    assert os.getsid(pid) == pid
    awake.release()
    os.close(journal)
    wait_until(lambda: gone(pid))


def test_a_disabled_inhibitor_does_nothing(keeper: Path) -> None:
    awake = SleepInhibitor(enabled=False)
    awake.acquire()
    assert awake.problem == ""
    awake.release()
    assert not (keeper / "asked").exists()


def test_a_refusal_is_a_problem_and_retried_only_after_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "#!/bin/sh\necho x >> 'FOLDER/tries'\nexit 1\n", monkeypatch)
    awake = SleepInhibitor(enabled=True)
    awake.acquire()
    wait_until(lambda: awake.problem != "")
    assert awake.problem == "systemd-inhibit exited with status 1"
    awake.acquire()
    assert (tmp_path / "tries").read_text() == "x\n"
    awake.release()
    assert awake.problem == ""
    awake.acquire()
    wait_until(lambda: awake.problem != "")
    assert (tmp_path / "tries").read_text() == "x\nx\n"
    awake.release()


def test_a_missing_program_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    awake = SleepInhibitor(enabled=True)
    awake.acquire()
    assert awake.problem == "there is no systemd-inhibit here"
    awake.release()
    assert awake.problem == ""


def test_a_program_that_cannot_be_started_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "#!/no/such/interpreter\n", monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    awake = SleepInhibitor(enabled=True)
    awake.acquire()
    assert awake.problem.startswith("systemd-inhibit could not be started: ")
    awake.release()
