"""The first thing that a person does: open the link that the server prints."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.support.browser import BrowserWindow
from tests.support.temp_project import TempProject


def test_the_login_link_opens_the_board(project: TempProject, open_window: Callable[..., BrowserWindow]) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    page = open_window().page
    expect(page.get_by_text("01-walls").first).to_be_visible()
    assert page.url.endswith("/")
