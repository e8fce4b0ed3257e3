"""Preflight: whether the server is there, and the model on it. Ollama is started where it is installed and does not run."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

from plait.agents.model import Doing
from plait.agents.plain import plain
from plait.agents.tools.model_spec import ModelSettings
from plait.core.status import Category
from plait.site import marker, scope
from plait.site.folder import make_private
from plait.site.modeljob.failure import JobError
from plait.site.modeljob.place import here, host, ollamas, root
from plait.site.modeljob.telling import Telling
from plait.site.processes import look

PROGRAM = "ollama"
_START = 60.0  # seconds that Ollama has to answer in
_GLANCE = 0.1
_QUICK = 5.0  # seconds for an answer from this machine
_MOST = 1 << 20  # bytes of one
_NAMED = 8
# A shell between: it ends at once, so that what it started is nobody's child and outlives this attempt.
_DETACHED = 'exec "$@" </dev/null >>"$PLAIT_OLLAMA_LOG" 2>&1 & echo $!'
_SAID = 4096  # bytes at the end of its output


def preflight(settings: ModelSettings, model: str, telling: Telling) -> None:
    """Raises JobError. Only what is on this machine is looked at: other servers say themselves what is wrong."""
    url = settings.base_url
    found = here(url) and _is_ollama(url)
    if not found and ollamas(url, os.environ) and not _taken(url):
        _start(settings, telling)
        found = True
    names = _models(url) if found else None
    if not model:
        there = f" The server has: {', '.join(names[:_NAMED])}." if names else ""
        raise JobError(f"no model is named: set [model] name, or say --model.{there}", Category.USAGE)
    if names is not None and model not in names and f"{model}:latest" not in names:
        raise JobError(f"Ollama has no model {model}: ollama pull {model}", Category.USAGE)


def _start(settings: ModelSettings, telling: Telling) -> None:
    url = settings.base_url
    if not settings.start_ollama:
        raise JobError(f"Ollama does not run at {url}: start it, or set start_ollama", Category.NETWORK)
    if shutil.which(PROGRAM) is None:
        why = f"nothing answers at {url}, and Ollama is not installed"
        raise JobError(f"{why}: install it, or set [model] base_url", Category.NETWORK)
    with _alone(telling) as folder:
        if not _is_ollama(url):  # somebody else may have started it meanwhile
            telling.activity("starting Ollama", Doing.RUNS)
            log = folder / "ollama.log"
            _await(url, _spawn(url, settings.context_tokens, log), log, telling)


def _spawn(url: str, context: int, log: Path) -> int:
    """No process of this attempt: other jobs use it, and it stays when this one is over or cancelled. Gives its pid."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLAIT_")}
    kept.pop(marker.VARIABLE, None)
    asked = {"OLLAMA_HOST": host(url), "PLAIT_OLLAMA_LOG": str(log)}
    # Without being told, it cuts prompts at a few thousand tokens, and says nothing.
    kept.setdefault("OLLAMA_CONTEXT_LENGTH", str(max(8192, 2 * context)))
    shell = subprocess.Popen(  # noqa: S603 - fixed words
        ["/bin/sh", "-c", _DETACHED, "sh", PROGRAM, "serve"],
        cwd="/",
        env={**kept, **asked},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_leave_scope,  # noqa: PLW1509 - this process has one thread
    )
    return int(shell.communicate()[0])


def _leave_scope() -> None:
    """The attempt's control group is ended as a whole; its parent is the engine's."""
    with suppress(OSError):
        own = scope.home()
        if own and Path(own).name.startswith("plait-"):
            scope.join(str(Path(own).parent), [os.getpid()])


def _await(url: str, pid: int, log: Path, telling: Telling) -> None:
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline:
        process = look(pid)  # before it is asked: whoever answered and ended is not there either
        if _is_ollama(url):
            return
        if process is None or process.dead:
            raise JobError(f"Ollama was started and has ended: {_last(log)}", Category.NETWORK)
        telling.progress("waiting for Ollama", Doing.WAITS)
        time.sleep(_GLANCE)
    raise JobError(
        f"Ollama was started and does not answer at {url}; its output is in {log}", Category.NETWORK
    )


def _last(log: Path) -> str:
    """What it said at the end, and where the rest is."""
    with suppress(OSError):
        lines = [plain(line) for line in log.read_bytes()[-_SAID:].decode("utf-8", "replace").split("\n")]
        said = next((line for line in reversed(lines) if line), "")
        return f"{said} (in {log})" if said else f"it said nothing (in {log})"
    return f"nothing can be read in {log}"


@contextmanager
def _alone(telling: Telling) -> Iterator[Path]:
    """The folder that is locked meanwhile. A lock dies with its holder; what is started holds none."""
    from platformdirs import user_cache_path  # noqa: PLC0415 - only where there is something to start

    folder = user_cache_path("plait", appauthor=False) / "ollama"
    make_private(folder)
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            telling.activity("another job is starting Ollama", Doing.WAITS)
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(fd)


def _is_ollama(url: str) -> bool:
    told = _asked(url, "/api/version")
    return isinstance(told, dict) and isinstance(told.get("version"), str)


def _models(url: str) -> list[str] | None:
    """None: it does not tell."""
    told = _asked(url, "/api/tags")
    listed = told.get("models") if isinstance(told, dict) else None
    if not isinstance(listed, list):
        return None
    found = (one.get("name") for one in listed if isinstance(one, dict))
    return [name for name in found if isinstance(name, str)]


def _taken(url: str) -> bool:
    """Somebody else is where Ollama would be: it speaks for itself."""
    name, _, port = host(url).rpartition(":")
    try:
        with socket.create_connection((name.strip("[]"), int(port)), _QUICK):
            return True
    except OSError:
        return False


def _asked(url: str, path: str) -> object:
    """What Ollama itself says; None: it is not there, or no Ollama."""
    try:
        with build_opener(ProxyHandler({})).open(f"{root(url)}{path}", timeout=_QUICK) as answer:
            told: object = json.loads(answer.read(_MOST))
            return told
    except (HTTPError, URLError, OSError, ValueError, RecursionError):
        return None
