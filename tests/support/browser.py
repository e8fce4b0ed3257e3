"""Windows of a real browser, on the page of a real server.

A window collects what must never happen: anything in its console, and requests to other hosts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Locator, Page, sync_playwright

from tests.support.running_server import ServerAccess
from tests.support.waiting import TIMEOUT_SECONDS

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No requests of the browser's own: they would go to other hosts.
_OFFLINE_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
TIMEOUT_MS = 1000 * TIMEOUT_SECONDS
WIDE = (1440, 900)
PHONE = (390, 844)
# Texts with a character that turns what follows it around.
TURNING_TEXTS = """() => [...document.querySelectorAll("*")]
    .flatMap(element => [...[...element.attributes].map(({ value }) => value),
                         ...[...element.childNodes].filter(node => node.nodeType === 3).map(({ data }) => data)])
    .filter(text => text.includes("\u202e"))"""


@dataclass
class BrowserWindow:
    """`page` is Playwright's. `console_errors` holds all output, uncaught errors and requests to other hosts."""

    page: Page
    url: str
    console_errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", self._failed)
        self.page.on("request", lambda request: self._request(request.url))

    def ignore_errors(self, *words: str) -> None:
        """Forget errors that contain any of these words: for tests that break something on purpose."""
        self.console_errors = [each for each in self.console_errors if not any(word in each for word in words)]

    def go(self, path: str = "/") -> None:
        self.page.goto(f"{self.url}{path}")

    def _console(self, message: ConsoleMessage) -> None:
        self.console_errors.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _failed(self, error: Error) -> None:
        self.console_errors.append(f"uncaught: {error}")

    def _request(self, url: str) -> None:
        told = urlsplit(url)
        if told.scheme not in {"data", "blob"} and f"{told.scheme}://{told.netloc}" != self.url:
            self.console_errors.append(f"a request to another host: {url}")


OpenWindow = Callable[..., BrowserWindow]


@contextmanager
def browser() -> Iterator[Browser]:
    """The installed Chromium, or else the one that Playwright has downloaded."""
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
    """A window in a context of its own, logged in by a link."""
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
    """Open a window; the first one of a context logs it in."""
    made = BrowserWindow(context.new_page(), server.url)
    context.set_default_timeout(TIMEOUT_MS)
    made.go(login_path(server) if not context.cookies() else "/")
    return made


def drawn_colour(text: Locator) -> list[int]:
    """Red, green and blue of a text, in whatever way its style names them."""
    drawn: list[int] = text.evaluate(
        """element => {
            const canvas = document.createElement("canvas").getContext("2d");
            canvas.fillStyle = getComputedStyle(element).color;
            canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
        }"""
    )
    return drawn


def login_path(server: ServerAccess) -> str:
    """The path and query of the login link, which works once."""
    told = urlsplit(server.link)
    return f"{told.path}?{told.query}"


def _find_chromium() -> str | None:
    named = os.environ.get("PLAIT_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, _NAMES)), None)
    return str(Path(found)) if found else None


def _browser_flags() -> list[str]:
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*_OFFLINE_FLAGS, *(["--no-sandbox"] if root else [])]  # as root, Chromium's sandbox refuses
