"""A thread pool for slow work (disk, git, network). Jobs with the same key run in order; results are handled in the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from plait.runtime.executor import Reactor

MAX_THREADS = 8  # for each kind of job; most of them wait for git

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
        """Run the job in a thread, after earlier jobs with the same key; then one of the two callbacks, in the loop."""
        queue = self._queues.get(key)
        run = partial(self._run, key, job, on_done, on_error)
        if queue is None:
            self._queues[key] = deque()
            self._start(key, run)
        else:
            queue.append(run)

    def close(self) -> None:
        """Wait for jobs that have started, so that nothing is left half done; the next engine does the others."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
        for threads in self._threads.values():
            threads.shutdown()
        self._threads.clear()

    def _start(self, key: Hashable, run: Work) -> None:
        """Each kind of job, named by its key's first part, has its own threads: merges don't wait for checkouts."""
        kind = key[0] if isinstance(key, tuple) else key
        if kind not in self._threads:
            self._threads[kind] = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix=f"worker-{kind}")
        self._threads[kind].submit(run)

    def _run(
        self, key: Hashable, job: Callable[[], T], on_done: Callable[[T], None], on_error: Callable[[Exception], None]
    ) -> None:
        try:
            callback: Work = partial(on_done, job())
        except Exception as error:  # noqa: BLE001 - the caller knows what it means
            callback = partial(on_error, error)
        self._reactor.call_soon(partial(self._finish, key, callback))

    def _finish(self, key: Hashable, callback: Work) -> None:
        queue = self._queues[key]
        if queue:
            self._start(key, queue.popleft())
        else:
            del self._queues[key]
        callback()
