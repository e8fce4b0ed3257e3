"""Ollama: looked for before a job, started where it is installed, and left alone afterwards."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest

from plait.core.status import Category
from plait.core.task import ModelJob
from tests.support.model_job_bench import ModelJobBench, whole_file_answer
from tests.support.model_server.server import ModelServer

JOB = ModelJob("a.py")
FAKE = """#!{python} -P
# Stands for the real one: it records its arguments, and serves at the address it gets.
import os, sys, time
from pathlib import Path
from tests.support.model_server import ModelServer
variables = {{name: value for name, value in os.environ.items() if name.startswith(("OLLAMA_", "PLAIT_MARK"))}}
with Path({log!r}).open("a") as log:
    log.write(f"{{os.getpid()}} {{sys.argv[1:]}} {{sorted(variables.items())}}\\n")
port = int(os.environ["OLLAMA_HOST"].rpartition(":")[2])
with ModelServer(lambda request: {answer!r}, port=port) as server:
    time.sleep(600)
"""


class Deaf(BaseHTTPRequestHandler):
    """It understands nothing."""

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found: int = free.getsockname()[1]
        return found


@pytest.fixture
def installed(bench: ModelJobBench, tmp_path: Path, port: int) -> Iterator[Path]:
    """A program called `ollama`; its log has a line for each time that it was started."""
    log, program = tmp_path / "started", tmp_path / "bin" / "ollama"
    program.parent.mkdir()
    program.write_text(FAKE.format(python=sys.executable, log=str(log), answer=whole_file_answer("a.py", "by ollama")))
    program.chmod(0o755)
    bench.settings |= {"base_url": f"http://127.0.0.1:{port}/v1", "key": None}
    bench.env |= {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "OLLAMA_HOST": f"127.0.0.1:{port}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PLAIT_MARK": "of-this-attempt",
    }
    yield log
    for line in log.read_text().splitlines() if log.exists() else ():
        psutil.Process(int(line.split()[0])).kill()


def test_an_installed_ollama_is_started_and_outlives_the_job(bench: ModelJobBench, installed: Path, port: int) -> None:
    done = bench.run(JOB)
    assert done.outcome.category is Category.OK, done.last_error
    assert bench.read("a.py") == "by ollama\n"
    (line,) = installed.read_text().splitlines()
    pid, _, result = line.partition(" ")
    ollama = psutil.Process(int(pid))
    assert ollama.is_running()
    assert ollama.parent() != psutil.Process()
    assert os.getsid(ollama.pid) != os.getsid(0)
    assert "['serve']" in result
    assert f"('OLLAMA_HOST', '127.0.0.1:{port}')" in result
    assert "PLAIT_MARK" not in result


def test_two_jobs_at_once_start_one_ollama(bench: ModelJobBench, installed: Path, tmp_path: Path) -> None:
    other = ModelJobBench(
        bench.server,
        tmp_path / "elsewhere",
        tmp_path / "other",
        bench.stack,
        bench.forks,
        bench.settings,
        bench.env,
    )
    other.workspace.mkdir()
    other.git("init", "--quiet")
    both = [bench.start(bench.task(JOB)), other.start(other.task(JOB))]
    done = [bench.finish(both[0]), other.finish(both[1])]
    assert [each.outcome.category for each in done] == [Category.OK, Category.OK], [each.last_error for each in done]
    assert len(installed.read_text().splitlines()) == 1


def test_an_ollama_that_exits_is_reported_with_its_last_output(
    bench: ModelJobBench, installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin" / "ollama").write_text("#!/bin/sh\necho 'Error: no such disk' >&2\nexit 1\n")
    done = bench.run(JOB)
    assert done.outcome.category is Category.NETWORK
    assert "Ollama was started and has ended: Error: no such disk" in done.last_error
    assert not installed.exists()


def test_another_server_at_the_address_is_used(bench: ModelJobBench, installed: Path, port: int) -> None:
    """Whatever listens there is no reason to start a second one, which could not."""
    with ThreadingHTTPServer(("127.0.0.1", port), Deaf) as other:
        thread = Thread(target=other.serve_forever, args=(0.05,))
        thread.start()
        done = bench.run(JOB)
        other.shutdown()
        thread.join()
    assert f"127.0.0.1:{port}/v1 answered 501" in done.last_error
    assert not installed.exists()


def test_ollama_is_not_started_if_start_ollama_is_off(bench: ModelJobBench, installed: Path) -> None:
    bench.settings["start_ollama"] = False
    done = bench.run(JOB)
    assert done.outcome.category is Category.NETWORK
    assert "start it" in done.last_error
    assert not installed.exists()


def test_another_local_server_is_not_taken_for_ollama(bench: ModelJobBench, installed: Path) -> None:
    bench.env["OLLAMA_HOST"] = "127.0.0.1:1"
    done = bench.run(JOB)
    assert done.outcome.category is Category.NETWORK
    assert "can't be reached" in done.last_error
    assert not installed.exists()


def test_a_missing_ollama_is_reported_with_a_hint(bench: ModelJobBench, installed: Path) -> None:
    bench.env["PATH"] = "/nowhere"
    done = bench.run(JOB)
    assert done.outcome.category is Category.NETWORK
    assert "Ollama is not installed" in done.last_error
    assert not installed.exists()


def test_a_running_ollama_is_used(bench: ModelJobBench) -> None:
    bench.settings["key"] = None
    bench.server.queue_replies(whole_file_answer("a.py", "x"))
    done = bench.run(JOB)
    assert done.outcome.category is Category.OK, done.last_error


def test_an_ollama_without_models_is_reported_with_the_pull_command(bench: ModelJobBench) -> None:
    with ModelServer(models=()) as server:
        bench.settings |= {"base_url": f"{server.url}/v1", "key": None}
        done = bench.run(JOB)
    assert done.outcome.category is Category.USAGE
    assert "ollama pull scripted" in done.last_error


def test_a_missing_model_is_reported_with_the_pull_command(bench: ModelJobBench) -> None:
    done = bench.run(JOB, model="coder")
    assert done.outcome.category is Category.USAGE
    assert "ollama pull coder" in done.last_error
    assert not bench.server.requests
