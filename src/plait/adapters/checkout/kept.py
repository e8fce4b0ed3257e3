"""What was read of sources, kept for as long as it is what stands there: whoever asks again and again pays for what changed.

Two laws make that safe. A file is taken to be the same by its signature only when its last change was over before it was read:
what is written twice within one tick of a clock has the same times. And a format is a function of texts, so the same texts
have the same reading.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from plait.core.frozen import dataclass
from plait.core.plan import Problem
from plait.sources.model import Document, Material, Reading

SETTLED = 3.0  # seconds after a change; the coarsest clocks of file systems tick every two
MOST = 20_000  # files of which something is kept
ROOM = 8 << 20  # characters of all of their texts; what is made of them takes many times that

K = TypeVar("K")
V = TypeVar("V")

Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A file as it was read, and what is wrong with its text. `signature` None: it may change unnoticed."""

    signature: Signature | None
    document: Document
    problems: Sequence[Problem]


class Shelf(Generic[K, V]):
    """What was put there last, as much of it as there is room for. What is longer than that leaves the others alone."""

    def __init__(self, room: int) -> None:
        self._lock = Lock()
        self._room = self._left = room
        self._things: dict[K, tuple[V, int]] = {}

    def get(self, key: K) -> V | None:
        found = self._things.get(key)
        return None if found is None else found[0]

    def put(self, key: K, thing: V, size: int) -> None:
        with self._lock:
            self._left += self._things.pop(key, (None, 0))[1]
            if size > self._room:
                return
            self._things[key] = (thing, size)
            self._left -= size
            while self._left < 0 or len(self._things) > MOST:
                self._left += self._things.pop(next(iter(self._things)))[1]


class Kept:
    """May be used by several threads: each finds what is right, and the last one's is kept."""

    def __init__(self, now: Callable[[], float] = time.time, room: int = ROOM) -> None:
        self._now = now
        self._texts = Shelf[tuple[Path, str], Text](room)
        self._readings = Shelf[tuple[str, str], tuple[Material, Reading]](room)

    def text(
        self,
        path: Path,
        name: str,
        about: os.stat_result,
        read: Callable[[], tuple[Document, Sequence[Problem]]],
    ) -> tuple[Document, Sequence[Problem]]:
        """`name` is what messages call it: the way to a path may change. `about` is what the file was before `read` is called."""
        signature, known = _signature(about), self._texts.get((path, name))
        if known is not None and known.signature == signature:
            return known.document, known.problems
        begun = self._now()
        document, problems = read()
        if known is not None and known.document == document:
            document = known.document  # with all that was made of it
        changed = max(about.st_mtime, about.st_ctime)
        settled = signature if begun - changed >= SETTLED else None
        self._texts.put((path, name), Text(settled, document, problems), len(document.text))
        return document, problems

    def reading(self, format_name: str, material: Material, read: Callable[[], Reading]) -> Reading:
        key = (format_name, material.path)
        known = self._readings.get(key)
        if known is not None and known[0] == material:
            return known[1]
        found = read()
        self._readings.put(key, (material, found), _length(material))
        return found


def _signature(about: os.stat_result) -> Signature:
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def _length(material: Material) -> int:
    return sum(len(each.text) for each in (*material.documents, *material.companions.values()))
