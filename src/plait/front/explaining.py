"""Why a task is where it is, what it has been through, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from plait import wiring
from plait.core.explain import Standing, standing
from plait.core.frozen import dataclass
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Need
from plait.front.clashes import Clashes, Met
from plait.front.conflicts import Conflict, conflict_json, conflict_of
from plait.front.contests import ContestView, contest_json, contest_of
from plait.front.gates import GateRun, Gates
from plait.front.instant import iso, iso_or_none
from plait.front.past import Past, Try
from plait.front.results import Result, confirmed, expected
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
    conflict: Conflict | None


def explained(place: Place, state: State, batch: BatchState, task: TaskState) -> Explained:
    """By what the journal tells of its past."""
    known = explained_by(place, state, (batch, task), *_past(place, batch.id, task.task.id))
    return replace(known, result=confirmed(place, known.result))


def explained_by(  # noqa: PLR0913, PLR0917 - all that is told of it
    place: Place,
    state: State,
    of: tuple[BatchState, TaskState],
    past: Sequence[Try],
    gate: GateRun | None,
    met: Met | None,
) -> Explained:
    """Its `result` is the one that is expected: git has not been asked for it."""
    batch, task = of
    contest = contest_of(wiring.state_folder(place), batch, task) if task.entrants else None
    result = expected(batch, task, _files(past), gate)
    return Explained(state, batch, task, past, result, contest, conflict_of(batch, task, met))


def _past(place: Place, batch: str, task: str) -> tuple[Sequence[Try], GateRun | None, Met | None]:
    past, gates, clashes = Past(batch), Gates(batch), Clashes(batch)
    try:
        with closing(wiring.journal_reader(place)) as reader:
            for record in reader.read():
                past.take(record)
                gates.take(record)
                clashes.take(record)
    except JournalMissingError:
        return (), None, None
    return past.of(task), gates.deciding(task), clashes.last(task)


def _files(past: Sequence[Try]) -> Sequence[str]:
    return next((each.outcome.files for each in reversed(past) if each.outcome and each.outcome.files), ())


def explained_json(known: Explained) -> dict[str, object]:
    contest = known.contest
    return {
        **_json(known.state, known.batch, known.task, known.past),
        "result": result_json(known.result),
        "contest": None if contest is None else contest_json(contest),
        "conflict": conflict_json(known.conflict),
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


def result_json(known: Result | None) -> dict[str, object] | None:
    if known is None:
        return None
    gate = known.gate
    return {
        "branch": known.branch if known.tip else None,
        "tip": known.tip or None,
        "ref": known.kept or None,
        "worktreePath": known.workspace or None,
        "files": known.files,
        "commit": known.merged or None,
        "place": known.place or None,
        "gate": None
        if gate is None
        else {"gate": gate.order.n, "commit": gate.order.commit, "passed": gate.passed},
        "published": known.published or None,
    }


def of_need(state: State, batch: BatchState, need: Need) -> Standing | None:
    """Where a task stands that another one needs; None: it is not in this batch."""
    other = batch.task(need.on)
    return None if other is None else standing(state, batch, other)
