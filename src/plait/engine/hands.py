"""Hands: a few threads for what takes its time, so that the loop never waits for a disk, for git or for a network.

Errands about one thing (a workspace, a batch branch) are run in the order they were given, one at a time. What comes of
an errand is told in the loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from plait.ports import Reactor

MOST = 8  # threads: each mostly waits for a git

T = TypeVar("T")
Errand = Callable[[], None]


class Hands:
    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._threads: dict[Hashable, ThreadPoolExecutor] = {}
        self._lines: dict[Hashable, deque[Errand]] = {}

    @property
    def idle(self) -> bool:
        return not self._lines

    def give(
        self,
        about: Hashable,
        errand: Callable[[], T],
        then: Callable[[T], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Run `errand` in a thread, after whatever was given about the same thing; then one of the two, in the loop."""
        line = self._lines.get(about)
        run = partial(self._run, about, errand, then, failed)
        if line is None:
            self._lines[about] = deque()
            self._submit(about, run)
        else:
            line.append(run)

    def close(self) -> None:
        """What has begun is waited for: it leaves nothing half done. What has not is the next engine's."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
        for threads in self._threads.values():
            threads.shutdown()
        self._threads.clear()

    def _submit(self, about: Hashable, run: Errand) -> None:
        """A merge does not wait until workspaces are made: what has been made waits for it, and keeps its workspace."""
        kind = about[0] if isinstance(about, tuple) else about
        if kind not in self._threads:
            self._threads[kind] = ThreadPoolExecutor(MOST, thread_name_prefix=f"hand-{kind}")
        self._threads[kind].submit(run)

    def _run(
        self,
        about: Hashable,
        errand: Callable[[], T],
        then: Callable[[T], None],
        failed: Callable[[Exception], None],
    ) -> None:
        try:
            come: Errand = partial(then, errand())
        except Exception as error:  # noqa: BLE001 - whoever gave the errand knows what it means
            come = partial(failed, error)
        self._reactor.post(partial(self._done, about, come))

    def _done(self, about: Hashable, come: Errand) -> None:
        line = self._lines[about]
        if line:
            self._submit(about, line.popleft())
        else:
            del self._lines[about]
        come()
