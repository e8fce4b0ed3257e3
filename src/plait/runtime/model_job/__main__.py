"""`python -m plait.runtime.model_job SPEC`: do one job; the exit status says whether it is done, the last line why not."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from plait.agents.model_jobs.job_spec import ModelJobSpec, decode_spec
from plait.core.errors import PlaitError
from plait.core.status import Category
from plait.runtime.model_job.job_output import JobError, JobReporter, JobResult

_FAILED = 1
_MAX_PROMPT_CHARS = 4 << 20  # characters of a prompt


class Terminated(BaseException):
    """Somebody asks this process to end: what it wrote is taken back first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main(words: list[str]) -> NoReturn:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _handle_signal)
    try:
        code = _execute(Path(words[0]) if words else Path())
    except Terminated as ended:
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
        raise
    sys.stdout.flush()
    os._exit(code)  # a stream that was left half read would keep the process at its end


def _execute(file: Path) -> int:
    reporter, result = JobReporter(file.parent), None
    try:
        spec = _read_spec(file)
        reporter, result = (
            JobReporter(file.parent, os.environ.get(spec.settings.key or "", "")),
            JobResult(spec.task),
        )
        _run(spec, reporter, result)
    except JobError as error:
        reporter.report_failure(error, result)
    except PlaitError as error:
        reporter.report_failure(JobError(error.message), result)
    except OSError as error:
        reporter.report_failure(JobError(f"the system refused: {error}"), result)
    else:
        result.status = "passed"
        reporter.report_result(result)
        return 0
    return _FAILED


def _run(spec: ModelJobSpec, reporter: JobReporter, result: JobResult) -> None:
    from plait.runtime.model_job.runner import run_job  # a spec that can't be read needs none of it

    run_job(spec, _read_instructions(spec), reporter, result)


def _read_instructions(spec: ModelJobSpec) -> str:
    """On standard input comes the whole prompt, where there is more to say than the task does."""
    told = sys.stdin.read(_MAX_PROMPT_CHARS).strip() if spec.feedback else ""
    if told:
        return told
    body = spec.instructions.strip()
    headed = body.startswith("# ") or not spec.title
    parts = [] if headed else [f"# {' '.join(spec.title.split())}"]
    parts += [body, *(["## Feedback on the attempt before this one", spec.feedback] if spec.feedback else [])]
    return "\n\n".join(parts).strip()


def _read_spec(file: Path) -> ModelJobSpec:
    try:
        return decode_spec(file.read_bytes())
    except (OSError, ValueError) as error:
        raise JobError(f"what is to be done can't be read from {file}: {error}", Category.USAGE) from error


def _handle_signal(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - a handler's own
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # once is enough
    raise Terminated(number)


if __name__ == "__main__":
    main(sys.argv[1:])
