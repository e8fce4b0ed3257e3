"""What providers refused which engine, until when. One file for all, since a refusal outlasts the engine that met it."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import msgspec

from plait.core.fast_dataclass import dataclass
from plait.system import shared_files


@dataclass(frozen=True, slots=True)
class ProviderRefusal:
    engine: str
    provider: str
    until: float


class ProviderRefusals:
    """`engine` is whose these are: it hears of the others' only."""

    def __init__(self, path: Path, engine: str) -> None:
        self._path = path
        self._engine = engine

    def record(self, provider: str, until: float, now: float) -> None:
        """A later word of the same engine takes the place of an earlier one."""
        if not isfinite(until):
            return
        told = ProviderRefusal(self._engine, shared_files.make_printable(provider), until)
        try:
            standing = self._read_current(now)
        except FileNotFoundError:
            standing = []
        rest = [each for each in standing if (each.engine, each.provider) != (told.engine, told.provider)]
        shared_files.replace_shared_file(self._path, msgspec.json.encode([*rest, told]))

    def read_others(self, now: float, *, clean_up: bool) -> dict[str, float]:
        """By provider, the longest; `tidy`: when the last one is over, the file goes too."""
        try:
            standing = self._read_current(now)
        except FileNotFoundError:
            return {}
        if clean_up and not standing:
            self._path.unlink(missing_ok=True)
        heard: dict[str, float] = {}
        for each in standing:
            if each.engine != self._engine:
                heard[each.provider] = max(each.until, heard.get(each.provider, 0.0))
        return heard

    def _read_current(self, now: float) -> list[ProviderRefusal]:
        return [
            each for each in _decode_refusals(shared_files.read_regular_file(self._path)) if each.until > now
        ]


def _decode_refusals(data: bytes) -> list[ProviderRefusal]:
    """One that can't be read costs itself."""
    found: list[ProviderRefusal] = []
    try:
        raws = msgspec.json.decode(data, type=list[msgspec.Raw])
    except shared_files.DECODE_ERRORS:
        return []
    for raw in raws:
        try:
            found.append(msgspec.json.decode(raw, type=ProviderRefusal))
        except shared_files.DECODE_ERRORS:
            continue
    return found
