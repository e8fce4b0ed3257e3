"""Attempts in bubblewrap: everything that an executor promises holds for them, too."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGKILL

import pytest

from plait.core.settings import SandboxMode
from plait.runtime import cgroup
from plait.runtime.executor import AttemptFile, AttemptSpec, ExitedProcess, RunningProcess
from plait.runtime.sandbox.spec import SandboxLimits, SandboxSpec
from plait.testing.contracts.executor import ENDS_ON_INT, ExecutorContract, ExecutorHarness, RecordedCallbacks, is_alive
from tests.support.local_executor import local_executor_setup
from tests.support.visible_folder import visible_folder

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
        attempt = harness.start(f"mkfifo pipe; setsid sh -c 'exec 9<>pipe; : >up; {LOOP}' & wait")
        harness.executor.terminate(attempt, at_once=True)
        assert harness.wait_for_end(attempt) == 128 + SIGKILL
        assert not has_writer(harness.workspace / "pipe")


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


def test_a_home_folder_behind_a_link_is_as_private(harness: ExecutorHarness) -> None:
    with visible_folder() as folder:
        home = folder / "homes" / "me"
        (home / ".ssh").mkdir(parents=True)
        (home / ".ssh" / "id_rsa").write_text("key\n")
        (folder / "link").symlink_to(folder / "homes")
        output = read_output(
            harness, f"cat ~/.ssh/id_rsa {home}/.ssh/*; : >~/mine && ls -A ~", HOME=f"{folder}/link/me"
        )
        assert "key" not in output
        assert "mine" in output
        assert not (home / "mine").exists()


def test_nothing_outlives_its_attempt(harness: ExecutorHarness) -> None:
    """Not even a process that has left its session and cleared its environment."""
    daemon = "exec 9<>pipe; : >up; while :; do sleep 0.05; done"
    harness.run(f"mkfifo pipe; (env -i setsid sh -c '{daemon}' &); until [ -e up ]; do sleep 0.02; done")
    assert not has_writer(harness.workspace / "pipe")


def has_writer(pipe: Path) -> bool:
    """Whether a process has it open, in whatever namespace it is."""
    fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(fd, 1) != b""
    except BlockingIOError:
        return True
    finally:
        os.close(fd)


@pytest.mark.parametrize("spec", [CONFINED, STRICT])
def test_it_ends_with_its_supervisor(harness: SandboxedHarness, spec: SandboxSpec) -> None:
    harness.spec = spec
    harness.start(f"mkfifo pipe; exec 9<>pipe; : >up; {LOOP}")
    assert has_writer(harness.workspace / "pipe")
    [(_, pid)] = harness.callbacks.launches
    harness.executor.close()  # no engine ends what is left
    os.kill(pid, SIGKILL)
    assert harness.wait_until(lambda: not has_writer(harness.workspace / "pipe"))


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
    assert harness.wait_until(lambda: not list(folder.parents[4].glob("trash/*")))


def test_the_next_engine_removes_what_one_that_was_killed_has_left(
    harness: SandboxedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for delay in ("REMOVAL_DELAY_SECONDS", "SWEEP_DELAY_SECONDS"):
        monkeypatch.setattr(f"plait.runtime.local_executor.{delay}", 3600.0)
    job = harness.make_job("echo secret >~/secret.txt; echo secret >/tmp/secret.txt")
    harness.executor.start(job)
    assert harness.wait_for_end(job.attempt) == 0
    state = Path(harness.executor.attempt_folder(job.attempt)).parents[4]

    def has_secret() -> bool:
        return any("secret.txt" in names for _, _, names in os.walk(state))

    assert has_secret()
    harness.open_executor(RecordedCallbacks()).end_leftovers()
    assert harness.wait_until(lambda: not has_secret())


def test_limits_of_strict_hold(harness: SandboxedHarness) -> None:
    limits = SandboxLimits(memory=64 << 20, processes=20, disk=1 << 20)
    harness.spec = replace(STRICT, limits=limits)
    output = read_output(
        harness,
        "head -c 2000000 /dev/zero >big; head -c 2000000 /dev/zero >/tmp/big; df -k /tmp | tail -1;"
        " for folder in /dev /dev/shm /run /home; do for n in 1 2 3; do head -c 900000 /dev/zero >$folder/$n; done; done;"
        " du -xsk /dev /dev/shm /run /home | while read size name; do [ $size -le 1024 ] || echo too much in $name; done;"
        " python3 -c 'bytearray(200 << 20)' || echo no memory; for n in $(seq 40); do sleep 5 & done; echo all started",
    )
    assert (harness.workspace / "big").stat().st_size <= limits.disk
    assert " 1024 " in output
    assert "no memory" in output
    assert "too much" not in output
    groups = [name for _, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith("plait-")]
    if os.geteuid() or groups:  # the kernel counts no processes of root
        assert "all started" not in output


def test_an_attempt_that_fills_the_disk_with_many_files_is_ended(harness: SandboxedHarness) -> None:
    harness.spec = replace(STRICT, limits=SandboxLimits(disk=1 << 20))
    fill = "mkdir many; n=0; while n=$((n + 1)); do head -c 1000000 /dev/zero >many/$n || exit 1; done"
    for number in range(2):  # the second one has a proxy that was forked, unless the machine is very slow
        job = harness.make_job(fill, f"{number}")
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == 128 + SIGKILL
        output = harness.executor.open_transcript(job.attempt).tail(1 << 10).decode()
        assert output.endswith("plait: ended: it has written more than 4 MB (sandbox.disk)\n")
        shutil.rmtree(harness.workspace / "many")


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


@pytest.mark.parametrize("spec", [CONFINED, STRICT])
def test_a_folder_that_the_engine_was_started_with_is_not_inherited(
    harness: SandboxedHarness, spec: SandboxSpec
) -> None:
    """A terminal or a build tool may leave one open, and no mount is in its way."""
    harness.spec = spec
    folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    os.set_inheritable(folder, True)  # noqa: FBT003 - it takes no keyword
    try:
        output = read_output(harness, f"ls /proc/self/fd/{folder}/ || echo none")
    finally:
        os.close(folder)
    assert output.endswith("none\n")


def test_a_socket_of_a_service_anywhere_on_the_disk_is_out_of_reach(harness: SandboxedHarness) -> None:
    """A network of its own doesn't hide sockets that have a path."""
    connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    with visible_folder() as folder, socket.socket(socket.AF_UNIX) as service:
        path = f"{folder}/s"
        service.bind(path)
        service.listen()
        script = f"{sys.executable} -I -c '{connect}' {path} && echo reached"
        assert subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout == b"reached\n"
        for spec in (CONFINED, STRICT):
            harness.spec = replace(spec, readable=(str(folder),))
            output = read_output(harness, script, str(spec.mode))
            assert "ConnectionRefusedError" in output
            harness.spec = replace(spec, readable=(str(folder), path))
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


def test_an_attempt_can_not_remove_what_says_that_a_host_was_blocked(harness: SandboxedHarness) -> None:
    harness.spec = STRICT
    ask = "import socket; s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'CONNECT e.test:443 HTTP/1.1\\r\\nHost: e\\r\\n\\r\\n')"
    for number in range(2):  # the second one has a proxy that was forked, unless the machine is very slow
        script = f'{sys.executable} -I -c "{ask}; s.recv(100)"; : >/proc/self/fd/1; echo kept'
        assert read_output(harness, script, f"{number}") == "kept\nplait: blocked: e.test:443\n"
        script = f'{sys.executable} -I -c "{ask}; s.recv(100)"'
        assert read_output(harness, script, f"shown once {number}") == "plait: blocked: e.test:443\n"


def test_no_key_of_the_login_session_is_in_reach(harness: SandboxedHarness) -> None:
    """No namespace hides the key ring of the session that the engine was started in."""
    number = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    script = f"{sys.executable} -I -c 'import ctypes; print(ctypes.CDLL(None).syscall({number}, 0, -3, 0) >= 0)'"
    if number is None or subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout != b"True\n":
        pytest.skip("this machine has no key rings, or other numbers of system calls")
    for spec in (CONFINED, STRICT):
        harness.spec = spec
        assert read_output(harness, script, str(spec.mode)) == "False\n"


def test_an_attempt_gets_no_namespace_of_control_groups(harness: SandboxedHarness) -> None:
    """In one of its own it could mount them writable, lift its limits, and kill or freeze other attempts."""
    number = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine)
    lines = (
        "import ctypes, os, struct, subprocess, threading",
        "libc, flags = ctypes.CDLL(None, use_errno=True), 0x12020000",
        "def report(name, code): code or os._exit(0); print(name, code if code < 0 else 0, ctypes.get_errno())",
        f"report('clone', libc.syscall({number}, flags | 17, 0, 0, 0, 0))",
        "report('clone3', libc.syscall(435, struct.pack('8Q', flags, 0, 0, 0, 17, 0, 0, 0), 64))",
        "print('unshare', libc.unshare(flags))",
        "print('others', libc.unshare(0x10020000))",
        "thread = threading.Thread(target=lambda: subprocess.run(['true'], check=True)); thread.start(); thread.join()",
    )
    if number is None:
        pytest.skip("other numbers of system calls")
    program = harness.workspace / "program.py"
    program.write_text("\n".join(lines))
    words = [sys.executable, "-I", str(program)]
    plain = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    assert "clone 0 0\nclone3 0 0\n" in plain
    assert "unshare 0\n" in plain
    for spec in (CONFINED, STRICT):
        harness.spec = spec
        output = read_output(harness, shlex.join(words), str(spec.mode))
        assert output == "clone -1 1\nclone3 -1 38\nunshare -1\nothers 0\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="nobody else may write there")
def test_root_changes_nothing_of_the_kernel(harness: SandboxedHarness) -> None:
    """Without any capability it could restart the machine by /proc/sysrq-trigger, where the kernel has that."""
    script = "find /proc -maxdepth 1 -type f -writable; find /proc/sys/kernel /proc/irq -type f -writable | head"
    assert subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout != b""
    for spec in (CONFINED, STRICT):
        harness.spec = spec
        assert read_output(harness, script, str(spec.mode)) == ""
