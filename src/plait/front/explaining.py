"""Why a task is where it is, what it has been through, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from plait import wiring
from plait.core.explain import Standing, standing
from plait.core.frozen import dataclass
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Need
from plait.front.contests import ContestView, contest_json, contest_of
from plait.front.gates import GateRun, deciding
from plait.front.instant import iso, iso_or_none
from plait.front.past import Try, tries
from plait.front.results import Result, result
from plait.front.way import way
from plait.ports import JournalMissingError
from plait.wiring import Place


@dataclass(frozen=True, slots=True)
class Explained:
    state: State
    batch: BatchState
    task: TaskState
    past: Sequence[Try]
    result: Result | None
    contest: ContestView | None


def explained(place: Place, state: State, batch: BatchState, task: TaskState) -> Explained:
    past, gate = _past(place, batch.id, task.task.id)
    found = result(place, batch, task, _files(past), gate)
    contest = contest_of(wiring.state_folder(place), batch, task) if task.entrants else None
    return Explained(state, batch, task, past, found, contest)


def _past(place: Place, batch: str, task: str) -> tuple[list[Try], GateRun | None]:
    try:
        with closing(wiring.journal_reader(place)) as reader:
            records = list(reader.read())
    except JournalMissingError:
        return [], None
    return tries(records, batch, task), deciding(records, batch, task)


def _files(past: Sequence[Try]) -> Sequence[str]:
    return next((each.outcome.files for each in reversed(past) if each.outcome and each.outcome.files), ())


def explained_json(known: Explained) -> dict[str, object]:
    contest = known.contest
    return {
        **_json(known.state, known.batch, known.task, known.past),
        "result": _result_json(known.result),
        "contest": None if contest is None else contest_json(contest),
    }


def _json(state: State, batch: BatchState, task: TaskState, past: Sequence[Try]) -> dict[str, object]:
    stands = standing(state, batch, task)
    return {
        "batchId": batch.id,
        "taskId": task.task.id,
        "title": task.task.title,
        "source": str(task.task.origin) if task.task.origin else None,
        "status": stands.status.value,
        "reason": stands.reason,
        "waiting": stands.on.value if stands.on else None,
        "needs": [_need_json(state, batch, need) for need in task.task.needs],
        "attempts": [_try_json(each) for each in past],
        "way": way(state, batch, task),
    }


def _need_json(state: State, batch: BatchState, need: Need) -> dict[str, object]:
    stands = of_need(state, batch, need)
    return {
        "id": need.on,
        "kind": need.kind.value,
        "reason": need.reason,
        "at": str(need.at) if need.at else None,
        "status": stands.status.value if stands else None,
    }


def _try_json(each: Try) -> dict[str, object]:
    outcome = each.outcome
    return {
        "step": each.attempt.step.value,
        "attempt": each.attempt.n,
        "agent": each.agent,
        "startedAt": iso(each.started_at),
        "completedAt": iso_or_none(each.ended_at),
        "category": outcome.category.value if outcome else None,
        "exitCode": outcome.exit_code if outcome else None,
        "detail": outcome.detail if outcome else None,
        "endedFor": each.ending.value if each.ending else None,
        "retriedFor": each.then or None,
    }


def _result_json(found: Result | None) -> dict[str, object] | None:
    if found is None:
        return None
    gate = found.gate
    return {
        "branch": found.branch if found.tip else None,
        "tip": found.tip or None,
        "ref": found.kept or None,
        "worktreePath": found.workspace or None,
        "files": found.files,
        "commit": found.merged or None,
        "place": found.place or None,
        "gate": None
        if gate is None
        else {"gate": gate.order.n, "commit": gate.order.commit, "passed": gate.passed},
        "published": found.published or None,
    }


def of_need(state: State, batch: BatchState, need: Need) -> Standing | None:
    """Where a task stands that another one needs; None: it is not in this batch."""
    other = batch.task(need.on)
    return None if other is None else standing(state, batch, other)
