"""The selection: whatever happens around it, it is what a person has chosen."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import OpenWindow
from tests.support.temp_project import TempProject

NAMES = ("01-walls", "02-roof", "03-door", "04-fence", "05-pond")


def card(page: Page, task: str) -> Locator:
    return page.locator(f'[data-card="{task}"]')


def box(page: Page, task: str) -> Locator:
    return page.get_by_role("checkbox", name=f"Select {task}", exact=True)


def chosen(page: Page) -> Locator:
    return page.locator("[data-card] input:checked")


def test_tasks_are_selected_by_mouse(project: TempProject, open_window: OpenWindow) -> None:
    for name in NAMES:
        project.task(name, "true")
    project.commit_all()
    page = open_window().page
    expect(box(page, "01-walls")).to_have_css("opacity", "0")
    card(page, "01-walls").hover()
    expect(box(page, "01-walls")).to_have_css("opacity", "1")
    box(page, "01-walls").click()
    expect(box(page, "05-pond")).to_have_css("opacity", "1")  # always, while something is selected
    expect(page.get_by_text("1 task selected")).to_be_visible()
    assert "task=" not in page.url

    box(page, "04-fence").click(modifiers=["Shift"])
    expect(chosen(page)).to_have_count(4)
    box(page, "02-roof").click()
    expect(chosen(page)).to_have_count(3)
    every = page.get_by_role("checkbox", name="Select all in To do")
    expect(every).not_to_be_checked()
    assert every.evaluate("box => box.indeterminate")
    every.click()
    expect(chosen(page)).to_have_count(5)
    expect(every).to_be_checked()
    every.click()
    expect(chosen(page)).to_have_count(0)


def test_tasks_are_selected_by_keyboard(project: TempProject, open_window: OpenWindow) -> None:
    for name in NAMES:
        project.task(name, "true")
    project.commit_all()
    page = open_window().page
    expect(card(page, "01-walls")).to_be_visible()
    for key in ("j", "j", "x"):
        page.keyboard.press(key)
    expect(box(page, "02-roof")).to_be_checked()
    for key in ("j", "j", "Shift+X"):
        page.keyboard.press(key)
    expect(chosen(page)).to_have_count(3)
    page.keyboard.press("Control+a")
    expect(chosen(page)).to_have_count(5)
    page.keyboard.press("Escape")
    expect(chosen(page)).to_have_count(0)
    expect(card(page, "04-fence").get_by_role("button").first).to_be_focused()

    # The bar disappears with the selection, and the focus stays on the board.
    page.keyboard.press("x")
    page.get_by_role("button", name="Clear selection").press("Enter")
    expect(page.get_by_role("region", name="Selection")).to_have_count(0)
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("j")
    expect(card(page, "04-fence").get_by_role("button").first).to_be_focused()


def test_a_selection_survives_filters_and_updates_and_loses_only_removed_tasks(
    project: TempProject, open_window: OpenWindow
) -> None:
    go = project.top.parent / "go"
    for name in NAMES:
        project.task(name, f"while [ ! -e {go} ]; do sleep 0.05; done; echo > {name}")
    project.commit_all()
    page = open_window().page
    expect(card(page, "05-pond")).to_be_visible()
    for name in ("01-walls", "02-roof", "05-pond"):
        card(page, name).hover()
        box(page, name).check()
    page.get_by_label("Search tasks").fill("roof")
    expect(chosen(page)).to_have_count(1)
    expect(page.get_by_text("3 tasks selected")).to_be_visible()
    expect(page.get_by_text("2 selected tasks not shown")).to_be_visible()
    page.get_by_label("Search tasks").fill("")
    expect(chosen(page)).to_have_count(3)

    assert project.plait("run", "--detach", "--yes", "-s", "01-walls, 03-door").code == 0
    running = page.get_by_role("region", name="Running", exact=True)
    expect(running.locator("[data-card]")).to_have_count(2)
    expect(box(page, "01-walls")).to_be_checked()
    expect(chosen(page)).to_have_count(3)

    (project.top / "tasks" / "05-pond.md").unlink()
    page.evaluate("window.dispatchEvent(new Event('focus'))")  # a window that gets the focus again reads again
    expect(card(page, "05-pond")).to_have_count(0)
    expect(page.get_by_text("2 tasks selected")).to_be_visible()
    go.touch()
