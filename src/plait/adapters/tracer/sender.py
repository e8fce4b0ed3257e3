"""The sender: spans on their way, in a thread of their own. Whoever puts them never waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from typing import Protocol

from plait.core.frozen import dataclass
from plait.core.spans.span import Span

MOST = 10_000  # spans that wait; the oldest of more are given up
PORTION = 512  # spans that are sent at once
FIRST, LONGEST = 5.0, 300.0  # seconds until a receiver that did not take them is tried again
FAREWELL = 2.0  # seconds that leaving may take

Say = Callable[[str], None]


class Channel(Protocol):
    """To whoever receives spans."""

    def send(self, spans: Sequence[Span]) -> str | None:
        """None: they have arrived. Else why not."""

    def close(self) -> None:
        """Whoever sends at this moment gives up soon. From another thread."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """What one record brought to its end."""

    seq: int
    spans: tuple[Span, ...]


class Sender:
    """`open_channel` is called in the thread; if it raises ImportError, nothing is ever sent. `arrived` is told up to which
    record all is there.
    """

    def __init__(self, open_channel: Callable[[], Channel], arrived: Callable[[int], None], say: Say) -> None:
        self._open, self._arrived, self._say = open_channel, arrived, say
        self._waiting = deque[Parcel]()
        self._size = 0  # spans in it
        self._news = Condition()
        self._sending = self._closing = self._failing = self._useless = self._lossy = False
        self._channel: Channel | None = None
        self._thread: Thread | None = None

    def put(self, parcel: Parcel) -> None:
        with self._news:
            if self._useless or self._closing:
                return
            self._waiting.append(parcel)
            self._size += len(parcel.spans)
            while self._size > MOST:
                self._size -= len(self._waiting.popleft().spans)
                self._lose()
            self._news.notify()
        if self._thread is None:
            self._thread = Thread(target=self._run, name="tracer", daemon=True)
            self._thread.start()

    @property
    def at_rest(self) -> bool:
        """Nothing is on its way; or the receiver does not take it now, and the next engine sends it."""
        with self._news:
            return self._failing or self._useless or not (self._waiting or self._sending)

    def close(self) -> None:
        with self._news:
            self._closing = True
            self._news.notify()
            channel = self._channel
        if channel is not None:
            channel.close()
        if self._thread is not None:
            self._thread.join(FAREWELL)

    def _lose(self) -> None:
        if not self._lossy:
            self._lossy = True
            self._say(f"warning: more than {MOST} spans wait to be sent; the oldest are given up")

    def _run(self) -> None:
        try:
            channel = self._open()
        except ImportError:
            self._give_up("traces need OpenTelemetry: pip install 'plait[otel]'")
            return
        except Exception as error:  # noqa: BLE001 - whatever it is: work goes on without traces
            self._give_up(f"traces can't be sent: {error}")
            return
        with self._news:
            self._channel = channel
        pause = FIRST
        while (parcels := self._next()) is not None:
            why = self._delivered(channel, parcels)
            pause = FIRST if why is None else self._failed(parcels, why, pause)

    def _give_up(self, why: str) -> None:
        with self._news:
            self._useless = True
            self._waiting.clear()
        self._say(f"warning: {why}")

    def _next(self) -> list[Parcel] | None:
        """None: it is time to leave."""
        with self._news:
            self._news.wait_for(lambda: self._waiting or self._closing)
            if self._closing:
                return None
            taken, size = list[Parcel](), 0
            while self._waiting and (not taken or size + len(self._waiting[0].spans) <= PORTION):
                taken.append(self._waiting.popleft())
                size += len(taken[-1].spans)
                if not size:  # where to begin is known, whatever becomes of the rest
                    break
            self._size -= size
            self._sending = True
            return taken

    def _delivered(self, channel: Channel, parcels: Sequence[Parcel]) -> str | None:
        spans = [span for parcel in parcels for span in parcel.spans]
        try:
            why = channel.send(spans) if spans else None
        except Exception as error:  # noqa: BLE001 - as above
            why = str(error)
        if why is None:
            self._arrived(parcels[-1].seq)
            with self._news:
                if self._failing:
                    self._say("traces can be sent again")
                self._sending = self._failing = False
        return why

    def _failed(self, parcels: Sequence[Parcel], why: str, pause: float) -> float:
        """Put them back, and wait; how long to wait the next time."""
        with self._news:
            if not self._failing and not self._closing:
                self._say(f"warning: traces can't be sent, and will be tried again: {why}")
            self._waiting.extendleft(reversed(parcels))
            self._size += sum(len(parcel.spans) for parcel in parcels)
            self._sending, self._failing = False, True
            self._news.wait_for(lambda: self._closing, pause)
        return min(2 * pause, LONGEST)
