"""A file and the names around it.

What a write is about to do, told beforehand, so that the next one can finish it if this one dies.

An exchange leaves the displaced version under a name of ours, perhaps with an edit in it that nobody has looked at yet. The
intent says which name that is, what we put, so that the displaced version can be told from our own, and which versions were
in place before, so that the edit can be merged.

A version put in place, and all that it takes until nobody has lost anything by that.

It is exchanged with the file in one step; then the displaced version is compared with the one that was expected. If somebody
wrote in between, our version and theirs are made into one, and that is exchanged in turn, until a displaced version is the
one expected. For some moments, then, the file lacked their edit. Whoever opened it in those moments saves a version that
lacks it too: such versions are merged as well, and waited for a little while.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import msgspec

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.sources.status_changes import Rewrite
from plait.sources.text import decode, encode
from plait.sources.text_merge import find_ancestor, merge_texts
from plait.system import file_exchange


@dataclass(frozen=True, slots=True)
class TargetFile:
    """Beside the file stand its new versions, in `locks` its lock and its intent. Both paths are real ones."""

    path: Path
    locks: Path

    @property
    def lock(self) -> Path:
        return self.locks / f"{_hash_paths(self.path)}.lock"

    @property
    def intent(self) -> Path:
        return self.lock.with_suffix(".intent")

    def make_temp_path(self) -> Path:
        return self.path.with_name(self._prefix + token_hex(4))

    def list_leftovers(self) -> list[Path]:
        """New or displaced versions that stand there now; those of writers with other locks are none of ours."""
        return [path for path in self.path.parent.iterdir() if path.name.startswith(self._prefix)]

    @property
    def _prefix(self) -> str:
        # Cut, because a name has an end: 255 bytes, of which a letter may take four.
        return f".{self.path.name[:40]}.plait-{_hash_paths(self.path, self.locks)[:8]}-"


def _hash_paths(*paths: Path) -> str:
    return sha256(b"\0".join(map(os.fsencode, paths))).hexdigest()[:32]


# Seconds. Later than that, a line that is not there any more has been taken out by somebody.
_RECENT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version to put, and `places`: the one that it displaces if nobody writes meanwhile, then those that were there before.

    `carries`: it has somebody's edit that one of them has not.
    """

    text: str
    previous: tuple[str, ...]
    has_merged_edit: bool = False


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a dead plait left of an offer: the version `found` under the name `temp`, if there is one.

    `recent`: somebody may still have a version open that lacks what the offer carries.
    """

    temp: Path
    offer: NewVersion
    displaced_text: str | None
    is_recent: bool

    @property
    def is_needed(self) -> bool:
        """Whether something would be lost without it."""
        if self.displaced_text is None or self.displaced_text == self.offer.previous[0]:
            return self.offer.has_merged_edit and self.is_recent
        return self.displaced_text != self.offer.text or self.offer.has_merged_edit

    def merge_into(self, text: str) -> str:
        """The text in place with what these versions have besides."""
        put, places = self.offer.text, self.offer.previous
        if self.displaced_text == put:  # it was not put yet
            return merge_texts(find_ancestor(places, text), put, text)
        if self.offer.has_merged_edit and self.is_recent:  # what is in place was made from it, or from an older version
            text = merge_texts(find_ancestor((put, *places), text), put, text)
        if self.displaced_text is None or self.displaced_text == places[0]:
            return text
        return merge_texts(find_ancestor(places, self.displaced_text), text, self.displaced_text)


@dataclass(frozen=True, slots=True)
class _Intent:
    """As it is on disk. Bytes, because neither names nor texts need be UTF-8."""

    temp: bytes
    text: bytes
    places: tuple[bytes, ...]
    carries: bool


def write_intent(target: TargetFile, temp: Path, offer: NewVersion) -> None:
    """Durable on return."""
    places = tuple(map(encode, offer.previous))
    intent = _Intent(os.fsencode(temp.name), encode(offer.text), places, offer.has_merged_edit)
    draft = target.intent.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    file_exchange.create_synced_file(draft, msgspec.msgpack.encode(intent))
    draft.replace(target.intent)
    file_exchange.sync_folder(target.locks)


def remove_intent(target: TargetFile) -> None:
    """All is in place."""
    target.intent.unlink(missing_ok=True)


def recover_leftover(target: TargetFile) -> Leftover | None:
    """What a dead plait left and nobody may lose; whatever else it left is removed. The caller has the lock."""
    intent = _read_intent(target)
    for version in target.list_leftovers():
        if intent is None or version.name.rstrip("~") != intent[0].name:  # it was never exchanged
            version.unlink(missing_ok=True)
    if intent is None:
        return None
    temp, offer = intent
    file_exchange.finish_exchange(temp)
    try:
        found = file_exchange.read_snapshot(temp).text
    except FileNotFoundError:
        found = None
    left = Leftover(temp, offer, found, is_recent=time.time() - target.intent.stat().st_mtime < _RECENT_SECONDS)
    if left.is_needed:
        return left
    temp.unlink(missing_ok=True)
    remove_intent(target)
    return None


def _read_intent(target: TargetFile) -> tuple[Path, NewVersion] | None:
    try:
        intent = msgspec.msgpack.decode(target.intent.read_bytes(), type=_Intent)
    except (
        FileNotFoundError,
        msgspec.DecodeError,
    ):  # it is written whole or not at all; a damaged one tells nothing
        return None
    offer = NewVersion(decode(intent.text), tuple(map(decode, intent.places)), intent.carries)
    return target.path.with_name(os.fsdecode(intent.temp)), offer


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
        write_intent(self.spot, version.temp, version.offer)
        if displaced is not None:
            displaced.unlink(missing_ok=True)

    def install_version(self, current: StagedVersion) -> None:
        """Exchange, and go on until all that the displaced version says is in place."""
        self._exchange(current)
        for _ in range(_MAX_EXCHANGES):
            following = self._handle_displaced(current)
            if following is None:
                remove_intent(self.spot)
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
        file_exchange.exchange_files(version.temp, self.spot.path)
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
        return NewVersion(text, (offer.text, found, *offer.previous)[:MAX_REMEMBERED_VERSIONS], has_merged_edit=True)

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
