"""Puts a new version of a file in place, and merges what others save at the same time.

The new version is exchanged with the file in one step; then the displaced version is compared with the expected one. If
another program wrote in between, both are merged and exchanged in turn, until a displaced version is the expected one.
Programs that read the file meanwhile may save a version without such an edit: those are waited for briefly, and merged
as well.

Before an exchange, an intent is written: the name of the displaced version, our version, and those before it. If plait
dies, the next write uses the intent to find the displaced version and merges it.
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
from plait.sources.text import decode, encode, find_ancestor, merge_texts
from plait.system import file_exchange
from plait.system.atomic_files import fsync_path
from plait.system.decoders import decode_msgpack


@dataclass(frozen=True, slots=True)
class TargetFile:
    """A file to write. New versions are beside it; its lock and intent are in `locks`. Both paths are real paths.

    `name` is what problems call it. `creates`: a missing file is created if its folder exists.
    """

    path: Path
    locks: Path
    name: str
    creates: bool = False

    @property
    def lock(self) -> Path:
        return self.locks / f"{_hash_paths(self.path)}.lock"

    @property
    def intent(self) -> Path:
        return self.lock.with_suffix(".intent")

    def make_temp_path(self) -> Path:
        return self.path.with_name(self._prefix + token_hex(4))

    def list_leftovers(self) -> list[Path]:
        """List new or displaced versions beside the file, without those of writers with other locks."""
        return [path for path in self.path.parent.iterdir() if path.name.startswith(self._prefix)]

    @property
    def _prefix(self) -> str:
        # Cut, because file names are limited to 255 bytes, of which a character may take four.
        return f".{self.path.name[:40]}.plait-{_hash_paths(self.path, self.locks)[:8]}-"


def _hash_paths(*paths: Path) -> str:
    return sha256(b"\0".join(map(os.fsencode, paths))).hexdigest()[:32]


# Seconds. After that, a missing line counts as removed on purpose.
_RECENT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version to put in place. `previous` are the version that it should displace, then earlier ones.

    `has_merged_edit`: it has an edit that one of them lacks.
    """

    text: str
    previous: tuple[str, ...]
    has_merged_edit: bool = False


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a killed plait left: the version that it was putting in place, and what is under the name `temp`, if any.

    `is_recent`: a program may still have a version open that lacks the merged edit.
    """

    temp: Path
    version: NewVersion
    displaced_text: str | None
    is_recent: bool

    @property
    def is_needed(self) -> bool:
        """Whether something would be lost without it."""
        if self.displaced_text is None or self.displaced_text == self.version.previous[0]:
            return self.version.has_merged_edit and self.is_recent
        return self.displaced_text != self.version.text or self.version.has_merged_edit

    def merge_into(self, text: str) -> str:
        """Return the text with what the leftover versions add."""
        new, previous = self.version.text, self.version.previous
        if self.displaced_text == new:  # it was not put in place yet
            return merge_texts(find_ancestor(previous, text), new, text)
        # What is in place was made from it, or from an older version.
        if self.version.has_merged_edit and self.is_recent:
            text = merge_texts(find_ancestor((new, *previous), text), new, text)
        if self.displaced_text is None or self.displaced_text == previous[0]:
            return text
        return merge_texts(find_ancestor(previous, self.displaced_text), text, self.displaced_text)


@dataclass(frozen=True, slots=True)
class _Intent:
    """The stored form of a leftover. It holds bytes, because neither names nor texts need be UTF-8."""

    temp: bytes
    text: bytes
    places: tuple[bytes, ...]
    carries: bool


def write_intent(target: TargetFile, temp: Path, version: NewVersion) -> None:
    """Write the intent; durable on return."""
    previous = tuple(map(encode, version.previous))
    intent = _Intent(os.fsencode(temp.name), encode(version.text), previous, version.has_merged_edit)
    draft = target.intent.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    file_exchange.create_synced_file(draft, msgspec.msgpack.encode(intent))
    draft.replace(target.intent)
    fsync_path(target.locks)


def remove_intent(target: TargetFile) -> None:
    """Remove the intent, because everything is in place."""
    target.intent.unlink(missing_ok=True)


def recover_leftover(target: TargetFile) -> Leftover | None:
    """Return what a killed plait left and must not be lost, and remove the rest. The caller holds the lock."""
    intent = _read_intent(target)
    for path in target.list_leftovers():
        if intent is None or path.name.rstrip("~") != intent[0].name:  # it was never exchanged
            path.unlink(missing_ok=True)
    if intent is None:
        return None
    temp, version = intent
    file_exchange.finish_exchange(temp)
    try:
        displaced_text = file_exchange.read_snapshot(temp).text
    except FileNotFoundError:
        displaced_text = None
    leftover = Leftover(
        temp, version, displaced_text, is_recent=time.time() - target.intent.stat().st_mtime < _RECENT_SECONDS
    )
    if leftover.is_needed:
        return leftover
    temp.unlink(missing_ok=True)
    remove_intent(target)
    return None


def _read_intent(target: TargetFile) -> tuple[Path, NewVersion] | None:
    try:
        intent = decode_msgpack(target.intent.read_bytes(), _Intent)
    except (FileNotFoundError, msgspec.DecodeError):  # it is written completely or not at all; ignore a damaged one
        return None
    version = NewVersion(decode(intent.text), tuple(map(decode, intent.places)), intent.carries)
    return target.path.with_name(os.fsdecode(intent.temp)), version


# Seconds between reads of a file that another program seems to be writing.
REREAD_DELAYS = (0.002, 0.01, 0.05, 0.1, 0.3)
# How long to wait for programs that opened a version without an edit; a person's unsaved buffer isn't covered.
_LATE_SAVE_DELAYS = (0.02, 0.03, 0.05, 0.05, 0.05)
# Versions to remember, because a program may still have them open.
MAX_REMEMBERED_VERSIONS = 6
# A limit, so that this returns even if another program never stops writing.
_MAX_EXCHANGES = 50


@dataclass(frozen=True, slots=True)
class StagedVersion:
    """A version as a file. `temp` names it, and after the exchange what it displaced; `stat` is its status when made."""

    version: NewVersion
    temp: Path
    stat: os.stat_result


class MergingWriter:
    """Writes versions of a file until nothing that others save is lost. `apply` puts the statuses into a text;
    `problems` are those of the last version put in place, `notes` all others.
    """

    def __init__(self, target: TargetFile, apply: Callable[[str], Rewrite], pause: Callable[[float], None]) -> None:
        self.target = target
        self.apply = apply
        self.pause = pause
        self.changed = False
        self.problems: tuple[Problem, ...] = ()
        self.notes: tuple[Problem, ...] = ()

    def stage(self, version: NewVersion, like: Path) -> StagedVersion:
        temp = self.target.make_temp_path()
        return StagedVersion(version, temp, file_exchange.create_synced_file(temp, encode(version.text), like))

    def announce(self, staged: StagedVersion, displaced: Path | None) -> None:
        """Write the intent, and remove the version displaced before, which is part of this version."""
        write_intent(self.target, staged.temp, staged.version)
        if displaced is not None:
            displaced.unlink(missing_ok=True)

    def install_version(self, current: StagedVersion) -> None:
        """Exchange versions until everything in displaced versions is in place."""
        self._exchange(current)
        for _ in range(_MAX_EXCHANGES):
            following = self._handle_displaced(current)
            if following is None:
                remove_intent(self.target)
                return
            current = following
        raise make_busy_error(self.target)

    def _handle_displaced(self, current: StagedVersion) -> StagedVersion | None:
        """Merge what a version displaced; return the version that was put in place next, or None if none was needed."""
        displaced_text = self._read_displaced(current)
        following = self._merge_displaced(current.version, displaced_text)
        staged = None if following.text == current.version.text else self.stage(following, current.temp)
        if staged is None:
            self._verify(current)
        # A program may have had it open and was still writing.
        if file_exchange.read_snapshot(current.temp).text != displaced_text:
            if staged is not None:
                staged.temp.unlink()
            return current
        if staged is None:
            current.temp.unlink()
            staged = self._await_late_saves(current.version) if current.version.has_merged_edit else None
        if staged is not None:
            self.announce(staged, current.temp)
            self._exchange(staged)
        return staged

    def _await_late_saves(self, version: NewVersion) -> StagedVersion | None:
        """Wait for programs that opened a version without an edit; return a merged version if one of them saves."""
        for wait in _LATE_SAVE_DELAYS:
            self.pause(wait)
            try:
                snapshot = file_exchange.read_snapshot(self.target.path)
            except FileNotFoundError:
                return None
            if snapshot.text != version.text and snapshot.is_complete and self._is_complete(snapshot.text):
                known_texts = (version.text, *version.previous)
                version = NewVersion(
                    self._merge_versions(known_texts, version.text, snapshot.text),
                    (snapshot.text, *known_texts)[:MAX_REMEMBERED_VERSIONS],
                    has_merged_edit=True,
                )
                if version.text != snapshot.text:
                    return self.stage(version, self.target.path)
        return None

    def _exchange(self, staged: StagedVersion) -> None:
        file_exchange.exchange_files(staged.temp, self.target.path)
        self.changed = True
        fsync_path(self.target.path.parent)

    def _read_displaced(self, staged: StagedVersion) -> str:
        """Return the displaced text; an unexpected one when two reads agree, as it may be unfinished."""
        last = file_exchange.read_snapshot(staged.temp)
        for wait in REREAD_DELAYS:
            if last.is_complete and last.text == staged.version.previous[0]:
                break
            self.pause(wait)
            snapshot = file_exchange.read_snapshot(staged.temp)
            if snapshot.is_complete and snapshot.text == last.text and self._is_complete(snapshot.text):
                break
            last = snapshot
        return last.text

    def _is_complete(self, text: str) -> bool:
        return bool(text) and len(self.apply(text).problems) <= len(self.problems)

    def _merge_displaced(self, version: NewVersion, displaced_text: str) -> NewVersion:
        if displaced_text == version.previous[0]:
            return version
        text = self._merge_versions(version.previous, version.text, displaced_text)
        previous = (version.text, displaced_text, *version.previous)[:MAX_REMEMBERED_VERSIONS]
        return NewVersion(text, previous, has_merged_edit=True)

    def _merge_versions(self, known_texts: Sequence[str], ours: str, theirs: str) -> str:
        """Merge both texts; statuses are applied to all first, so that they count as no edits."""
        theirs = self.apply(theirs).text
        base = find_ancestor([self.apply(text).text for text in known_texts], theirs)
        rewrite = self.apply(merge_texts(base, ours, theirs))
        self.problems = rewrite.problems
        return rewrite.text

    def _verify(self, staged: StagedVersion) -> None:
        """Raise OSError if the file has neither our text nor a later version."""
        with suppress(FileNotFoundError):
            snapshot = file_exchange.read_snapshot(self.target.path)
            if snapshot.text != staged.version.text and file_exchange.is_unchanged(snapshot.stat, staged.stat):
                raise OSError(errno.EIO, "it reads back differently", str(self.target.path))


def make_busy_error(target: TargetFile) -> OSError:
    return BlockingIOError(errno.EAGAIN, "it changes all the time", str(target.path))
