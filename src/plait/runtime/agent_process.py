"""What plait's own agent processes (model jobs, the contest referee, applied replies) share.

Errors, output, signals, and running an agent's tool as a child.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from plait.agents.interface import ActivityKind, AgentEvent, OutputParser
from plait.agents.output_parser import JsonLinesParser
from plait.agents.plain_text import to_plain_text
from plait.agents.redaction import build_redactor
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.status import Category
from plait.system.atomic_files import write_private_file

_CHUNK_BYTES = 64 << 10
_MAX_LINE_BYTES = 8 << 20  # of one line that are parsed: a whole message may be in it
_EXIT_TAIL_BYTES = 8 << 10  # that an exit is classified by
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class JobError(Exception):
    """Why a job failed. `status` is the server's; `after`: seconds to wait before trying again."""

    def __init__(
        self,
        message: str,
        category: Category = Category.TASK,
        *,
        status: int | None = None,
        after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.category = category
        self.status = status
        self.after = after


def to_job_error(error: JobError | PlaitError | OSError) -> JobError:
    if isinstance(error, JobError):
        return error
    return JobError(error.message if isinstance(error, PlaitError) else f"the system refused: {error}")


class Terminated(BaseException):
    """A signal that asks this process to end. It is raised wherever the code is, so that changes are undone first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run_until_signal(run: Callable[[], int]) -> int:
    """Return the exit status of `run`. After a signal, this process ends by that signal once `run` has cleaned up."""
    for number in _SIGNALS:
        signal.signal(number, _raise_terminated)
    try:
        return run()
    except Terminated as ended:
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
        raise


def _raise_terminated(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Terminated(number)


def write_stdout(data: bytes) -> None:
    """Write to the standard output; a closed one is ignored."""
    left = memoryview(data)
    with suppress(OSError):
        while left:
            left = left[os.write(1, left) :]


class EventReporter:
    """Prints what a process of plait does as JSON lines, and saves its result for people; both without secrets."""

    max_message_chars = 2000  # a parser takes no line of more than some kilobytes

    def __init__(self, result_file: Path, key: str = "") -> None:
        """Prepare redaction. `key` is an API key to be redacted, besides the secrets of the environment."""
        self._result_file = result_file
        self.redact = build_redactor(os.environ, [("API_KEY", key)])

    def print_event(self, kind: str, **values: object) -> None:
        """Print an event as one line, which `PlaitProtocolParser` parses."""
        write_stdout(f"{self.redact(json.dumps({'type': kind, **values}))}\n".encode())

    def report_phase(self, name: str) -> None:
        self.print_event("phase", name=name)

    def report_activity(self, text: str, kind: ActivityKind = ActivityKind.SAYS) -> None:
        self.print_event("activity", text=self.clean(text), doing=kind.value)

    def report_error(self, error: JobError) -> None:
        self.print_event(
            "error",
            category=error.category.value,
            status=error.status,
            message=self.clean(error.message),
            retry_after=error.after,
        )

    def clean(self, text: str) -> str:
        """Return the redacted text on one line, without control characters."""
        return to_plain_text(" ".join(self.redact(text).split()), self.max_message_chars)

    def save_result(self, result: Mapping[str, object]) -> None:
        """Save the result. A failure to write it is ignored, because the engine reads the events."""
        with suppress(OSError):
            write_private_file(self._result_file, self.redact(json.dumps(result)))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """How a tool ended. `code` as in a shell. `message` is the last message of a tool that prints JSON, None for
    others; `output` is the end of what it printed.
    """

    code: int
    outcome: Outcome
    message: str | None
    output: str


def run_tool(
    tool: subprocess.Popen[bytes],
    parser: OutputParser,
    *,
    max_bytes: int,
    on_output: Callable[[bytes], None] = lambda _: None,
    on_event: Callable[[AgentEvent], None] = lambda _: None,
) -> ToolResult:
    """Parse what a tool prints until it has ended; it is ended with this process. Keep at most `max_bytes` of it."""
    kept: deque[bytes] = deque()
    size = 0
    with tool:
        try:
            for line in _read_lines(tool, on_output):
                kept.append(line)
                size += len(line)
                while size - len(kept[0]) >= max_bytes:
                    size -= len(kept.popleft())
                for event in parser.feed(line.decode("utf-8", "replace").removesuffix("\n")):
                    on_event(event)
        except BaseException:
            tool.terminate()  # a signal to this process is meant for the tool
            raise
    code = 128 - tool.returncode if tool.returncode < 0 else tool.returncode
    output = b"".join(kept).decode("utf-8", "replace")
    outcome = parser.finish(code, output[-_EXIT_TAIL_BYTES:], time.time())
    return ToolResult(code, outcome, parser.last_message if isinstance(parser, JsonLinesParser) else None, output)


def _read_lines(tool: subprocess.Popen[bytes], on_output: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield each line as it arrives; an endless line is cut at the limit."""
    assert tool.stdout is not None
    rest = b""
    while piece := tool.stdout.read(_CHUNK_BYTES):
        on_output(piece)
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line + b"\n"
        rest = rest[:_MAX_LINE_BYTES]
    if rest:
        yield rest
