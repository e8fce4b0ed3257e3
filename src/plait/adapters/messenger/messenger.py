"""The messenger: an onlooker with a thread of its own. It may be slow, or fail, and the engine does not notice."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from threading import Condition, Thread

from plait.adapters.messenger.memory import Memory
from plait.adapters.messenger.message import Addressee, Message, message_of
from plait.adapters.messenger.route import GATHER, STALE, Route
from plait.core.events import Record
from plait.core.frozen import dataclass
from plait.core.state import State
from plait.core.tiding import Tiding, TidingKind
from plait.core.tidings import TELLING, Tidings

PATIENCE = 75.0  # seconds after the last news for which an engine stays: all tries fit in, where receivers answer at all
PARTING = 1.0  # seconds for the thread to end


@dataclass(frozen=True, slots=True)
class Errand:
    """`on`: what is told; `project` and `journal` are what messages name."""

    on: Collection[TidingKind]
    project: str
    journal: str


class Messenger:
    """`replay`, `hear`, `at_rest` and `close` are the engine's thread's; the routes belong to the other one."""

    def __init__(
        self,
        errand: Errand,
        addressees: Sequence[Addressee],
        memory: Memory,
        say: Callable[[str], None],
        *,
        gather: float = GATHER,
    ) -> None:
        self._errand, self._say, self._gather = errand, say, gather
        self._routes = [Route(each, memory, self._message, say) for each in addressees]
        self._tidings = Tidings()
        self._past: list[Record] | None = []
        self._horizon = time.time() - STALE
        self._thread: Thread | None = None
        # What follows is shared.
        self._changed = Condition()
        self._news: list[Tiding] = []
        self._heard = 0
        self._busy = False
        self._since = 0.0
        self._closing = False

    def replay(self, record: Record) -> None:
        """An earlier engine may have died before it told this."""
        if record.at >= self._horizon and self._past is not None and isinstance(record.event, TELLING):
            self._past.append(record)

    def hear(self, state: State, records: Sequence[Record]) -> None:
        try:
            self._hear(state, records)
        except Exception as error:  # noqa: BLE001 - nobody's work depends on news of it
            self._say(f"warning: messages are not sent: {type(error).__name__}: {error}")

    @property
    def at_rest(self) -> bool:
        """A receiver that keeps the line open and says nothing is not waited for."""
        with self._changed:
            return not self._busy or time.monotonic() - self._since > PATIENCE

    def close(self) -> None:
        """What waits is told by the next engine."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(PARTING)
        if self._thread is None or not self._thread.is_alive():
            self._take_over()
            for route in self._routes:
                route.save()

    def _hear(self, state: State, records: Sequence[Record]) -> None:
        if not records:
            return
        past, self._past = self._past, None
        if past is not None:
            for route in self._routes:
                route.begin(records[0].seq - 1)
        found = self._tidings.take(state, [*(past or ()), *records])
        wanted = [tiding for tiding in found if tiding.kind in self._errand.on]
        with self._changed:
            self._heard = records[-1].seq
            if wanted:
                self._news += wanted
                self._busy, self._since = True, time.monotonic()
                self._changed.notify()
        if wanted and self._thread is None:
            self._thread = Thread(target=self._work, name="messenger", daemon=True)
            self._thread.start()

    def _message(self, tiding: Tiding) -> Message:
        return message_of(tiding, self._errand.project, self._errand.journal)

    def _work(self) -> None:
        while self._await():
            self._take_over()
            for route in self._routes:
                if route.due is not None and route.due <= time.monotonic() and not self._closing:
                    self._deliver(route)
            with self._changed:
                self._busy = bool(self._news) or any(route.due is not None for route in self._routes)

    def _deliver(self, route: Route) -> None:
        try:
            route.deliver(time.time())
        except Exception as error:  # noqa: BLE001 - the thread must not die: nobody would be told anything any more
            self._say(f"warning: a message was not sent: {type(error).__name__}")

    def _await(self) -> bool:
        """Until there is something to do; False when all is over."""
        with self._changed:
            while not self._closing and not self._news:
                dues = [route.due for route in self._routes if route.due is not None]
                left = min(dues) - time.monotonic() if dues else None
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
            return not self._closing

    def _take_over(self) -> None:
        with self._changed:
            news, self._news, heard = self._news, [], self._heard
        for route in self._routes:
            route.take(news, heard, self._gather)
