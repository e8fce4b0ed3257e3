"""Runs model jobs against a scripted server, in processes started as the engine starts them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from plait.agents.drivers.model_agent import ModelAgent
from plait.agents.interface import (
    Activity,
    AgentEvent,
    AgentSpec,
    AttemptContext,
    Command,
    PhaseStarted,
    Price,
)
from plait.agents.model_jobs.job_spec import encode_options
from plait.config.agent_keys import ModelConfig
from plait.core.reports import Outcome
from plait.core.task import Attempt, ModelJob, Origin, Step, Task
from tests.support.forked_jobs import JobForker
from tests.support.model_server.server import ModelServer
from tests.support.waiting import TIMEOUT_SECONDS

_POLL_SECONDS = 0.02
API_KEY = "sk-held-by-nobody-0123456789"  # no key


@dataclass(frozen=True)
class ModelJobRun:
    """The result of a job: what the parser reads from its output, and the output."""

    outcome: Outcome
    printed: str
    signals: tuple[AgentEvent, ...]
    result: Mapping[str, object]

    @property
    def last_error(self) -> str:
        """The last error message, untruncated."""
        errors = [json.loads(line) for line in self.printed.splitlines() if '"type": "error"' in line]
        return str(errors[-1]["message"]) if errors else ""

    @property
    def phases(self) -> list[str]:
        return [signal.name for signal in self.signals if isinstance(signal, PhaseStarted)]

    @property
    def activities(self) -> list[str]:
        return [signal.text for signal in self.signals if isinstance(signal, Activity)]


@dataclass
class ModelJobBench:
    """`workspace` is a repository; `settings` are those of `[model]`."""

    server: ModelServer
    workspace: Path
    folder: Path
    stack: ExitStack
    forks: JobForker
    settings: dict[str, object] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    prices: tuple[Price, ...] = ()

    def write(self, path: str, text: str) -> Path:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def read(self, path: str) -> str | None:
        file = self.workspace / path
        return file.read_text() if file.is_file() else None

    @property
    def agent(self) -> ModelAgent:
        settings = ModelConfig(**{"base_url": f"{self.server.url}/v1", "key": "BENCH_KEY", **self.settings})
        return ModelAgent(AgentSpec("model", model="scripted", options=encode_options(settings), prices=self.prices))

    def task(self, job: ModelJob | None, text: str = "Write it.", **more: object) -> Task:
        made = Task("job-1", "The job", text, agent="model", job=job, origin=Origin("jobs/job-1.md", 1))
        return replace(made, **more)  # type: ignore[arg-type]  # fields of a task, by name

    def start(self, task: Task) -> subprocess.Popen[bytes]:
        """Write the input files and start the command in the workspace, as the engine does."""
        command = self._write_inputs(task)
        with self._transcript.open("wb") as out, Path(_stdin(command)).open("rb") as stdin:
            process = subprocess.Popen(  # the agent's own command
                command.argv, cwd=self.workspace, env=self._environment, stdin=stdin, stdout=out, stderr=out
            )
        self.stack.callback(_end, process)
        return process

    def finish(self, process: subprocess.Popen[bytes]) -> ModelJobRun:
        return self._read_result(process.wait(TIMEOUT_SECONDS))

    def run(self, job: ModelJob | None, text: str = "Write it.", **more: object) -> ModelJobRun:
        """Run a job in a forked process, for tests that are not about the process."""
        return self.run_task(self.task(job, text, **more))

    def run_task(self, task: Task, feedback: str = "", prompt: str = "") -> ModelJobRun:
        command = self._write_inputs(task, feedback, prompt)
        spec, stdin = command.argv[-1], _stdin(command)
        return self._read_result(self.forks.run(spec, self.workspace, self._environment, stdin, self._transcript))

    def _write_inputs(self, task: Task, feedback: str = "", prompt: str = "") -> Command:
        self.folder.mkdir(exist_ok=True)
        brief = AttemptContext(
            Attempt("b", task.id, Step.WRITE, 1),
            task,
            str(self.workspace),
            str(self.folder / "task.md"),
            str(self.folder / "prompt.md"),
            str(self.folder),
            feedback=feedback,
        )
        command = self.agent.build_command(brief)
        (self.folder / "prompt.md").write_text(prompt)
        for name, text in command.files:
            (self.folder / name).write_text(text)
        return command

    def _read_result(self, code: int) -> ModelJobRun:
        printed = self._transcript.read_text()
        listener = self.agent.create_parser()
        signals = tuple(signal for line in printed.splitlines() for signal in listener.feed(line))
        ended = listener.finish(128 - code if code < 0 else code, printed[-8192:], time.time())
        file = self.folder / "result.json"
        result = json.loads(file.read_text()) if file.exists() else {}
        return ModelJobRun(ended, printed, signals, result)

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "BENCH_KEY": API_KEY, **self.env}

    @property
    def _transcript(self) -> Path:
        return self.folder / "transcript"

    def wait_for_file(self, path: Path, process: subprocess.Popen[bytes]) -> None:
        """Wait for a file that something started by the process writes."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not path.exists():
            assert process.poll() is None, (self.folder / "transcript").read_text()
            assert time.monotonic() < deadline
            time.sleep(_POLL_SECONDS)

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.workspace, check=True)  # a test's own arguments

    def files(self) -> dict[str, str]:
        """All files of the workspace but git's own."""
        return {
            str(path.relative_to(self.workspace)): path.read_text()
            for path in sorted(self.workspace.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.workspace).parts
        }


def whole_file_answer(path: str, text: str) -> str:
    """A reply with a whole file."""
    return f"~~~worksplit:{path}\n{text}\n~~~worksplit\n"


def edit_answer(path: str, find: str, replacement: str) -> str:
    """A reply with an edit."""
    return f"FILE: {path}\nFIND:\n{find}\nREPLACE:\n{replacement}\nEND\n"


@contextmanager
def model_job_bench(folder: Path, forks: JobForker) -> Iterator[ModelJobBench]:
    """Verification of replies is off by default."""
    workspace = folder / "workspace"
    subprocess.run(["git", "init", "--quiet", str(workspace)], check=True)  # fixed arguments
    with ModelServer() as server, ExitStack() as stack:
        yield ModelJobBench(server, workspace, folder / "attempt", stack, forks, {"verify_replies": False})


def _stdin(command: Command) -> str:
    return command.stdin or os.devnull


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
