"""Runs build, test and lint commands on the result. Their output is bounded; their environment lacks the API key."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from select import select
from typing import IO

from plait.agents.interface import ActivityKind
from plait.agents.plain_text import to_plain_text
from plait.core.fast_dataclass import dataclass
from plait.runtime.model_job.job_output import JobReporter
from plait.system.processes import kill_process_group

_SHELL = "/bin/sh"
_CHUNK_BYTES = 64 << 10
_POLL_SECONDS = 0.1  # seconds
_MAX_OUTPUT_BYTES = 16 << 10  # kept from the end of a command's output


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """A command that failed, and the end of its output."""

    command: str
    code: int
    output: str

    def __str__(self) -> str:
        last = next((line for line in map(to_plain_text, reversed(self.output.split("\n"))) if line), "")
        detail = f": {last}" if last else ""
        return f"{self.command} failed with status {self.code}{detail}"


class CheckRunner:
    def __init__(self, commands: Sequence[str], workspace: Path, secret: str | None, reporter: JobReporter) -> None:
        self._commands = commands
        self._workspace = workspace
        self._env = {name: value for name, value in os.environ.items() if name != secret}
        self._reporter = reporter

    def run(self) -> CheckFailure | None:
        """Run the commands; return the first failure, or None if all pass."""
        for command in self._commands:
            self._reporter.report_activity(command, ActivityKind.RUNS)
            code, output = self._run_command(command)
            self._reporter.save_text("check", f"{command}\n\n{output}\n\nstatus {code}\n")
            if code:
                return CheckFailure(command, code, output)
        return None

    def _run_command(self, command: str) -> tuple[int, str]:
        with subprocess.Popen(  # the person's own command
            [_SHELL, "-c", command],
            cwd=self._workspace,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            process_group=0,
        ) as process:
            assert process.stdout is not None
            try:
                output = self._read_output(process.stdout, process)
            except BaseException:  # this process is being terminated: don't wait for the command
                kill_process_group(process.pid)
                raise
        return process.returncode, output

    def _read_output(self, stream: IO[bytes], process: subprocess.Popen[bytes]) -> str:
        """Read the end of the command's output, however long that is."""
        kept = b""
        while piece := _read_chunk(stream, process):
            kept = (kept + piece)[-_MAX_OUTPUT_BYTES:]
            self._reporter.report_progress(_last_line(piece), ActivityKind.RUNS)
        return kept.decode("utf-8", "replace")


def _read_chunk(stream: IO[bytes], process: subprocess.Popen[bytes]) -> bytes:
    """Read a chunk; empty once the command has exited, even if a process it left running could still print."""
    while True:
        over = process.poll() is not None
        if select([stream], [], [], 0 if over else _POLL_SECONDS)[0]:
            return stream.read(_CHUNK_BYTES)
        if over:
            return b""


def _last_line(piece: bytes) -> str:
    lines = piece[-4096:].decode("utf-8", "replace").split("\n")
    return next((line for line in map(to_plain_text, reversed(lines)) if line), "…")
