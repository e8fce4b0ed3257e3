"""The results of contests and model jobs: what attempts leave in files, which isn't in the journal, and how judges voted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import cast

from plait.agents.model_jobs.job_spec import JOB_RESULT_FILE
from plait.client.agent_specs import MODEL_AGENT
from plait.client.api_models import Cost, Diffstat, make_cost, make_diffstat
from plait.client.event_types import EventFields, EventType, StreamEvent
from plait.client.json_encoding import api_model, to_json
from plait.core.ballot import BallotResult, Vote
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Attempt, Step
from plait.core.views import BatchView, TaskView
from plait.git import refs
from plait.runtime.attempt_files import read_result_file
from plait.system.state_paths import StateFolder

_FAILED_STATUSES = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)


@api_model
class Entrant:
    entrant: str
    agent: str
    status: TaskStatus | None
    verdict: str
    seconds: float | None
    cost: Cost
    diffstat: Diffstat | None
    rank: int | None
    score: float | None
    branch: str | None

    @property
    def is_winner(self) -> bool:
        return self.verdict == "won"


@api_model
class JudgeVote:
    """A judge's vote. `ranking`: entrants, the best first. `failure`: why this judge has no vote; null: it has one."""

    judge: str
    ranking: list[str]
    rejected: list[str]
    reason: str
    failure: str | None


@api_model
class ContestResult:
    """The result of a contest. `result` and `summary` say how the votes decided, for programs and for people; null: no
    judge was asked, or none has answered.
    """

    why: str | None
    entrants: list[Entrant]
    result: BallotResult | None
    summary: str | None
    votes: list[JudgeVote]


def list_contests(folder: StateFolder, batch: BatchState) -> dict[str, ContestResult]:
    """Return the contests of a batch, by task."""
    return {task.task.id: describe_contest(folder, batch, task) for task in batch.tasks if task.entrants}


def describe_contest(folder: StateFolder, batch: BatchState, task: TaskState) -> ContestResult:
    """Describe a contest: the winner first, then by rank, then in the order of the plan. `why` says how it was decided."""
    result = _read_judge_result(folder, task)
    rows = {row.get("entrant"): row for row in _as_list(result.get("rows")) if isinstance(row, dict)}
    entrants = [batch.tasks[index] for index in task.entrants]
    results = [_describe_entrant(batch, task, entrant, rows.get(entrant.task.id, {})) for entrant in entrants]
    results.sort(key=lambda entrant: (not entrant.is_winner, entrant.rank or len(results) + 1))
    why, ballot = _as_text(result.get("why")) or None, task.ballot
    if ballot is None:
        return ContestResult(why, results, None, None, [])
    votes = [_describe_vote(vote) for vote in ballot.votes]
    return ContestResult(why, results, ballot.result, ballot.describe(), votes)


def _describe_vote(vote: Vote) -> JudgeVote:
    return JudgeVote(vote.judge, list(vote.ranking), list(vote.rejected), vote.reason, vote.failure or None)


def _describe_entrant(batch: BatchState, task: TaskState, entrant: TaskState, row: Mapping[str, object]) -> Entrant:
    score = row.get("score")
    return Entrant(
        entrant=entrant.task.id,
        agent=(entrant.last_write.agent if entrant.last_write is not None else entrant.task.agent) or "",
        status=entrant.status,
        verdict=_describe_verdict(task, entrant, _as_text(row.get("why"))),
        seconds=None if entrant.ended_at is None or entrant.started_at is None else entrant.worked,
        cost=make_cost(entrant.spent),
        diffstat=make_diffstat(entrant.diffstat),
        rank=_as_int(row.get("rank")) or None,
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
        branch=refs.task_branch(batch.id, entrant.task.id) if entrant.tip is not None else None,
    )


def _describe_verdict(task: TaskState, entrant: TaskState, loss_reason: str) -> str:
    if entrant.status is None:
        return "running" if entrant.alive else "not finished"
    if entrant.status is not TaskStatus.DONE:
        return f"{entrant.status.value.replace('_', ' ')}: {entrant.reason}"
    if entrant.task.id in task.rejected_entrants:
        return "passed, but failed after merging"
    if loss_reason:
        return f"passed, but {loss_reason}"
    if task.winner != entrant.task.id:
        return "passed"
    return "won" if task.status is TaskStatus.DONE else "chosen"


def make_contest_event(task: str, contest: ContestResult, batch: str, at: float) -> StreamEvent:
    data = EventFields(
        why=contest.why,
        entrants=[to_json(entrant) for entrant in contest.entrants],
        result=contest.result,
        summary=contest.summary,
        votes=[to_json(vote) for vote in contest.votes],
    )
    return StreamEvent(None, at, EventType.BATCH_CONTEST, batch, task, data=data)


def _read_judge_result(folder: StateFolder, task: TaskState) -> Mapping[str, object]:
    if task.last_write is None or task.chosen_agent is not None:
        return {}
    from plait.agents.drivers.referee import REFEREE_RESULT_FILE  # few batches have a contest

    return read_result_file(folder, task.last_write.name, REFEREE_RESULT_FILE)


@api_model
class JobOutput:
    path: str
    lines: int


@api_model
class ModelJob:
    """A model job. `outputs` exclude the tests. `error`: why it failed or did not run. plait added `implicit_context`."""

    task_id: str
    status: TaskStatus
    outputs: list[JobOutput]
    retry_used: bool
    fixes: int
    implicit_context: list[str]
    verdict: str | None
    warnings: list[str]
    tests: list[JobOutput] = field(default_factory=list)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ModelJobs:
    """The model jobs of a batch. A job that started is processed; one that ended without starting is skipped."""

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
    data = cast("EventFields", {**dict(jobs.counts), "jobs": [to_json(job) for job in jobs.jobs]})
    return StreamEvent(None, at, EventType.BATCH_JOBS, batch, data=data)


def _read_job(folder: StateFolder, batch: str, task: TaskView) -> ModelJob:
    attempt = Attempt(batch, task.id, Step.WRITE, task.attempt)
    result = read_result_file(folder, attempt, JOB_RESULT_FILE) if task.attempt else {}
    has_failed = task.status.is_terminal and task.status is not TaskStatus.DONE
    return ModelJob(
        task_id=task.id,
        status=task.status,
        outputs=_as_outputs(result.get("outputs")),
        retry_used=result.get("retry_used") is True,
        fixes=_as_int(result.get("fixes")),
        implicit_context=_as_texts(result.get("implicit_context")),
        verdict=str(result.get("verdict") or "") or None,
        warnings=_as_texts(result.get("warnings")),
        tests=_as_outputs(result.get("tests")),
        error=task.reason or None if has_failed else None,
    )


def _as_outputs(value: object) -> list[JobOutput]:
    outputs = [output for output in _as_list(value) if isinstance(output, Mapping)]
    return [JobOutput(str(output.get("path", "")), _as_int(output.get("lines"))) for output in outputs]


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _as_texts(value: object) -> list[str]:
    return [text for text in _as_list(value) if isinstance(text, str)]


def _as_int(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
