"""The settings: read with who gave them, changed one by one, and in force at once."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from tests.support.browser import add_window, window
from tests.support.running_server import Serve, ServerAccess
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

# Quicker than any answer: both count.
_AT_ONCE = """(group, names) => [...group.querySelectorAll("label")]
    .filter(label => names.includes(label.textContent)).forEach(label => label.click())"""


def _open(page: Page) -> None:
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()


def _run(server: ServerAccess, *tasks: str) -> str:
    batch: str = server.post("/api/batches", {"taskIds": tasks, "mode": "parallel"})["id"]
    return batch


def test_a_saved_setting_applies_to_the_next_batch_until_it_is_reset(
    project: TempProject, browser: Browser, serve: Serve
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.write("plait.toml", "[run]\nretries = 0")
    project.commit_all()
    server = serve()
    with window(browser, server) as shown:
        page = shown.page
        _open(page)
        find = page.get_by_role("searchbox", name="Find a setting")
        find.fill("timeout")
        expect(page.locator("[data-setting]").first).to_have_attribute("data-setting", "timeout")
        for name in ("idleTimeout", "verifyTimeout", "gateTimeout", "stallTimeout"):
            expect(page.locator(f"[data-setting={name}]")).to_be_visible()
        for name in ("Idle timeout", "run.idle_timeout", "--idle-timeout", "PLAIT_IDLE_TIMEOUT"):  # all of its names
            find.fill(name)
            row = page.locator("[data-setting]").first
            expect(row).to_have_attribute("data-setting", "idleTimeout")
            expect(row.get_by_role("heading")).to_have_text("Idle timeout")
            expect(row.get_by_text("--idle-timeout", exact=True)).to_be_visible()
        find.fill("")
        verify = page.get_by_role("textbox", name="Verify", exact=True)
        expect(verify).to_have_value("")
        expect(verify).to_have_accessible_description("From: default")
        retries = page.get_by_role("textbox", name="Retries")
        expect(retries).to_have_accessible_description("From: plait.toml:2")

        verify.fill("test -e roof.txt")
        verify.press("Enter")
        expect(verify).to_have_accessible_description(re.compile("From: saved here .* Saved"))
        batch = _run(server, "01-walls")
        wait_until(lambda: server.get(f"/api/batches/{batch}")["status"] == "failed")
        assert server.get(f"/api/batches/{batch}")["tasks"][0]["category"] == "verify"

        page.get_by_role("button", name="Reset Verify").click()
        expect(verify).to_have_value("")
        expect(verify).to_have_accessible_description(re.compile("From: default"))
        expect(page.get_by_role("button", name="Reset Verify")).to_have_count(0)
        # The reset is in force for finished work that is verified again, too; no agent runs.
        page.goto(f"{server.url}/?task=01-walls&batch={batch}")
        page.get_by_role("toolbar", name="Task actions").get_by_role("button", name="Recheck").click()
        expect(page.get_by_role("complementary").locator("header")).to_contain_text("done")
        task = server.get(f"/api/batches/{batch}")["tasks"][0]
        assert (task["status"], task["attempt"]) == ("done", 1)
    assert shown.console_errors == []


def test_each_kind_of_setting_has_a_field_that_validates(project: TempProject, browser: Browser, serve: Serve) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    project.env["PLAIT_RETRIES"] = "1"
    server = serve()
    with window(browser, server) as shown:
        page = shown.page
        _open(page)
        timeout = page.get_by_role("textbox", name="Timeout", exact=True)
        timeout.fill("soon")
        timeout.blur()
        expect(timeout).to_have_accessible_description(re.compile('must be a length of time .* not "soon"'))
        expect(timeout).to_have_value("soon")
        timeout.press("Escape")
        expect(timeout).to_have_value("1h")

        retries = page.get_by_role("textbox", name="Retries")
        expect(retries).to_have_accessible_description(re.compile("PLAIT_RETRIES, which overrides the saved value"))
        retries.fill("7")
        retries.press("Enter")
        words = "Saved here, but overridden by PLAIT_RETRIES"
        expect(retries).to_have_accessible_description(re.compile(words))
        expect(retries).to_have_value("1")

        slider = page.get_by_role("slider", name="Max parallel", exact=True)
        slider.press("ArrowRight")
        expect(page.get_by_role("textbox", name="Max parallel", exact=True)).to_have_value("5")
        page.get_by_role("textbox", name="Max parallel", exact=True).fill("25")
        page.get_by_role("textbox", name="Max parallel", exact=True).press("Enter")
        timeout.fill("45m")
        page.get_by_role("group", name="Notify on", exact=True).evaluate(_AT_ONCE, ["unpublished", "needs person"])
        for field, chosen in (
            (page.get_by_role("switch", name="Stop on fail"), True),
            (page.get_by_role("radiogroup", name="On conflict").get_by_label("repair"), True),
            (page.get_by_role("group", name="Notify on", exact=True).get_by_label("limit"), False),
            (page.get_by_role("group", name="Agent", exact=True).get_by_label("shell"), True),
        ):
            field.click()
            expect(field).to_be_checked(checked=chosen)
        expect(page.get_by_text("Can't be saved here because it may contain a secret").first).to_be_visible()

        find = page.get_by_role("searchbox", name="Find a setting")
        find.fill("merge regenerate")
        table = page.get_by_role("textbox", name="Merge regenerate")
        table.fill("{uv.lock: uv lock}")
        table.press("Control+Enter")
        expect(table).to_have_accessible_description(re.compile("not a JSON object"))
        table.fill('{"uv.lock": "uv lock"}')
        table.press("Control+Enter")
        expect(table).to_have_accessible_description(re.compile("Saved"))
        find.fill("nothing of the kind")
        expect(page.get_by_text("No settings match")).to_be_visible()

        data = server.get("/api/settings")
        expected = {
            "maxBatchSize": 25,
            "stopOnFailure": True,
            "conflictBehavior": "repair",
            "timeout": 2700.0,
            "notifyOn": ["finished", "failed"],
            "agent": ["shell"],
            "regenerate": {"uv.lock": "uv lock"},
        }
        assert {name: data[name] for name in expected} == expected
        shown.ignore_errors("status of 422")
    assert shown.console_errors == []


def test_two_windows_show_the_same_settings_and_keep_what_is_being_typed(
    project: TempProject, browser: Browser, serve: Serve
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    server = serve()
    with window(browser, server) as one:
        two = add_window(one.page.context, server)
        for shown in (one, two):
            _open(shown.page)
        gate = two.page.get_by_role("textbox", name="Gate", exact=True)
        gate.fill("make half")
        one.page.get_by_role("textbox", name="Gate", exact=True).fill("make all")
        one.page.get_by_role("textbox", name="Budget", exact=True).fill("20usd")
        one.page.get_by_role("textbox", name="Budget", exact=True).press("Enter")
        expect(one.page.get_by_text("From: saved here")).to_have_count(2)

        _come_back(two.page)
        expect(two.page.get_by_role("textbox", name="Budget", exact=True)).to_have_value("20usd")
        expect(gate).to_have_value("make half")
        expect(two.page.get_by_text("Changed elsewhere to make all.")).to_be_visible()
        gate.press("Escape")
        expect(gate).to_have_value("make all")
        assert [*one.console_errors, *two.console_errors] == []


def _come_back(page: Page) -> None:
    """As the browser says it when a window is looked at again."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
