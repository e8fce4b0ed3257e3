"""The web page with many tasks and much going on: a real browser, a real server, and a journal that is written at a pace.

Every figure is taken while things change. The floor of the first one is a page of the same server that has nothing to do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import msgspec
from playwright.sync_api import CDPSession, Page

from bench.page_feed import furnish
from bench.table import Row
from plait.server.http.web_page import PAGE_FOLDER_VARIABLE
from tests.support.browser import browser

RATE = 50  # records a second; each is at least one event
CARD = "[data-card]"
VIEWS = ("/graph", "/timeline")
# Kept from the first moment on: when the first card was there, and everything that kept the page from answering.
_WATCH = """
window.seen = { card: null, tasks: [], slowest: 0 };
new MutationObserver((_, observer) => {
  if (document.querySelector("%s") === null) return;
  window.seen.card = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) window.seen.tasks.push([startTime, duration]);
}).observe({ type: "longtask" });
new PerformanceObserver((list) => {
  for (const { duration, interactionId } of list.getEntries())
    if (interactionId) window.seen.slowest = Math.max(window.seen.slowest, duration);
}).observe({ type: "event", durationThreshold: 16 });
"""


@dataclass(frozen=True, slots=True)
class _Served:
    url: str
    link: str


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    tasks, seconds = (1_000, 60) if quick else (1_000, 600)
    with TemporaryDirectory() as name, browser() as chromium:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "home" / "state")  # where the project's state is claimed
        furnish(folder, tasks)
        with _server(folder) as served:
            page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.add_init_script(_WATCH % CARD)
            page.goto(served.link)
            first, floor = _first(page, served.url)
            with _feed(folder, 1.2 * seconds + 30):
                return [
                    Row(f"first card of {tasks:,} tasks", first, "ms", floor, "under 1,000 ms"),
                    *_watched(page, page.context.new_cdp_session(page), seconds),
                    *(_opened(page, served.url, view) for view in VIEWS),
                ]


def _first(page: Page, url: str) -> tuple[float, float]:
    ours, floor = [], []
    for _ in range(5):
        page.goto(f"{url}/")
        page.wait_for_selector(CARD)
        ours.append(float(page.evaluate("window.seen.card")))
        page.goto(f"{url}/api/docs")
        floor.append(float(page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart")))
    page.goto(f"{url}/")
    page.wait_for_selector(CARD)
    return median(ours), median(floor)


def _watched(page: Page, session: CDPSession, seconds: float) -> list[Row]:
    session.send("Performance.enable")
    _used(page, seconds / 5)  # until then it fills what it keeps
    warm = _heap(session)
    begin = float(page.evaluate("performance.now()"))
    _used(page, seconds)
    seen = page.evaluate("window.seen")
    tasks = [duration for at, duration in seen["tasks"] if at > begin]
    during = f"{RATE} updates a second for {seconds:.0f} s"
    return [
        Row(f"longest task, {during}", max(tasks, default=0.0), "ms", None, "under 100 ms"),
        Row("tasks over 100 ms", float(sum(duration > 100 for duration in tasks)), "", None, "none"),
        Row("slowest answer to a key or a click", seen["slowest"], "ms", None, "under 200 ms"),
        Row("memory at the end, against the beginning", _heap(session), "MiB", warm, "at most 1.2x"),
    ]


def _opened(page: Page, url: str, view: str) -> Row:
    """The longest task from loading a view of a batch of all tasks until it has been moved about in."""
    batch = page.evaluate("fetch('/api/batches').then(got => got.json()).then(got => got.batches[0].id)")
    page.goto(f"{url}/batches/{batch}{view}")
    page.get_by_role("main").locator("button").nth(20).wait_for()
    page.mouse.move(700, 500)
    for key in ("f", "+", "+"):
        page.keyboard.press(key)
        page.mouse.wheel(0, 1500)
        page.wait_for_timeout(500)
    tasks = [duration for _, duration in page.evaluate("window.seen.tasks")]
    return Row(
        f"longest task, {view.removeprefix('/')} of 1,000 tasks", max(tasks, default=0.0), "ms", None, "under 100 ms"
    )


def _used(page: Page, seconds: float) -> None:
    began = monotonic()
    while monotonic() - began < seconds:
        _use(page)


def _use(page: Page) -> None:
    """What a person does all day: look around, choose some, look for something, and put it back."""
    page.mouse.move(400, 400)
    page.mouse.wheel(0, 3000)
    page.locator(CARD).first.hover()
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("/")
    page.keyboard.type("number 7")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_timeout(1500)


def _heap(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    told: dict[str, Any] = session.send("Performance.getMetrics")  # Any: what the browser answers
    used = next(each["value"] for each in told["metrics"] if each["name"] == "JSHeapUsedSize")
    return float(used) / 2**20


@contextmanager
def _server(folder: Path) -> Iterator[_Served]:
    home = folder / "home"
    env = {
        "PATH": os.environ["PATH"],
        "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
        "HOME": str(home),
        PAGE_FOLDER_VARIABLE: os.environ.get(PAGE_FOLDER_VARIABLE, ""),
    }
    words = [sys.executable, "-m", "plait", "serve", "--json", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE) as started:
        try:
            assert started.stdout is not None
            told = msgspec.json.decode(started.stdout.readline(), type=dict[str, Any])
            yield _Served(told["url"], told["link"])
        finally:
            started.kill()


@contextmanager
def _feed(folder: Path, seconds: float) -> Iterator[None]:
    words = [sys.executable, "-m", "bench.page_feed", str(folder), str(RATE), str(seconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as started:
        try:
            assert started.stdout is not None
            started.stdout.readline()
            yield
        finally:
            started.kill()
