"""A thread pool for slow work (disk, git, network). Jobs with the same key run in order; results are handled in the loop.

A job's git commands can be cancelled, and report the programs that they wait for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from plait.git.command import CommandControl, control_commands
from plait.git.object_reader import share_readers
from plait.runtime.executor import Reactor

MAX_THREADS = 8  # for each kind of job; most of them wait for git

T = TypeVar("T")
Work = Callable[[], None]


class WorkerPool:
    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._threads: dict[Hashable, ThreadPoolExecutor] = {}
        self._queues: dict[Hashable, deque[Work]] = {}
        self._running: set[CommandControl] = set()
        self._is_closing = False

    @property
    def is_idle(self) -> bool:
        return not self._queues

    def submit(
        self,
        key: Hashable,
        job: Callable[[], T],
        on_done: Callable[[T], None],
        on_error: Callable[[Exception], None],
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> CommandControl:
        """Run the job in a thread, after earlier jobs with the same key; then one of the two callbacks, in the loop.

        `on_wait` gets the name of a program that a git command of the job waits for, and "" when it no longer does; it
        is called in the loop as well.
        """

        def report_wait(program: str) -> None:
            if self._is_closing and program:
                control.cancel()
            self._reactor.call_soon(partial(on_wait, program))

        control = CommandControl(report_wait)
        queue = self._queues.get(key)
        run = partial(self._run, key, control, job, on_done, on_error)
        if queue is None:
            self._queues[key] = deque()
            self._start(key, run)
        else:
            queue.append(run)
        return control

    def close(self) -> None:
        """Wait for jobs that have started, so that nothing is left incomplete; the next engine does the others.

        A job that waits for another program may wait for a person, so it is cancelled.
        """
        self._is_closing = True
        for control in [control for control in self._running if control.awaited_program]:
            control.cancel()
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
        for threads in self._threads.values():
            threads.shutdown()
        self._threads.clear()

    def _start(self, key: Hashable, run: Work) -> None:
        """Start a job in the threads of its kind, named by its key's first part: merges don't wait for checkouts."""
        kind = key[0] if isinstance(key, tuple) else key
        if kind not in self._threads:
            self._threads[kind] = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix=f"worker-{kind}")
        self._threads[kind].submit(run)

    def _run(
        self,
        key: Hashable,
        control: CommandControl,
        job: Callable[[], T],
        on_done: Callable[[T], None],
        on_error: Callable[[Exception], None],
    ) -> None:
        self._running.add(control)
        try:
            with control_commands(control), share_readers():
                callback: Work = partial(on_done, job())
        except Exception as error:  # noqa: BLE001 - the caller knows what it means
            callback = partial(on_error, error)
        self._running.discard(control)
        self._reactor.call_soon(partial(self._finish, key, callback))

    def _finish(self, key: Hashable, callback: Work) -> None:
        queue = self._queues[key]
        if queue:
            self._start(key, queue.popleft())
        else:
            del self._queues[key]
        callback()
