"""A real sandbox of bubblewrap without network, and what gets out of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plait.core.settings import SandboxMode
from plait.runtime.sandbox.detection import SandboxSupport, probe_strict
from plait.runtime.sandbox.network import build_environment, build_network_command

SANDBOX = ("bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-net", "--cap-drop", "ALL")
MOUNTS = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--")
FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=30).read().decode())"


def run_in_sandbox(hosts: list[str], *command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (*build_network_command(hosts), *SANDBOX, *MOUNTS, *command),
        env={**os.environ, **build_environment(hosts), **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("env", [{}, {"NO_PROXY": "", "no_proxy": ""}], ids=["directly", "through the proxy"])
def test_a_listed_port_of_this_machine_is_reached(port: int, env: dict[str, str]) -> None:
    done = run_in_sandbox([f"127.0.0.1:{port}"], sys.executable, "-I", "-c", FETCH, f"http://127.0.0.1:{port}/x", **env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "answer to /x\n", "")


def test_another_host_is_blocked_and_named_in_the_output(port: int) -> None:
    done = run_in_sandbox([f"127.0.0.1:{port}"], sys.executable, "-I", "-c", FETCH, "https://evil.example/")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "plait: blocked: evil.example:443"
    assert "403" in done.stderr


def test_there_is_no_way_around_the_proxy(port: int) -> None:
    connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 30)"
    done = run_in_sandbox(["good.example"], sys.executable, "-I", "-c", connect)
    assert "ConnectionRefusedError" in done.stderr
    done = run_in_sandbox([], sys.executable, "-I", "-c", connect.replace("127.0.0.1", "192.0.2.1"))
    assert "Network is unreachable" in done.stderr


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_status_is_that_of_the_command(script: str, code: int) -> None:
    assert run_in_sandbox([], "sh", "-c", script).returncode == code


def test_a_sandbox_that_cannot_start_says_why() -> None:
    done = subprocess.run(
        (*build_network_command([]), *SANDBOX, "--bind", "/not/there", "/mnt", *MOUNTS, "true"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "/not/there" in done.stderr


def test_a_signal_to_the_whole_group_leaves_the_command_to_end_by_itself() -> None:
    with start_in_sandbox("echo started; read line; echo $line") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
        assert process.communicate("still here\n")[0] == "still here\n"
        assert process.returncode == 0


def test_the_command_ends_with_the_proxy() -> None:
    with start_in_sandbox("echo started; exec sleep 1000") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.kill()
        assert process.stdout.read() == ""  # closed by the end of the last process that had it


def start_in_sandbox(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        (*build_network_command([]), *SANDBOX, *MOUNTS, "sh", "-c", script),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_an_old_bubblewrap_without_limits_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bwrap"
    old.write_text(f"""#!/bin/sh
case " $* " in *" --size "*) echo "bwrap: Unknown option --size" >&2; exit 1;; esac
exec {shutil.which("bwrap")} "$@"
""")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    strict = probe_strict(SandboxSupport(SandboxMode.WORKTREE, works=True, text=str(old)))
    assert (strict.works, strict.text) == (False, "it can't limit folders in memory: bwrap: Unknown option --size")
    assert "0.7" in strict.hint
