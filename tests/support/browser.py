"""Windows of a real browser, on the page of a real server: what a person does and sees.

A window keeps count of what must never be: an error or a warning in its console, and a word to another host.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect, sync_playwright

from tests.support.running_server import ServerAccess

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing but what a test asks for: the browser's own errands would be words to other hosts.
_OFFLINE_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
_REPORTED_LEVELS = frozenset({"error", "warning"})
_TIMEOUT_MS = 30_000  # milliseconds: no test waits that long for something that comes
WIDE = (1440, 900)
PHONE = (390, 844)


@dataclass
class BrowserWindow:
    """`page` is Playwright's. `complaints` are what a person with the console open would have seen."""

    page: Page
    url: str
    console_errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", self._failed)
        self.page.on("request", lambda request: self._request(request.url))

    def ignore_errors(self, *words: str) -> None:
        """Take away those that hold any of these words: a test that breaks something on purpose says so."""
        self.console_errors = [each for each in self.console_errors if not any(word in each for word in words)]

    def go(self, path: str = "/") -> None:
        self.page.goto(f"{self.url}{path}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in _REPORTED_LEVELS:
            self.console_errors.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _failed(self, error: Error) -> None:
        self.console_errors.append(f"uncaught: {error}")

    def _request(self, url: str) -> None:
        told = urlsplit(url)
        if told.scheme not in {"data", "blob"} and f"{told.scheme}://{told.netloc}" != self.url:
            self.console_errors.append(f"a word to another host: {url}")


OpenWindow = Callable[..., BrowserWindow]


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium as it is here; one that Playwright has brought, where there is none."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=_find_chromium(), args=_browser_flags())
        try:
            yield made
        finally:
            made.close()


@contextmanager
def window(
    browser: Browser, server: ServerAccess, *, size: tuple[int, int] = WIDE, dark: bool = False
) -> Iterator[BrowserWindow]:
    """One that was logged in by a link, as a person is; a login of its own."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        has_touch=size == PHONE,
    )
    try:
        yield add_window(context, server)
    finally:
        context.close()


def add_window(context: BrowserContext, server: ServerAccess) -> BrowserWindow:
    """Another window of a browser; the first one logs it in."""
    made = BrowserWindow(context.new_page(), server.url)
    context.set_default_timeout(_TIMEOUT_MS)
    expect.set_options(timeout=_TIMEOUT_MS)
    made.go(login_path(server) if not context.cookies() else "/")
    return made


def login_path(server: ServerAccess) -> str:
    """What of a link comes after the host: each can be used once."""
    told = urlsplit(server.link)
    return f"{told.path}?{told.query}"


def _find_chromium() -> str | None:
    named = os.environ.get("PLAIT_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, _NAMES)), None)
    return str(Path(found)) if found else None


def _browser_flags() -> list[str]:
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*_OFFLINE_FLAGS, *(["--no-sandbox"] if root else [])]  # as root, Chromium's sandbox refuses
