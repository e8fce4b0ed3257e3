"""What providers refused which engine, until when. One file for all, since a refusal outlasts the engine that met it."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import msgspec

from plait.adapters.commons import files
from plait.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    engine: str
    provider: str
    until: float


class Refusals:
    """`engine` is whose these are: it hears of the others' only."""

    def __init__(self, path: Path, engine: str) -> None:
        self._path = path
        self._engine = engine

    def tell(self, provider: str, until: float, now: float) -> None:
        """A later word of the same engine takes the place of an earlier one."""
        if not isfinite(until):
            return
        told = Refusal(self._engine, files.clean(provider), until)
        try:
            standing = self._standing(now)
        except FileNotFoundError:
            standing = []
        rest = [each for each in standing if (each.engine, each.provider) != (told.engine, told.provider)]
        files.put(self._path, msgspec.json.encode([*rest, told]))

    def heard(self, now: float, *, tidy: bool) -> dict[str, float]:
        """By provider, the longest; `tidy`: when the last one is over, the file goes too."""
        try:
            standing = self._standing(now)
        except FileNotFoundError:
            return {}
        if tidy and not standing:
            self._path.unlink(missing_ok=True)
        heard: dict[str, float] = {}
        for each in standing:
            if each.engine != self._engine:
                heard[each.provider] = max(each.until, heard.get(each.provider, 0.0))
        return heard

    def _standing(self, now: float) -> list[Refusal]:
        return [each for each in _refusals(files.read_there(self._path)) if each.until > now]


def _refusals(data: bytes) -> list[Refusal]:
    """One that can't be read costs itself."""
    found: list[Refusal] = []
    try:
        raws = msgspec.json.decode(data, type=list[msgspec.Raw])
    except files.DAMAGED:
        return []
    for raw in raws:
        try:
            found.append(msgspec.json.decode(raw, type=Refusal))
        except files.DAMAGED:
            continue
    return found
