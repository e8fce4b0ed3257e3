"""Statuses put into a file that people and programs edit at the same time. No edit that somebody saved is lost.

A new version is made beside the file, and exchanged with it if it is still as it was read (`settle` tells what happens if
somebody saves in that very instant).

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
from functools import lru_cache
from pathlib import Path

from plait.adapters.sourcefiles import exchange, faults, files
from plait.adapters.sourcefiles.intent import Offer, Rescue, rescue, withdraw
from plait.adapters.sourcefiles.lock import held
from plait.adapters.sourcefiles.settle import LOOKS, MEMORY, Settling, restless
from plait.adapters.sourcefiles.spot import Spot
from plait.core.frozen import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.ports import SourceWriteError
from plait.sources.model import Change, Rewrite, Writer
from plait.sources.text import encode

# Seconds between tries at a write that failed.
_TRIES = (0.05, 0.2, 0.8)


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
    apply = lru_cache(maxsize=4 * MEMORY)(lambda text: writer.apply(text, changes))
    writing = _Writing(writer, Settling(spot, apply, pause))
    for wait in _TRIES:
        with suppress(OSError):
            return writing.run()
        pause(wait)
    try:
        return writing.run()
    except OSError as error:
        writing.tidy()
        raise faults.of_writing(spot.path, error) from error


def replace(
    path: Path, before: str, after: str, *, locks: Path, pause: Callable[[float], None] = time.sleep
) -> bool:
    """Put one text in place of another. False, and nothing is written, if the file does not say `before` any more.

    What somebody saves in the very instant of the exchange is merged with it, by lines, as for a status. `path` is real.
    Raise SourceWriteError when nothing can be written.
    """
    spot = Spot(path, Path(os.path.realpath(locks)))
    writing = _Writing(Writer(str(path), lambda text, _: Rewrite(text)), Settling(spot, Rewrite, pause))
    try:
        return writing.swap(before, after)
    except OSError as error:
        writing.tidy()
        raise faults.of_editing(path, error) from error


@dataclass(slots=True)
class _Writing:
    """One write, in as many tries as it takes. A try that fails leaves what a crash would leave; the next one takes it up."""

    writer: Writer
    settling: Settling
    notes: tuple[Problem, ...] = ()

    @property
    def spot(self) -> Spot:
        return self.settling.spot

    def run(self) -> Written:
        with held(self.spot.lock, self.spot.path, self.settling.pause):
            if not self.writer.creates or self.spot.path.parent.is_dir():
                self._write()
        return Written(self.settling.changed, self.settling.problems + self.notes)

    def swap(self, before: str, after: str) -> bool:
        """Whether `before` was there to be replaced."""
        with held(self.spot.lock, self.spot.path, self.settling.pause, "nothing was written"):
            if (
                rescue(self.spot) is not None
            ):  # the file lacks what a dead plait had of it: somebody should see that
                self._write()
                return False
            seen = files.read(self.spot.path)
            done = seen.whole and seen.text == before and self._rewrite(seen, Rewrite(after), None)
            withdraw(self.spot)
            return done

    def tidy(self) -> None:
        """Nothing stays beside the file but what somebody would miss."""
        with suppress(OSError, SourceWriteError), held(self.spot.lock, self.spot.path, self.settling.pause):
            rescue(self.spot)

    def _write(self) -> None:
        left = rescue(self.spot)
        for wait in LOOKS:
            try:
                seen, rewrite = self._look(left)
            except FileNotFoundError:
                self._do_without()
                return
            if self._rewrite(seen, rewrite, left):
                return
            self.settling.pause(wait)
        raise restless(self.spot)

    def _look(self, left: Rescue | None) -> tuple[files.Seen, Rewrite]:
        """The file and what is to become of it.

        One that is missing or empty, or in which a task is not found, is looked at again: some programs empty a file
        before they write it, or move it away.
        """
        for wait in LOOKS:
            with suppress(FileNotFoundError):
                seen, rewrite = self._glance(left)
                if seen.whole and seen.text and not rewrite.problems:
                    return seen, rewrite
            self.settling.pause(wait)
        return self._glance(left)

    def _glance(self, left: Rescue | None) -> tuple[files.Seen, Rewrite]:
        seen = files.read(self.spot.path)
        return seen, self.settling.apply(seen.text if left is None else left.into(seen.text))

    def _rewrite(self, seen: files.Seen, rewrite: Rewrite, left: Rescue | None) -> bool:
        """Return False if somebody writes the file just now: better to begin again than to displace what they save."""
        self.settling.problems = rewrite.problems
        if rewrite.text == seen.text:
            if left is not None:
                left.temp.unlink(missing_ok=True)
            withdraw(self.spot)
            return True
        if not os.access(self.spot.path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, "it is read-only", str(self.spot.path))
        places = (seen.text,) if left is None else (seen.text, left.offer.text, *left.offer.places)
        version = self.settling.make(
            Offer(rewrite.text, places[:MEMORY], carries=left is not None), self.spot.path
        )
        self.settling.announce(version, None if left is None else left.temp)
        if files.read(self.spot.path).text != seen.text:
            version.temp.unlink()
            return False
        self.settling.put(version)
        if seen.stat.st_nlink > 1:
            names = f"this file had {seen.stat.st_nlink} names (hard links)"
            self._note(f"{names}: only this one has the new statuses")
        return True

    def _do_without(self) -> None:
        """There is no file; perhaps there should be one."""
        if not self.writer.creates:
            hint = "Its statuses are kept in plait's own records."
            self._note("this file is not there any more: no status was written", hint)
            return
        rewrite = self.settling.apply("")
        self.settling.problems = rewrite.problems
        if rewrite.text:
            self._create(rewrite.text)

    def _create(self, text: str) -> None:
        temp = self.spot.fresh()
        files.make(temp, encode(text))
        try:
            exchange.put(temp, self.spot.path)
        finally:
            temp.unlink(missing_ok=True)
        self.settling.changed = True
        files.sync_folder(self.spot.path.parent)

    def _note(self, message: str, hint: str = "") -> None:
        problem = Problem(Severity.WARNING, message, Origin(self.writer.path), hint)
        if problem not in self.notes:
            self.notes += (problem,)
