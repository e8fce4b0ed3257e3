"""A cache of what was read from sources.

A file counts as unchanged by its signature only if its last change was over before it was read: two writes within one
tick of the clock have the same times. A format is a function of texts, so equal texts have equal readings.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.sources.source_model import Document, Reading, SourceFiles

SETTLED_SECONDS = 3.0  # seconds after a change; the coarsest clocks of file systems tick every two
MAX_FILES = 20_000  # files of which something is kept
MAX_CHARACTERS = 8 << 20  # of all texts; parsed, they take many times that
K = TypeVar("K")
V = TypeVar("V")
Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CachedText:
    """A file as it was read, and its problems. Without a signature it must be read again."""

    signature: Signature | None
    document: Document
    problems: Sequence[Problem]


class SizedCache(Generic[K, V]):
    """The most recent values, up to a total size. A value larger than that is not kept."""

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
            while self._left < 0 or len(self._things) > MAX_FILES:
                self._left += self._things.pop(next(iter(self._things)))[1]


class SourceCache:
    """Safe for several threads; the last one's result is kept."""

    def __init__(self, now: Callable[[], float] = time.time, room: int = MAX_CHARACTERS) -> None:
        self._now = now
        self._texts = SizedCache[tuple[Path, str], CachedText](room)
        self._readings = SizedCache[tuple[str, str], tuple[SourceFiles, Reading]](room)

    def read_text(
        self, path: Path, name: str, file_stat: os.stat_result, read: Callable[[], tuple[Document, Sequence[Problem]]]
    ) -> tuple[Document, Sequence[Problem]]:
        """`name` is used in messages; several may lead to one path. `file_stat` was taken before the call."""
        signature, known = _make_signature(file_stat), self._texts.get((path, name))
        if known is not None and known.signature == signature:
            return known.document, known.problems
        begun = self._now()
        document, problems = read()
        if known is not None and known.document == document:
            document = known.document  # with all that was made of it
        changed = max(file_stat.st_mtime, file_stat.st_ctime)
        settled = signature if begun - changed >= SETTLED_SECONDS else None
        self._texts.put((path, name), CachedText(settled, document, problems), len(document.text))
        return document, problems

    def read_source(self, format_name: str, source: SourceFiles, read: Callable[[], Reading]) -> Reading:
        key = (format_name, source.path)
        known = self._readings.get(key)
        if known is not None and known[0] == source:
            return known[1]
        found = read()
        self._readings.put(
            key, (source, found), sum(len(each.text) for each in (*source.documents, *source.companions.values()))
        )
        return found


def _make_signature(about: os.stat_result) -> Signature:
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
