"""Attempts in bubblewrap: everything that an executor promises holds for them, too."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory

import pytest

from plait.core.settings import SandboxMode
from plait.runtime import cgroup
from plait.runtime.executor import AttemptFile, AttemptSpec, ExitedProcess, RunningProcess
from plait.runtime.sandbox.spec import SandboxLimits, SandboxSpec
from plait.testing.contracts.executor import ENDS_ON_INT, ExecutorContract, ExecutorHarness, RecordedCallbacks, is_alive
from tests.support.local_executor import local_executor_setup

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
LOOP = "while :; do sleep 0.05; done"
CONFINED = SandboxSpec(SandboxMode.WORKTREE)
STRICT = SandboxSpec(SandboxMode.STRICT)


@dataclass(slots=True)
class SandboxedHarness(ExecutorHarness):
    """Every job is confined."""

    spec: SandboxSpec = CONFINED

    def make_job(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> AttemptSpec:
        return replace(ExecutorHarness.make_job(self, lines, task, env), sandbox=self.spec)


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxedHarness]:
    assert shutil.which("bwrap"), "install bubblewrap: sh tests/runtime/sandbox/bubblewrap.sh"
    monkeypatch.setattr(cgroup, "parent_cgroup", lambda: "")
    with local_executor_setup(tmp_path) as plain:
        plain.executor.close()
        shutil.rmtree(plain.workspace)
        yield SandboxedHarness(plain.open_executor, plain.wait_until, plain.workspace, plain.repository)


class TestSandboxedExecutor(ExecutorContract):
    @pytest.fixture
    def harness(self, harness: ExecutorHarness) -> ExecutorHarness:
        return harness

    def test_an_attempt_ends_with_all_its_processes(self, harness: ExecutorHarness) -> None:
        """They have other numbers outside."""
        attempt = harness.start(f"setsid sh -c ': >up; {LOOP}' & wait")
        harness.executor.terminate(attempt, at_once=True)
        assert harness.wait_for_end(attempt) == 128 + SIGKILL
        assert list_processes_in(harness.workspace) == []


def read_output(harness: ExecutorHarness, lines: str, task: str = "one", **env: str) -> str:
    """What a confined script prints."""
    job = harness.make_job(lines, task, env)
    harness.executor.start(job)
    harness.wait_for_end(job.attempt)
    return harness.executor.open_transcript(job.attempt).tail(1 << 16).decode()


def test_the_home_folder_is_empty_and_private(harness: ExecutorHarness, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("key\n")
    output = read_output(harness, "cat ~/.ssh/id_rsa; : >~/mine && ls -A ~; touch /etc/mine", HOME=str(home))
    assert "key" not in output
    assert "mine" in output
    assert "Read-only file system" in output
    assert not (home / "mine").exists()


def test_nothing_outlives_its_attempt(harness: ExecutorHarness) -> None:
    """Not even a process that has left its session and cleared its environment."""
    harness.run("(env -i setsid sh -c ': >up; while :; do sleep 0.05; done' &); until [ -e up ]; do sleep 0.02; done")
    assert list_processes_in(harness.workspace) == []


def list_processes_in(folder: Path) -> list[Path]:
    """The processes that work in a folder, whatever namespace they are in."""
    return [path for path in Path("/proc").glob("[0-9]*/cwd") if _links_to(path, folder)]


def _links_to(path: Path, folder: Path) -> bool:
    try:
        return os.readlink(path) == str(folder)  # noqa: PTH115 - of another process
    except OSError:
        return False


@pytest.mark.parametrize("spec", [CONFINED, STRICT])
def test_it_ends_with_its_supervisor(harness: SandboxedHarness, spec: SandboxSpec) -> None:
    harness.spec = spec
    harness.start(f": >up; {LOOP}")
    [(_, pid)] = harness.callbacks.launches
    harness.executor.close()  # no engine ends what is left
    os.kill(pid, SIGKILL)
    assert harness.wait_until(lambda: list_processes_in(harness.workspace) == [])


@pytest.mark.parametrize("spec", [CONFINED, STRICT])
def test_an_agent_is_asked_before_its_sandbox_is_ended(harness: SandboxedHarness, spec: SandboxSpec) -> None:
    harness.spec = spec
    attempt = harness.start(ENDS_ON_INT)
    harness.executor.terminate(attempt, at_once=False)
    assert harness.wait_for_end(attempt) == 3
    assert (harness.workspace / "asked").read_text() == "asked\n"


def test_another_executor_adopts_it_and_measures_its_memory(harness: ExecutorHarness) -> None:
    attempt = harness.start(f": >up; {LOOP}")
    harness.executor.close()
    again = harness.open_executor(RecordedCallbacks())
    assert isinstance(again.adopt(attempt), RunningProcess)
    assert again.measure_memory()[attempt] > 1 << 20
    again.terminate(attempt, at_once=True)
    [(_, pid)] = harness.callbacks.launches
    assert harness.wait_until(lambda: not is_alive(pid))


def test_git_works_in_a_worktree_and_leaves_the_repository_alone(harness: ExecutorHarness) -> None:
    base = harness.commit_file("a.txt", "a\n")
    job = harness.make_worktree_job(
        "git config user.name A; git config user.email a@b; echo 1 >one.txt; git add -A; git commit -qm mine;"
        " git stash list; git status --short; echo 2 >two.txt; git tag mine; rm .git; echo x >.git;"
        f" touch {harness.repository}/x {harness.repository}/.git/hooks/x",
        base,
    )
    harness.executor.start(job)
    harness.wait_for_end(job.attempt)
    captured = harness.capture(job)
    assert not isinstance(captured, Exception)
    assert {*captured.files} == {"one.txt", "two.txt"}
    assert harness.git("log", "--format=%s", f"{captured.tip}").splitlines()[1:] == ["mine", "a.txt"]
    assert harness.git("tag", "--list") == ""
    assert not (harness.repository / "x").exists()
    assert not (harness.repository / ".git" / "hooks" / "x").exists()


def test_the_private_folders_are_removed_and_results_are_kept(harness: ExecutorHarness) -> None:
    job = harness.make_job("")
    folder = Path(harness.executor.attempt_folder(job.attempt))
    script = f"echo '{{}}' >{folder}/result.json; ln -s /etc/passwd {folder}/link.json; echo 0 >{folder}/exit; ls {folder.parent}"
    harness.executor.start(harness.make_job(f"{script}; exit 5"))
    assert harness.wait_for_end(job.attempt) == 5
    assert (folder / "result.json").read_text() == "{}\n"
    assert not (folder / "link.json").exists()
    assert harness.wait_until(lambda: not (folder / "sandbox").exists())


def test_limits_of_strict_hold(harness: SandboxedHarness) -> None:
    limits = SandboxLimits(memory=64 << 20, processes=20, disk=1 << 20)
    harness.spec = replace(STRICT, limits=limits)
    output = read_output(
        harness,
        "head -c 2000000 /dev/zero >big; head -c 2000000 /dev/zero >/tmp/big; df -k /tmp | tail -1;"
        " python3 -c 'bytearray(200 << 20)' || echo no memory; for n in $(seq 40); do sleep 5 & done; echo all started",
    )
    assert (harness.workspace / "big").stat().st_size <= limits.disk
    assert " 1024 " in output
    assert "no memory" in output
    if os.geteuid() or list(Path("/sys/fs/cgroup").glob("**/plait-*")):  # the kernel counts no processes of root
        assert "all started" not in output


def test_results_of_an_attempt_that_ended_without_an_engine_are_kept(harness: ExecutorHarness) -> None:
    folder = Path(harness.executor.attempt_folder(harness.make_job("").attempt))
    attempt = harness.start(f": >up; until [ -e go ]; do sleep 0.05; done; echo '{{}}' >{folder}/result.json")
    harness.executor.close()
    (harness.workspace / "go").touch()
    [(_, pid)] = harness.callbacks.launches
    assert harness.wait_until(lambda: not is_alive(pid))
    again = harness.open_executor(RecordedCallbacks())
    assert again.adopt(attempt) == ExitedProcess(0)
    assert (folder / "result.json").read_text() == "{}\n"
    assert harness.wait_until(lambda: not (folder / "sandbox").exists())


def test_what_is_written_to_its_input_stays_in_the_sandbox(harness: ExecutorHarness) -> None:
    job = harness.make_job("cat; cat <&0 >/dev/null; echo changed >/proc/self/fd/0 && echo written")
    prompt = AttemptFile(f"{harness.executor.attempt_folder(job.attempt)}/prompt.md", b"do it\n")
    harness.executor.start(replace(job, files=(prompt,), stdin=prompt.path))
    assert harness.wait_for_end(job.attempt) == 0
    assert harness.executor.open_transcript(job.attempt).tail(100) == b"do it\nwritten\n"
    assert Path(prompt.path).read_bytes() == prompt.data


def test_a_socket_of_a_service_anywhere_on_the_disk_is_out_of_reach(harness: SandboxedHarness) -> None:
    """A network of its own doesn't hide sockets that have a path."""
    connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    with TemporaryDirectory(dir=Path(__file__).parent) as folder, socket.socket(socket.AF_UNIX) as service:
        path = f"{folder}/s"
        service.bind(path)
        service.listen()
        script = f"{sys.executable} -I -c '{connect}' {path} && echo reached"
        assert subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout == b"reached\n"
        for spec in (CONFINED, STRICT):
            harness.spec = replace(spec, readable=(folder,))
            output = read_output(harness, script, str(spec.mode))
            assert "ConnectionRefusedError" in output
            harness.spec = replace(spec, readable=(folder, path))
            assert "reached" in read_output(harness, script, f"{spec.mode} allowed")


def test_no_socket_leads_around_the_network_of_strict(harness: SandboxedHarness) -> None:
    """AF_VSOCK reaches the host of a virtual machine from any network namespace, and io_uring makes any socket."""
    harness.spec = STRICT
    vsock = "import socket; socket.socket(40, socket.SOCK_STREAM)"
    ring = "import ctypes; print('ring', ctypes.CDLL(None).syscall(425, 1, bytes(120)))"
    others = "import socket; [socket.socket(each, socket.SOCK_STREAM) for each in (1, 2, 10)]; print('others work')"
    for number in range(2):  # the second one has a proxy that was forked, unless the machine is very slow
        script = "; ".join(f'{sys.executable} -I -c "{each}"' for each in (vsock, ring, others))
        output = read_output(harness, script, f"{number}")
        assert "PermissionError" in output
        assert "ring -1\n" in output
        assert output.endswith("others work\n")
