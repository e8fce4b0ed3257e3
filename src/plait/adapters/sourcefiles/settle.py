"""A version put in place, and all that it takes until nobody has lost anything by that.

It is exchanged with the file in one step; then the displaced version is compared with the one that was expected. If somebody
wrote in between, our version and theirs are made into one, and that is exchanged in turn, until a displaced version is the
one expected. For some moments, then, the file lacked their edit. Whoever opened it in those moments saves a version that
lacks it too: such versions are merged as well, and waited for a little while.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from plait.adapters.sourcefiles import exchange, files, intent
from plait.adapters.sourcefiles.intent import Offer
from plait.adapters.sourcefiles.spot import Spot
from plait.core.frozen import dataclass
from plait.core.plan import Problem
from plait.sources.merge import ancestor, merge
from plait.sources.model import Rewrite
from plait.sources.text import encode

# Seconds between looks at a file that somebody seems to be in the middle of writing.
LOOKS = (0.002, 0.01, 0.05, 0.1, 0.3)
# How long those are waited for who opened a version that lacked an edit: programs; a person's buffer is outside the promise.
_LINGER = (0.02, 0.03, 0.05, 0.05, 0.05)
# As many versions are remembered as somebody may still have open.
MEMORY = 6
# Nobody saves so often in a row; a program that never stops writing is no reason never to return.
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Version:
    """An offer as a file. Until the exchange `temp` names it, then what it displaced; `stat` is what it was made as."""

    offer: Offer
    temp: Path
    stat: os.stat_result


@dataclass(slots=True)
class Settling:
    """`apply` puts the statuses into a text; `problems` are those of the version that was put last."""

    spot: Spot
    apply: Callable[[str], Rewrite]
    pause: Callable[[float], None]
    changed: bool = False
    problems: tuple[Problem, ...] = ()

    def make(self, offer: Offer, like: Path) -> Version:
        temp = self.spot.fresh()
        return Version(offer, temp, files.make(temp, encode(offer.text), like))

    def announce(self, version: Version, displaced: Path | None) -> None:
        """From now on what was displaced before is in this version too, and can go."""
        intent.announce(self.spot, version.temp, version.offer)
        if displaced is not None:
            displaced.unlink(missing_ok=True)

    def put(self, current: Version) -> None:
        """Exchange, and go on until all that the displaced version says is in place."""
        self._exchange(current)
        for _ in range(_ROUNDS):
            following = self._step(current)
            if following is None:
                intent.withdraw(self.spot)
                return
            current = following
        raise restless(self.spot)

    def _step(self, current: Version) -> Version | None:
        """Look at what a version displaced; the one that was put next, if there was need of one."""
        found = self._displaced(current)
        following = self._join(current.offer, found)
        ready = None if following.text == current.offer.text else self.make(following, current.temp)
        if ready is None:
            self._verify(current)
        if files.read(current.temp).text != found:  # somebody had it open, and was not ready
            if ready is not None:
                ready.temp.unlink()
            return current
        if ready is None:
            current.temp.unlink()
            ready = self._linger(current.offer) if current.offer.carries else None
        if ready is not None:
            self.announce(ready, current.temp)
            self._exchange(ready)
        return ready

    def _linger(self, offer: Offer) -> Version | None:
        """Wait for those who opened a version that lacked something. If they save it, there is something to put again."""
        for wait in _LINGER:
            self.pause(wait)
            try:
                seen = files.read(self.spot.path)
            except FileNotFoundError:
                return None
            if seen.text != offer.text and seen.whole and self._complete(seen.text):
                known = (offer.text, *offer.places)
                offer = Offer(
                    self._joined(known, offer.text, seen.text), (seen.text, *known)[:MEMORY], carries=True
                )
                if offer.text != seen.text:
                    return self.make(offer, self.spot.path)
        return None

    def _exchange(self, version: Version) -> None:
        exchange.exchange(version.temp, self.spot.path)
        self.changed = True
        files.sync_folder(self.spot.path.parent)

    def _displaced(self, version: Version) -> str:
        """What was in place. Somebody's version counts when two looks agree: they may be writing it still."""
        last = files.read(version.temp)
        for wait in LOOKS:
            if last.whole and last.text == version.offer.places[0]:
                break
            self.pause(wait)
            seen = files.read(version.temp)
            if seen.whole and seen.text == last.text and self._complete(seen.text):
                break
            last = seen
        return last.text

    def _complete(self, text: str) -> bool:
        return bool(text) and len(self.apply(text).problems) <= len(self.problems)

    def _join(self, offer: Offer, found: str) -> Offer:
        if found == offer.places[0]:
            return offer
        text = self._joined(offer.places, offer.text, found)
        return Offer(text, (offer.text, found, *offer.places)[:MEMORY], carries=True)

    def _joined(self, known: Sequence[str], ours: str, theirs: str) -> str:
        """Both in one. With the statuses in all of them, these are nobody's edits."""
        theirs = self.apply(theirs).text
        base = ancestor([self.apply(text).text for text in known], theirs)
        rewrite = self.apply(merge(base, ours, theirs))
        self.problems = rewrite.problems
        return rewrite.text

    def _verify(self, version: Version) -> None:
        """In place is what we put, or what somebody put there later."""
        with suppress(FileNotFoundError):
            seen = files.read(self.spot.path)
            if seen.text != version.offer.text and files.same(seen.stat, version.stat):
                raise OSError(errno.EIO, "it reads back differently", str(self.spot.path))


def restless(spot: Spot) -> OSError:
    return BlockingIOError(errno.EAGAIN, "it changes all the time", str(spot.path))
