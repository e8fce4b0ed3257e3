"""Select tasks, look at the plan, run them: what a person sees from the first checkbox to the merged branch."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, Request, expect

from tests.support.accessibility import find_violations
from tests.support.browser import OpenWindow
from tests.support.temp_project import TempProject


def _select(page: Page, *ids: str) -> None:
    for task in ids:
        page.get_by_role("checkbox", name=f"Select {task}", exact=True).check()


def _plan(page: Page) -> Locator:
    return page.get_by_role("dialog")


def _start(page: Page, words: str) -> None:
    button = _plan(page).get_by_role("button", name=words)
    expect(button).not_to_have_attribute("aria-disabled", "true")
    button.click()
    expect(_plan(page)).to_have_count(0)


def _for_you(page: Page) -> Locator:
    return page.get_by_role("region", name="For you").get_by_role("listitem")


def test_three_selected_tasks_run_in_parallel_to_a_merged_branch(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo walls > walls.txt", touches="[src/house.py]", estimate="20s")
    project.task("02-roof", "cat walls.txt > roof.txt", needs="[01-walls]", estimate="20s")
    project.task("03-door", "echo door > door.txt", touches="[src/house.py]", estimate="20s")
    project.task("04-garden", "echo garden > garden.txt")
    project.commit_all()
    page = open_window().page
    _select(page, "01-walls", "02-roof", "03-door")
    bar = page.get_by_role("region", name="Selection")
    expect(bar).to_contain_text("3 tasks selected")
    page.keyboard.press("r")

    plan = _plan(page)
    expect(plan).to_contain_text("3 tasks · 2 waves · about 40s (by the tasks' own estimates)")
    expect(plan.get_by_role("listitem").filter(has_text="Wave 2")).to_contain_text("needs 01-walls")
    expect(plan).to_contain_text("tasks/02-roof.md:")
    expect(plan).to_contain_text("their tasks run one after another")
    expect(plan).to_contain_text("src/house.py 01-walls, 03-door")
    expect(plan).to_contain_text("01-walls → 02-roof")
    _start(page, "Start 3 tasks")

    expect(bar).to_have_count(0)
    expect(page.get_by_role("link", name="Open batch")).to_be_visible()
    expect(_for_you(page)).to_contain_text("3 merged")
    expect(page.get_by_role("region", name="Active batches")).to_have_count(0)
    assert project.read_merged_files() == {"walls.txt": "walls", "roof.txt": "walls", "door.txt": "door"}
    _for_you(page).get_by_role("link", name="Review").click()
    expect(page.get_by_text("3 tasks merged")).to_be_visible()


def test_one_task_runs_from_its_card_its_menu_or_its_panel(project: TempProject, open_window: OpenWindow) -> None:
    for phase, name in enumerate(("01-walls", "02-roof", "03-door"), 1):
        project.task(name, f"echo {name} > {name}.txt", phase=phase)
    project.commit_all()
    page = open_window().page
    roof = page.locator("[data-card='02-roof']")
    roof.hover()
    roof.get_by_role("toolbar").get_by_role("button", name="Run").click()
    expect(_plan(page)).to_contain_text("02-roof")
    expect(_plan(page)).not_to_contain_text("01-walls")
    expect(_plan(page).get_by_role("listitem").filter(has_text="0 of 1 done")).to_have_count(1)  # its phase only
    _plan(page).get_by_role("button", name="Cancel").click()
    roof.click(button="right")
    page.get_by_role("menuitem", name="Run…").click()
    _start(page, "Start 1 task")
    expect(_for_you(page)).to_contain_text("1 merged")
    page.locator("[data-card='03-door']").click()
    panel = page.get_by_role("complementary")
    panel.get_by_role("toolbar", name="Task actions").get_by_role("button", name="Run").click()
    _start(page, "Start 1 task")
    expect(panel.locator("header")).to_contain_text("done")


def test_the_plan_discloses_what_its_agents_may_do(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    tool = tmp_path / "bin" / "claude"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    project.env["PATH"] = f"{tool.parent}:{project.env['PATH']}"
    project.task("01-walls", "true")
    project.task("02-roof")
    project.commit_all()
    page = open_window().page
    _select(page, "01-walls")
    page.keyboard.press("r")
    expect(_plan(page)).to_contain_text("1 task · 1 wave")
    expect(_plan(page)).not_to_contain_text("permission prompts")
    _plan(page).get_by_role("button", name="Cancel").click()
    _select(page, "02-roof")
    page.keyboard.press("r")
    expect(_plan(page)).to_contain_text(
        "claude (--dangerously-skip-permissions) runs with permission prompts disabled and can do anything you can."
    )


def test_one_task_is_cancelled_and_the_others_continue(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    for name in ("01-walls", "02-roof", "03-door"):
        project.task(name, f"while [ ! -e {go} ]; do sleep 0.05; done; echo {name} > {name}.txt")
    project.task("04-garden", "true")
    project.commit_all()
    page = open_window().page
    _select(page, "01-walls", "02-roof", "03-door")
    page.get_by_role("button", name="Execute parallel").click()
    _start(page, "Start 3 tasks")
    expect(page.get_by_role("region", name="Active batches")).to_contain_text("3 running")

    _select(page, "02-roof", "04-garden")
    run = page.get_by_role("button", name="Execute parallel")
    expect(run).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("region", name="Selection")).to_contain_text("02-roof is in batch")
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 2 tasks").click()

    results = page.get_by_role("region", name="Results")
    expect(results).to_contain_text("Cancel 2 tasks: 1 of 2 granted")
    expect(results.get_by_role("listitem").filter(has_text="04-garden")).to_contain_text("not in a batch")
    assert find_violations(page) == []
    expect(page.get_by_role("region", name="Active batches")).to_contain_text("1 cancelled")
    go.touch()
    expect(_for_you(page)).to_contain_text("2 merged, 1 not run")
    assert set(project.read_merged_files()) == {"01-walls.txt", "03-door.txt"}


def test_a_conflict_is_skipped_and_shown(project: TempProject, open_window: OpenWindow, tmp_path: Path) -> None:
    project.write("colour.txt", "white")
    begun = f"$(ls {tmp_path} | grep -c begun)"
    for name, colour in (("01-paint-red", "red"), ("02-paint-blue", "blue")):
        meet = f"touch {tmp_path}/{colour}.begun; while [ {begun} -lt 2 ]; do sleep 0.05; done"
        project.task(name, f"{meet}; echo {colour} > colour.txt")
    project.commit_all()
    page = open_window().page
    _select(page, "01-paint-red", "02-paint-blue")
    page.get_by_role("button", name="Execute parallel").click()
    expect(_plan(page).get_by_label("On conflict")).to_have_value("skip")
    _start(page, "Start 2 tasks")
    expect(_for_you(page).filter(has_text="1 merged, 1 conflicted")).to_have_count(1)
    (conflicted,) = [name for name, status in project.statuses().items() if status == "conflicted"]
    card = page.get_by_role("article").filter(has_text=conflicted)
    expect(card).to_contain_text("conflicted")
    expect(_for_you(page).filter(has_text=f"{conflicted} conflicts in colour.txt")).to_have_count(1)
    assert project.read_merged_files()["colour.txt"] in {"red", "blue"}


def test_the_settings_of_a_run_apply(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.task("02-roof", "exit 1", needs="[01-walls]")
    project.commit_all()
    window = open_window()
    page = window.page
    _select(page, "01-walls", "02-roof")
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_label("Retries").fill("0")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Execute parallel").click()
    plan = _plan(page)
    expect(plan.get_by_label("Retries")).to_have_value("0")
    plan.get_by_label("Timeout").fill("a while")
    expect(plan.get_by_role("alert").first).to_contain_text("timeout must be a length of time")
    expect(plan.get_by_role("button", name="Start")).to_have_attribute("aria-disabled", "true")
    plan.get_by_label("Timeout").fill("7m")
    plan.get_by_label("Verify").fill("test -s walls.txt")
    plan.get_by_label("Stop on fail").check()
    _start(page, "Start 2 tasks")
    expect(_for_you(page)).to_contain_text("1 failed")
    settings = project.batch().settings
    assert (settings.retries, settings.timeout, settings.verify) == (0, 420.0, "test -s walls.txt")
    assert settings.stop_on_fail
    window.ignore_errors("422")


def test_a_plan_error_says_what_helps_and_repeated_clicks_start_one_batch(
    project: TempProject, open_window: OpenWindow
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.task("02-roof", "echo roof > roof.txt", needs="[01-walls]")
    project.commit_all()
    window = open_window()
    page = window.page
    keys: list[str] = []

    def asked(request: Request) -> None:
        if request.method == "POST" and request.url.endswith("/api/batches"):
            keys.append(request.headers["idempotency-key"])

    page.on("request", asked)
    _select(page, "02-roof")
    plan = _plan(page)

    # A command of the repository's own settings is not trusted yet.
    own = project.write("plait.toml", '[run]\nverify = "true"')
    page.get_by_role("button", name="Execute queue").click()
    plan.get_by_label("Run them too").check()
    expect(plan.get_by_role("region", name="Problems")).to_contain_text(re.compile(r"plait -C \S+ trust"))
    expect(plan.get_by_role("button", name="Start")).to_have_attribute("aria-disabled", "true")
    plan.get_by_label("Run them too").uncheck()
    plan.get_by_role("button", name="Cancel").click()
    own.unlink()

    page.get_by_role("button", name="Execute parallel").click()
    wrong = plan.get_by_role("region", name="Problems")
    expect(wrong).to_contain_text("02-roof needs 01-walls, which is neither finished nor selected")
    expect(wrong).to_contain_text("tasks/02-roof.md:")
    start = plan.get_by_role("button", name="Start")
    expect(start).to_have_attribute("aria-disabled", "true")
    start.click(force=True)
    wrong.get_by_role("button", name="Run needed tasks too").click()
    expect(plan).to_contain_text("2 tasks · 2 waves")
    expect(start).to_have_text("Start 2 tasks")
    # The first answer is lost on its way: the dialog stays, and the same request is sent again.
    page.route("**/api/batches", lambda route: (route.fetch(), route.abort()), times=1)
    start.dblclick()
    expect(plan.get_by_role("alert")).to_contain_text("The server is not responding")
    start.click()
    expect(plan).to_have_count(0)
    expect(_for_you(page)).to_contain_text("2 merged")
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert len(json.loads(project.plait("status", "--json").out)["batches"]) == 1
    window.ignore_errors("ERR_FAILED")


def test_a_check_that_fails_on_the_base_is_shown_and_can_be_skipped(
    project: TempProject, open_window: OpenWindow
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    window = open_window()
    page = window.page
    _select(page, "01-walls")
    page.keyboard.press("r")
    plan = _plan(page)
    plan.get_by_label("Verify").fill("echo checking; test -f walls.txt")
    plan.get_by_label("Preflight").check()
    plan.get_by_role("button", name="Start 1 task").click()
    alert = plan.get_by_role("alert")
    expect(alert).to_contain_text("verify fails on the base commit")
    expect(alert).to_contain_text("checking")
    window.ignore_errors("409")
    assert not project.state().batches
    plan.get_by_label("Preflight").uncheck()
    _start(page, "Start 1 task")
    expect(_for_you(page)).to_contain_text("1 merged")

    # What is completed runs only if it is asked for.
    _select(page, "01-walls")
    page.keyboard.press("r")
    plan = _plan(page)
    expect(plan).to_contain_text("01-walls is skipped: batch")
    expect(plan.get_by_role("button", name="Start 1 task")).to_have_attribute("aria-disabled", "true")
    plan.get_by_label("Run them again").check()
    expect(plan.get_by_role("button", name="Start 1 task")).not_to_have_attribute("aria-disabled", "true")


def test_the_runs_of_a_contest_are_chosen_by_keys(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    page = open_window().page
    _select(page, "01-walls")
    page.get_by_role("button", name="Execute parallel").click()
    plan = _plan(page)
    plan.get_by_label("Contest").check()
    runs = plan.get_by_label("Runs per agent")
    expect(runs).to_have_value("1")
    runs.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type("3")
    expect(runs).to_have_value("3")
