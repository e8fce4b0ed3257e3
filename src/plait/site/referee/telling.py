"""Telling: an object per line for the listener, and who was chosen and why as a file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from plait.agents.discretion import of
from plait.agents.plain import cut, plain
from plait.agents.tools.referee import RESULT
from plait.core.frozen import dataclass
from plait.core.settings import Spend
from plait.core.status import Category
from plait.site.folder import put

_LONGEST = 500  # characters of a line for people


@dataclass(slots=True)
class Row:
    """One candidate. `rank` 0: it is out of the contest, and `why` says by what."""

    entrant: str
    rank: int = 0
    score: float | None = None
    why: str = ""


class RefereeError(Exception):
    """Nobody can be chosen. `category` says whether trying again may help, `retry_after` in how many seconds."""

    def __init__(
        self, message: str, category: Category = Category.TASK, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.category = category
        self.retry_after = retry_after


class Telling:
    """Whatever others said is told as words about it, and without secrets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._discretion = of(os.environ)

    def phase(self, name: str) -> None:
        self._line(type="phase", name=name)

    def doing(self, text: str) -> None:
        shown = self._words(text)
        if shown:
            self._line(type="activity", text=shown)

    def used(self, spend: Spend) -> None:
        self._line(type="usage", microusd=spend.microusd, tokens=spend.tokens)

    def failed(self, error: RefereeError, rows: Sequence[Row]) -> None:
        told = self._words(error.message)
        self._keep({"winner": None, "why": told, "rows": self._rows(rows)})
        self._line(type="error", message=told, category=error.category.value, retry_after=error.retry_after)

    def result(self, winner: str, why: str, rows: Sequence[Row]) -> None:
        """The file first: whoever hears of the end finds it."""
        told = self._words(why)
        self._keep({"winner": winner or None, "why": told, "rows": self._rows(rows)})
        self._line(type="result", winner=winner, why=told)

    def _rows(self, rows: Sequence[Row]) -> list[dict[str, object]]:
        return [asdict(row) | {"why": self._words(row.why)} for row in rows]

    def _words(self, text: str) -> str:
        return cut(plain(self._discretion(text)), _LONGEST)

    def _keep(self, result: dict[str, object]) -> None:
        with suppress(OSError):  # it is for people; the line tells the engine
            put(self._folder / RESULT, json.dumps(result, indent=1))

    def _line(self, **said: object) -> None:
        sys.stdout.write(f"{json.dumps(said)}\n")
        sys.stdout.flush()
