"""What needs the user: one line above the board until it is handled, and actions on the cards themselves."""

from __future__ import annotations

import re
import stat

from playwright.sync_api import Locator, Page, expect

from plait.core.task import Step
from tests.support.accessibility import find_violations
from tests.support.browser import OpenWindow
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

KEY_MS = 60.0  # between two keys of a quick typist

# As Claude Code talks: without an answer it asks for a colour.
CLAUDE = r"""#!/bin/sh
case "$*" in *--version*) echo "2.0.1 (Claude Code)"; exit 0;; esac
event() { printf '{"type":%s,"session_id":"5f0c9a3e-1111-4222-8333-944455566677"}\n' "$1"; }
case "$(cat)" in
*"make it blue"*)
  echo blue > colour.txt
  event '"result","subtype":"success","is_error":false,"result":"Painted.","permission_denials":[]';;
*)
  event '"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"questions":[{"question":"Which colour?"}]}}]}'
  event '"result","subtype":"success","is_error":false,"result":"I wait.","permission_denials":[]';;
esac
"""


def _for_you(page: Page) -> Locator:
    return page.get_by_role("region", name="For you").get_by_role("listitem")


def _card(page: Page, task: str) -> Locator:
    return page.locator(f'[data-card="{task}"]')


def _attempts(project: TempProject, task: str) -> int:
    found = project.batch().find_task(task)
    return found.attempt_counts.get(Step.WRITE, 0) if found is not None else 0


def _install_claude(project: TempProject) -> None:
    tool = project.folder / "bin" / "claude"
    tool.parent.mkdir()
    tool.write_text(CLAUDE)
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    project.env["PATH"] = f"{tool.parent}:{project.env['PATH']}"


def _open_log_by_menu(page: Page) -> None:
    """The menu of the focused card, by keys only."""
    page.keyboard.press("m")
    menu = page.get_by_role("menu", name="Actions on 01-stripe")
    expect(menu.get_by_role("menuitem", name="Open", exact=True)).to_be_focused()
    assert find_violations(page) == []
    page.keyboard.press("x")  # means nothing behind a menu
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Log")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_what_needs_the_user_is_handled_where_it_is_shown(project: TempProject, open_window: OpenWindow) -> None:
    _install_claude(project)
    keys = project.folder / "keys"
    project.task(
        "01-stripe", f"test -e {keys} || {{ echo error: no key >&2; exit 3; }}; echo s > s.txt", title="Charge"
    )
    project.task("02-mail", "echo m > m.txt", needs="[01-stripe]", title="Receipts")
    project.task("03-bill", "echo b > b.txt", needs="[02-mail]", title="Bills")
    project.task("04-paint", title="Paint the door", agent="claude")
    project.commit_all()
    assert project.plait("run", "--detach", "--yes", "--retries", "0").code == 0
    page = open_window().page

    # The question is answered in its line.
    asked = _for_you(page).filter(has_text="04-paint")
    expect(asked).to_contain_text("Which colour?")
    asked.get_by_role("textbox", name="Answer 04-paint").click()
    page.keyboard.type("make it blue", delay=KEY_MS)
    page.keyboard.press("Enter")
    expect(asked).to_have_count(0)

    # The finished batch says what became of it.
    over = _for_you(page).filter(has_text="Charge")
    expect(over).to_contain_text("1 merged, 1 failed, 2 blocked")
    expect(over.get_by_role("link", name="Review")).to_be_visible()
    assert find_violations(page) == []

    # What is typed after a key on a card reaches its dialog; Escape keeps it for later.
    _card(page, "01-stripe").get_by_role("button").first.focus()
    page.keyboard.press("t")
    page.keyboard.type("xe use the test key", delay=KEY_MS)
    told = page.get_by_role("dialog", name="Tell the agent of 01-stripe").get_by_role("textbox")
    expect(told).to_have_value("xe use the test key")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(_card(page, "01-stripe").get_by_role("button").first).to_be_focused()

    _open_log_by_menu(page)

    # On a blocked card, the button retries what blocks it; the header retries all.
    retry_all = page.get_by_role("region", name="Failed", exact=True).get_by_role("button", name="Retry all failed")
    retry_all.click()
    wait_until(lambda: _attempts(project, "01-stripe") == 2 and project.statuses()["01-stripe"] == "failed")
    keys.touch()
    _card(page, "03-bill").hover()
    _card(page, "03-bill").get_by_role("button", name="Retry 01-stripe").click()
    expect(page.get_by_role("region", name="Review", exact=True).locator("[data-card]")).to_have_count(4)
    expect(retry_all).to_have_count(0)
    expect(over).to_contain_text(re.compile("4 merged$|4 merged(?!,)"))
    over.get_by_role("link", name="Review").click()
    expect(page.get_by_text("4 tasks merged")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("^Charge Batch"), level=1)).to_be_visible()
    page.get_by_role("navigation", name="Views", exact=True).get_by_role("link", name="Board").click()
    over.get_by_role("button", name="Dismiss").click()
    expect(_for_you(page)).to_have_count(0)
