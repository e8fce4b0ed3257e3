"""The model jobs of a batch: their counts, and what each one wrote, from its attempt's result file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from plait.agents.model_jobs.job_spec import JOB_RESULT_FILE
from plait.client.json_encoding import api_model, to_json
from plait.client.stream_event import EventFields, EventType, StreamEvent
from plait.core.fast_dataclass import dataclass
from plait.core.status import TaskStatus
from plait.core.task import Attempt, Step
from plait.core.views import BatchView, TaskView
from plait.runtime.attempt_reader import read_result_file
from plait.system.state_paths import StateFolder

MODEL_AGENT = "model"
_FAILED_STATUSES = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)


@dataclass(frozen=True, slots=True)
class ModelJobView:
    """`outputs` are paths and their number of lines; `implicit` are files that plait added to the context."""

    id: str
    status: TaskStatus
    attempt: int = 0
    outputs: tuple[tuple[str, int], ...] = ()
    retry_used: bool = False
    fixes: int = 0
    implicit: tuple[str, ...] = ()
    verdict: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def is_processed(self) -> bool:
        return self.attempt > 0


@dataclass(frozen=True, slots=True)
class ModelJobs:
    jobs: tuple[ModelJobView, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.jobs)

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """A job that started is processed; one that ended without starting is skipped."""
        jobs = self.jobs
        return (
            ("processed", sum(job.is_processed for job in jobs)),
            ("passed", sum(job.status is TaskStatus.DONE for job in jobs)),
            ("failed", sum(job.status in _FAILED_STATUSES for job in jobs)),
            ("skipped", sum(job.status.is_terminal and not job.is_processed for job in jobs)),
        )


def list_model_jobs(folder: StateFolder, view: BatchView) -> ModelJobs:
    return ModelJobs(tuple(_view_job(folder, view.id, task) for task in view.tasks if task.agent == MODEL_AGENT))


@api_model
class JobOutput:
    path: str
    lines: int


@api_model
class ModelJobResult:
    task_id: str
    status: TaskStatus
    outputs: list[JobOutput]
    retry_used: bool
    fixes: int
    implicit_context: list[str]
    verdict: str | None
    warnings: list[str]


def make_jobs_event(jobs: ModelJobs, batch: str, at: float) -> StreamEvent:
    """The jobs' results, which aren't in the journal."""
    listed = [
        ModelJobResult(
            task_id=job.id,
            status=job.status,
            outputs=[JobOutput(path, lines) for path, lines in job.outputs],
            retry_used=job.retry_used,
            fixes=job.fixes,
            implicit_context=list(job.implicit),
            verdict=job.verdict or None,
            warnings=list(job.warnings),
        )
        for job in jobs.jobs
    ]
    data = cast("EventFields", {**dict(jobs.counts), "jobs": [to_json(job) for job in listed]})
    return StreamEvent(None, at, EventType.BATCH_JOBS, batch, data=data)


def _view_job(folder: StateFolder, batch: str, task: TaskView) -> ModelJobView:
    attempt = Attempt(batch, task.id, Step.WRITE, task.attempt)
    result = read_result_file(folder, attempt, JOB_RESULT_FILE) if task.attempt else {}
    outputs = [output for output in _as_list(result.get("outputs")) if isinstance(output, Mapping)]
    return ModelJobView(
        task.id,
        task.status,
        task.attempt,
        tuple((str(output.get("path", "")), _as_int(output.get("lines"))) for output in outputs),
        result.get("retry_used") is True,
        _as_int(result.get("fixes")),
        _as_texts(result.get("implicit_context")),
        str(result.get("verdict") or ""),
        _as_texts(result.get("warnings")),
    )


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _as_texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in _as_list(value) if isinstance(text, str))


def _as_int(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
