"""The page shows the current state, whatever happens to the server and with several pages open."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect

from plait.engine.daemon import HEALTH_FILE, HealthFile
from plait.git.location import find_repo
from tests.support.browser import add_window, window
from tests.support.running_server import Serve, start_server
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

GO = "while [ ! -e {go} ]; do sleep 0.05; done; echo {name} > {name}.txt"
CUT_OFF = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_INCOMPLETE_CHUNKED", "ERR_EMPTY_RESPONSE")


def _turn(page: Page, state: str) -> None:
    """As the browser says it when another window covers this one (hidden), and when it does no more (visible)."""
    descriptor = f"{{ configurable: true, value: '{state}' }}"
    page.evaluate(f"Object.defineProperty(document, 'visibilityState', {descriptor})")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_a_restarted_server_is_followed_without_a_reload(
    project: TempProject, browser: Browser, tmp_path: Path
) -> None:
    for name in ("01-walls", "02-roof"):
        project.task(name, GO.format(go=tmp_path / name, name=name))
    project.commit_all()
    server = start_server(project)
    with window(browser, server) as shown:
        page = shown.page
        page.evaluate("window.mine = true")
        server.post("/api/batches", {"taskIds": ["01-walls", "02-roof"], "mode": "parallel"})
        expect(page).to_have_title("(0/2) plait · repository")

        server.kill()
        expect(page.get_by_text("Reconnecting since")).to_be_visible()
        (tmp_path / "01-walls").touch()
        wait_until(lambda: project.statuses()["01-walls"] == "done")
        assert page.title() == "(0/2) plait · repository"

        again = start_server(project, port=urlsplit(server.url).port or 0, token=server.token)
        expect(page).to_have_title("(1/2) plait · repository")
        expect(page.get_by_text("Reconnecting since")).to_have_count(0)
        (tmp_path / "02-roof").touch()
        expect(page).to_have_title("plait · repository")
        assert again.get("/api/batches")["batches"][0]["status"] == "completed"
        assert page.evaluate("window.mine")
        shown.ignore_errors(*CUT_OFF)
    assert shown.console_errors == []


def test_a_hidden_window_holds_no_stream_and_is_current_when_shown(
    project: TempProject, browser: Browser, tmp_path: Path
) -> None:
    project.task("01-walls", GO.format(go=tmp_path / "walls", name="walls"))
    project.commit_all()
    server = start_server(project)
    with window(browser, server) as shown:
        page = shown.page
        expect(page.locator("[data-connection=live]")).to_be_attached()
        with page.expect_event("requestfailed", lambda request: "/api/events" in request.url):
            _turn(page, "hidden")
        server.post("/api/batches", {"taskIds": ["01-walls"], "mode": "parallel"})
        wait_until(lambda: server.get("/api/batches")["batches"][0]["progress"]["running"])
        server.kill()
        _turn(page, "visible")
        expect(page.get_by_text("Reconnecting since")).to_be_visible()
        start_server(project, port=urlsplit(server.url).port or 0, token=server.token)
        expect(page).to_have_title("(0/1) plait · repository")
        expect(page.locator("[data-connection=live]")).to_be_attached()
        (tmp_path / "walls").touch()
        expect(page).to_have_title("plait · repository")
        shown.ignore_errors(*CUT_OFF)
    assert shown.console_errors == []


def test_an_action_in_one_window_shows_in_the_other(
    project: TempProject, browser: Browser, serve: Serve, tmp_path: Path
) -> None:
    for name in ("01-walls", "02-roof"):
        project.task(name, GO.format(go=tmp_path / name, name=name))
    project.commit_all()
    server = serve()
    with window(browser, server) as one:
        two = add_window(one.page.context, server)
        expect(two.page.get_by_text("02-roof").first).to_be_visible()
        for name in ("01-walls", "02-roof"):
            one.page.get_by_role("checkbox", name=f"Select {name}", exact=True).check(force=True)
        one.page.keyboard.press("q")
        one.page.get_by_role("dialog").get_by_role("button", name="Start 2 tasks").click()
        for each in (one, two):
            expect(each.page).to_have_title("! 1 needs you (0/2) plait · repository")
        expect(two.page.get_by_role("checkbox", checked=True)).to_have_count(0)
        two.page.get_by_role("button", name="Approve 01-walls").first.click()
        for each in (one, two):
            expect(each.page).to_have_title("(0/2) plait · repository")
        (tmp_path / "01-walls").touch()
        for each in (one, two):
            expect(each.page).to_have_title("! 1 needs you (1/2) plait · repository")
        assert [*one.console_errors, *two.console_errors] == []


def test_an_edited_file_appears_and_a_failed_refresh_keeps_the_old_content(
    project: TempProject, browser: Browser, serve: Serve
) -> None:
    project.task("01-walls", "true")
    project.commit_all()
    server = serve()
    with window(browser, server) as shown:
        page = shown.page
        card = page.locator('[data-card="01-walls"]')
        # The page's time stands still while it waits for answers: after slow ones it would read less often.
        page.clock.install(time=0)
        page.clock.pause_at(1)
        page.goto(f"{server.url}/?task=01-walls&tab=about")
        panel = page.get_by_role("complementary")

        def has_text() -> bool:
            page.clock.run_for(10)
            return panel.count() == 1 and "Do it." in panel.inner_text()

        wait_until(has_text)
        task = project.task("01-walls", "true", title="Build the walls")
        task.write_text(task.read_text().replace("Do it.", "Do it in stone."))
        with page.expect_response("**/api/tasks"):
            page.clock.run_for(2_000)
        page.clock.resume()
        expect(card).to_contain_text("Build the walls")
        expect(panel).to_contain_text("Do it in stone.")

        project.write("plait.toml", '[sources]\nformat = "own.reader:Format"')
        with page.expect_response(lambda answer: answer.status == 409) as refused:
            page.evaluate("window.dispatchEvent(new Event('focus'))")
        assert refused.value.url.endswith("/api/tasks")
        expect(page.get_by_text("may be out of date")).to_contain_text(re.compile(r"plait -C \S+ trust"))
        expect(card).to_be_visible()

        (project.top / "plait.toml").unlink()
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.get_by_text("may be out of date")).to_have_count(0)
        shown.ignore_errors("409")
    assert shown.console_errors == []


def test_an_engine_with_a_full_disk_is_reported_until_it_recovers(
    project: TempProject, browser: Browser, serve: Serve, tmp_path: Path
) -> None:
    project.task("01-walls", GO.format(go=tmp_path / "walls", name="walls"))
    project.commit_all()
    server = serve()
    with window(browser, server) as shown:
        page = shown.page
        server.post("/api/batches", {"taskIds": ["01-walls"], "mode": "parallel"})
        expect(page).to_have_title("(0/1) plait · repository")
        trouble = HealthFile(find_repo(project.top).state / HEALTH_FILE)
        trouble.write("the disk is full")
        notice = page.get_by_text("Engine problem: the disk is full")
        expect(notice).to_be_visible()
        trouble.clear()
        expect(notice).to_have_count(0)
        (tmp_path / "walls").touch()
        expect(page).to_have_title("plait · repository")
    assert shown.console_errors == []
