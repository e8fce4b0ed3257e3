from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from plait.server.auth import create_authenticator, make_login_link
from plait.server.http.web_page import PAGE_FOLDER_VARIABLE
from tests.support.browser import (
    TIMEOUT_MS,
    WIDE,
    BrowserWindow,
    OpenWindow,
    browser as make_browser,
    window as make_window,
)
from tests.support.running_server import Serve, ServerAccess, serve_page
from tests.support.temp_project import TempProject, temp_project as make_project

_browser_stack = ExitStack()
_browsers: list[Browser] = []


@pytest.fixture(scope="module")
def browser() -> Browser:
    """One for all tests of the page that this worker runs in a row."""
    if not _browsers:
        expect.set_options(timeout=TIMEOUT_MS)
        _browsers.append(_browser_stack.enter_context(make_browser()))
    return _browsers[0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Playwright keeps an event loop running, beside which no other test can run its own."""
    if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
        _browsers.clear()
        _browser_stack.close()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    """A repository with a remote; tasks run in worktrees. Nothing is committed before `project.commit_all()`."""
    with make_project(tmp_path, worktrees=True) as made:
        if PAGE_FOLDER_VARIABLE in os.environ:
            made.env[PAGE_FOLDER_VARIABLE] = os.environ[PAGE_FOLDER_VARIABLE]
        yield made


@pytest.fixture
def serve(project: TempProject) -> Iterator[Serve]:
    """Starts a server in this process, with the environment that the project has then."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(serve_page(project))


@pytest.fixture
def open_window(browser: Browser, serve: Serve) -> Iterator[OpenWindow]:
    """Windows on one server: `open_window(size=PHONE, dark=True)`. In the end no console may have an error."""
    windows: list[BrowserWindow] = []
    with ExitStack() as stack:
        servers: list[ServerAccess] = []

        def open_(*, size: tuple[int, int] = WIDE, dark: bool = False) -> BrowserWindow:
            if not servers:
                servers.append(serve())
            link = make_login_link(create_authenticator(), servers[0].url)
            made = stack.enter_context(make_window(browser, replace(servers[0], link=link), size=size, dark=dark))
            windows.append(made)
            return made

        yield open_
        assert [each for made in windows for each in made.console_errors] == []
