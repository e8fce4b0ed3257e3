"""`plait status`: where everything stands."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from pathlib import Path

from plait.cli.say import OK, Page
from plait.cli.screen.choose import Choice, choose
from plait.cli.screen.spans import refuses, took
from plait.cli.show import changes, commit, cut, date, minus, room, style, word
from plait.cli.status_branch import branch_lines, published, whereabouts
from plait.core.state import BatchState, State
from plait.core.status import TaskStatus, Waiting
from plait.core.views import BatchView, TaskView, batch_view
from plait.front.desk import Desk, open_desk
from plait.front.names import find_batch
from plait.ports import InboxError
from plait.wiring import EngineInfo, Place, find_place

ENDED_SHOWN = 10  # batches that have ended; `plait history` has them all
_AT_WORK = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING)
_NEWS = (
    TaskStatus.FAILED,
    TaskStatus.TIMED_OUT,
    TaskStatus.CONFLICTED,
    TaskStatus.BLOCKED,
    TaskStatus.CANCELLED,
    TaskStatus.SKIPPED,
    TaskStatus.INTERRUPTED,
)


def status_command(where: Path, batch: str | None, *, watch: bool, as_json: bool) -> int:
    gc.disable()  # a process that ends when it has answered: looking for garbage costs more than it frees
    with open_desk(find_place(where)) as desk:
        if watch:
            from plait.cli.status_watch import watched  # noqa: PLC0415 - most look once

            gc.enable()
            return watched(desk, batch, as_json=as_json)
        tell(desk, batch, as_json=as_json)
    return OK


def tell(desk: Desk, word: str | None, *, as_json: bool, rows: int | None = None) -> None:
    state, engine = _known(desk), desk.engine()
    chosen = newest_first(state) if word is None else [find_batch(state, word)]
    if as_json:
        _write_json(desk.place, state, chosen, engine)
    elif word is None:
        _show_all(state, chosen, engine)
    else:
        _show_one(state, chosen[0], engine, rows)


def _known(desk: Desk) -> State:
    try:
        return desk.ahead()
    except InboxError:  # what is on its way can't be told; what is so, can
        return desk.state


def newest_first(state: State) -> list[BatchState]:
    return sorted(state.batches.values(), key=lambda batch: -batch.order)


def _write_json(place: Place, state: State, batches: Sequence[BatchState], engine: EngineInfo | None) -> None:
    from plait.cli.say import write_json  # noqa: PLC0415 - people are told in words
    from plait.front.shape import batch_json, status_json  # noqa: PLC0415
    from plait.wiring.projects import project_id  # noqa: PLC0415

    name = project_id(place)
    told = [batch_json(state, batch, eta=_eta(state, batch), project_id=name) for batch in batches]
    write_json(status_json(engine, told))


def _eta(state: State, batch: BatchState) -> float | None:
    if batch.ended is not None:
        return None
    from plait.front.eta import Eta  # noqa: PLC0415 - only for what has not ended

    return Eta().end(state, batch.id, time.time())


def _show_all(state: State, batches: Sequence[BatchState], engine: EngineInfo | None) -> None:
    page = Page()
    if not batches:
        page.line("There is no batch yet: `plait run` makes one.")
    ended = 0
    for batch in batches:
        ended += batch.ended is not None
        if batch.ended is None or ended <= ENDED_SHOWN:
            _line(page, batch_view(state, batch))
    if ended > ENDED_SHOWN:
        page.line((f"and {ended - ENDED_SHOWN} older ones: plait history", "dim"))
    _note_limits(page, state)
    _note_engine(page, state, engine)
    page.show()


def _line(page: Page, view: BatchView) -> None:
    page.line(
        (view.id, "bold"),
        "  ",
        (f"{word(view.status):<9}", style(view.status)),
        f"  {counts(view)} · {_length(view)}",
        (f" · {cut(', '.join(view.sources), 40)}" if view.sources else "", "dim"),
        f" · {told}" if (told := published(view)) else "",
    )
    if view.waits_for_person:
        page.line((f"{'':<{len(view.id)}}  {'':<9}  {_asks(view)}", "yellow"))


def _asks(view: BatchView) -> str:
    task = next((task for task in view.tasks if task.waiting and task.waiting.on_person), None)
    if task is None or task.waiting is Waiting.PAUSE:
        return view.reason
    return f"{task.id}: {task.reason}"


def counts(view: BatchView) -> str:
    """`4/7 done · 2 at work · 1 failed`"""
    found = dict(view.progress.counts)
    at_work = sum(found[status] for status in _AT_WORK)
    parts = [f"{found[TaskStatus.DONE]}/{view.progress.total} done"]
    parts += [f"{at_work} at work"] if at_work else []
    parts += [f"{found[status]} {word(status)}" for status in _NEWS if found[status]]
    return " · ".join(parts)


def _length(view: BatchView) -> str:
    end = view.ended_at if view.ended_at is not None else time.time()
    return took(end - view.created_at)


def _show_one(state: State, batch: BatchState, engine: EngineInfo | None, rows: int | None) -> None:
    view, page = batch_view(state, batch), Page()
    page.line(
        ("batch ", "bold"),
        (view.id, "bold"),
        " · ",
        (word(view.status), style(view.status)),
        f" · {counts(view)} · {_length(view)}",
        f" · {view.cost}" if view.cost else "",
    )
    page.line((f"{cut(view.reason, room())}", "dim"))
    sources = f" from {', '.join(view.sources)}" if view.sources else ""
    page.line((f"submitted {date(view.created_at)}{sources}", "dim"))
    result = list(branch_lines(view))
    for line in result:
        page.line(line)
    page.line()
    _tasks(page, view, None if rows is None else max(1, rows - len(result)))
    _note_limits(page, state)
    _note_engine(page, state, engine)
    page.show()


def _tasks(page: Page, view: BatchView, rows: int | None) -> None:
    """All of them, or those that matter most."""
    chosen = Choice(view.tasks) if rows is None else choose(view.tasks, rows)
    names = min(40, max((len(task.id) for task in chosen.shown), default=0))
    width = room()
    for task in chosen.shown:
        begun = f"  {task.id:<{names}}  "
        middle = f"{word(task.status):<11}"
        after = f"  {_took(task):>7}  "
        left = None if width is None else width - len(begun) - len(middle) - len(after)
        page.line(begun, (middle, style(task.status)), after, (cut(_what(task), left), "dim"))
        if rows is None and (where := whereabouts(view, task)):
            page.line((f"{'':<{names + 4}}{where}", "dim"))  # never cut: somebody may want to go there
    _hidden(page, chosen)


def _hidden(page: Page, chosen: Choice) -> None:
    if chosen.hidden:
        told = ", ".join(f"{count} {word(status)}" for status, count in chosen.hidden)
        page.line((f"  and {told}", "dim"))


def _took(task: TaskView) -> str:
    if task.started_at is None:
        return ""
    return took((task.ended_at if task.ended_at is not None else time.time()) - task.started_at)


def _what(task: TaskView) -> str:
    said = task.reason if task.status is not TaskStatus.DONE else task.title
    result = changes(task.diffstat, minus()), commit(task.commit or "")
    return " · ".join(filter(None, (*result, said)))


def _note_limits(page: Page, state: State) -> None:
    """Who takes no work now, and for how long: what waits for it goes on by itself."""
    for provider, breaker in state.breakers.items() if state.open else ():
        if breaker.until is not None:
            page.line((f"{refuses(provider, breaker.until, time.time())} ({breaker.why})", "yellow"))


def _note_engine(page: Page, state: State, engine: EngineInfo | None) -> None:
    if engine is not None:
        page.line((f"engine {engine.pid}, since {date(engine.since)}", "dim"))
        if engine.trouble:
            page.line((f"it can't go on: {engine.trouble}", "yellow"))
    elif _needed(state):
        page.line(("no engine is at work, and something is to be done: plait run --resume", "yellow"))


def _needed(state: State) -> bool:
    from plait.core.needed import needed  # noqa: PLC0415 - it knows all rules; where an engine is at work, nobody asks

    return needed(state)
