"""`plait mcp` as a process: its output is the protocol's alone, it ends when its input does, and batches outlive it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer

import psutil
import pytest

from tests.support.mcp_client import start_mcp
from tests.support.temp_project import TempProject
from tests.support.waiting import TIMEOUT_SECONDS

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, name: str, **arguments: object) -> dict[str, object]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@contextmanager
def start_process(project: TempProject) -> Iterator[subprocess.Popen[str]]:
    """It is dead at the end, and when the test has waited too long for a word of it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "plait", "mcp"],
        cwd=project.top,
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    timer = Timer(TIMEOUT_SECONDS, process.kill)
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        process.wait()


def send(process: subprocess.Popen[str], *messages: object) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(f"{message if isinstance(message, str) else json.dumps(message)}\n")
    process.stdin.flush()


def read_response(process: subprocess.Popen[str], number: int) -> dict[str, object]:
    """The answer to this request; whatever is on the output is the protocol's."""
    assert process.stdout is not None
    while True:
        output = json.loads(process.stdout.readline())
        assert output["jsonrpc"] == "2.0"
        if output.get("id") == number:
            return dict(output)


def test_the_output_is_only_protocol_messages_and_the_server_ends_with_its_input(project: TempProject) -> None:
    project.task("01-one", "echo loud; echo louder >&2; touch one")
    with start_process(project) as process:
        send(process, HELLO, READY, "this is no JSON", call(2, "run"))
        assert "result" in read_response(process, 2)
        send(process, call(3, "wait"))
        assert "ended" in json.dumps(read_response(process, 3))
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert "Traceback" not in err


def test_the_server_exits_when_its_host_dies(project: TempProject) -> None:
    with start_process(project) as process:
        send(process, HELLO)
        read_response(process, 1)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        send(process, READY, call(2, "list"))
        process.stdin.close()
        assert process.wait(timeout=TIMEOUT_SECONDS) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_at_once(project: TempProject, number: signal.Signals) -> None:
    with start_process(project) as process:
        send(process, HELLO)
        read_response(process, 1)
        process.send_signal(number)
        assert process.wait(timeout=TIMEOUT_SECONDS) == -number


@pytest.mark.anyio
async def test_a_batch_outlives_its_killed_server_and_the_next_server_sees_it(
    project: TempProject, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    project.task("01-one", f"while ! test -e '{go}'; do sleep 0.05; done; touch one")
    with start_process(project) as process:
        send(process, HELLO, READY, call(2, "run"))
        made = read_response(process, 2)
        send(process, call(3, "wait"))
        os.killpg(process.pid, signal.SIGKILL)
    engine = project.find_engine()
    assert engine is not None
    assert psutil.pid_exists(engine)
    async with start_mcp(project) as host:
        (result,) = (await host.call("history"))["batches"]
        assert result["id"] in json.dumps(made)
        assert result["completedAt"] is None
        go.touch()
        assert (await host.wait())["batch"]["status"] == "completed"


def test_without_the_mcp_extra_the_command_says_what_to_install(project: TempProject) -> None:
    completed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.modules['mcp'] = None; from plait.cli.app import run_cli; sys.exit(run_cli(['mcp']))",
        ],
        cwd=project.top,
        env=project.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 2
    assert "pip install 'plait[mcp]'" in completed.stderr
    assert completed.stdout == ""
