"""What stands around the views: the window's heading, its theme, who is logged in, and who is called."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from plait.server.http.web_page import PAGE_FOLDER_VARIABLE, find_page_folder
from tests.support.accessibility import find_violations
from tests.support.browser import BrowserWindow, add_window, window
from tests.support.running_server import Serve
from tests.support.temp_project import TempProject

GO = "while [ ! -e {go} ]; do sleep 0.05; done; echo {name} > {name}.txt"

# What the browser would show on the desktop; the page is in the background.
SPY = """
    window.shown = [];
    window.asked = 0;
    document.hasFocus = () => false;
    window.Notification = class {
        static permission = localStorage.getItem('permission') ?? 'default';
        static async requestPermission() {
            window.asked += 1;
            localStorage.setItem('permission', 'granted');
            return (window.Notification.permission = 'granted');
        }
        constructor(title) { window.shown.push({ at: Date.now(), title, pressed: () => this.onclick() }); }
        close() {}
    };
"""


def _held(project: TempProject, name: str, go: Path, needs: str = "[]") -> None:
    project.task(name, GO.format(go=go, name=name), needs=needs)


def _icon(page: Page) -> str:
    return page.locator("link[rel=icon]").get_attribute("href") or ""


def test_the_title_and_the_icon_show_progress(
    project: TempProject, browser: Browser, serve: Serve, tmp_path: Path
) -> None:
    _held(project, "01-walls", tmp_path / "walls")
    _held(project, "02-roof", tmp_path / "roof", needs="[01-walls]")
    project.commit_all()
    server = serve()
    with window(browser, server) as shown:
        page = shown.page
        expect(page).to_have_title("plait · repository")
        plain = _icon(page)
        server.post("/api/batches", {"taskIds": ["01-walls", "02-roof"], "mode": "queue"})
        expect(page).to_have_title("! 1 needs you (0/2) plait · repository")
        asking = _icon(page)
        server.post(f"/api/batches/{project.batch().id}/approve", {"all": True})
        expect(page).to_have_title("(0/2) plait · repository")
        (tmp_path / "walls").touch()
        expect(page).to_have_title("(1/2) plait · repository")
        half = _icon(page)
        (tmp_path / "roof").touch()
        expect(page).to_have_title("plait · repository")
        assert _icon(page) == plain == "/favicon.svg"
        assert asking.startswith("data:image/svg+xml,")
        assert asking != half
    assert shown.console_errors == []


def test_the_browser_keeps_the_theme(project: TempProject, browser: Browser, serve: Serve) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    with window(browser, serve()) as shown:
        page = shown.page
        background = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(background)
        shown.go("/settings")
        page.get_by_role("radiogroup", name="Theme").get_by_label("Dark").check()
        page.wait_for_function(f"{background} !== '{light}'")
        page.reload()
        expect(page.get_by_role("radiogroup", name="Theme").get_by_label("Dark")).to_be_checked()
        assert page.evaluate(background) != light
        page.get_by_role("radiogroup", name="Theme").get_by_label("System").check()
        page.wait_for_function(f"{background} === '{light}'")
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"{background} !== '{light}'")
    assert shown.console_errors == []


def test_a_notification_appears_once_however_many_windows_are_open(
    project: TempProject, browser: Browser, serve: Serve, tmp_path: Path
) -> None:
    _held(project, "01-walls", tmp_path / "walls")
    project.task("02-roof", f"while [ ! -e {tmp_path / 'roof'} ]; do sleep 0.05; done; exit 3")
    project.commit_all()
    project.env["PLAIT_RETRIES"] = "0"
    server = serve()
    context = browser.new_context()
    context.add_init_script(SPY)
    first = add_window(context, server)
    expect(first.page.get_by_text("01-walls").first).to_be_visible()
    assert first.page.evaluate("window.asked") == 0
    first.go("/settings")
    first.page.get_by_role("button", name="Turn on").click()
    expect(first.page.get_by_text("On. You are notified")).to_be_visible()
    first.go("/")
    second = add_window(context, server)
    for each in (first, second):
        expect(each.page.get_by_text("01-walls").first).to_be_visible()

    server.post("/api/batches", {"taskIds": ["01-walls", "02-roof"], "mode": "parallel"})["id"]
    (tmp_path / "roof").touch()
    _both_know(first, second, "(1/2) plait · repository")
    assert _told(first, second) == ["02-roof failed"]
    (tmp_path / "walls").touch()
    _both_know(first, second, "plait · repository")
    assert _told(first, second) == ["02-roof failed", "01-walls and 1 more partial"]

    caller = first if _told(first)[:1] == ["02-roof failed"] else second
    caller.page.evaluate("window.shown[0].pressed()")
    expect(caller.page).to_have_url(re.compile("task=02-roof"))
    assert [*first.console_errors, *second.console_errors] == []
    context.close()


def _both_know(first: BrowserWindow, second: BrowserWindow, title: str) -> None:
    for each in (first, second):
        expect(each.page).to_have_title(title)


def _told(*windows: BrowserWindow) -> list[str]:
    """What was shown on the desktop, in the order in which it happened."""
    shown = [
        notification
        for each in windows
        for notification in each.page.evaluate("window.shown.map(n => [n.at, n.title])")
    ]
    return [title for _, title in sorted(shown)]


def test_an_expired_login_says_so_and_returns_with_a_new_link(
    project: TempProject, browser: Browser, serve: Serve
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    server = serve()
    with window(browser, server) as shown:
        page = shown.page
        expect(page.get_by_text("01-walls").first).to_be_visible()
        project.plait("token", "--rotate")
        expect(page.get_by_text("You are logged out")).to_be_visible()
        expect(page.get_by_text("plait token --link")).to_be_visible()
        assert find_violations(page) == []
        link = project.plait("token", "--link", "--url", server.url).out.strip()
        other = page.context.new_page()
        other.goto(link)
        expect(other.get_by_text("01-walls").first).to_be_visible()
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.get_by_text("You are logged out")).to_have_count(0)
        shown.ignore_errors("status of 401")
    assert shown.console_errors == []


def test_a_read_only_login_sees_everything_and_changes_nothing(
    project: TempProject, browser: Browser, serve: Serve
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    server = serve()
    link = project.plait("token", "--read-only", "--link", "--url", server.url).out.strip()
    with window(browser, replace(server, link=link)) as shown:
        page = shown.page
        expect(page.get_by_text("Read-only", exact=True)).to_be_visible()
        page.get_by_role("link", name="Settings").click()
        expect(page.get_by_text("This login is read-only")).to_be_visible()
        expect(page.get_by_role("textbox", name="Verify", exact=True)).to_be_disabled()
        expect(page.get_by_role("switch", name="Stop on fail")).to_be_disabled()
        assert find_violations(page) == []
        page.get_by_role("radiogroup", name="Theme").get_by_label("Dark").check()
    assert shown.console_errors == []


def test_a_new_build_of_the_page_is_offered(
    project: TempProject, browser: Browser, serve: Serve, tmp_path: Path
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    folder = tmp_path / "page"
    shutil.copytree(find_page_folder(), folder)
    project.env[PAGE_FOLDER_VARIABLE] = str(folder)
    with window(browser, serve()) as shown:
        page = shown.page
        with page.expect_response("**/api/me"):
            page.reload()
        expect(page.get_by_text("01-walls").first).to_be_visible()
        index = folder / "index.html"
        index.write_text(index.read_text().replace("</head>", '<meta name="newer" /></head>'))
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.get_by_text("A newer version of this page is available")).to_be_visible()
        page.get_by_role("button", name="Reload").click()
        expect(page.locator("meta[name=newer]")).to_have_count(1)
        expect(page.get_by_text("A newer version of this page is available")).to_have_count(0)
    assert shown.console_errors == []


def test_a_view_that_could_not_be_loaded_is_loaded_when_it_can_be(
    project: TempProject, browser: Browser, serve: Serve
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    with window(browser, serve()) as shown:
        page = shown.page
        expect(page.get_by_text("01-walls").first).to_be_visible()
        views = page.get_by_role("navigation", name="Views")
        page.route("**/assets/SettingsView*.js", lambda route: route.abort())
        views.get_by_role("link", name="Settings").click()
        expect(page.get_by_role("alert")).to_contain_text("Failed to fetch")
        views.get_by_role("link", name="Board").click()
        expect(page.get_by_text("01-walls").first).to_be_visible()
        views.get_by_role("link", name="Settings").click()
        expect(page.get_by_role("alert")).to_be_visible()
        page.unroute("**/assets/SettingsView*.js")
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
        shown.ignore_errors("Failed to", "ERR_FAILED")
    assert shown.console_errors == []


def test_errors_are_not_pushed_out_by_what_succeeds(project: TempProject, browser: Browser, serve: Serve) -> None:
    names = [f"0{n}-task" for n in range(1, 6)]
    for name in names:
        project.task(name, "exit 1")
    project.commit_all()
    assert project.plait("run", "--yes", "--retries", "0").code != 0
    with window(browser, serve()) as shown:
        page = shown.page
        page.clock.install()
        first = page.locator(f'[data-card="{names[0]}"]')
        page.route("**/tasks/01-task/retry", lambda route: route.abort())
        first.get_by_role("button").first.focus()
        page.keyboard.press("Shift+R")
        error = page.get_by_role("alert").filter(has_text="The server is not responding")
        expect(error).to_be_visible()
        for name in names[1:]:
            page.locator(f'[data-card="{name}"]').get_by_role("button").first.focus()
            page.keyboard.press("Shift+R")
            expect(page.get_by_text(f"Retrying {name}")).to_be_visible()
        expect(error).to_be_visible()
        shown.ignore_errors("ERR_FAILED")
    assert shown.console_errors == []
