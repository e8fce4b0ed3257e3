"""What the referee reports: a JSON line per event, and its choice with reasons as a file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from plait.agents.drivers.referee import REFEREE_RESULT_FILE
from plait.agents.plain_text import to_plain_text, truncate
from plait.agents.redaction import build_redactor
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Spend
from plait.runtime.agent_process import JobError, print_event
from plait.system.atomic_files import write_private_file

_MAX_MESSAGE_CHARS = 500


@dataclass(slots=True)
class ContestRow:
    """One candidate. `rank` 0: it is disqualified, and `why` says why."""

    entrant: str
    rank: int = 0
    score: float | None = None
    why: str = ""


class RefereeReporter:
    """Redacts the text of agents and tools, and removes control characters."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._redact = build_redactor(os.environ)

    def report_phase(self, name: str) -> None:
        print_event("phase", name=name)

    def report_activity(self, text: str) -> None:
        shown = self._clean(text)
        if shown:
            print_event("activity", text=shown)

    def report_spend(self, spend: Spend) -> None:
        print_event("usage", microusd=spend.microusd, tokens=spend.tokens)

    def report_failure(self, error: JobError, rows: Sequence[ContestRow]) -> None:
        text = self._clean(error.message)
        self._write_result({"winner": None, "why": text, "rows": self._rows(rows)})
        print_event("error", message=text, category=error.category.value, retry_after=error.after)

    def report_result(self, winner: str, why: str, rows: Sequence[ContestRow]) -> None:
        """The file first: it must exist when the event is read."""
        text = self._clean(why)
        self._write_result({"winner": winner or None, "why": text, "rows": self._rows(rows)})
        print_event("result", winner=winner, why=text)

    def _rows(self, rows: Sequence[ContestRow]) -> list[dict[str, object]]:
        return [asdict(row) | {"why": self._clean(row.why)} for row in rows]

    def _clean(self, text: str) -> str:
        return truncate(to_plain_text(self._redact(text)), _MAX_MESSAGE_CHARS)

    def _write_result(self, result: dict[str, object]) -> None:
        with suppress(OSError):  # it is for people; the engine reads the line
            write_private_file(self._folder / REFEREE_RESULT_FILE, json.dumps(result, indent=1))
