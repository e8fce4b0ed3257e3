"""A batch as a timeline: who worked when, what waited, what went again."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from plait.core.reducers import evolve
from plait.core.reports import PublishDone
from plait.core.requests import Ship
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import Publish, Settings
from plait.core.state import State
from plait.git.location import find_repo
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from plait.store.state_claim import claim_state
from tests.support.browser import OpenWindow
from tests.support.generated_journal import batch_of, records_of
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

TASKS = ("01-walls", "02-door", "03-roof", "00-lamp")


def _project(project: TempProject, folder: Path) -> Path:
    """Walls that wait for a file; a door that fails once; a roof that needs both, and has a title; then a lamp."""
    go, once = folder / "go", folder / "once"
    project.task("01-walls", f"while [ ! -e {go} ]; do sleep 0.05; done; echo walls > walls.txt")
    project.task("02-door", f"test -e {once} || {{ touch {once}; exit 1; }}; echo door > door.txt")
    project.task("03-roof", "echo roof > roof.txt", needs="[01-walls, 02-door]", title="A roof of slate")
    project.task("00-lamp", "echo lamp > lamp.txt", needs="[03-roof]")
    project.commit_all()
    return go


def _run(project: TempProject) -> str:
    """Somebody runs all of it elsewhere. The batch's name."""
    answer = project.plait(
        "run", "--agent", "shell", "--detach", "--yes", "--verify", "test -e tasks", "--gate", "true"
    )
    assert answer.code == 0, answer.err
    return project.batch().id


def _spans(page: Page, task: str) -> Locator:
    return page.get_by_role("list", name=f"Attempts of {task}").get_by_role("button")


def _span(page: Page, task: str, words: str) -> Locator:
    return _spans(page, task).and_(page.get_by_role("button", name=re.compile(f"^{words}")))


def test_a_timeline_shows_attempts_retries_waits_and_merges(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = _project(project, tmp_path)
    window = open_window()
    page = window.page
    batch = _run(project)
    window.go(f"/batches/{batch}/timeline")

    walls = _span(page, "01-walls", "Write, attempt 1, by shell: running")
    expect(walls).to_be_visible()
    first = walls.bounding_box()
    assert first is not None
    expect(_span(page, "02-door", "Write, attempt 1, by shell: failed")).to_be_visible()
    door = page.get_by_role("list", name="Attempts of 02-door")
    expect(door.get_by_text("Backing off until")).to_be_attached()
    expect(page.get_by_role("list", name="Attempts of 03-roof").get_by_text("Waiting for")).to_be_attached()
    expect(page.get_by_text("1 retry")).to_be_visible()
    expect(page.get_by_role("button", name="03-roof waiting A roof of slate")).to_be_visible()
    # What is not over goes with the clock: it grows, and is drawn shorter when the axis takes its next step.
    wait_until(lambda: _otherwise(page, walls, first["width"]))

    # Paused, and an hour later nothing has run: the hour is folded, and some seconds of work are not lost beside it.
    assert project.plait("pause", batch).code == 0
    go.touch()
    expect(_span(page, "01-walls", "Write, attempt 1, by shell: ok")).to_be_visible()
    page.clock.set_system_time(datetime.now(UTC) + timedelta(hours=1))
    expect(page.get_by_role("list", name="Folded times").get_by_text(re.compile("(59|60|1h).* idle"))).to_be_visible()
    write = _span(page, "01-walls", "Write").bounding_box()
    track = page.get_by_role("list", name="Attempts of 01-walls").bounding_box()
    assert write is not None
    assert track is not None
    assert write["width"] > track["width"] / 60  # a thousandth if the hour were drawn, at least a few pixels
    page.clock.set_system_time(datetime.now(UTC))
    assert project.plait("resume", batch).code == 0

    for task in TASKS:
        expect(_span(page, task, "Merge, attempt 1: merged")).to_be_visible()
        expect(_span(page, task, "Verify, attempt 1, by .*: ok")).to_be_visible()
    expect(_span(page, "02-door", "Write, attempt 2, by shell: ok")).to_be_visible()
    own = page.get_by_role("list", name="Batch events").get_by_role("button")
    expect(own.and_(page.get_by_role("button", name=re.compile("^Gate, attempt 1: passed")))).to_be_visible()
    expect(page.get_by_role("button", name="03-roof done")).to_be_visible()
    assert set(project.read_merged_files()) == {"walls.txt", "door.txt", "roof.txt", "lamp.txt"}
    rows = page.get_by_role("list", name=re.compile("^Attempts of"))
    assert [(row.get_attribute("aria-label") or "")[-7:] for row in rows.all()][-2:] == [
        "03-roof",
        "00-lamp",
    ]  # by start

    _zooms(page)
    _walks(page, batch)
    window.go("/batches/nobody/timeline")
    expect(page.get_by_text("There is no such batch")).to_be_visible()
    window.ignore_errors("404")


def test_a_push_on_the_next_day_leaves_the_work_legible(project: TempProject, open_window: OpenWindow) -> None:
    records = records_of(batch_of(2), Settings(), "old")
    state = State()
    for record in records:
        evolve(state, record)
    done = state.now
    for at, event in ((86_400.0, Ship("s", "old", Publish.PUSH)), (86_401.0, PublishDone("old", 1, "", "0"))):
        records += [*fold_incoming(state, [event], done + at), *decide_due(state, done + at)[0]]
    claim_state(find_repo(project.top).state)
    with closing(open_journal_writer(find_repo(project.top).state / JOURNAL_FILE)) as journal:
        journal.append([replace(record, seq=seq, at=1e9 + record.at) for seq, record in enumerate(records, 1)])
    window = open_window()
    window.go("/batches/old/timeline")
    page = window.page
    own = page.get_by_role("list", name="Batch events").get_by_role("button")
    expect(own.and_(page.get_by_role("button", name=re.compile("^Publish")))).to_be_visible()
    track = page.get_by_role("list", name="Attempts of t0").bounding_box()
    assert track is not None
    work = [box for box in map(Locator.bounding_box, _spans(page, "t0").all()) if box is not None]
    assert work[-1]["x"] + work[-1]["width"] - work[0]["x"] > track["width"] / 2


def _zooms(page: Page) -> None:
    whole = _span(page, "01-walls", "Write")  # the longest: short ones have a least width, whatever the zoom
    expect(whole).to_be_visible()
    fitted = _width(whole)
    page.get_by_role("button", name="Zoom in").click()
    page.keyboard.press("+")
    wait_until(lambda: _width(whole) > 1.4 * fitted)
    page.get_by_role("button", name="Show the whole timeline").click()
    wait_until(lambda: _width(whole) < 1.4 * fitted)
    fit = page.get_by_role("button", name="Show the whole timeline")
    expect(fit).to_have_attribute("title", "Everything is shown already")


def _walks(page: Page, batch: str) -> None:
    page.get_by_role("button", name="01-walls done").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    failed = _span(page, "02-door", "Write, attempt 1")
    expect(failed).to_be_focused()
    expect(page.get_by_text(re.compile("^Write, attempt 1, by shell: failed.*Retry not before"))).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/timeline?task=02-door&batch={batch}&tab=log")
    page.go_back()
    failed.focus()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="00-lamp done")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/timeline?task=00-lamp**")


def _width(span: Locator) -> float:
    box = span.bounding_box()
    assert box is not None
    return box["width"]


def _otherwise(page: Page, span: Locator, than: float) -> bool:
    page.wait_for_timeout(50)  # the page's own clock must go on while this asks
    return abs(_width(span) - than) > 1


def test_a_drag_ends_where_the_mouse_is_released(project: TempProject, open_window: OpenWindow) -> None:
    """Also beyond the edge of the timeline."""
    for n in range(8):
        project.task(f"0{n}-task", f"echo {n} > {n}.txt")
    project.commit_all()
    assert project.plait("run", "--yes").code == 0
    window = open_window(size=(1440, 420))
    page = window.page
    window.go(f"/batches/{project.batch().id}/timeline")
    scroller = page.get_by_role("list", name="Tasks").locator("xpath=../..")
    box = scroller.bounding_box()
    assert box is not None
    x, edge = box["x"] + box["width"] - 20, box["y"] + box["height"]
    page.mouse.move(x, edge - 2)
    page.mouse.down()
    page.mouse.move(x, edge + 1)
    page.mouse.up()
    page.mouse.move(x, edge - 20)
    page.mouse.move(x, edge - 80)
    assert scroller.evaluate("it => it.scrollTop") == 0
