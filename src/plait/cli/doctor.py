"""`plait doctor`: how everything is that plait relies on, and what to do about what is not as it should be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli.say import FAILED, OK, Page, write_json
from plait.wiring.checkup import checkup

if TYPE_CHECKING:
    from plait.wiring.checkup import Check

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}
_WIDTH = len("problem")


def doctor_command(where: Path, *, as_json: bool) -> int:
    """1 if there is a problem; warnings are no reason not to go on."""
    checks = checkup(where)
    if as_json:
        write_json({"checks": [_json(check) for check in checks]})
    else:
        _show(checks)
    return FAILED if any(check.verdict.value == "problem" for check in checks) else OK


def _json(check: Check) -> dict[str, object]:
    return {
        "topic": check.topic,
        "verdict": check.verdict.value,
        "message": check.said,
        "hint": check.hint or None,
    }


def _show(checks: list[Check]) -> None:
    page = Page()
    topics = max(len(check.topic) for check in checks)
    for check in checks:
        verdict = check.verdict.value
        page.line((f"{verdict:{_WIDTH}}", _STYLES[verdict]), f"  {check.topic:{topics}}  {check.said}")
        if check.hint:
            page.line((f"{'':{_WIDTH + topics + 4}}{check.hint}", "dim"))
    page.show()
