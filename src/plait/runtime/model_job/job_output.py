"""What a model job reports: a JSON line per event, and its result as a file."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path

from plait.agents.interface import ActivityKind
from plait.agents.model_jobs.job_spec import JOB_RESULT_FILE
from plait.agents.plain_text import to_plain_text, truncate
from plait.agents.prices import Tokens
from plait.agents.redaction import build_redactor
from plait.core.fast_dataclass import dataclass
from plait.runtime.agent_process import JobError, print_event
from plait.system.atomic_files import write_private_file

_PROGRESS_INTERVAL_SECONDS = 1.0  # between two lines about the same step
_MAX_MESSAGE_CHARS = 2000  # a parser takes no line of more than some kilobytes
_MAX_LIST_ITEMS = 20  # in a line; the file has all of them
_MAX_ITEM_CHARS = 200


@dataclass(frozen=True, slots=True)
class JobOutput:
    path: str
    lines: int


@dataclass(slots=True)
class JobResult:
    """The result of a job so far. `verdict` is "" if there was no review."""

    job: str
    status: str = "failed"
    outputs: list[JobOutput] = field(default_factory=list)
    retry_used: bool = False
    fixes: int = 0
    implicit_context: list[str] = field(default_factory=list)
    verdict: str = ""
    warnings: list[str] = field(default_factory=list)
    error: str = ""


class JobReporter:
    """Redacts `key` and the other secrets of the environment."""

    def __init__(self, folder: Path, key: str = "") -> None:
        self._folder = folder
        self._redact = build_redactor(os.environ, [("API_KEY", key)])
        self._last_progress = 0.0
        self._used: dict[str, Tokens] = {}
        self._kept = 0

    def report_phase(self, name: str) -> None:
        self._write_line("phase", name=name)

    def report_activity(self, text: str, doing: ActivityKind = ActivityKind.SAYS) -> None:
        self._write_line("activity", text=to_plain_text(text, _MAX_MESSAGE_CHARS), doing=doing.value)

    def report_progress(self, text: str, doing: ActivityKind = ActivityKind.SAYS) -> None:
        """Progress of the same step: at most one line a second."""
        now = time.monotonic()
        if now - self._last_progress >= _PROGRESS_INTERVAL_SECONDS:
            self._last_progress = now
            self.report_activity(text, doing)

    def report_usage(self, model: str, tokens: Tokens) -> None:
        if not tokens.total:
            return
        before = self._used.get(model, Tokens())
        now = Tokens(before.input + tokens.input, before.output + tokens.output, before.cached + tokens.cached)
        self._used[model] = now
        self._write_line("usage", model=model, input=now.input, output=now.output, cached=now.cached)

    def save_text(self, name: str, text: str) -> None:
        """Keep a prompt or an answer for people. A failure to write it is ignored."""
        self._kept += 1
        with suppress(OSError, UnicodeError):
            write_private_file(self._folder / f"{self._kept:02}-{name}.md", self._redact(text))

    def report_result(self, result: JobResult) -> None:
        self._write_result(result)
        self._write_line("result", **{name: _shorten(value) for name, value in asdict(result).items()})

    def report_failure(self, error: JobError, result: JobResult | None) -> None:
        message = truncate(to_plain_text(" ".join(error.message.split()), _MAX_MESSAGE_CHARS), _MAX_MESSAGE_CHARS)
        if result is not None:
            result.status, result.error = "failed", message
            self._write_result(result)
        self._write_line(
            "error",
            category=error.category.value,
            status=error.status,
            message=message,
            retry_after=error.after,
        )

    def _write_result(self, result: JobResult) -> None:
        with suppress(OSError):
            write_private_file(self._folder / JOB_RESULT_FILE, self._redact(json.dumps(asdict(result))))

    def _write_line(self, kind: str, **values: object) -> None:
        print_event(kind, redact=self._redact, **values)


def _shorten(value: object) -> object:
    match value:
        case str():
            return truncate(value, _MAX_ITEM_CHARS)
        case list():
            return [_shorten(each) for each in value[:_MAX_LIST_ITEMS]]
        case dict():
            return {name: _shorten(each) for name, each in value.items()}
        case _:
            return value
