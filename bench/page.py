"""The web page with many tasks and much going on: a real browser, a real server, and a journal that is written at a pace.

Every figure is taken while things change. The floor of the first one is a page of the same server that has nothing to do.
A task of the page is measured twice: its wall time, in which other processes count, and the CPU time of its thread.
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
from playwright.sync_api import Browser, Page

from bench.browser_trace import LongestTask, trace_longest_task
from bench.heap_snapshot import take_heap_snapshot
from bench.page_feed import furnish
from bench.table import Row
from plait.server.http.web_page import PAGE_FOLDER_VARIABLE
from tests.support.browser import browser
from tests.support.running_server import start_server
from tests.support.temp_project import temp_project

RATE = 50  # records a second; each is at least one event
CARD = "[data-card]"
VIEWS = ("/graph", "/timeline")
WARM_SECONDS = 120.0  # until then the page fills what it keeps
TRACE_SECONDS = 15.0
DIFF_FILES, DIFF_LINES = 60, 500
LONG_FILE_LINES = 20_000  # of which a diff shows a few at first
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
    warm = seconds / 5 if quick else WARM_SECONDS
    with TemporaryDirectory() as name, browser() as chromium:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "home" / "state")  # where the project's state is claimed
        furnish(folder, tasks)
        with _server(folder) as served:
            page = _open(chromium, served.link)
            first, floor = _first(page, served.url)
            with _feed(folder, 1.2 * (warm + seconds) + 240):
                shown = [
                    Row(f"first card of {tasks:,} tasks", first, "ms", floor, "under 1,000 ms"),
                    *_watched(chromium, page, warm, seconds),
                    *(row for view in VIEWS for row in _opened(chromium, page, served.url, view)),
                ]
        return [*shown, *_diff(chromium, tasks)]


def _open(chromium: Browser, link: str) -> Page:
    page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(_WATCH % CARD)
    page.goto(link)
    return page


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


def _watched(chromium: Browser, page: Page, warm: float, seconds: float) -> list[Row]:
    session = page.context.new_cdp_session(page)
    _used(page, warm)
    _used_until_batch_is_nearly_over(page)
    before = take_heap_snapshot(session)
    begin = float(page.evaluate("performance.now()"))
    _used(page, seconds)
    seen = page.evaluate("window.seen")
    _used_until_batch_is_nearly_over(page)
    after = take_heap_snapshot(session)
    with trace_longest_task(chromium, page) as longest:
        _used(page, TRACE_SECONDS)
    tasks = [duration for at, duration in seen["tasks"] if at > begin]
    during = f"{RATE} updates a second for {seconds:.0f} s"
    return [
        Row(f"longest task, {during}", max(tasks, default=0.0), "ms", None, "under 100 ms"),
        Row("tasks over 100 ms", float(sum(duration > 100 for duration in tasks)), "", None, "none"),
        _cpu_row("board", longest),
        Row("slowest answer to a key or a click", seen["slowest"], "ms", None, "under 200 ms"),
        Row("objects at the end, against the beginning", after.mebibytes, "MiB", before.mebibytes, "at most 1.1x"),
        Row("detached elements, likewise", after.detached, "", before.detached, "no more"),
    ]


def _opened(chromium: Browser, page: Page, url: str, view: str) -> list[Row]:
    """From loading a view of a batch of all tasks until it has been moved about in."""
    batch = page.evaluate("fetch('/api/batches').then(got => got.json()).then(got => got.batches[0].id)")
    with trace_longest_task(chromium, page) as longest:
        page.goto(f"{url}/batches/{batch}{view}")
        page.get_by_role("main").locator("button").nth(20).wait_for()
        page.mouse.move(700, 500)
        for key in ("f", "+", "+"):
            page.keyboard.press(key)
            page.mouse.wheel(0, 1500)
            page.wait_for_timeout(500)
    return _task_rows(view.removeprefix("/"), longest)


def _diff(chromium: Browser, tasks: int) -> list[Row]:
    """A large change of one of many tasks, from loading it to its end, where a long file is shown as a whole."""
    with TemporaryDirectory() as name, temp_project(Path(name), worktrees=True, forks=False) as project:
        for n in range(tasks):
            project.task(f"t{n:04}", "true")
        project.write("whole.py", "\n".join(f"def cost_{n}(): return {n}  # in cents" for n in range(LONG_FILE_LINES)))
        files = f"sed -i 's/cost_100()/price()/' whole.py; for f in $(seq {DIFF_FILES}); do seq -f 'def price_%.0f(): return 100  # in cents' {DIFF_LINES} > $f.py; done"
        project.task("change", files)
        project.commit_all()
        assert project.plait("run", "--yes", "-s", "change").code == 0
        server = start_server(project)
        page = _open(chromium, server.link)
        with trace_longest_task(chromium, page) as longest:
            page.goto(f"{server.url}/?task=change&batch={project.batch().id}&tab=diff")
            page.get_by_text("price_1()").first.wait_for()
            page.mouse.move(1200, 600)
            for _ in range(10):
                page.mouse.wheel(0, 3000)
                page.wait_for_timeout(200)
            page.get_by_role("region", name="Diff, line by line").press("End")
            page.wait_for_timeout(500)
            page.get_by_role("button", name="Show all lines of whole.py").click()
            page.get_by_role("button", name="Show only the changes of whole.py").wait_for()
            page.wait_for_timeout(500)
        page.close()
    return _task_rows(f"diff of {DIFF_FILES * DIFF_LINES:,} lines", longest)


def _task_rows(view: str, longest: LongestTask) -> list[Row]:
    return [
        Row(f"longest task, {view}, 1,000 tasks", longest.wall, "ms", None, "under 100 ms"),
        _cpu_row(view, longest),
    ]


def _cpu_row(view: str, longest: LongestTask) -> Row:
    return Row(f"… its CPU time, {view}", longest.cpu, "ms", None, "under 100 ms")


def _used(page: Page, seconds: float) -> None:
    began = monotonic()
    while monotonic() - began < seconds:
        _use(page)


def _used_until_batch_is_nearly_over(page: Page) -> None:
    """What the page holds changes with what is left to do: snapshots are compared that are taken at the same point."""
    newest = "fetch('/api/batches?limit=1').then(got => got.json()).then(got => got.batches[0].progress.percentage)"
    while page.evaluate(newest) < 90:
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
