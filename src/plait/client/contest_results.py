"""The contests of a batch: entrants, their results, and the winner."""

from __future__ import annotations

from collections.abc import Mapping

from plait.client.api_models import Cost, Diffstat, make_cost, make_diffstat
from plait.client.json_encoding import api_model, to_json
from plait.client.stream_event import EventFields, EventType, StreamEvent
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Spend
from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus
from plait.git import refs
from plait.runtime.attempt_files import read_result_file
from plait.system.state_paths import StateFolder


@dataclass(frozen=True, slots=True)
class EntrantView:
    """`rank` 0: not ranked. `seconds` None: it didn't start, or it hasn't ended. `branch` has its change."""

    id: str
    agent: str
    status: TaskStatus | None
    verdict: str
    seconds: float | None = None
    cost: Spend = Spend()
    diffstat: tuple[int, int, int] | None = None
    rank: int = 0
    score: float | None = None
    branch: str = ""

    @property
    def is_winner(self) -> bool:
        return self.verdict == "won"


@dataclass(frozen=True, slots=True)
class ContestView:
    """`why` says how it was decided; "": it isn't yet."""

    task: str
    entrants: tuple[EntrantView, ...]
    why: str = ""


def list_contests(folder: StateFolder, batch: BatchState) -> tuple[ContestView, ...]:
    return tuple(view_contest(folder, batch, task) for task in batch.tasks if task.entrants)


def view_contest(folder: StateFolder, batch: BatchState, task: TaskState) -> ContestView:
    """The winner first, then by rank, then in the order of the plan."""
    result = _read_judge_result(folder, task)
    rows = result.get("rows")
    row_of = {row.get("entrant"): row for row in rows if isinstance(row, dict)} if isinstance(rows, list) else {}
    entrants = (batch.tasks[place] for place in task.entrants)
    views = [_view_entrant(batch, task, each, row_of.get(each.task.id, {})) for each in entrants]
    why = result.get("why")
    return ContestView(
        task.task.id,
        tuple(sorted(views, key=lambda view: (not view.is_winner, view.rank or len(views) + 1))),
        why if isinstance(why, str) else "",
    )


def _view_entrant(batch: BatchState, task: TaskState, entrant: TaskState, row: Mapping[str, object]) -> EntrantView:
    rank, score, why = row.get("rank"), row.get("score"), row.get("why")
    ended, begun = entrant.ended_at, entrant.started_at
    return EntrantView(
        entrant.task.id,
        (entrant.last_write.agent if entrant.last_write is not None else entrant.task.agent) or "",
        entrant.status,
        _describe_verdict(task, entrant, why if isinstance(why, str) else ""),
        None if ended is None or begun is None else ended - begun,
        entrant.spent,
        entrant.diffstat,
        rank if isinstance(rank, int) else 0,
        float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
        refs.task_branch(batch.id, entrant.task.id) if entrant.tip is not None else "",
    )


def _describe_verdict(task: TaskState, entrant: TaskState, loss_reason: str) -> str:
    if entrant.status is None:
        return "at work" if entrant.alive else "not over"
    if entrant.status is not TaskStatus.DONE:
        return f"{entrant.status.value.replace('_', ' ')}: {entrant.reason}"
    if entrant.task.id in task.rejected_entrants:
        return "passed, but failed after merging"
    if loss_reason:
        return f"passed, but {loss_reason}"
    if task.winner != entrant.task.id:
        return "passed"
    return "won" if task.status is TaskStatus.DONE else "chosen"


def make_contest_event(contest: ContestView, batch: str, at: float) -> StreamEvent:
    """The judge's result, which isn't in the journal."""
    result = describe_contest(contest)
    data = EventFields(why=result.why, entrants=[to_json(entrant) for entrant in result.entrants])
    return StreamEvent(None, at, EventType.BATCH_CONTEST, batch, contest.task, data=data)


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


@api_model
class ContestResult:
    why: str | None
    entrants: list[Entrant]


def describe_contest(contest: ContestView) -> ContestResult:
    return ContestResult(
        contest.why or None,
        [
            Entrant(
                entrant=entrant.id,
                agent=entrant.agent,
                status=entrant.status,
                verdict=entrant.verdict,
                seconds=entrant.seconds,
                cost=make_cost(entrant.cost),
                diffstat=make_diffstat(entrant.diffstat),
                rank=entrant.rank or None,
                score=entrant.score,
                branch=entrant.branch or None,
            )
            for entrant in contest.entrants
        ],
    )


def _read_judge_result(folder: StateFolder, task: TaskState) -> Mapping[str, object]:
    if task.last_write is None or task.chosen_agent is not None:
        return {}
    from plait.agents.drivers.referee import REFEREE_RESULT_FILE  # few batches have a contest

    return read_result_file(folder, task.last_write.name, REFEREE_RESULT_FILE)
