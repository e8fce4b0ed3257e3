"""Statuses put into a file that people and programs edit at the same time. No edit that somebody saved is lost.

A new version is made beside the file and exchanged with it in one step; then the displaced version is compared with the one
that was read. If somebody wrote in between, the statuses are put into what they wrote, and that is exchanged in turn, until
a displaced version is the one expected. For some moments, then, the file lacked their edit. Whoever opened it in those
moments saves a version that lacks it too: such versions are merged, and waited for a little while.

The path always has a whole file. An error or a crash at any instant leaves at worst a version beside it, which the next
write takes up (`intent`). A file with several names (hard links) becomes one of its own: the others keep the old text.

Outside the promise: what somebody has in a buffer and not saved; a program that empties the file, stands still for longer
than we look, and then goes on writing it; and what `exchange` says of systems that can't exchange files.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from plait.adapters.sourcefiles import exchange, faults, files
from plait.adapters.sourcefiles.intent import Offer, Rescue, announce, rescue, withdraw
from plait.adapters.sourcefiles.lock import held
from plait.adapters.sourcefiles.spot import Spot
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.ports import SourceWriteError
from plait.sources.merge import ancestor, merge
from plait.sources.model import Change, Rewrite, Writer
from plait.sources.text import encode

# Seconds between looks at a file that somebody seems to be in the middle of writing, and between tries at writing it.
_LOOKS = (0.002, 0.01, 0.05, 0.1, 0.3)
_TRIES = (0.05, 0.2, 0.8)
# How long those are waited for who opened a version that lacked an edit: programs; a person's buffer is outside the promise.
_LINGER = (0.02, 0.03, 0.05, 0.05, 0.05)
# As many versions are remembered as somebody may still have open.
_MEMORY = 6
# Nobody saves so often in a row; a program that never stops writing is no reason never to return.
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Written:
    """The problems tell of changes that found no place."""

    changed: bool
    problems: tuple[Problem, ...] = ()


def write_back(
    top: Path,
    writer: Writer,
    changes: Sequence[Change],
    *,
    locks: Path,
    pause: Callable[[float], None] = time.sleep,
) -> Written:
    """Put the statuses into the writer's file. `locks` is a folder outside the checkout, the same for every plait.

    Raise SourceWriteError when nothing can be written, after some tries.
    """
    spot = Spot(Path(os.path.realpath(top / writer.path)), Path(os.path.realpath(locks)))
    # A file that is looked at again is mostly the same.
    apply = lru_cache(maxsize=4 * _MEMORY)(lambda text: writer.apply(text, changes))
    writing = _Writing(spot, writer, apply, pause)
    for wait in _TRIES:
        with suppress(OSError):
            return writing.run()
        pause(wait)
    try:
        return writing.run()
    except OSError as error:
        writing.tidy()
        raise faults.of_writing(spot.path, error) from error


@dataclass(frozen=True, slots=True)
class _Version:
    """An offer as a file. Until the exchange `temp` names it, then what it displaced; `stat` is what it was made as."""

    offer: Offer
    temp: Path
    stat: os.stat_result


@dataclass(slots=True)
class _Writing:
    """One write, in as many tries as it takes. A try that fails leaves what a crash would leave; the next one takes it up."""

    spot: Spot
    writer: Writer
    apply: Callable[[str], Rewrite]
    pause: Callable[[float], None]
    changed: bool = False
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()

    def run(self) -> Written:
        with held(self.spot.lock, self.spot.path, self.pause):
            if not self.writer.creates or self.spot.path.parent.is_dir():
                self._write()
        return Written(self.changed, self.problems + self.notes)

    def tidy(self) -> None:
        """Nothing stays beside the file but what somebody would miss."""
        with suppress(OSError, SourceWriteError), held(self.spot.lock, self.spot.path, self.pause):
            rescue(self.spot)

    def _write(self) -> None:
        left = rescue(self.spot)
        for wait in _LOOKS:
            try:
                seen, rewrite = self._look(left)
            except FileNotFoundError:
                self._do_without()
                return
            if self._rewrite(seen, rewrite, left):
                return
            self.pause(wait)
        raise self._restless()

    def _look(self, left: Rescue | None) -> tuple[files.Seen, Rewrite]:
        """The file and what is to become of it.

        One that is missing or empty, or in which a task is not found, is looked at again: some programs empty a file
        before they write it, or move it away.
        """
        for wait in _LOOKS:
            with suppress(FileNotFoundError):
                seen, rewrite = self._glance(left)
                if seen.whole and seen.text and not rewrite.problems:
                    return seen, rewrite
            self.pause(wait)
        return self._glance(left)

    def _glance(self, left: Rescue | None) -> tuple[files.Seen, Rewrite]:
        seen = files.read(self.spot.path)
        return seen, self.apply(seen.text if left is None else left.into(seen.text))

    def _rewrite(self, seen: files.Seen, rewrite: Rewrite, left: Rescue | None) -> bool:
        """Return False if somebody writes the file just now: better to begin again than to displace what they save."""
        self.problems = rewrite.problems
        if rewrite.text == seen.text:
            if left is not None:
                left.temp.unlink(missing_ok=True)
            withdraw(self.spot)
            return True
        if not os.access(self.spot.path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, "it is read-only", str(self.spot.path))
        places = (seen.text,) if left is None else (seen.text, left.offer.text, *left.offer.places)
        version = self._make(Offer(rewrite.text, places[:_MEMORY], carries=left is not None), self.spot.path)
        self._announce(version, None if left is None else left.temp)
        if files.read(self.spot.path).text != seen.text:
            version.temp.unlink()
            return False
        self._exchange(version)
        self._settle(version)
        if seen.stat.st_nlink > 1:
            names = f"this file had {seen.stat.st_nlink} names (hard links)"
            self._note(f"{names}: only this one has the new statuses")
        return True

    def _settle(self, current: _Version) -> None:
        """Go on until all that the displaced version says is in place."""
        for _ in range(_ROUNDS):
            following = self._step(current)
            if following is None:
                withdraw(self.spot)
                return
            current = following
        raise self._restless()

    def _step(self, current: _Version) -> _Version | None:
        """Look at what a version displaced; the one that was put next, if there was need of one."""
        found = self._displaced(current)
        following = self._join(current.offer, found)
        ready = None if following.text == current.offer.text else self._make(following, current.temp)
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
            self._announce(ready, current.temp)
            self._exchange(ready)
        return ready

    def _linger(self, offer: Offer) -> _Version | None:
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
                    self._joined(known, offer.text, seen.text), (seen.text, *known)[:_MEMORY], carries=True
                )
                if offer.text != seen.text:
                    return self._make(offer, self.spot.path)
        return None

    def _announce(self, version: _Version, displaced: Path | None) -> None:
        """From now on what was displaced before is in this version too, and can go."""
        announce(self.spot, version.temp, version.offer)
        if displaced is not None:
            displaced.unlink(missing_ok=True)

    def _exchange(self, version: _Version) -> None:
        exchange.exchange(version.temp, self.spot.path)
        self.changed = True
        files.sync_folder(self.spot.path.parent)

    def _displaced(self, version: _Version) -> str:
        """What was in place. Somebody's version counts when two looks agree: they may be writing it still."""
        last = files.read(version.temp)
        for wait in _LOOKS:
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
        return Offer(text, (offer.text, found, *offer.places)[:_MEMORY], carries=True)

    def _joined(self, known: Sequence[str], ours: str, theirs: str) -> str:
        """Both in one. With the statuses in all of them, these are nobody's edits."""
        theirs = self.apply(theirs).text
        base = ancestor([self.apply(text).text for text in known], theirs)
        rewrite = self.apply(merge(base, ours, theirs))
        self.problems = rewrite.problems
        return rewrite.text

    def _verify(self, version: _Version) -> None:
        """In place is what we put, or what somebody put there later."""
        with suppress(FileNotFoundError):
            seen = files.read(self.spot.path)
            if seen.text != version.offer.text and files.same(seen.stat, version.stat):
                raise OSError(errno.EIO, "it reads back differently", str(self.spot.path))

    def _do_without(self) -> None:
        """There is no file; perhaps there should be one."""
        if not self.writer.creates:
            hint = "Its statuses are kept in plait's own records."
            self._note("this file is not there any more: no status was written", hint)
            return
        rewrite = self.apply("")
        self.problems = rewrite.problems
        if rewrite.text:
            self._create(rewrite.text)

    def _create(self, text: str) -> None:
        temp = self.spot.fresh()
        files.make(temp, encode(text))
        try:
            exchange.put(temp, self.spot.path)
        finally:
            temp.unlink(missing_ok=True)
        self.changed = True
        files.sync_folder(self.spot.path.parent)

    def _make(self, offer: Offer, like: Path) -> _Version:
        temp = self.spot.fresh()
        return _Version(offer, temp, files.make(temp, encode(offer.text), like))

    def _restless(self) -> OSError:
        return BlockingIOError(errno.EAGAIN, "it changes all the time", str(self.spot.path))

    def _note(self, message: str, hint: str = "") -> None:
        problem = Problem(Severity.WARNING, message, Origin(self.writer.path), hint)
        if problem not in self.notes:
            self.notes += (problem,)
