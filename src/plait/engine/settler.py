"""The settler: a thread of its own that tells the sources, so that a slow file system never holds up an attempt.

What it has not told yet is owed in the journal, so it may gather what happens meanwhile and tell it at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread

from plait.core.decisions import AttemptStarted, BatchEnded, TaskEnded, TaskInterrupted
from plait.core.events import Record
from plait.core.plan import Problem, Severity
from plait.core.reports import SourcesWritten
from plait.engine import log
from plait.engine.settle import Settled, Write, bills, pay
from plait.ports import Reactor, Timer
from plait.sources.ledger import Bill, Ledger

_TOLD = (AttemptStarted, TaskEnded, TaskInterrupted)

PAUSE = 0.5  # seconds between two rounds: many ends are told together
REST = 9  # … or so many times as long as the last one took: a large file is read whole each time
LONGEST = 10.0
PATIENCE = 30.0  # until a source that could not be written is tried again


class Settler:
    """`told` is called in the loop, for the journal, with what was written."""

    def __init__(self, write: Write, reactor: Reactor, told: Callable[[SourcesWritten], None]) -> None:
        self._write = write
        self._reactor = reactor
        self._told = told
        self._ledger = Ledger()
        self._orders: SimpleQueue[list[Bill] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._busy = False
        self._asked = 0  # bills that are being paid
        self._took = 0.0  # seconds, the last round
        self._timer: Timer | None = None
        self._dirty = False  # something may be owed that was not looked at yet
        self._awaited = False  # a batch has ended: somebody is waiting to read it
        self._stuck = False
        self._said: frozenset[str] = frozenset()

    def take(self, record: Record) -> None:
        self._ledger.take(record)
        self._dirty = self._dirty or isinstance(record.event, _TOLD)
        if isinstance(record.event, BatchEnded):
            self._hurry()

    @property
    def at_rest(self) -> bool:
        """Nothing is under way, and nothing is owed that could be told now."""
        return not self._busy and (self._stuck or (self._timer is None and not self._dirty))

    def poke(self) -> None:
        """Something may be owed: tell it, soon."""
        if self._dirty and not self._busy and self._timer is None:
            pause = max(PAUSE, min(LONGEST, REST * self._took))
            at_once = self._awaited or self._thread is None
            self._timer = self._reactor.after(0.0 if at_once else pause, self._begin)

    def finish(self) -> None:
        """Whoever leaves wants it told now."""
        if self._timer is not None and not self._stuck:
            self._timer.cancel()
            self._begin()

    def _hurry(self) -> None:
        """Somebody has waited for this: nobody rests before the last statuses are told."""
        self._awaited = True
        if self._timer is not None and not self._stuck:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join()
            self._thread = None

    def _begin(self) -> None:
        self._timer = None
        self._stuck = self._dirty = False
        self._awaited = False
        owed = bills(self._ledger)
        if not owed or self._busy:
            return
        self._busy, self._asked = True, len(owed)
        if self._thread is None:
            self._thread = Thread(target=self._work, name="settler", daemon=True)
            self._thread.start()
        self._orders.put(owed)

    def _work(self) -> None:
        while (owed := self._orders.get()) is not None:
            began = time.monotonic()
            try:
                settled = pay(owed, self._write)
            except Exception as error:  # noqa: BLE001 - it must not die silently: nothing would be told any more
                log.say_trace(error)
                settled = Settled(problems=(Problem(Severity.ERROR, f"sources are not told: {error}"),))
            self._reactor.post(partial(self._done, settled, time.monotonic() - began))

    def _done(self, settled: Settled, took: float) -> None:
        self._busy, self._took = False, took
        said = frozenset(problem.message for problem in settled.problems)
        for problem in settled.problems:
            if problem.message not in self._said:
                log.say(f"{problem.severity.value}: {problem.at or ''} {problem.message} {problem.hint}")
        self._said = said
        for report in settled.reports:
            self._told(report)
        if len(settled.reports) < self._asked and not self._dirty:
            self._stuck = True
            self._timer = self._reactor.after(PATIENCE, self._begin)
        else:
            self.poke()
