"""Reports what a model job does: a JSON line per event, and its result as a file."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path

from plait.agents.interface import ActivityKind
from plait.agents.model_jobs.job_spec import JOB_RESULT_FILE
from plait.agents.plain_text import truncate
from plait.agents.prices import NO_TOKENS, Tokens
from plait.core.fast_dataclass import dataclass
from plait.runtime.agent_process import EventReporter, JobError
from plait.system.atomic_files import write_private_file

_PROGRESS_INTERVAL_SECONDS = 1.0  # between two lines about the same step
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
    tests: list[JobOutput] = field(default_factory=list)
    retry_used: bool = False
    fixes: int = 0
    implicit_context: list[str] = field(default_factory=list)
    verdict: str = ""
    warnings: list[str] = field(default_factory=list)
    error: str = ""


class JobReporter(EventReporter):
    def __init__(self, folder: Path, key: str = "") -> None:
        super().__init__(folder / JOB_RESULT_FILE, key)
        self._folder = folder
        self._last_progress = 0.0
        self._used: dict[str, Tokens] = {}
        self._kept = 0

    def report_progress(self, text: str, kind: ActivityKind = ActivityKind.SAYS) -> None:
        """Report progress of the same step, with at most one line a second."""
        now = time.monotonic()
        if now - self._last_progress >= _PROGRESS_INTERVAL_SECONDS:
            self._last_progress = now
            self.report_activity(text, kind)

    def report_usage(self, model: str, tokens: Tokens) -> None:
        if tokens.total:
            self._used[model] = used = self._used.get(model, NO_TOKENS) + tokens
            self.print_event("usage", model=model, input=used.input, output=used.output, cached=used.cached)

    def save_text(self, name: str, text: str) -> None:
        """Save a prompt or an answer for people. A failure to write it is ignored."""
        self._kept += 1
        with suppress(OSError, UnicodeError):
            write_private_file(self._folder / f"{self._kept:02}-{name}.md", self.redact(text))

    def report_result(self, result: JobResult) -> None:
        self.save_result(asdict(result))
        self.print_event("result", **{name: _shorten(value) for name, value in asdict(result).items()})

    def report_failure(self, error: JobError, result: JobResult | None) -> None:
        if result is not None:
            result.status, result.error = "failed", self.clean(error.message)
            self.save_result(asdict(result))
        self.report_error(error)


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
