"""What a write is about to do, told beforehand, so that the next one can finish it if this one dies.

An exchange leaves the displaced version under a name of ours, perhaps with an edit in it that nobody has looked at yet. The
intent says which name that is, what we put, so that the displaced version can be told from our own, and which versions were
in place before, so that the edit can be merged.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from plait.core.fast_dataclass import dataclass
from plait.sources.text import decode, encode
from plait.sources.text_merge import find_ancestor, merge_texts
from plait.system import file_exchange, file_exchange__exchange
from plait.system.merging_write__spot import TargetFile

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
        if (
            self.offer.has_merged_edit and self.is_recent
        ):  # what is in place was made from it, or from an older version
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
    told = _read_intent(target)
    for version in target.list_leftovers():
        if told is None or version.name.rstrip("~") != told[0].name:  # it was never exchanged
            version.unlink(missing_ok=True)
    if told is None:
        return None
    temp, offer = told
    file_exchange__exchange.finish_exchange(temp)
    try:
        found = file_exchange.read_snapshot(temp).text
    except FileNotFoundError:
        found = None
    left = Leftover(
        temp, offer, found, is_recent=time.time() - target.intent.stat().st_mtime < _RECENT_SECONDS
    )
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
