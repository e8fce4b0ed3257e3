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
from plait.runtime.attempt_files import read_result_file
from plait.system.state_paths import StateFolder

MODEL_AGENT = "model"
_FAILED_STATUSES = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)


@api_model
class JobOutput:
    path: str
    lines: int


@api_model
class ModelJob:
    """`implicit_context` are files that plait added to the context."""

    task_id: str
    status: TaskStatus
    outputs: list[JobOutput]
    retry_used: bool
    fixes: int
    implicit_context: list[str]
    verdict: str | None
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class ModelJobs:
    """A job that started is processed; one that ended without starting is skipped."""

    jobs: tuple[ModelJob, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.jobs)


def list_model_jobs(folder: StateFolder, view: BatchView) -> ModelJobs:
    tasks = [task for task in view.tasks if task.agent == MODEL_AGENT]
    counts = (
        ("processed", sum(task.attempt > 0 for task in tasks)),
        ("passed", sum(task.status is TaskStatus.DONE for task in tasks)),
        ("failed", sum(task.status in _FAILED_STATUSES for task in tasks)),
        ("skipped", sum(task.status.is_terminal and not task.attempt for task in tasks)),
    )
    return ModelJobs(tuple(_read_job(folder, view.id, task) for task in tasks), counts)


def make_jobs_event(jobs: ModelJobs, batch: str, at: float) -> StreamEvent:
    """The jobs' results, which aren't in the journal."""
    data = cast("EventFields", {**dict(jobs.counts), "jobs": [to_json(job) for job in jobs.jobs]})
    return StreamEvent(None, at, EventType.BATCH_JOBS, batch, data=data)


def _read_job(folder: StateFolder, batch: str, task: TaskView) -> ModelJob:
    attempt = Attempt(batch, task.id, Step.WRITE, task.attempt)
    result = read_result_file(folder, attempt, JOB_RESULT_FILE) if task.attempt else {}
    outputs = [output for output in _as_list(result.get("outputs")) if isinstance(output, Mapping)]
    return ModelJob(
        task_id=task.id,
        status=task.status,
        outputs=[JobOutput(str(output.get("path", "")), _as_int(output.get("lines"))) for output in outputs],
        retry_used=result.get("retry_used") is True,
        fixes=_as_int(result.get("fixes")),
        implicit_context=_as_texts(result.get("implicit_context")),
        verdict=str(result.get("verdict") or "") or None,
        warnings=_as_texts(result.get("warnings")),
    )


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _as_texts(value: object) -> list[str]:
    return [text for text in _as_list(value) if isinstance(text, str)]


def _as_int(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
