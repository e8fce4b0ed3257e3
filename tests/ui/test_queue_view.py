"""A queue: one task at a time, each after approval, by a press on what is named."""

from __future__ import annotations

import re
from datetime import UTC, datetime

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
        project.task(name, f"echo {name} > {name}.txt", estimate="20s")
    project.commit_all()
    page = open_window().page
    plan = _queue(page, *TASKS)
    expect(plan).to_contain_text("One at a time; each waits for your approval")
    plan.get_by_role("button", name="Start 3 tasks").click()

    strip = _strip(page)
    expect(strip).to_contain_text("1 needs you")
    expect(page.get_by_role("navigation", name="Views")).to_contain_text("1 needs you")
    # By a key on its card, which doesn't stay where it was.
    page.locator("[data-card='01-walls']").get_by_role("button").first.focus()
    page.clock.set_fixed_time(datetime.now(UTC))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")
    expect(page.get_by_role("region", name="Review", exact=True).get_by_role("button", name="01-walls")).to_be_visible()
    expect(strip).to_contain_text("1 done")
    approve = _for_you(page).get_by_role("button", name="Approve 02-roof")
    expect(approve).to_be_visible()
    assert project.statuses() == {"01-walls": "done", "02-roof": "", "03-door": ""}

    # Whoever else looks is shown the same one, and after the press the next one.
    other = open_window(size=PHONE).page
    expect(_for_you(other).get_by_role("button", name="Approve 02-roof")).to_be_visible()
    card = page.locator("[data-card='02-roof']")
    card.hover()
    card.get_by_role("toolbar").get_by_role("button", name="Approve").click()
    expect(_for_you(other).get_by_role("button", name="Approve 03-door")).to_be_visible()
    assert project.statuses() == {"01-walls": "done", "02-roof": "done", "03-door": ""}

    # All the others of it, from its own page.
    strip.get_by_role("link", name="Batch").click()
    approve_all = page.get_by_role("button", name="Approve all")
    expect(approve_all).to_be_visible()
    expect(page.get_by_text(re.compile("s left$|longer than expected"))).to_have_count(0)  # it waits for a person
    approve_all.click()
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
