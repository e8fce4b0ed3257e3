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

from plait.adapters.sourcefiles import exchange, files
from plait.adapters.sourcefiles.spot import Spot
from plait.core.frozen import dataclass
from plait.sources.merge import ancestor, merge
from plait.sources.text import decode, encode

# Seconds. Later than that, a line that is not there any more has been taken out by somebody.
_RECENT = 60.0


@dataclass(frozen=True, slots=True)
class Offer:
    """A version to put, and `places`: the one that it displaces if nobody writes meanwhile, then those that were there before.

    `carries`: it has somebody's edit that one of them has not.
    """

    text: str
    places: tuple[str, ...]
    carries: bool = False


@dataclass(frozen=True, slots=True)
class Rescue:
    """What a dead plait left of an offer: the version `found` under the name `temp`, if there is one.

    `recent`: somebody may still have a version open that lacks what the offer carries.
    """

    temp: Path
    offer: Offer
    found: str | None
    recent: bool

    @property
    def needed(self) -> bool:
        """Whether something would be lost without it."""
        if self.found is None or self.found == self.offer.places[0]:
            return self.offer.carries and self.recent
        return self.found != self.offer.text or self.offer.carries

    def into(self, text: str) -> str:
        """The text in place with what these versions have besides."""
        put, places = self.offer.text, self.offer.places
        if self.found == put:  # it was not put yet
            return merge(ancestor(places, text), put, text)
        if self.offer.carries and self.recent:  # what is in place was made from it, or from an older version
            text = merge(ancestor((put, *places), text), put, text)
        if self.found is None or self.found == places[0]:
            return text
        return merge(ancestor(places, self.found), text, self.found)


@dataclass(frozen=True, slots=True)
class _Intent:
    """As it is on disk. Bytes, because neither names nor texts need be UTF-8."""

    temp: bytes
    text: bytes
    places: tuple[bytes, ...]
    carries: bool


def announce(spot: Spot, temp: Path, offer: Offer) -> None:
    """Durable on return."""
    places = tuple(map(encode, offer.places))
    intent = _Intent(os.fsencode(temp.name), encode(offer.text), places, offer.carries)
    draft = spot.intent.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    files.make(draft, msgspec.msgpack.encode(intent))
    draft.replace(spot.intent)
    files.sync_folder(spot.locks)


def withdraw(spot: Spot) -> None:
    """All is in place."""
    spot.intent.unlink(missing_ok=True)


def rescue(spot: Spot) -> Rescue | None:
    """What a dead plait left and nobody may lose; whatever else it left is removed. The caller has the lock."""
    told = _read(spot)
    for version in spot.left():
        if told is None or version.name.rstrip("~") != told[0].name:  # it was never exchanged
            version.unlink(missing_ok=True)
    if told is None:
        return None
    temp, offer = told
    exchange.finish(temp)
    try:
        found = files.read(temp).text
    except FileNotFoundError:
        found = None
    left = Rescue(temp, offer, found, recent=time.time() - spot.intent.stat().st_mtime < _RECENT)
    if left.needed:
        return left
    temp.unlink(missing_ok=True)
    withdraw(spot)
    return None


def _read(spot: Spot) -> tuple[Path, Offer] | None:
    try:
        intent = msgspec.msgpack.decode(spot.intent.read_bytes(), type=_Intent)
    except (
        FileNotFoundError,
        msgspec.DecodeError,
    ):  # it is written whole or not at all; a damaged one tells nothing
        return None
    offer = Offer(decode(intent.text), tuple(map(decode, intent.places)), intent.carries)
    return spot.path.with_name(os.fsdecode(intent.temp)), offer
