"""`python -m plait.runtime.model_job SPEC`: does one job. The exit status says whether it is done; if not, the last
line says why.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from plait.agents.model_jobs.job_prompts import build_instructions
from plait.agents.model_jobs.job_spec import ModelJobSpec, decode_spec
from plait.core.errors import PlaitError
from plait.core.status import Category
from plait.runtime.agent_process import JobError, run_until_signal, to_job_error
from plait.runtime.model_job.job_output import JobReporter, JobResult

_FAILED = 1
_MAX_PROMPT_CHARS = 4 << 20


def main(argv: list[str]) -> NoReturn:
    code = run_until_signal(lambda: _execute(Path(argv[0]) if argv else Path()))
    os._exit(code)  # a stream that was not read to its end would keep the process from exiting


def _execute(file: Path) -> int:
    reporter, result = JobReporter(file.parent), None
    try:
        spec = _read_spec(file)
        reporter = JobReporter(file.parent, os.environ.get(spec.settings.key or "", ""))
        result = JobResult(spec.task)
        from plait.runtime.model_job.runner import run_job  # a spec that can't be read needs none of it

        run_job(spec, _read_instructions(spec), reporter, result)
    except (JobError, PlaitError, OSError) as error:
        reporter.report_failure(to_job_error(error), result)
        return _FAILED
    result.status = "passed"
    reporter.report_result(result)
    return 0


def _read_instructions(spec: ModelJobSpec) -> str:
    """Read the instructions. With feedback, the whole prompt comes on standard input; otherwise the task is enough."""
    prompt = sys.stdin.read(_MAX_PROMPT_CHARS).strip() if spec.feedback else ""
    return prompt or build_instructions(spec)


def _read_spec(file: Path) -> ModelJobSpec:
    try:
        return decode_spec(file.read_bytes())
    except (OSError, ValueError) as error:
        raise JobError(f"can't read the job from {file}: {error}", Category.USAGE) from error


if __name__ == "__main__":
    main(sys.argv[1:])
