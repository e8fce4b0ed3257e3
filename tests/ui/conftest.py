from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from plait.server.http.web_page import PAGE_FOLDER_VARIABLE
from tests.support.browser import WIDE, BrowserWindow, browser as make_browser, window as make_window
from tests.support.running_server import ServerProcess, start_server
from tests.support.temp_project import TempProject, temp_project as make_project

Opens = Callable[..., BrowserWindow]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=30_000)  # a machine that is busy takes its time
    with make_browser() as made:
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    """A repository with a remote; tasks have worktrees. Nothing is committed before `project.commit_all()`."""
    with make_project(tmp_path, worktrees=True) as made:
        if PAGE_FOLDER_VARIABLE in os.environ:
            made.env[PAGE_FOLDER_VARIABLE] = os.environ[PAGE_FOLDER_VARIABLE]
        yield made


@pytest.fixture
def opens(browser: Browser, project: TempProject) -> Iterator[Opens]:
    """A server of the project's, and windows on it: `opens(size=PHONE, dark=True)`. No window may have complained at the end."""
    servers: list[ServerProcess] = []
    windows: list[BrowserWindow] = []
    with ExitStack() as stack:

        def open_(*, size: tuple[int, int] = WIDE, dark: bool = False) -> BrowserWindow:
            if not servers:
                servers.append(start_server(project))
            server = servers[0] if not windows else _linked(servers[0], project)
            made = stack.enter_context(make_window(browser, server, size=size, dark=dark))
            windows.append(made)
            return made

        yield open_
        assert [each for made in windows for each in made.console_errors] == []


def _linked(server: ServerProcess, project: TempProject) -> ServerProcess:
    link = project.plait("token", "--link", "--url", server.url).out.strip()
    return ServerProcess(server.process, server.url, link, server.pid, server.token)
