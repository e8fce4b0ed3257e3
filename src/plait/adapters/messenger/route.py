"""The way to one addressee: what waits to be told there, and when it is tried again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from plait.adapters.messenger.memory import Mark, Memory
from plait.adapters.messenger.message import Addressee, Message, Undelivered
from plait.core.tiding import Tiding
from plait.core.tidings_words import bundles, together

GATHER = 1.0  # seconds: what happens at once is told at once
PAUSES = (1.0, 5.0, 15.0)  # seconds before the second try, the third, the last
STALE = 3600.0  # seconds after which something is no news any more
_MOST = 10_000  # tidings that wait


class Route:
    """Belongs to the thread that delivers. `due`: when there is something to do, by the monotonic clock."""

    def __init__(
        self,
        addressee: Addressee,
        memory: Memory,
        message: Callable[[Tiding], Message],
        say: Callable[[str], None],
        *,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self._to, self._memory, self._message, self._say = addressee, memory, message, say
        self._pauses = pauses
        self._waiting: list[Tiding] = []
        self._done: set[tuple[int, str]] = set()  # told, though something before it waits
        self._heard = 0
        self._tries = 0
        self._said: set[str] = set()
        self.due: float | None = None

    def begin(self, seq: int) -> None:
        """Whoever is new is told nothing of what happened before."""
        if self._memory.of(self._to.mark) is None:
            self._note(Mark(seq))

    def take(self, tidings: Sequence[Tiding], heard: int, gather: float) -> None:
        """`heard`: these are all that follow from the records up to there."""
        known = self._memory.of(self._to.mark) or Mark(0)
        fresh = [tiding for tiding in tidings if not known.has(tiding.id)]
        self._heard = max(self._heard, heard)
        if fresh:
            self._waiting = [*self._waiting, *fresh][-_MOST:]
            self._tries, self.due = 0, time.monotonic() + gather

    def deliver(self, wall: float) -> None:
        """Tell what waits. What was not to be told now is tried again, and in the end left for when there is more."""
        self.due = None
        self._waiting = [tiding for tiding in self._waiting if tiding.at > wall - STALE]
        for bundle in bundles(self._waiting):
            try:
                self._to.send(self._message(together(bundle)))
            except Undelivered as error:
                if error.again:
                    self._later(error)
                    return
                self._complain(error)
            else:
                self._said.clear()
            self._settle(bundle)

    def save(self) -> None:
        """What was heard need not be looked at again, but for what waits."""
        upto = min((tiding.seq for tiding in self._waiting), default=self._heard + 1) - 1
        known = self._memory.of(self._to.mark)
        self._done = {each for each in self._done if each[0] > upto}
        if known is not None and upto >= known.upto:
            self._note(Mark(upto, frozenset(self._done)))

    def _settle(self, bundle: Sequence[Tiding]) -> None:
        gone = {tiding.id for tiding in bundle}
        self._waiting = [tiding for tiding in self._waiting if tiding.id not in gone]
        self._done |= gone
        self.save()

    def _later(self, error: Undelivered) -> None:
        if self._tries < len(self._pauses):
            self.due = time.monotonic() + self._pauses[self._tries]
        else:
            self._complain(error)
        self._tries += 1

    def _note(self, mark: Mark) -> None:
        try:
            self._memory.note(self._to.mark, mark)
        except OSError as error:
            self._once(f"what was told can't be kept, and may be told again: {error.strerror}")

    def _complain(self, error: Undelivered) -> None:
        hint = f" ({error.hint})" if error.hint else ""
        self._once(f"{self._to.name} is not told: {error.message}{hint}")

    def _once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(f"warning: {text}")
