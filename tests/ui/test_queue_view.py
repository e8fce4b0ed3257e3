"""A queue: one task at a time, each after approval, by a press on what is named."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import PHONE, OpenWindow
from tests.support.temp_project import TempProject

TASKS = ("01-walls", "02-roof", "03-door")


def _queue(page: Page, *ids: str) -> Locator:
    """The dialog with the plan of these as a queue."""
    for task in ids:
        page.get_by_role("checkbox", name=f"Select {task}", exact=True).check()
    page.keyboard.press("q")
    return page.get_by_role("dialog")


def _strip(page: Page) -> Locator:
    return page.get_by_role("region", name="Active batches").get_by_role("listitem").first


def _for_you(page: Page) -> Locator:
    return page.get_by_role("region", name="For you").get_by_role("listitem")


def test_each_task_of_a_queue_waits_for_its_approval(project: TempProject, open_window: OpenWindow) -> None:
    for name in TASKS:
        project.task(name, f"echo {name} > {name}.txt")
    project.commit_all()
    page = open_window().page
    plan = _queue(page, *TASKS)
    expect(plan).to_contain_text("One at a time; each waits for your approval")
    plan.get_by_role("button", name="Start 3 tasks").click()

    strip = _strip(page)
    expect(strip).to_contain_text("1 needs you")
    expect(page.get_by_role("navigation", name="Views")).to_contain_text("1 needs you")
    _for_you(page).get_by_role("button", name="Approve 01-walls").click()
    expect(strip).to_contain_text("1 done")
    approve = _for_you(page).get_by_role("button", name="Approve 02-roof")
    expect(approve).to_be_visible()
    assert project.statuses() == {"01-walls": "done", "02-roof": "", "03-door": ""}

    # Whoever else looks is shown the same one, and after the press the next one.
    other = open_window(size=PHONE).page
    expect(_for_you(other).get_by_role("button", name="Approve 02-roof")).to_be_visible()
    approve.click()
    expect(_for_you(other).get_by_role("button", name="Approve 03-door")).to_be_visible()
    assert project.statuses() == {"01-walls": "done", "02-roof": "done", "03-door": ""}

    # All the others of it, from its own page.
    strip.get_by_role("link", name="Batch").click()
    page.get_by_role("button", name="Approve all").click()
    expect(page.get_by_role("progressbar", name="Batch")).to_have_attribute("aria-valuetext", "100%: 3 done")
    assert set(project.read_merged_files()) == {f"{name}.txt" for name in TASKS}


def test_a_queue_can_continue_without_approval(project: TempProject, open_window: OpenWindow) -> None:
    for name in TASKS:
        project.task(name, f"echo {name} > {name}.txt")
    project.commit_all()
    page = open_window().page
    plan = _queue(page, *TASKS)
    plan.get_by_label("Auto approve").check()
    expect(plan).to_contain_text("One at a time, without asking")
    start = plan.get_by_role("button", name="Start 3 tasks")
    expect(start).not_to_have_attribute("aria-disabled", "true")
    start.click()
    expect(_for_you(page)).to_contain_text("3 merged")
    assert set(project.read_merged_files()) == {f"{name}.txt" for name in TASKS}
