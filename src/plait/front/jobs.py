"""Model jobs of a batch: how many passed, and what each one wrote, as its process tells in its attempt's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plait.agents.tools.model_spec import RESULT
from plait.core.frozen import dataclass
from plait.core.status import TaskStatus
from plait.core.task import Attempt, Step
from plait.core.views import BatchView, TaskView
from plait.front.event import Event, EventType
from plait.site.folder import StateFolder

AGENT = "model"
_MOST = 1 << 20  # bytes of a result
_FAILED = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)


@dataclass(frozen=True, slots=True)
class JobView:
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
    def processed(self) -> bool:
        return self.attempt > 0


@dataclass(frozen=True, slots=True)
class Jobs:
    jobs: tuple[JobView, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.jobs)

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Whoever was begun is processed; whoever was not, and will not be, is skipped."""
        jobs = self.jobs
        return (
            ("processed", sum(job.processed for job in jobs)),
            ("passed", sum(job.status is TaskStatus.DONE for job in jobs)),
            ("failed", sum(job.status in _FAILED for job in jobs)),
            ("skipped", sum(job.status.terminal and not job.processed for job in jobs)),
        )


def jobs_of(folder: StateFolder, view: BatchView) -> Jobs:
    return Jobs(tuple(_job(folder, view.id, task) for task in view.tasks if task.agent == AGENT))


def event(jobs: Jobs, batch: str, at: float) -> Event:
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
    return Event(None, at, EventType.BATCH_JOBS, batch, more={**dict(jobs.counts), "jobs": listed})


def _job(folder: StateFolder, batch: str, task: TaskView) -> JobView:
    told = _told(folder, Attempt(batch, task.id, Step.WRITE, task.attempt)) if task.attempt else {}
    outputs = [one for one in _list(told.get("outputs")) if isinstance(one, Mapping)]
    return JobView(
        task.id,
        task.status,
        task.attempt,
        tuple((str(one.get("path", "")), _number(one.get("lines"))) for one in outputs),
        told.get("retry_used") is True,
        _number(told.get("fixes")),
        _texts(told.get("implicit_context")),
        str(told.get("verdict") or ""),
        _texts(told.get("warnings")),
    )


def _told(folder: StateFolder, attempt: Attempt) -> Mapping[str, Any]:
    """Any: JSON of an attempt, which may be of another version, cut off, or not there."""
    try:
        with (folder.attempt(attempt).path / RESULT).open("rb") as file:
            told = json.loads(file.read(_MOST))
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _list(said: object) -> Sequence[object]:
    return said if isinstance(said, list) else ()


def _texts(said: object) -> tuple[str, ...]:
    return tuple(one for one in _list(said) if isinstance(one, str))


def _number(said: object) -> int:
    return said if isinstance(said, int) and not isinstance(said, bool) else 0
