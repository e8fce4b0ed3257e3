"""Several batches at once, each steered by itself, and the list of all of them."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from plait.core.requests import Pause, Submit
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import Isolation, Settings
from plait.core.state import State
from plait.git.location import find_repo
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from plait.store.state_claim import claim_state
from tests.support.browser import PHONE, OpenWindow, drawn_colour
from tests.support.generated_journal import batch_of, records_of
from tests.support.temp_project import TempProject


def _held(project: TempProject, go: Path, *names: str) -> None:
    for name in names:
        project.task(name, f"while [ ! -e {go}/{name} ]; do sleep 0.05; done; echo {name} > {name}.txt")


def _run(page: Page, *ids: str) -> None:
    for task in ids:
        page.get_by_role("checkbox", name=f"Select {task}", exact=True).check()
    page.get_by_role("button", name="Execute parallel").click()
    start = page.get_by_role("dialog").get_by_role("button", name="Start")
    expect(start).not_to_have_attribute("aria-disabled", "true")
    start.click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def _for_you(page: Page) -> Locator:
    return page.get_by_role("region", name="For you").get_by_role("listitem")


def _strips(page: Page) -> Locator:
    return page.get_by_role("region", name="Active batches").get_by_role("listitem")


def test_two_batches_at_once_are_controlled_separately(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    go.mkdir()
    _held(project, go, "01-walls", "02-roof", "03-door")
    project.commit_all()
    page = open_window().page
    _run(page, "01-walls")
    expect(_strips(page)).to_have_count(1)
    _run(page, "02-roof", "03-door")
    expect(_strips(page)).to_have_count(2)
    views = page.get_by_role("navigation", name="Views")
    expect(views.get_by_role("link", name="Batches")).to_contain_text("2 open")

    newer, older = _strips(page).nth(0), _strips(page).nth(1)
    expect(newer).to_contain_text("2 running")
    newer.get_by_role("button", name="Pause batch").click()
    expect(newer.get_by_role("button", name="Unpause batch")).to_be_visible()
    expect(newer).to_contain_text("Paused by request")  # though no task waits: both run
    expect(older).not_to_contain_text("Paused")
    newer.get_by_role("link").first.click()
    expect(page.get_by_role("navigation", name="Views of this batch")).to_be_visible()
    expect(page.get_by_text("Paused by request", exact=True)).to_be_visible()
    page.go_back()
    (go / "01-walls").touch()
    expect(_for_you(page)).to_contain_text("01-walls")
    expect(_for_you(page)).to_contain_text("1 merged")
    expect(_strips(page)).to_have_count(1)
    newer.get_by_role("button", name="Unpause batch").click()
    expect(newer.get_by_role("button", name="Pause batch")).to_be_visible()

    # Cancelled only when that was meant.
    newer.get_by_role("button", name="Cancel batch").click()
    page.get_by_role("dialog").get_by_role("button", name="Go back").click()
    expect(newer).to_contain_text("2 running")
    newer.get_by_role("button", name="Cancel batch").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the batch").click()
    expect(_strips(page)).to_have_count(0)

    # What has ended stays until it is handled or dismissed, also after a reload; what the user cancelled needs no review.
    page.reload()
    expect(_for_you(page)).to_have_count(1)
    _for_you(page).get_by_role("button", name="Dismiss").click()
    expect(_for_you(page)).to_have_count(0)
    page.reload()
    expect(page.get_by_role("checkbox", name="Select 01-walls")).to_be_attached()
    expect(_for_you(page)).to_have_count(0)


def test_the_time_left_is_that_of_the_stated_estimates(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    for name in ("01-walls", "02-roof", "03-door"):
        project.task(name, f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done", estimate="20s")
    project.commit_all()
    page = open_window().page
    words = ("--max-parallel", "1", "--verify", "true", "--gate", "true")
    assert project.plait("run", "--detach", "--yes", *words).code == 0
    expect(_strips(page)).to_contain_text(re.compile(r"about ([45]\ds|1m [0-3]\ds) left"))
    (tmp_path / "go").touch()


def test_the_list_of_batches_links_to_each_batch(project: TempProject, open_window: OpenWindow, tmp_path: Path) -> None:
    go = tmp_path / "go"
    go.mkdir()
    _held(project, go, "01-walls")
    project.task("02-roof", f"test -e {go}/mended && echo roof > roof.txt")
    project.write("plait.toml", "[run]\nretries = 0")
    project.commit_all()
    window = open_window()
    page = window.page
    window.go("/batches/nosuch")
    expect(page.get_by_role("main").get_by_text("There is no such batch")).to_have_count(1)
    expect(page.get_by_role("main").get_by_text("Loading")).to_have_count(0)  # the rest of the view knows it, too
    expect(page.get_by_role("main").get_by_text("nosuch")).to_have_count(1)
    expect(page.get_by_role("main").get_by_role("alert")).to_have_count(0)
    window.ignore_errors("404")
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Batches").click()
    expect(page.get_by_text("No batches yet")).to_be_visible()
    page.get_by_role("link", name="board", exact=True).click()
    _run(page, "01-walls", "02-roof")

    page.get_by_role("navigation", name="Views").get_by_role("link", name="Batches").click()
    row = page.get_by_role("table").get_by_role("row").nth(1)
    expect(row).to_contain_text("running")
    expect(row).to_contain_text("1 failed")
    (go / "01-walls").touch()
    expect(row).to_contain_text("1 done, 1 failed")
    red, green, blue = drawn_colour(row.get_by_text("2 tasks · 1 merged, 1 not"))
    assert red > green > max(blue, red / 2)  # amber
    row.get_by_role("link").first.click()

    expect(
        page.get_by_role("heading", name=re.compile("01-walls and 1 more Batch [0-9a-f]{4}"), level=1)
    ).to_be_visible()
    tabs = page.get_by_role("navigation", name="Views of this batch")
    expect(tabs.get_by_role("link", name="Review")).to_have_attribute("aria-current", "page")
    tabs.get_by_role("link", name="Timeline").click()
    expect(page).to_have_url(re.compile(r"/batches/[0-9a-f]+/timeline$"))
    expect(tabs.get_by_role("link", name="Timeline")).to_have_attribute("aria-current", "page")
    (go / "mended").touch()
    page.get_by_role("button", name="Retry 1 task").click()
    expect(page.get_by_role("progressbar", name="Batch")).to_have_attribute("aria-valuetext", "100%: 2 done")
    tabs.get_by_role("link", name="Show on the board").click()
    expect(page.get_by_role("checkbox", name="Select 01-walls")).to_be_attached()
    window.ignore_errors("nosuch")  # each view of it has asked for the batch that isn't there


def test_on_a_phone_the_views_are_in_a_menu(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    page = open_window(size=PHONE).page
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("dialog").get_by_role("link", name="Batches").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("No batches yet")).to_be_visible()


def test_an_open_batch_keeps_its_strip_after_many_newer_ones(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "true")
    project.commit_all()
    settings = Settings(isolation=Isolation.IN_PLACE)
    state = State()
    submitted = Submit("r-old", "old", batch_of(1), settings, base="0")
    records = fold_incoming(state, [submitted, Pause("p-old", "old")], 0.0) + decide_due(state, 0.0)[0]
    records += [record for n in range(51) for record in records_of(batch_of(1), settings, f"new{n}")]
    claim_state(find_repo(project.top).state)
    with closing(open_journal_writer(find_repo(project.top).state / JOURNAL_FILE)) as journal:
        journal.append([replace(record, seq=at, at=float(at)) for at, record in enumerate(records, 1)])
    window = open_window()
    page = window.page
    strip = page.get_by_role("listitem", name="Batch old")
    expect(strip).to_contain_text("Paused by request")
    window.go("/batches")
    rows = page.get_by_role("row")
    expect(rows).to_have_count(1 + 51)
    expect(rows.last).to_contain_text("old")
    page.get_by_role("button", name="Load older batches").click()
    expect(rows).to_have_count(1 + 52)
    expect(rows.last).to_contain_text("old")


def test_more_than_three_strips_fold_and_each_approves_its_own(project: TempProject, open_window: OpenWindow) -> None:
    names = ("01-walls", "02-roof", "03-door", "04-garden")
    for name in names:
        project.task(name, f"echo {name} > {name}.txt")
    project.commit_all()
    for name in names:
        assert project.plait("run", "-s", name, "--mode", "queue", "--detach", "--yes").code == 0
    page = open_window().page
    expect(_strips(page)).to_have_count(3)
    page.get_by_role("button", name="Show 1 more batch").click()
    expect(_strips(page)).to_have_count(4)
    expect(_for_you(page)).to_have_count(4)
    for width, height in ((390, 600), (844, 390)):  # the board stays in sight below all that
        page.set_viewport_size({"width": width, "height": height})
        if width == 390:
            page.get_by_role("tab", name="Needs you, 4").click()
        expect(page.locator("[data-card='01-walls']")).to_be_in_viewport(ratio=0.5)
    page.set_viewport_size({"width": 1440, "height": 900})
    _for_you(page).get_by_role("button", name="Approve 02-roof").click()
    expect(_strips(page)).to_have_count(3)
    expect(_for_you(page).filter(has_text="waits for your approval")).to_have_count(3)
    expect(_for_you(page).filter(has_text="1 merged")).to_have_count(1)
    statuses = {task.task.id: task.status for batch in project.state().batches.values() for task in batch.tasks}
    assert [name for name, status in statuses.items() if status is not None] == ["02-roof"]


def test_times_are_those_of_the_day_on_which_they_are_read(project: TempProject, open_window: OpenWindow) -> None:
    """Though nothing has run since the page was opened."""
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    assert project.plait("run", "--yes").code == 0
    window = open_window()
    page = window.page
    now = datetime.now(UTC)
    page.clock.install(time=now - timedelta(days=1))
    window.go("/")
    expect(page.locator("[data-card]")).to_have_count(1)
    page.clock.set_system_time(now)
    page.get_by_role("navigation", name="Views", exact=True).get_by_role("link", name="Batches").click()
    row = page.get_by_role("row").filter(has_text="01-walls")
    expect(row.get_by_role("cell", name=re.compile(r"^\d\d:\d\d$"))).to_be_visible()
