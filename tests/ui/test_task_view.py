"""The detail of a task: what it is, why it is where it is, and what a person can do about it."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from plait.testing.contest_agents import SCRIPTS_VARIABLE
from tests.support.accessibility import find_violations
from tests.support.browser import PHONE, OpenWindow
from tests.support.contest_project import AMBER, BIRCH, JUDGE
from tests.support.judge_scripts import FOR_FIRST, write_judges
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

# As Claude Code talks: without an answer it asks for a colour, with one it writes it down.
CLAUDE = r"""#!/bin/sh
case "$*" in *--version*) echo "2.0.1 (Claude Code)"; exit 0;; esac
session='"session_id":"5f0c9a3e-1111-4222-8333-944455566677"'
event() { printf '{"type":%s,%s}\n' "$1" "$session"; }
prompt=$(cat)
event '"system","subtype":"init"'
case "$prompt" in
*"make it blue"*)
  echo blue > colour.txt
  event '"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Write","input":{"file_path":"colour.txt"}}]}'
  event '"result","subtype":"success","is_error":false,"result":"Painted.","total_cost_usd":0.25,"permission_denials":[]';;
*)
  event '"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"questions":[{"question":"Which colour?"}]}}]}'
  event '"result","subtype":"success","is_error":false,"result":"I wait.","total_cost_usd":0.1,"permission_denials":[]';;
esac
"""


def _run(page: Page, *ids: str, **more: object) -> str:
    """A batch of these; its id."""
    ask = """async body => (await (await fetch("/api/batches", {
        method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)})).json()).id"""
    result: Any = page.evaluate(ask, {"taskIds": [*ids], "mode": "parallel", **more})
    return str(result)


def _panel(page: Page) -> Locator:
    return page.get_by_role("complementary")


def _attempt(page: Page, title: str) -> Locator:
    """Its entry in the conversation."""
    entries = _panel(page).get_by_role("list", name="Conversation").get_by_role("listitem")
    return entries.filter(has=page.locator("strong", has_text=title))


def _card(page: Page, task: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^{task}( |$)"))


def _held(go: Path, then: str = "true") -> str:
    return f"echo waiting here; while [ ! -e {go} ]; do sleep 0.05; done; {then}"


def test_an_opened_task_explains_its_status(project: TempProject, open_window: OpenWindow, tmp_path: Path) -> None:
    go = tmp_path / "go"
    project.task("01-walls", _held(go, "echo walls > walls.txt"), touches="[walls.txt]")
    project.task("02-roof", "echo roof > roof.txt", needs="[01-walls]", phase="shell")
    project.task("03-door", f"echo x >> {tmp_path}/doors; cp {tmp_path}/doors door.txt; echo jammed; exit 3")
    project.commit_all()
    window = open_window()
    page = window.page
    batch = _run(page, "01-walls", "02-roof", "03-door", settings={"retries": 1})
    panel = _panel(page)

    _card(page, "02-roof").click()
    expect(panel.get_by_role("heading", name="02-roof")).to_be_focused()
    expect(panel).to_contain_text("needs 01-walls")
    expect(panel).to_contain_text("It runs when its dependencies are done; waiting for 01-walls (running")
    panel.get_by_role("tab", name="About").click()
    expect(panel).to_contain_text("tasks/02-roof.md:1")
    expect(panel).to_contain_text("shell")
    panel.get_by_role("tab", name="Conversation").click()
    need = panel.get_by_role("listitem").filter(has_text="01-walls")
    expect(need).to_contain_text("running")
    need.get_by_role("button", name="01-walls").click()
    expect(panel.get_by_role("heading", name="01-walls")).to_be_visible()
    assert f"task=01-walls&batch={batch}" in page.url
    expect(panel).to_contain_text("attempt 1 by shell")
    expect(_attempt(page, "Attempt 1")).to_contain_text("running")

    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(_card(page, "01-walls")).to_be_focused()

    _card(page, "03-door").click()
    _expect_failure_first(page)
    expect(panel.get_by_role("button", name="Retry", exact=True)).to_be_enabled()
    expect(panel).not_to_contain_text("plait retry")  # the page has a button for it
    _compare_failed_attempts(page)
    _attempt(page, "Attempt 1").get_by_role("button", name="Log of attempt 1").click()
    expect(panel.get_by_role("combobox", name="Attempt")).to_have_value("write 1")
    expect(panel.get_by_role("region", name="Transcript: write 1")).to_contain_text("jammed")

    panel.get_by_role("tab", name="Log").press("ArrowRight")
    expect(panel.get_by_role("tab", name="Diff")).to_be_focused()
    assert page.url.endswith("tab=diff")
    panel.get_by_role("tab", name="Diff").press("ArrowRight")
    expect(panel).to_contain_text("This batch has no gate.")
    expect(panel).to_contain_text("No verification")

    go.touch()
    wait_until(lambda: project.statuses()["02-roof"] == "done")
    page.goto(f"{page.url.split('?')[0]}?task=01-walls&tab=about")
    expect(panel).to_contain_text("as number 1 on the batch branch")
    expect(panel.get_by_role("button", name="Copy the branch")).to_be_visible()
    page.goto(f"{page.url.split('?')[0]}?task=09-nothing&batch={batch}")
    expect(panel).to_contain_text(f"batch {batch} has no task 09-nothing")
    window.ignore_errors("404")


def _expect_failure_first(page: Page) -> None:
    """What failed comes before the conversation, by its last lines."""
    panel = _panel(page)
    expect(_attempt(page, "Attempt 2")).to_contain_text("failed, exit 3")
    entries = panel.get_by_role("list", name="Conversation").get_by_role("listitem")
    expect(entries).to_have_text(
        [re.compile("failed, exit 3.*jammed"), re.compile("Retried"), re.compile("failed, exit 3.*jammed")]
    )
    expect(panel.get_by_text("exit status")).to_have_count(0)  # nor that it failed, once more by its end
    expect(panel).to_contain_text("Retried.")
    sections = panel.get_by_role("heading", level=3)
    expect(sections).to_have_text(["Status", "Last lines of attempt 2", "Conversation"])
    expect(panel.locator("section", has=page.get_by_role("heading", name="Last lines of"))).to_contain_text("jammed")


def _compare_failed_attempts(page: Page) -> None:
    """What an attempt changed can be read though it failed."""
    panel = _panel(page)
    _attempt(page, "Attempt 1").get_by_role("button", name="Diff of attempt 1").click()
    expect(panel.get_by_role("button", name=re.compile(r"^1 file \+1 .0$"))).to_be_visible()
    panel.get_by_role("tab", name="Conversation").click()
    _attempt(page, "Attempt 2").get_by_role("button", name="Changes of attempt 2 since attempt 1").click()
    expect(panel.get_by_role("heading", name="door.txt")).to_be_visible()
    expect(panel.get_by_role("combobox", name="Changes")).to_have_value("Attempt 2 since attempt 1")
    panel.get_by_role("tab", name="Conversation").click()


def test_a_task_without_a_run_is_shown_and_keys_lead_to_the_next(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "true")
    project.write("tasks/04-garden.md", "---\nrun: 'true'\n---\n# A garden\n\nWith **roses** and <b>thorns</b>.")
    project.commit_all()
    page = open_window().page
    _card(page, "01-walls").press("Enter")
    panel = _panel(page)
    expect(panel.get_by_role("heading", name="01-walls")).to_be_visible()
    page.keyboard.press("]")
    expect(panel.get_by_role("heading", name="A garden")).to_be_visible()
    page.keyboard.press("[")
    expect(panel.get_by_role("heading", name="01-walls")).to_be_visible()
    page.keyboard.press("]")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(_card(page, "04-garden")).to_be_focused()

    page.goto(f"{page.url.split('?')[0]}?task=04-garden")
    expect(panel.get_by_role("heading", name="A garden")).to_be_visible()
    expect(panel.locator("strong")).to_have_text("roses")
    expect(panel).to_contain_text("<b>thorns</b>")
    panel.get_by_role("tab", name="Log").click()
    expect(panel).to_contain_text("Not run yet")
    panel.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("dialog")).to_be_visible()

    page.goto(f"{page.url.split('?')[0]}?task=09-nothing")
    expect(panel).to_contain_text("Task 09-nothing not found")


def test_a_task_is_cancelled_given_feedback_and_dropped(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go, stop = tmp_path / "go", tmp_path / "stop"
    slow_stop = f"trap 'while [ ! -e {stop} ]; do sleep 0.05; done; exit 1' INT TERM"
    told = 'cat "$PLAIT_FEEDBACK_FILE" > walls.txt'
    project.task("01-walls", f"{slow_stop}; {_held(go, told)}")
    project.commit_all()
    page = open_window().page
    _run(page, "01-walls")
    _card(page, "01-walls").click()
    panel = _panel(page)
    retry = panel.get_by_role("button", name="Retry", exact=True)
    expect(_attempt(page, "Attempt 1")).to_contain_text("running")
    expect(retry).to_have_attribute("title", "It has not ended yet.")

    panel.get_by_role("button", name="Cancel").click()
    asked = page.get_by_role("dialog", name="Cancel 01-walls?")
    asked.get_by_role("button", name="Go back").click()
    expect(panel.locator("header")).to_contain_text("running")
    panel.get_by_role("button", name="Cancel").click()
    asked.get_by_role("button", name="Cancel the task").click()
    _take_back_cancel(page, stop)
    panel.get_by_role("button", name="Cancel").click()
    asked.get_by_role("button", name="Cancel the task").click()
    expect(panel.locator("header")).to_contain_text("cancelled")
    expect(panel).to_contain_text("cancelled by request")
    expect(panel.get_by_role("button", name="Cancel")).to_have_count(0)

    go.touch()
    panel.get_by_role("button", name="Tell the agent").click()
    send = panel.get_by_role("button", name="Retry with feedback")
    expect(send).to_have_attribute("title", "Write something first.")
    words = panel.get_by_label("Feedback for the agent, which starts a new attempt")
    expect(words).to_be_focused()
    page.keyboard.type("mind the doors")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    _card(page, "01-walls").click()
    panel.get_by_role("button", name="Tell the agent").click()
    expect(words).to_have_value("mind the doors")  # kept until it is sent
    words.press("Control+Enter")
    expect(words).to_have_count(0)
    expect(panel.locator("header")).to_contain_text("done")
    expect(_attempt(page, "Attempt 3")).to_contain_text("passed")
    expect(_attempt(page, "Attempt 3")).to_contain_text(re.compile("Told: feedback.*mind the doors"))
    assert "mind the doors" in project.read_merged_files()["walls.txt"]
    panel.get_by_role("tab", name="Diff").click()
    panel.get_by_text("What attempt 3 was told").click()
    expect(panel.get_by_role("group").get_by_text("mind the doors")).to_be_visible()
    panel.get_by_role("tab", name="Conversation").click()

    _drop(page)
    wait_until(lambda: project.read_merged_files() == {})


def _take_back_cancel(page: Page, stop: Path) -> None:
    """At once, though the attempt takes until then to stop."""
    page.get_by_role("region", name="Messages").get_by_role("button", name="Retry").click()
    expect(_attempt(page, "Attempt 1")).to_contain_text("stopping: cancel")
    stop.touch()
    expect(_attempt(page, "Attempt 2")).to_contain_text("running")


def _drop(page: Page) -> None:
    """After going back once."""
    panel = _panel(page)
    panel.get_by_role("button", name="Drop").click()
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text("The batch branch is rebuilt without its change.")
    asked.get_by_role("button", name="Go back").click()
    expect(panel.locator("header")).to_contain_text("done")
    panel.get_by_role("button", name="Drop").click()
    asked.get_by_role("button", name="Drop").click()
    expect(panel.locator("header")).to_contain_text("skipped")


def test_another_agent_retries_a_task_asks_a_question_and_is_answered(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    tool = tmp_path / "bin" / "claude"
    tool.parent.mkdir()
    tool.write_text(CLAUDE)
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    project.env["PATH"] = f"{tool.parent}:{project.env['PATH']}"
    project.task("01-walls", "exit 1")
    project.commit_all()
    page = open_window(size=PHONE).page
    batch = _run(page, "01-walls", settings={"retries": 0})
    wait_until(lambda: project.statuses()["01-walls"] == "failed")
    page.goto(f"{page.url}?task=01-walls&batch={batch}")
    panel = _panel(page)
    panel.get_by_role("button", name="Retry with another agent").click()
    codex = panel.get_by_role("button", name=re.compile("^codex"))
    expect(codex).to_have_attribute("aria-disabled", "true")
    expect(codex).to_contain_text("Not installed")
    expect(panel).to_contain_text("claude (--dangerously-skip-permissions) runs with permission prompts disabled")
    panel.get_by_role("button", name=re.compile("^claude")).click()

    asked = panel.get_by_role("region", name="Needs you")
    expect(asked).to_contain_text("Which colour?")
    expect(asked).not_to_contain_text("answer with feedback")  # as on the command line
    asked.get_by_label("Your answer").fill("make it blue")
    assert find_violations(page) == []
    asked.get_by_role("button", name="Answer").click()
    expect(asked).to_have_count(0)
    expect(panel.locator("header")).to_contain_text("done")
    # The answer may come before the tool has exited.
    expect(_attempt(page, "Attempt 2")).to_contain_text(re.compile("asked a question|feedback"))
    expect(_attempt(page, "The agent asks")).to_contain_text("Which colour?")
    expect(_attempt(page, "Attempt 3")).to_contain_text(re.compile(r"claude · .*\$0\."))
    expect(_attempt(page, "Attempt 3")).to_contain_text(re.compile("Told: the answer.*make it blue"))
    panel.get_by_role("tab", name="About").click()
    expect(panel).to_contain_text("5f0c9a3e-1111-4222-8333-944455566677")
    assert project.read_merged_files()["colour.txt"] == "blue"

    panel.get_by_role("tab", name="Log").click()
    log = panel.get_by_role("region", name="Transcript: write 3")
    expect(panel.get_by_role("radio", name="Pretty")).to_be_checked()
    expect(log).to_contain_text("colour.txt")
    expect(log).not_to_contain_text("session_id")
    panel.get_by_role("radio", name="Raw").check()
    expect(log).to_contain_text('"session_id"')


def test_a_queued_task_is_approved_and_a_refusal_is_shown(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.task("02-roof", "echo roof > roof.txt")
    project.commit_all()
    window = open_window()
    page = window.page
    _run(page, "01-walls", "02-roof", mode="queue")
    _card(page, "02-roof").click()
    approve = _panel(page).get_by_role("button", name="Approve")
    page.route("**/02-roof/approve*", _after_somebody_else)
    approve.click()
    expect(page.get_by_role("alert")).to_contain_text("02-roof does not need approval")
    window.ignore_errors("409")
    _card(page, "01-walls").click()
    expect(_panel(page).get_by_role("heading", name="01-walls")).to_be_visible()
    approve.click()
    expect(page.get_by_text("Approved 01-walls")).to_be_visible()
    expect(_panel(page).locator("header")).to_contain_text("done")
    expect(approve).to_have_attribute("title", "It is not waiting for approval.")
    wait_until(lambda: project.statuses() == {"01-walls": "done", "02-roof": "done"})
    expect(page.get_by_role("alert")).to_have_count(0)  # what was refused is over


def _after_somebody_else(route: Route) -> None:
    """The same was asked for a moment ago, in another window."""
    route.fetch()
    route.continue_()


def test_the_panel_is_resized_and_keeps_its_width(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "true")
    project.commit_all()
    page = open_window().page
    _card(page, "01-walls").click()
    panel = _panel(page)
    edge = panel.get_by_role("separator", name="Panel width")

    def width() -> float:
        box = panel.bounding_box()
        return box["width"] if box else 0

    before = width()
    edge.press("ArrowLeft")
    expect(edge).to_have_attribute("aria-valuenow", str(int(before) + 24))
    box = edge.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, 400)
    page.mouse.down()
    page.mouse.move(box["x"] - 96, 400)
    page.mouse.up()
    kept = width()
    assert kept > before + 100
    page.reload()
    expect(edge).to_have_attribute("aria-valuenow", str(int(kept)))
    panel.get_by_role("button", name="Wide").click()
    assert width() == 1440


def test_content_behind_the_panel_is_inert(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "true")
    project.commit_all()
    page = open_window().page
    card = _card(page, "01-walls")
    title = _panel(page).get_by_role("heading", name="01-walls")
    card.press("Enter")
    expect(title).to_be_focused()
    card.focus()  # beside the panel, the board goes on
    page.keyboard.press("w")
    expect(title).to_be_focused()
    assert {_tabbed(page) for _ in range(20)} == {True}
    page.keyboard.press("Escape")
    expect(card).to_be_focused()

    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(page.get_by_role("tablist", name="Columns")).to_be_visible()
    card.press("Enter")
    expect(title).to_be_focused()
    assert {_tabbed(page) for _ in range(20)} == {True}
    page.keyboard.press("Escape")
    expect(card).to_be_focused()


def _tabbed(page: Page) -> bool:
    """Tab leads into the panel, or out of the page."""
    page.keyboard.press("Tab")
    result: Any = page.evaluate(
        "document.activeElement === document.body || document.activeElement.closest('aside') !== null"
    )
    return bool(result)


def test_a_contest_shows_the_votes_of_its_judges(project: TempProject, open_window: OpenWindow, tmp_path: Path) -> None:
    project.env[SCRIPTS_VARIABLE] = str(tmp_path)
    (tmp_path / "amber.sh").write_text("cat >/dev/null; echo amber >a.txt")
    (tmp_path / "birch.sh").write_text("cat >/dev/null; printf 'birch\\nbirch\\n' >a.txt")
    hostile = 'verdict "$FIRST" "$SECOND" "<b>bold</b>"'
    write_judges(tmp_path, FOR_FIRST, hostile, "exit 1", first="+birch", second="+amber")
    project.task("a")
    project.commit_all()
    page = open_window().page
    contest = {"agents": [AMBER, BIRCH]}
    _run(page, "a", contest=contest, settings={"judge": [JUDGE] * 3, "retries": 0})
    _card(page, "a").click()
    panel = _panel(page)
    expect(panel).to_contain_text("2 of 3 judges voted; majority")
    votes = panel.get_by_role("table", name="Votes")
    expect(votes.get_by_role("row").nth(1)).to_contain_text(re.compile(f"{JUDGE}a@Birch, a@Amber.it is complete"))
    expect(votes.get_by_role("row").nth(2)).to_contain_text(f"{JUDGE} 2a@Bircha@Amber<b>bold</b>")
    expect(votes.get_by_role("row").nth(3)).to_contain_text("No vote")
    assert find_violations(page) == []
