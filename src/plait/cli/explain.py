"""`plait explain`: why a task is where it is, what it needs, what it has been through, and the way out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from plait.cli.contest_table import show_table
from plait.cli.explain_result import result_lines
from plait.cli.say import OK, Page, write_json
from plait.cli.screen.spans import took
from plait.cli.show import cut, room, style, word
from plait.core.explain import explain, standing
from plait.core.reports import Outcome
from plait.core.state import BatchState, State
from plait.core.status import Category, TaskStatus
from plait.core.task import Need, NeedKind
from plait.front.desk import open_desk
from plait.front.explaining import Explained, explained, explained_json, of_need
from plait.front.names import find_one
from plait.front.past import Try, label
from plait.front.way import way
from plait.wiring import find_place


def explain_command(where: Path, words: Sequence[str], *, as_json: bool) -> int:
    place = find_place(where)
    with open_desk(place) as desk:
        state = desk.ahead()
        batch, task = find_one(state, words)
    known = explained(place, state, batch, task)
    if as_json:
        write_json(explained_json(known))
    else:
        _show(known)
    return OK


def _show(known: Explained) -> None:
    state, batch, task = known.state, known.batch, known.task
    page, stands = Page(), standing(state, batch, task)
    page.line((explain(state, batch, task), style(stands.status)))
    about = " · ".join(filter(None, (task.task.title, str(task.task.origin or ""), f"batch {batch.id}")))
    page.line((about, "dim"))
    if known.contest is not None:
        page.line()
        page.line(("contest", "bold"))
        show_table(page, known.contest)
    needs = [need for need in task.task.needs if need.kind is not NeedKind.ENTRANT]
    if needs:
        page.line()
        page.line(("needs", "bold"))
        for need in needs:
            _show_need(page, state, batch, need)
    if known.past:
        page.line()
        page.line(("attempts", "bold"))
        for each in known.past:
            _show_try(page, each)
    lines = list(result_lines(batch, known.result)) if known.result is not None else []
    if lines:
        page.line()
        page.line(("result", "bold"))
        for what, said in lines:
            page.line(f"  {what:<9} {' '.join(said.split())}")
    page.line()
    page.line(way(state, batch, task))
    page.show()


def _show_need(page: Page, state: State, batch: BatchState, need: Need) -> None:
    stands = of_need(state, batch, need)
    why = ", ".join(filter(None, ("chain" if need.kind is NeedKind.CHAIN else "", need.reason)))
    origin = f" ({need.at})" if need.at else ""
    status = ("not in this batch", "dim") if stands is None else (word(stands.status), style(stands.status))
    reason = stands.reason if stands is not None and stands.status is not TaskStatus.DONE else ""
    said = f"  {why}" if why else ""
    page.line(f"  {need.on}  ", status, f"{said}{origin}", (f"  {reason}" if reason else "", "dim"))


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
