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

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.sources.source_model import Rewrite
from plait.sources.text import encode
from plait.sources.text_merge import find_ancestor, merge_texts
from plait.system import file_exchange, file_exchange__exchange, merging_write__intent
from plait.system.merging_write__intent import NewVersion
from plait.system.merging_write__spot import TargetFile

# Seconds between looks at a file that somebody seems to be in the middle of writing.
REREAD_DELAYS = (0.002, 0.01, 0.05, 0.1, 0.3)
# How long those are waited for who opened a version that lacked an edit: programs; a person's buffer is outside the promise.
_LATE_SAVE_DELAYS = (0.02, 0.03, 0.05, 0.05, 0.05)
# As many versions are remembered as somebody may still have open.
MAX_REMEMBERED_VERSIONS = 6
# Nobody saves so often in a row; a program that never stops writing is no reason never to return.
_MAX_EXCHANGES = 50


@dataclass(frozen=True, slots=True)
class StagedVersion:
    """An offer as a file. Until the exchange `temp` names it, then what it displaced; `stat` is what it was made as."""

    offer: NewVersion
    temp: Path
    stat: os.stat_result


@dataclass(slots=True)
class MergingWriter:
    """`apply` puts the statuses into a text; `problems` are those of the version that was put last."""

    spot: TargetFile
    apply: Callable[[str], Rewrite]
    pause: Callable[[float], None]
    changed: bool = False
    problems: tuple[Problem, ...] = ()

    def stage(self, offer: NewVersion, like: Path) -> StagedVersion:
        temp = self.spot.make_temp_path()
        return StagedVersion(offer, temp, file_exchange.create_synced_file(temp, encode(offer.text), like))

    def announce(self, version: StagedVersion, displaced: Path | None) -> None:
        """From now on what was displaced before is in this version too, and can go."""
        merging_write__intent.write_intent(self.spot, version.temp, version.offer)
        if displaced is not None:
            displaced.unlink(missing_ok=True)

    def install_version(self, current: StagedVersion) -> None:
        """Exchange, and go on until all that the displaced version says is in place."""
        self._exchange(current)
        for _ in range(_MAX_EXCHANGES):
            following = self._handle_displaced(current)
            if following is None:
                merging_write__intent.remove_intent(self.spot)
                return
            current = following
        raise make_busy_error(self.spot)

    def _handle_displaced(self, current: StagedVersion) -> StagedVersion | None:
        """Look at what a version displaced; the one that was put next, if there was need of one."""
        found = self._read_displaced(current)
        following = self._merge_displaced(current.offer, found)
        ready = None if following.text == current.offer.text else self.stage(following, current.temp)
        if ready is None:
            self._verify(current)
        if file_exchange.read_snapshot(current.temp).text != found:  # somebody had it open, and was not ready
            if ready is not None:
                ready.temp.unlink()
            return current
        if ready is None:
            current.temp.unlink()
            ready = self._await_late_saves(current.offer) if current.offer.has_merged_edit else None
        if ready is not None:
            self.announce(ready, current.temp)
            self._exchange(ready)
        return ready

    def _await_late_saves(self, offer: NewVersion) -> StagedVersion | None:
        """Wait for those who opened a version that lacked something. If they save it, there is something to put again."""
        for wait in _LATE_SAVE_DELAYS:
            self.pause(wait)
            try:
                seen = file_exchange.read_snapshot(self.spot.path)
            except FileNotFoundError:
                return None
            if seen.text != offer.text and seen.is_complete and self._is_complete(seen.text):
                known = (offer.text, *offer.previous)
                offer = NewVersion(
                    self._merge_versions(known, offer.text, seen.text),
                    (seen.text, *known)[:MAX_REMEMBERED_VERSIONS],
                    has_merged_edit=True,
                )
                if offer.text != seen.text:
                    return self.stage(offer, self.spot.path)
        return None

    def _exchange(self, version: StagedVersion) -> None:
        file_exchange__exchange.exchange_files(version.temp, self.spot.path)
        self.changed = True
        file_exchange.sync_folder(self.spot.path.parent)

    def _read_displaced(self, version: StagedVersion) -> str:
        """What was in place. Somebody's version counts when two looks agree: they may be writing it still."""
        last = file_exchange.read_snapshot(version.temp)
        for wait in REREAD_DELAYS:
            if last.is_complete and last.text == version.offer.previous[0]:
                break
            self.pause(wait)
            seen = file_exchange.read_snapshot(version.temp)
            if seen.is_complete and seen.text == last.text and self._is_complete(seen.text):
                break
            last = seen
        return last.text

    def _is_complete(self, text: str) -> bool:
        return bool(text) and len(self.apply(text).problems) <= len(self.problems)

    def _merge_displaced(self, offer: NewVersion, found: str) -> NewVersion:
        if found == offer.previous[0]:
            return offer
        text = self._merge_versions(offer.previous, offer.text, found)
        return NewVersion(
            text, (offer.text, found, *offer.previous)[:MAX_REMEMBERED_VERSIONS], has_merged_edit=True
        )

    def _merge_versions(self, known: Sequence[str], ours: str, theirs: str) -> str:
        """Both in one. With the statuses in all of them, these are nobody's edits."""
        theirs = self.apply(theirs).text
        base = find_ancestor([self.apply(text).text for text in known], theirs)
        rewrite = self.apply(merge_texts(base, ours, theirs))
        self.problems = rewrite.problems
        return rewrite.text

    def _verify(self, version: StagedVersion) -> None:
        """In place is what we put, or what somebody put there later."""
        with suppress(FileNotFoundError):
            seen = file_exchange.read_snapshot(self.spot.path)
            if seen.text != version.offer.text and file_exchange.is_unchanged(seen.stat, version.stat):
                raise OSError(errno.EIO, "it reads back differently", str(self.spot.path))


def make_busy_error(target: TargetFile) -> OSError:
    return BlockingIOError(errno.EAGAIN, "it changes all the time", str(target.path))
