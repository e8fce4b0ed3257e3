"""Model jobs of a batch: how many passed, and what each one wrote, as its process tells in its attempt's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plait.agents.model_jobs.job_spec import JOB_RESULT_FILE
from plait.client.stream_event import EventType, StreamEvent
from plait.core.fast_dataclass import dataclass
from plait.core.status import TaskStatus
from plait.core.task import Attempt, Step
from plait.core.views import BatchView, TaskView
from plait.system.state_paths import StateFolder

MODEL_AGENT = "model"
_MAX_RESULT_BYTES = 1 << 20  # bytes of a result
_FAILED_STATUSES = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)


@dataclass(frozen=True, slots=True)
class ModelJobView:
    """`outputs` are paths and their lines; `implicit` the files that were shown to the model unasked."""

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
        """Whoever was begun is processed; whoever was not, and will not be, is skipped."""
        jobs = self.jobs
        return (
            ("processed", sum(job.is_processed for job in jobs)),
            ("passed", sum(job.status is TaskStatus.DONE for job in jobs)),
            ("failed", sum(job.status in _FAILED_STATUSES for job in jobs)),
            ("skipped", sum(job.status.is_terminal and not job.is_processed for job in jobs)),
        )


def list_model_jobs(folder: StateFolder, view: BatchView) -> ModelJobs:
    return ModelJobs(tuple(_view_job(folder, view.id, task) for task in view.tasks if task.agent == MODEL_AGENT))


def make_jobs_event(jobs: ModelJobs, batch: str, at: float) -> StreamEvent:
    """What does not stand in the journal: the attempts' own words."""
    listed = [
        {
            "taskId": job.id,
            "status": job.status.value,
            "outputs": [{"path": path, "lines": lines} for path, lines in job.outputs],
            "retryUsed": job.retry_used,
            "fixes": job.fixes,
            "implicitContext": job.implicit,
            "verdict": job.verdict or None,
            "warnings": job.warnings,
        }
        for job in jobs.jobs
    ]
    return StreamEvent(None, at, EventType.BATCH_JOBS, batch, data={**dict(jobs.counts), "jobs": listed})


def _view_job(folder: StateFolder, batch: str, task: TaskView) -> ModelJobView:
    told = _read_job_result(folder, Attempt(batch, task.id, Step.WRITE, task.attempt)) if task.attempt else {}
    outputs = [one for one in _as_list(told.get("outputs")) if isinstance(one, Mapping)]
    return ModelJobView(
        task.id,
        task.status,
        task.attempt,
        tuple((str(one.get("path", "")), _as_int(one.get("lines"))) for one in outputs),
        told.get("retry_used") is True,
        _as_int(told.get("fixes")),
        _as_texts(told.get("implicit_context")),
        str(told.get("verdict") or ""),
        _as_texts(told.get("warnings")),
    )


def _read_job_result(folder: StateFolder, attempt: Attempt) -> Mapping[str, Any]:
    """Any: JSON of an attempt, which may be of another version, cut off, or not there."""
    try:
        with (folder.attempt(attempt).path / JOB_RESULT_FILE).open("rb") as file:
            told = json.loads(file.read(_MAX_RESULT_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _as_list(said: object) -> Sequence[object]:
    return said if isinstance(said, list) else ()


def _as_texts(said: object) -> tuple[str, ...]:
    return tuple(one for one in _as_list(said) if isinstance(one, str))


def _as_int(said: object) -> int:
    return said if isinstance(said, int) and not isinstance(said, bool) else 0
