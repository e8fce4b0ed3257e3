"""`plait explain`: why a task is where it is, what it needs, what it has been through, and the way out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from plait import wiring
from plait.cli.contest_table import show_table
from plait.cli.explain_result import result_json, result_lines
from plait.cli.say import OK, Page, write_json
from plait.cli.screen.spans import took
from plait.cli.show import cut, room, show, style, word
from plait.core.explain import Standing, explain, standing
from plait.core.reports import Outcome
from plait.core.state import BatchState, State, TaskState
from plait.core.status import Category, TaskStatus
from plait.core.task import Need, NeedKind
from plait.front.contests import ContestView, contest_json, contest_of
from plait.front.desk import open_desk
from plait.front.gates import GateRun, deciding
from plait.front.names import find_one
from plait.front.past import Try, label, tries
from plait.front.results import Result, result
from plait.front.way import way
from plait.ports import JournalMissingError
from plait.wiring import Place, find_place


def explain_command(where: Path, words: Sequence[str], *, as_json: bool) -> int:
    place = find_place(where)
    with open_desk(place) as desk:
        state = desk.ahead()
        batch, task = find_one(state, words)
    past, gate = _past(place, batch.id, task.task.id)
    found = result(place, batch, task, _files(past), gate)
    contest = contest_of(wiring.state_folder(place), batch, task) if task.entrants else None
    if as_json:
        told = {"contest": None if contest is None else contest_json(contest)}
        write_json({**_json(state, batch, task, past), "result": result_json(found), **told})
    else:
        _show(state, batch, task, past, found, contest)
    return OK


def _past(place: Place, batch: str, task: str) -> tuple[list[Try], GateRun | None]:
    try:
        with closing(wiring.journal_reader(place)) as reader:
            records = list(reader.read())
    except JournalMissingError:
        return [], None
    return tries(records, batch, task), deciding(records, batch, task)


def _files(past: Sequence[Try]) -> Sequence[str]:
    return next((each.outcome.files for each in reversed(past) if each.outcome and each.outcome.files), ())


def _show(  # noqa: PLR0913, PLR0917 - all that is shown
    state: State,
    batch: BatchState,
    task: TaskState,
    past: Sequence[Try],
    found: Result | None,
    contest: ContestView | None,
) -> None:
    page, stands = Page(), standing(state, batch, task)
    page.line((explain(state, batch, task), style(stands.status)))
    about = " · ".join(filter(None, (task.task.title, str(task.task.origin or ""), f"batch {batch.id}")))
    page.line((about, "dim"))
    if contest is not None:
        page.line()
        page.line(("contest", "bold"))
        show_table(page, contest)
    needs = [need for need in task.task.needs if need.kind is not NeedKind.ENTRANT]
    if needs:
        page.line()
        page.line(("needs", "bold"))
        for need in needs:
            _show_need(page, state, batch, need)
    if past:
        page.line()
        page.line(("attempts", "bold"))
        for each in past:
            _show_try(page, each)
    lines = list(result_lines(batch, found)) if found is not None else []
    if lines:
        page.line()
        page.line(("result", "bold"))
        for what, said in lines:
            page.line(f"  {what:<9} {' '.join(said.split())}")
    page.line()
    page.line(way(state, batch, task))
    show(page)


def _show_need(page: Page, state: State, batch: BatchState, need: Need) -> None:
    stands = _of_need(state, batch, need)
    why = ", ".join(filter(None, ("chain" if need.kind is NeedKind.CHAIN else "", need.reason)))
    origin = f" ({need.at})" if need.at else ""
    status = ("not in this batch", "dim") if stands is None else (word(stands.status), style(stands.status))
    reason = stands.reason if stands is not None and stands.status is not TaskStatus.DONE else ""
    said = f"  {why}" if why else ""
    page.line(f"  {need.on}  ", status, f"{said}{origin}", (f"  {reason}" if reason else "", "dim"))


def _of_need(state: State, batch: BatchState, need: Need) -> Standing | None:
    other = batch.task(need.on)
    return None if other is None else standing(state, batch, other)


def _show_try(page: Page, each: Try) -> None:
    length = took((time.time() if each.ended_at is None else each.ended_at) - each.started_at)
    head = f"  {label(each.attempt):<9} {each.agent:<8} {length:>7}  "
    width = room()
    said = cut(_outcome(each), None if width is None else width - len(head))
    page.line(head, (said, _tone(each.outcome)))
    if each.then:
        page.line((f"  {'':<9} then again: {cut(each.then, width)}", "dim"))


def _tone(outcome: Outcome | None) -> str:
    if outcome is None:
        return "cyan"
    return "green" if outcome.category is Category.OK else "red"


def _outcome(each: Try) -> str:
    if each.outcome is None:
        return f"being ended ({each.ending.value})" if each.ending else "at work"
    if each.outcome.category is Category.OK:
        return f"ok{f', ended by plait ({each.ending.value})' if each.ending else ''}"
    if each.ending is not None:  # what a tool says as it is ended tells nothing of its work
        return f"ended by plait ({each.ending.value})"
    code = each.outcome.exit_code
    detail = each.outcome.detail or ("" if code is None else f"exit status {code}")
    return f"{each.outcome.category.value.replace('_', ' ')}{f': {detail}' if detail else ''}"


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
    stands = _of_need(state, batch, need)
    return {
        "id": need.on,
        "kind": need.kind.value,
        "reason": need.reason,
        "at": str(need.at) if need.at else None,
        "status": stands.status.value if stands else None,
    }


def _try_json(each: Try) -> dict[str, object]:
    from plait.front.instant import iso, iso_or_none  # noqa: PLC0415 - people are told in words

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
