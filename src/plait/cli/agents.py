"""`plait agents`: the agents plait knows, which of them are here, and which it can drive."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from plait.agents.known import KNOWN, Known
from plait.cli.say import OK, Page, console, write_json
from plait.wiring.checkup import programs

if TYPE_CHECKING:
    from plait.wiring.checkup import Program

_WIDTH = max(len(known.name) for known in KNOWN)


def agents_command(where: Path, *, as_json: bool) -> int:  # noqa: ARG001 - they are the same everywhere
    found = programs([known.program for known in KNOWN if known.program])
    if as_json:
        write_json([_json(known, found.get(known.program)) for known in KNOWN])
    else:
        _show(found)
    return OK


def _json(known: Known, program: Program | None) -> dict[str, object]:
    return {
        "name": known.name,
        "description": known.about,
        "available": program is None or program.path is not None,
        "path": program.path if program else None,
        "version": program.version if program else None,
        "problem": (program.trouble or None) if program else None,
        "driven": known.driven,
        "install": known.install or None,
        "command": known.command or None,
    }


def _show(found: Mapping[str, Program]) -> None:
    page = Page()
    here = [known for known in KNOWN if not known.program or found[known.program].path]
    for known in here:
        _row(page, known, found.get(known.program))
    missing = [known for known in KNOWN if known not in here]
    if missing:
        page.line()
        page.line(("not here", "bold"))
    for known in missing:
        page.line(f"  {known.name:{_WIDTH}}  ", (known.install or known.about, "dim"))
    page.line()
    page.line(
        (
            "What plait can't drive yet, --agent-command runs: plait run --agent-command 'tool {task_file}'.",
            "dim",
        )
    )
    page.show(console())


def _row(page: Page, known: Known, program: Program | None) -> None:
    state = ("driven", "green") if known.driven else ("not yet", "yellow")
    version = f" {program.version}" if program and program.version else ""
    trouble = f" ({program.trouble})" if program and program.trouble else ""
    page.line(f"  {known.name:{_WIDTH}}  ", (f"{state[0]:7}", state[1]), f"  {known.about}{version}{trouble}")
    if known.command:
        page.line((f"  {'':{_WIDTH}}           --agent-command '{known.command}'", "dim"))
