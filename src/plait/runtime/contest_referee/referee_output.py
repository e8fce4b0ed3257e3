"""Telling: an object per line for the listener, and who was chosen and why as a file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from plait.agents.drivers.referee import REFEREE_RESULT_FILE
from plait.agents.plain_text import to_plain_text, truncate
from plait.agents.redaction import build_env_redactor
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Spend
from plait.core.status import Category
from plait.system.atomic_files import write_private_file

_MAX_MESSAGE_CHARS = 500  # characters of a line for people


@dataclass(slots=True)
class ContestRow:
    """One candidate. `rank` 0: it is out of the contest, and `why` says by what."""

    entrant: str
    rank: int = 0
    score: float | None = None
    why: str = ""


class RefereeError(Exception):
    """Nobody can be chosen. `category` says whether trying again may help, `retry_after` in how many seconds."""

    def __init__(self, message: str, category: Category = Category.TASK, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.category = category
        self.retry_after = retry_after


class RefereeReporter:
    """Whatever others said is told as words about it, and without secrets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._redact = build_env_redactor(os.environ)

    def report_phase(self, name: str) -> None:
        self._write_line(type="phase", name=name)

    def report_activity(self, text: str) -> None:
        shown = self._clean(text)
        if shown:
            self._write_line(type="activity", text=shown)

    def report_spend(self, spend: Spend) -> None:
        self._write_line(type="usage", microusd=spend.microusd, tokens=spend.tokens)

    def report_failure(self, error: RefereeError, rows: Sequence[ContestRow]) -> None:
        told = self._clean(error.message)
        self._write_result({"winner": None, "why": told, "rows": self._rows(rows)})
        self._write_line(type="error", message=told, category=error.category.value, retry_after=error.retry_after)

    def report_result(self, winner: str, why: str, rows: Sequence[ContestRow]) -> None:
        """The file first: whoever hears of the end finds it."""
        told = self._clean(why)
        self._write_result({"winner": winner or None, "why": told, "rows": self._rows(rows)})
        self._write_line(type="result", winner=winner, why=told)

    def _rows(self, rows: Sequence[ContestRow]) -> list[dict[str, object]]:
        return [asdict(row) | {"why": self._clean(row.why)} for row in rows]

    def _clean(self, text: str) -> str:
        return truncate(to_plain_text(self._redact(text)), _MAX_MESSAGE_CHARS)

    def _write_result(self, result: dict[str, object]) -> None:
        with suppress(OSError):  # it is for people; the line tells the engine
            write_private_file(self._folder / REFEREE_RESULT_FILE, json.dumps(result, indent=1))

    def _write_line(self, **said: object) -> None:
        sys.stdout.write(f"{json.dumps(said)}\n")
        sys.stdout.flush()
