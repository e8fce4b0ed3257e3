"""What needs the user: one line above the board until it is handled, and actions on the cards themselves."""

from __future__ import annotations

import re
import stat
from datetime import UTC, datetime

from playwright.sync_api import Locator, Page, expect

from plait.core.task import Step
from tests.support.accessibility import find_violations
from tests.support.browser import TURNING_TEXTS, OpenWindow
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


# It spends a quarter of a dollar each time.
PAID = r"""#!/bin/sh
case "$*" in *--version*) echo "2.0.1 (Claude Code)"; exit 0;; esac
cat > /dev/null
echo paint > paint-$$.txt
printf '{"type":"result","subtype":"success","is_error":false,"result":"Painted.","total_cost_usd":0.25,"permission_denials":[]}\n'
"""

# Its provider says when it takes work again.
REFUSED = r"""#!/bin/sh
case "$*" in *--version*) echo "2.0.1 (Claude Code)"; exit 0;; esac
cat > /dev/null
printf '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%s}}\n' $(($(date +%s) + 10800))
printf '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"usage limit reached"}\n'
exit 1
"""

REJECTED = r"""#!/bin/sh
case "$*" in *--version*) echo "2.0.1 (Claude Code)"; exit 0;; esac
cat > /dev/null
printf '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"Invalid API key"}\n'
exit 1
"""


# Whether nothing of a text is cut off.
_SHOWN_WHOLE = "text => text.scrollWidth <= text.clientWidth && text.scrollHeight <= text.clientHeight"


def _for_you(page: Page) -> Locator:
    return page.get_by_role("region", name="For you").get_by_role("listitem")


def _card(page: Page, task: str) -> Locator:
    return page.locator(f'[data-card="{task}"]')


def _attempts(project: TempProject, task: str) -> int:
    found = project.batch().find_task(task)
    return found.attempt_counts.get(Step.WRITE, 0) if found is not None else 0


def _install_claude(project: TempProject, script: str = CLAUDE) -> None:
    tool = project.folder / "bin" / "claude"
    tool.parent.mkdir()
    tool.write_text(script)
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    project.env["PATH"] = f"{tool.parent}:{project.env['PATH']}"


def _open_log_by_keys(page: Page) -> None:
    """Of the focused card: by its key, and in its menu."""
    page.keyboard.press("Shift+L")
    expect(page.get_by_role("tab", name="Log")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(_card(page, "01-stripe").get_by_role("button").first).to_be_focused()
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


def _act_by_pointer(page: Page) -> None:
    """The buttons of the card under the pointer, and its menu where it was clicked."""
    card = _card(page, "01-stripe")
    toolbar = card.get_by_role("toolbar", name="Actions on 01-stripe")
    page.mouse.move(5, 5)
    expect(_card(page, "02-mail").get_by_role("toolbar")).to_have_count(0)
    _card(page, "02-mail").hover()
    expect(_card(page, "02-mail").get_by_role("button", name="Retry 01-stripe")).to_be_visible()
    card.hover()
    toolbar.get_by_role("button", name="Tell the agent").click()
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
    page.keyboard.press("Escape")
    toolbar.get_by_role("button", name="Open log").click()
    expect(page.get_by_role("tab", name="Log")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    box = card.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 40, box["y"] + 30, button="right")
    menu = page.get_by_role("menu", name="Actions on 01-stripe")
    place = menu.bounding_box()
    assert place is not None
    assert (round(place["x"] - box["x"]), round(place["y"] - box["y"])) == (40, 30)
    expect(menu.get_by_role("menuitem")).to_have_text(
        [
            re.compile(f"^{name}")
            for name in ("Open", "Open log", "Retry", "Tell the agent", "Edit", "Select", "Copy id")
        ]
    )
    menu.get_by_role("menuitem", name="Select").click()
    expect(card.get_by_role("checkbox")).to_be_checked()
    page.keyboard.press("Escape")


def _retry_in_panel(page: Page, project: TempProject) -> None:
    _card(page, "03-bill").click()
    page.get_by_role("toolbar", name="Task actions").get_by_role("button", name="Retry 01-stripe").click()
    wait_until(lambda: _attempts(project, "01-stripe") == 2 and project.statuses()["01-stripe"] == "failed")
    page.get_by_role("button", name="Close").click()


def _expect_outcome_of_the_batch(page: Page, over: Locator) -> None:
    """The finished batch says what became of it, on a narrow screen, too."""
    expect(over).to_contain_text("1 merged, 1 failed, 2 blocked")
    expect(over.get_by_role("link", name="Review")).to_be_visible()
    assert find_violations(page) == []
    page.set_viewport_size({"width": 760, "height": 900})
    expect(over.get_by_role("button", name="Dismiss")).to_be_in_viewport(ratio=1)
    assert over.get_by_role("paragraph").evaluate(_SHOWN_WHOLE)
    page.set_viewport_size({"width": 1440, "height": 900})


def test_what_needs_the_user_is_handled_where_it_is_shown(project: TempProject, open_window: OpenWindow) -> None:
    _install_claude(project)
    keys = project.folder / "keys"
    project.task(
        "01-stripe",
        f"test -e {keys} || {{ echo error: no key >&2; exit 3; }}; echo s > s.txt",
        title="Charge and refund",
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
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_text("Sent your message to 04-paint")).to_be_visible()
    expect(asked).to_have_count(0)

    over = _for_you(page).filter(has_text="Charge and refund")
    _expect_outcome_of_the_batch(page, over)

    # What is typed after a key on a card reaches its dialog; Escape keeps it for later.
    _card(page, "01-stripe").get_by_role("button").first.focus()
    page.keyboard.press("t")
    page.keyboard.type("xe use the test key", delay=KEY_MS)
    told = page.get_by_role("dialog", name="Tell the agent of 01-stripe").get_by_role("textbox")
    expect(told).to_have_value("xe use the test key")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(_card(page, "01-stripe").get_by_role("button").first).to_be_focused()

    _open_log_by_keys(page)
    _act_by_pointer(page)

    # For a blocked task, the button retries what blocks it, in its panel and on its card; the header retries all.
    _retry_in_panel(page, project)
    retry_all = page.get_by_role("region", name="Failed", exact=True).get_by_role("button", name="Retry all failed")
    retry_all.click()
    wait_until(lambda: _attempts(project, "01-stripe") == 3 and project.statuses()["01-stripe"] == "failed")
    keys.touch()
    page.clock.set_fixed_time(datetime.now(UTC))  # cards that keep their place for some time keep it for ever
    blocked = _card(page, "03-bill")
    blocked.get_by_role("button").first.focus()
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(blocked.get_by_role("button", name="Retry 01-stripe")).to_be_visible()
    page.keyboard.press("Shift+R")
    expect(page.get_by_role("region", name="Review", exact=True).locator("[data-card]")).to_have_count(4)
    expect(retry_all).to_have_count(0)
    expect(over).to_contain_text(re.compile("4 merged$|4 merged(?!,)"))
    over.get_by_role("link", name="Review").click()
    expect(page.get_by_text("4 tasks merged")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("^Charge and refund and 3 more Batch"), level=1)).to_be_visible()
    page.get_by_role("navigation", name="Views", exact=True).get_by_role("link", name="Board").click()
    over.get_by_role("button", name="Dismiss").click()
    expect(_for_you(page)).to_have_count(0)


def test_a_budget_that_is_used_up_is_raised_in_its_line(project: TempProject, open_window: OpenWindow) -> None:
    _install_claude(project, PAID)
    for name in ("01-walls", "02-roof"):
        project.task(name, title=f"Paint {name}", agent="claude")
    project.commit_all()
    words = ("run", "--detach", "--yes", "--max-parallel", "1", "--budget", "0.3usd")
    assert project.plait(*words).code == 0
    window = open_window()
    page = window.page
    line = _for_you(page).filter(has_text="The budget is used up")
    expect(line).to_contain_text("$0.25 of $0.30 is spent, and 02-roof may cost $0.25")
    page.set_viewport_size({"width": 1024, "height": 768})
    assert line.get_by_role("paragraph").evaluate(_SHOWN_WHOLE)
    expect(page.get_by_role("region", name="Active batches").get_by_role("button", name="Unpause")).to_have_count(0)
    assert find_violations(page) == []
    raised = line.get_by_role("button", name="Raise the budget")
    expect(raised).to_have_attribute("aria-disabled", "true")
    line.get_by_role("textbox").click()
    for amount, problem in (("a lot", "budget must be an amount"), ("0.4usd", "$0.25 of $0.40 is spent")):
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(amount, delay=KEY_MS)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").filter(has_text=problem)).to_be_visible()
    window.ignore_errors("422")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("1usd", delay=KEY_MS)
    page.keyboard.press("Enter")
    expect(line).to_have_count(0)
    expect(_for_you(page)).to_contain_text("2 merged")


def test_a_provider_that_refuses_is_named(project: TempProject, open_window: OpenWindow) -> None:
    _install_claude(project, REFUSED)
    project.task("01-walls", title="Build", agent="claude")
    project.commit_all()
    assert project.plait("run", "--detach", "--yes").code == 0
    page = open_window().page
    line = _for_you(page).filter(has_text="takes no work until")
    # In three hours, which may be tomorrow.
    expect(line).to_contain_text(re.compile(r"takes no work until (\w+ \d+, )?\d\d:\d\d: the provider refused"))
    line.get_by_role("button", name="Dismiss").click()
    expect(line).to_have_count(0)
    page.reload()
    expect(_card(page, "01-walls")).to_be_visible()
    expect(line).to_have_count(0)


def test_a_batch_that_a_provider_stops_continues_when_the_cause_is_mended(
    project: TempProject, open_window: OpenWindow
) -> None:
    _install_claude(project, REJECTED)
    for name in ("01-walls", "02-roof", "03-door"):
        project.task(name, agent="claude")
    project.commit_all()
    assert project.plait("run", "--detach", "--yes", "--max-parallel", "1").code == 0
    page = open_window().page
    line = _for_you(page).filter(has_text="the provider rejected 2 tasks in a row")
    expect(line.get_by_role("link", name="Open")).to_be_visible()
    (project.folder / "bin" / "claude").write_text(PAID)
    line.get_by_role("button", name="Unpause").click()
    expect(line).to_have_count(0)
    expect(_for_you(page)).to_contain_text("1 merged, 2 failed")
    _for_you(page).get_by_role("button", name="Retry 2 tasks").click()
    expect(_for_you(page)).to_contain_text("3 merged")


def test_an_answer_is_one_text_wherever_it_is_written(project: TempProject, open_window: OpenWindow) -> None:
    _install_claude(project)
    project.task("01-paint", title="Paint the door", agent="claude")
    project.commit_all()
    assert project.plait("run", "--detach", "--yes", "--retries", "0").code == 0
    page = open_window().page
    line = _for_you(page).filter(has_text="01-paint").get_by_role("textbox", name="Answer 01-paint")
    expect(line).to_be_visible()
    page.get_by_role("button", name="Open 01-paint").click()
    panel = page.get_by_role("complementary").get_by_label("Your answer")
    line.fill("make it")
    expect(panel).to_have_value("make it")
    panel.press("End")
    panel.press_sequentially(" blue")
    expect(line).to_have_value("make it blue")
    page.get_by_role("complementary").get_by_role("button", name="Answer").click()
    expect(_for_you(page).filter(has_text="01-paint").get_by_role("textbox")).to_have_count(0)
    wait_until(lambda: project.statuses()["01-paint"] == "done")


def test_what_an_agent_says_reverses_no_text(project: TempProject, open_window: OpenWindow) -> None:
    """A question or an error could read as another one."""
    _install_claude(project, CLAUDE.replace("Which colour", "Which \u202ecolour"))
    project.task("01-paint", title="Paint the door", agent="claude")
    project.task("02-door", "echo 'error: no \u202ekey' >&2; exit 3", title="Hang the door")
    project.commit_all()
    assert project.plait("run", "--detach", "--yes", "--retries", "0").code == 0
    window = open_window()
    page = window.page
    expect(_for_you(page).filter(has_text="01-paint")).to_contain_text("Which <U+202E>colour?")
    expect(_card(page, "02-door")).to_contain_text("no")
    assert page.evaluate(TURNING_TEXTS) == []
    batch = project.batch().id
    for task, words in (("01-paint", "Which <U+202E>colour?"), ("02-door", "error: no")):
        window.go(f"/?task={task}&batch={batch}")
        expect(page.get_by_role("list", name="Conversation")).to_be_visible()
        expect(page.get_by_role("complementary").get_by_text(words).first).to_be_visible()
        assert page.evaluate(TURNING_TEXTS) == []
    _card(page, "01-paint").get_by_role("button").first.focus()
    page.keyboard.press("t")
    expect(page.get_by_role("dialog")).to_contain_text("Which <U+202E>colour?")
    assert page.evaluate(TURNING_TEXTS) == []
