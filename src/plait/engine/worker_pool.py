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

from plait.runtime.executor import Reactor

MAX_THREADS = 8  # threads: each mostly waits for a git

T = TypeVar("T")
Work = Callable[[], None]


class WorkerPool:
    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._threads: dict[Hashable, ThreadPoolExecutor] = {}
        self._queues: dict[Hashable, deque[Work]] = {}

    @property
    def is_idle(self) -> bool:
        return not self._queues

    def submit(
        self,
        key: Hashable,
        job: Callable[[], T],
        on_done: Callable[[T], None],
        on_error: Callable[[Exception], None],
    ) -> None:
        """Run `errand` in a thread, after whatever was given about the same thing; then one of the two, in the loop."""
        line = self._queues.get(key)
        run = partial(self._run, key, job, on_done, on_error)
        if line is None:
            self._queues[key] = deque()
            self._start(key, run)
        else:
            line.append(run)

    def close(self) -> None:
        """What has begun is waited for: it leaves nothing half done. What has not is the next engine's."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
        for threads in self._threads.values():
            threads.shutdown()
        self._threads.clear()

    def _start(self, about: Hashable, run: Work) -> None:
        """A merge does not wait until workspaces are made: what has been made waits for it, and keeps its workspace."""
        kind = about[0] if isinstance(about, tuple) else about
        if kind not in self._threads:
            self._threads[kind] = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix=f"hand-{kind}")
        self._threads[kind].submit(run)

    def _run(
        self,
        about: Hashable,
        errand: Callable[[], T],
        then: Callable[[T], None],
        failed: Callable[[Exception], None],
    ) -> None:
        try:
            come: Work = partial(then, errand())
        except Exception as error:  # noqa: BLE001 - whoever gave the errand knows what it means
            come = partial(failed, error)
        self._reactor.call_soon(partial(self._finish, about, come))

    def _finish(self, about: Hashable, come: Work) -> None:
        line = self._queues[about]
        if line:
            self._start(about, line.popleft())
        else:
            del self._queues[about]
        come()
