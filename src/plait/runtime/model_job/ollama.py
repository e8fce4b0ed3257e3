"""Checks the server before a job starts: whether it is on this machine, whether it answers, and whether it has the
model.

A local Ollama that is installed but not running is started.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener, getproxies

from plait.agents.interface import ActivityKind
from plait.agents.plain_text import to_plain_text
from plait.config.agent_keys import LOCAL_HOSTS, ModelConfig
from plait.core.status import Category
from plait.runtime import cgroup
from plait.runtime.agent_process import JobError
from plait.runtime.model_job.job_output import JobReporter
from plait.system.flock import hold_lock
from plait.system.process_identity import TAG_VARIABLE
from plait.system.processes import read_process

OLLAMA_PORT = 11434


def is_local(url: str) -> bool:
    return urlsplit(url).hostname in LOCAL_HOSTS


def is_ollama_address(url: str) -> bool:
    """Whether this is the address of this machine's Ollama, running or not."""
    return is_local(url) and _port(url) == _parse_ollama_port(os.environ.get("OLLAMA_HOST", ""))


def ollama_host(url: str) -> str:
    """Return the `OLLAMA_HOST` for this address: host and port."""
    name = urlsplit(url).hostname or "127.0.0.1"
    return f"{'127.0.0.1' if name == 'localhost' else f'[{name}]' if ':' in name else name}:{_port(url)}"


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _parse_ollama_port(host: str) -> int:
    try:
        return urlsplit(host if "//" in host else f"//{host}").port or OLLAMA_PORT
    except ValueError:
        return OLLAMA_PORT


OLLAMA_PROGRAM = "ollama"
_START_TIMEOUT_SECONDS = 60.0  # seconds until Ollama must answer after it was started
_POLL_SECONDS = 0.1
_REQUEST_TIMEOUT_SECONDS = 5.0  # seconds for an answer from this machine
_MAX_RESPONSE_BYTES = 1 << 20  # bytes of one
_MAX_MODELS_SHOWN = 8
# Started through a shell that exits at once, so that Ollama has no parent here and outlives this attempt.
_DETACHED = 'exec "$@" </dev/null >>"$PLAIT_OLLAMA_LOG" 2>&1 & echo $!'
_LOG_TAIL_BYTES = 4096  # bytes at the end of its output


def check_server(settings: ModelConfig, model: str, reporter: JobReporter) -> None:
    """Check the server on this machine, and start Ollama if necessary; others report errors themselves. Raises
    JobError.
    """
    url = settings.base_url
    is_ollama = is_local(url) and _is_ollama(url)
    if not is_ollama and is_ollama_address(url) and not _is_port_taken(url):
        _start_ollama(settings, reporter)
        is_ollama = True
    names = _list_models(url) if is_ollama else None
    if not model:
        there = f" The server has: {', '.join(names[:_MAX_MODELS_SHOWN])}." if names else ""
        raise JobError(f"no model is named: set [model] name, or use --model.{there}", Category.USAGE)
    if names is not None and model not in names and f"{model}:latest" not in names:
        raise JobError(f"Ollama has no model {model}: ollama pull {model}", Category.USAGE)


def find_server_problem(settings: ModelConfig, models: Iterable[str]) -> str:
    """Say why no job could reach the server or its model; "" if no problem is known. Starts nothing."""
    url = settings.base_url
    if not is_local(url):
        return "" if getproxies() or _is_reachable(url) else f"nothing answers at {url}: check [model] base_url"
    if not _is_ollama(url):
        if _is_port_taken(url):
            return ""
        if not is_ollama_address(url):
            return f"nothing answers at {url}: start the model server, or set [model] base_url"
        if not settings.start_ollama:
            return f"Ollama does not run at {url}: start it, or set start_ollama"
        if shutil.which(OLLAMA_PROGRAM) is None:
            return f"nothing answers at {url}, and Ollama is not installed: install it, or set [model] base_url"
        return ""
    names = _list_models(url)
    missing = [model for model in models if names is not None and not {model, f"{model}:latest"} & {*names}]
    return f"Ollama has no model {missing[0]}: ollama pull {missing[0]}" if missing else ""


def _is_reachable(url: str) -> bool:
    try:
        with socket.create_connection((urlsplit(url).hostname or "", _port(url)), _REQUEST_TIMEOUT_SECONDS):
            return True
    except (OSError, ValueError):
        return False


def _start_ollama(settings: ModelConfig, reporter: JobReporter) -> None:
    url = settings.base_url
    if not settings.start_ollama:
        raise JobError(f"Ollama does not run at {url}: start it, or set start_ollama", Category.NETWORK)
    if shutil.which(OLLAMA_PROGRAM) is None:
        why = f"nothing answers at {url}, and Ollama is not installed"
        raise JobError(f"{why}: install it, or set [model] base_url", Category.NETWORK)
    with _startup_lock(reporter) as folder:
        if not _is_ollama(url):  # another job may have started it meanwhile
            reporter.report_activity("starting Ollama", ActivityKind.RUNS)
            log = folder / "ollama.log"
            _wait_until_ready(url, _spawn_ollama(url, settings.context_tokens, log), log, reporter)


def _spawn_ollama(url: str, context: int, log: Path) -> int:
    """Start Ollama outside of this attempt's processes, because other jobs use it and it outlives this one. Returns its
    pid.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("PLAIT_")}
    env.pop(TAG_VARIABLE, None)
    ollama_env = {"OLLAMA_HOST": ollama_host(url), "PLAIT_OLLAMA_LOG": str(log)}
    # By default, Ollama silently cuts prompts at a few thousand tokens.
    env.setdefault("OLLAMA_CONTEXT_LENGTH", str(max(8192, 2 * context)))
    shell = subprocess.Popen(  # fixed words
        ["/bin/sh", "-c", _DETACHED, "sh", OLLAMA_PROGRAM, "serve"],
        cwd="/",
        env={**env, **ollama_env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_leave_cgroup,  # noqa: PLW1509 - this process has one thread
    )
    return int(shell.communicate()[0])


def _leave_cgroup() -> None:
    """Move out of the attempt's cgroup, which is killed as a whole, to its parent, which is the engine's."""
    with suppress(OSError):
        own = cgroup.parent_cgroup()
        if own and Path(own).name.startswith("plait-"):
            cgroup.add_processes(str(Path(own).parent), [os.getpid()])


def _wait_until_ready(url: str, pid: int, log: Path, reporter: JobReporter) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        process = read_process(pid)  # before the request: a process that answered and then exited doesn't count
        if _is_ollama(url):
            return
        if process is None or process.is_zombie:
            raise JobError(f"Ollama was started and has ended: {_last_log_line(log)}", Category.NETWORK)
        reporter.report_progress("waiting for Ollama", ActivityKind.WAITS)
        time.sleep(_POLL_SECONDS)
    raise JobError(f"Ollama was started and does not answer at {url}; its output is in {log}", Category.NETWORK)


def _last_log_line(log: Path) -> str:
    """Return the last line of Ollama's log, and where the log is."""
    with suppress(OSError):
        lines = [
            to_plain_text(line) for line in log.read_bytes()[-_LOG_TAIL_BYTES:].decode("utf-8", "replace").split("\n")
        ]
        text = next((line for line in reversed(lines) if line), "")
        return f"{text} (in {log})" if text else f"it printed nothing (in {log})"
    return f"nothing can be read in {log}"


@contextmanager
def _startup_lock(reporter: JobReporter) -> Iterator[Path]:
    """Hold a lock on the folder during the start. It is released when this process dies; Ollama doesn't inherit it."""
    from platformdirs import user_cache_path  # only where there is something to start

    folder = user_cache_path("plait", appauthor=False) / "ollama"

    def report_wait() -> None:
        reporter.report_activity("another job is starting Ollama", ActivityKind.WAITS)

    with hold_lock(folder / "lock", on_wait=report_wait):
        yield folder


def _is_ollama(url: str) -> bool:
    content = _get_json(url, "/api/version")
    return isinstance(content, dict) and isinstance(content.get("version"), str)


def _list_models(url: str) -> list[str] | None:
    """List the models; None if the server doesn't list them."""
    content = _get_json(url, "/api/tags")
    listed = content.get("models") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        return None
    names = (model.get("name") for model in listed if isinstance(model, dict))
    return [name for name in names if isinstance(name, str)]


def _is_port_taken(url: str) -> bool:
    """Whether another program listens at Ollama's address; the request will show what it is."""
    name, _, port = ollama_host(url).rpartition(":")
    try:
        with socket.create_connection((name.strip("[]"), int(port)), _REQUEST_TIMEOUT_SECONDS):
            return True
    except OSError:
        return False


def _get_json(url: str, path: str) -> object:
    """Return an answer of Ollama's own API; None if there is no answer, or if it is not from Ollama."""
    parts = urlsplit(url)  # beside the OpenAI-compatible one
    try:
        with build_opener(ProxyHandler({})).open(
            f"{parts.scheme}://{parts.netloc}{path}", timeout=_REQUEST_TIMEOUT_SECONDS
        ) as answer:
            content: object = json.loads(answer.read(_MAX_RESPONSE_BYTES))
            return content
    except (HTTPError, URLError, OSError, ValueError, RecursionError):
        return None
