"""Model jobs as forks of one process that has done the imports: real processes, without their start-up time.

`python -m tests.support.forked_jobs` is that process: it reads one JSON object per job, and prints exit codes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from plait.runtime.model_job import __main__ as modeljob
from tests.support.waiting import TIMEOUT_SECONDS


class JobForker:
    """Runs one job after another. Exit codes are negative for signals, as in `subprocess`."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked_jobs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parent.communicate()

    def run(self, spec: str, workspace: Path, env: Mapping[str, str], stdin: str, out: Path) -> int:
        """Run `python -m plait.runtime.model_job SPEC` in the workspace; `stdin` and `out` are files."""
        told = {"spec": spec, "workspace": str(workspace), "env": dict(env), "stdin": stdin, "out": str(out)}
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(f"{json.dumps(told)}\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())


def main() -> None:
    _preload()
    requests, answers = os.dup(0), os.dup(1)  # jobs get their own
    with os.fdopen(requests) as lines, os.fdopen(answers, "w") as told:
        for line in lines:
            pid = os.fork()
            if pid == 0:
                _run_job(json.loads(line))
            _, status = os.waitpid(pid, 0)
            told.write(f"{os.waitstatus_to_exitcode(status)}\n")
            told.flush()


def _preload() -> None:
    import openai  # only in the process that is forked

    import plait.runtime.model_job.runner  # noqa: F401

    with openai.OpenAI(api_key="none", base_url="http://127.0.0.1:1/v1") as client:
        assert client.chat.completions is not None  # parts of the client are imported when they are first used


def _run_job(told: dict[str, Any]) -> NoReturn:
    """Run the job in the forked process. Any: JSON that `run` wrote."""
    signal.alarm(int(TIMEOUT_SECONDS))
    os.closerange(3, 64)
    os.environ.clear()
    os.environ.update(told["env"])
    os.chdir(told["workspace"])
    os.dup2(os.open(told["stdin"], os.O_RDONLY), 0)
    out = os.open(told["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream in (1, 2):
        os.dup2(out, stream)
    sys.stdin = os.fdopen(0, closefd=False)
    modeljob.main([told["spec"]])


if __name__ == "__main__":
    main()
