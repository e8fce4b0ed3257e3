"""Proxies that a process forks: those of real sandboxes, and their ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from signal import SIGKILL

import pytest

from plait.runtime.sandbox.network import build_environment, pick_ports
from plait.runtime.sandbox.proxy_server import ProxyRequest, ProxyServer
from plait.runtime.sandbox.seccomp import redirect
from tests.runtime.sandbox.test_network import FETCH, MOUNTS, SANDBOX
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def server() -> Iterator[ProxyServer]:
    with closing(ProxyServer()) as server:
        yield server


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "transcript").touch()
    return tmp_path


def start_proxy(server: ProxyServer, attempt: Path, hosts: list[str]) -> tuple[str, ...]:
    request = ProxyRequest(pick_ports(hosts), hosts, str(attempt / "transcript"), str(attempt / "sandbox"))
    found: list[tuple[str, ...]] = []

    def is_started() -> bool:
        started = server.start_proxy(request, (*SANDBOX, *MOUNTS))
        found.extend([redirect(started[1], started[0])] if started else [])
        return bool(found)

    wait_until(is_started)
    return found[0]


def run(words: tuple[str, ...], hosts: list[str], *command: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **build_environment(hosts)}
    return subprocess.run((*words, *command), env=env, capture_output=True, text=True, check=False)


def find_pid(words: tuple[str, ...]) -> int:
    match = re.search(r"/proc/([0-9]+)/fd", " ".join(words))
    assert match is not None
    return int(match[1])


def test_listed_hosts_are_reached_and_others_are_blocked(server: ProxyServer, attempt: Path, port: int) -> None:
    hosts = [f"127.0.0.1:{port}"]
    fetch = (sys.executable, "-I", "-c", FETCH)
    done = run(start_proxy(server, attempt, hosts), hosts, *fetch, f"http://127.0.0.1:{port}/x")
    assert (done.returncode, done.stdout, done.stderr) == (0, "answer to /x\n", "")
    done = run(start_proxy(server, attempt, hosts), hosts, *fetch, "https://evil.example/")
    assert done.returncode == 1
    assert (attempt / "transcript").read_text() == "plait: blocked: evil.example:443\n"
    connect = "import socket; socket.create_connection(('192.0.2.1', 80), 30)"
    done = run(start_proxy(server, attempt, []), [], sys.executable, "-I", "-c", connect)
    assert "Network is unreachable" in done.stderr


def test_a_command_inherits_none_of_the_proxys_pipes(server: ProxyServer, attempt: Path) -> None:
    done = run(start_proxy(server, attempt, []), [], "sh", "-c", "ls /proc/$$/fd; exit 7")
    assert done.stdout.split() == ["0", "1", "2"]
    assert done.returncode == 7


def test_a_proxy_outlives_the_engine_and_ends_with_its_sandbox(attempt: Path, port: int) -> None:
    server, hosts = ProxyServer(), [f"127.0.0.1:{port}"]
    words = start_proxy(server, attempt, hosts)
    server.close()
    script = f"read line; exec {sys.executable} -I -c '{FETCH}' http://127.0.0.1:{port}/x"
    process = subprocess.Popen((*words, "sh", "-c", script), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.communicate("go\n")[0] == "answer to /x\n"
    wait_until(lambda: not Path(f"/proc/{find_pid(words)}").exists())


def test_a_proxy_whose_attempt_ended_before_its_start_ends_too(server: ProxyServer, attempt: Path) -> None:
    words = start_proxy(server, attempt, [])
    assert Path(f"/proc/{find_pid(words)}").exists()
    (attempt / "sandbox").rmdir()
    wait_until(lambda: not Path(f"/proc/{find_pid(words)}").exists())
    assert run(words, [], "true").returncode != 0  # it doesn't start without its proxy


def test_a_server_that_was_killed_is_started_again(attempt: Path) -> None:
    server = ProxyServer()
    start_proxy(server, attempt, [])
    os.kill(server.pid, SIGKILL)
    words = start_proxy(server, attempt, [])
    assert run(words, [], "true").returncode == 0
    server.close()
