"""How long the page's main thread was busy without a break, from the browser's own trace.

A task's CPU time does not depend on what else the machine does; its wall time does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from playwright.sync_api import Browser, Page

_TASKS = frozenset({"RunTask", "ThreadControllerImpl::RunTask"})


@dataclass
class LongestTask:
    """In milliseconds; zeros as long as the trace runs."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def trace_longest_task(browser: Browser, page: Page) -> Iterator[LongestTask]:
    """For seconds, not minutes: the browser keeps the whole trace in memory."""
    longest = LongestTask()
    browser.start_tracing(page=page, categories=["toplevel"])
    try:
        yield longest
    finally:
        events: list[dict[str, Any]] = msgspec.json.decode(browser.stop_tracing())["traceEvents"]
        tasks = _main_thread_tasks(events)
        longest.wall = max((each["dur"] / 1000 for each in tasks), default=0.0)
        longest.cpu = max((each.get("tdur", 0) / 1000 for each in tasks), default=0.0)


def _main_thread_tasks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    threads = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    return [
        each
        for each in events
        if each["ph"] == "X" and each["name"] in _TASKS and (each["pid"], each["tid"]) in threads
    ]
