"""Who is not logged in, and who comes from elsewhere, in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from playwright.sync_api import Browser, expect

from tests.support.accessibility import find_violations
from tests.support.running_server import Serve
from tests.support.temp_project import TempProject


class Elsewhere(BaseHTTPRequestHandler):
    """Another site, with a link to wherever its address says."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f'<a href="{unquote(self.path[2:])}">go</a>'.encode())

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - its name there
        """Nobody reads it."""


@contextmanager
def another_site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.2", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.2:{server.server_address[1]}/?"
        finally:
            server.shutdown()
            thread.join()


def test_without_a_login_the_page_shows_the_command_for_a_link(
    browser: Browser, serve: Serve, project: TempProject
) -> None:
    project.commit_all()
    server = serve()
    page = browser.new_page(color_scheme="dark")
    answer = page.goto(f"{server.url}/batches/7f3a/graph")
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_role("heading")).to_have_text("This browser is not logged in.")
    expect(page.locator("code")).to_have_text(f"plait token --link --url {server.url}")
    assert find_violations(page) == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 17, 20)"
    page.close()


def test_a_login_link_on_another_site_works(browser: Browser, serve: Serve, project: TempProject) -> None:
    project.commit_all()
    server = serve()
    with another_site() as elsewhere:
        page = browser.new_page()
        for target, there in (
            (server.link, "/"),
            (f"{server.url}/settings", "/settings"),
            (server.link, "/"),
        ):
            page.goto(elsewhere + target)
            page.get_by_text("go").click()
            page.wait_for_url(f"{server.url}{there}")
            page.wait_for_function("fetch('/api/me').then(answer => answer.status === 200)")
        page.close()


def test_a_used_login_link_says_so_once(browser: Browser, serve: Serve, project: TempProject) -> None:
    project.commit_all()
    server = serve()
    with another_site() as elsewhere:
        first, page = browser.new_page(), browser.new_page()
        first.goto(server.link)
        page.goto(elsewhere + server.link)
        asked: list[int] = []
        page.on("response", lambda answer: asked.append(answer.status) if "/login?" in answer.url else None)
        page.get_by_text("go").click()
        expect(page.get_by_role("heading")).to_have_text("This link was already used: links are valid once.")
        page.wait_for_load_state("networkidle")
        assert asked == [410, 410]
        first.close()
        page.close()
