"""Everything by the keyboard: the palette, the help sheet, and a whole journey without a mouse."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browser import PHONE, OpenWindow
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until


def _ready(page: Page) -> None:
    expect(page.get_by_text("01-walls").first).to_be_visible()


def _first(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Results").get_by_role("option").first


def test_the_palette_finds_and_runs_actions(project: TempProject, open_window: OpenWindow) -> None:
    for name in ("01-walls", "02-roof"):
        project.task(name, f"echo {name} > {name}.txt")
    project.commit_all()
    page = open_window().page
    _ready(page)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find anything")
    expect(field).to_be_focused()
    execute = page.get_by_role("option", name="Execute parallel")
    expect(execute).to_have_attribute("aria-disabled", "true")

    page.keyboard.type("roof")
    task = page.get_by_role("option", name="02-roof")
    expect(task).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", task.get_attribute("id") or "")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("task=02-roof"))
    expect(page.get_by_role("dialog", name="Find anything")).to_have_count(0)

    page.keyboard.press("Control+k")
    expect(_first(page)).to_contain_text("02-roof")  # what was done last
    page.keyboard.type("run.verify")
    expect(_first(page)).to_contain_text("run.verify")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Verify", exact=True)).to_be_visible()

    page.keyboard.press("Control+k")
    page.keyboard.type("zzqq")
    expect(page.get_by_text("No results for “zzqq”.")).to_be_visible()
    page.keyboard.press("Control+A")
    page.keyboard.type("go board")
    expect(_first(page)).to_contain_text("Board")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/$"))
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.keyboard.press("Control+k")
    expect(field).to_be_visible()
    box = page.get_by_role("dialog").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE[0]


KEY_MS = 60.0  # between two keys of a quick typist


def _type_on_cold_page(page: Page) -> None:
    """On a page that was just opened, what is typed after the key of a dialog reaches the dialog, though no module does."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    def release(pattern: str) -> None:
        while held:
            held.pop().continue_()
        page.unroute(pattern, hold)

    page.route("**/*.js", hold)
    page.keyboard.press("Control+k")
    page.keyboard.type("timeout", delay=KEY_MS)
    expect(page.get_by_role("combobox", name="Find anything")).to_have_value("timeout")
    page.keyboard.press("Escape")
    _type_new_title(page)
    release("**/*.js")
    title = page.get_by_role("dialog", name="New task").get_by_label("Title")
    expect(title).to_have_value("extreme")
    title.fill("")
    page.keyboard.press("Escape")
    _open_other_views(page, hold, release)

    page.route("**/api/tasks", hold)  # not even the tasks are there yet
    page.reload()
    expect(page.get_by_text("Loading tasks")).to_be_attached()
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)))")  # the page takes keys by then
    _type_new_title(page)
    release("**/api/tasks")
    _ready(page)
    expect(title).to_have_value("extreme")
    expect(page.get_by_role("dialog")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def _open_other_views(page: Page, hold: Callable[[Route], None], release: Callable[[str], None]) -> None:
    """The panel needs no other module, and while a view is loading, what is typed does nothing on the one before."""
    page.route("**/*.js", hold)
    for key in ("j", "o"):
        page.keyboard.press(key)
    expect(page.get_by_role("complementary").get_by_role("heading", name="01-walls")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.type("gs timeout", delay=KEY_MS)
    expect(page).to_have_url(re.compile("/settings$"))
    expect(page.get_by_role("dialog").or_(page.get_by_role("menu"))).to_have_count(0)
    release("**/*.js")
    expect(page.get_by_role("searchbox", name="Find a setting")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.type("gb")


def _type_new_title(page: Page) -> None:
    page.keyboard.press("c")
    page.keyboard.type("extreme", delay=KEY_MS)


def test_the_help_sheet_lists_the_keys_of_the_current_view(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    page = open_window().page
    _ready(page)
    _type_on_cold_page(page)

    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet.get_by_role("region", name="Go to")).to_contain_text("Batches")
    expect(sheet.get_by_role("region", name="Selection")).to_contain_text("Execute parallel")
    page.keyboard.press("x")  # a key means nothing behind a dialog
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)

    page.keyboard.press("g")
    page.keyboard.press("s")
    find = page.get_by_role("searchbox", name="Find a setting")
    find.press("?")
    find.press("g")
    find.press("b")
    expect(find).to_have_value("?gb")  # keys go to the field that has the focus
    find.blur()
    page.keyboard.press("?")
    expect(sheet.get_by_role("region", name="Selection")).to_have_count(0)


def test_a_batch_is_run_and_merged_without_a_mouse(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    for name in ("01-walls", "02-roof", "03-door"):
        project.task(name, f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo {name} > {name}.txt")
    project.commit_all()
    page = open_window().page
    _ready(page)
    page.keyboard.press("r")
    expect(page.get_by_role("region", name="Messages")).to_contain_text(re.compile("[Ss]elect"))
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_text("2 tasks selected")).to_be_visible()
    page.keyboard.press("r")
    start = page.get_by_role("dialog").get_by_role("button", name="Start 2 tasks")
    expect(start).to_be_visible()
    expect(start).not_to_have_attribute("aria-disabled", "true")
    for _ in range(30):
        if start.evaluate("it => it === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(start).to_be_focused()
    # Cards keep their place for some time while keys move between them, but not after one that starts a batch.
    page.clock.set_fixed_time(datetime.now(UTC))
    page.keyboard.press("Enter")
    running = page.get_by_role("region", name="Running", exact=True)
    expect(running.locator("[data-card]")).to_have_count(2)
    for name, count in (("Running", 2), ("To do", 1)):
        expect(page.get_by_role("region", name=name, exact=True).locator("header")).to_contain_text(str(count))
    (tmp_path / "go").touch()
    wait_until(lambda: set(project.statuses().values()) == {"done"})
    assert len(project.read_merged_files()) == 2


def test_enter_opens_what_was_typed_though_the_list_shows_less(project: TempProject, open_window: OpenWindow) -> None:
    """The list is drawn when there is time for it."""
    for name in ("01-walls", "02-roof"):
        project.task(name, "true")
    project.commit_all()
    page = open_window().page
    _ready(page)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find anything")).to_be_focused()
    page.get_by_role("combobox", name="Find anything").evaluate(
        """async field => {
            Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, "02-roof");
            field.dispatchEvent(new InputEvent("input", { bubbles: true }));
            await Promise.resolve();
            field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
        }"""
    )
    expect(page).to_have_url(re.compile("task=02-roof"))
