"""`plait init`: a `plait.toml` for what is found here."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli import say
from plait.cli.init_ask import Ask, Choice, asked, prompt, suggested
from plait.cli.init_text import show_findings, show_next
from plait.config.files import OWN, PYPROJECT
from plait.config.template import template
from plait.core.errors import UserError, WorldError
from plait.wiring import Place, find_place
from plait.wiring.sources import findings, make_file, settings_in_pyproject

if TYPE_CHECKING:  # rich is slow to import, and `plait --help` reads this file
    from rich.console import Console

    from plait.wiring.sources import Findings

_HINTS = {
    errno.ENOSPC: "Make room on the disk, then run `plait init` again.",
    errno.EDQUOT: "Make room in your quota, then run `plait init` again.",
    errno.EROFS: "The file system can be read only.",
    errno.EISDIR: "Move the folder of that name away.",
}
_WHO = "See who may write there: ls -ld ."


def init_command(  # noqa: PLR0913 - the command line's own flags, and what tests put in place of the terminal
    where: Path,
    *,
    yes: bool,
    force: bool,
    as_json: bool,
    console: Console | None = None,
    ask: Ask | None = None,
    path: str | None = None,
) -> int:
    """The exit code; what stands in the way is raised. Nothing is run, and nothing is written before all is answered.

    `ask` takes the place of the terminal's own prompt, `path` that of PATH.
    """
    out = console or say.console()
    place = find_place(where)
    _refuse_settled(place.top, force=force)
    found = findings(place, os.environ.get("PATH", os.defpath) if path is None else path)
    if not as_json:
        show_findings(out, place, found)
    quiet = yes or as_json or not out.is_terminal or (ask is None and not sys.stdin.isatty())
    choice = suggested(found) if quiet else asked(ask or prompt(out), out, place, found)
    _write(place.top, template(choice.settings()), force=force)
    if as_json:
        _write_json(out, place, found, choice)
    else:
        show_next(out, place, sources=bool(choice.sources), agent=choice.agent is not None)
    return say.OK


def _refuse_settled(top: Path, *, force: bool) -> None:
    """A second set of settings beside those of pyproject would contradict them, so --force can't have that either."""
    if settings_in_pyproject(top):
        raise UserError(
            f"{PYPROJECT} has settings already, under [tool.plait]",
            hint=f"`plait config` shows them. For a {OWN} instead, delete that table first.",
        )
    if not force and os.path.lexists(top / OWN):
        raise _taken(f"there is a {OWN} already")


def _taken(message: str) -> UserError:
    return UserError(
        message,
        hint="`plait config` shows what is in force; `plait init --force` writes a new file in its place.",
    )


def _write(top: Path, text: str, *, force: bool) -> None:
    try:
        make_file(top / OWN, text, replace=force)
    except FileExistsError:
        raise _taken(f"somebody else has just made a {OWN}: it stays as it is") from None
    except OSError as error:
        said = error.strerror or str(error)
        hint = _HINTS.get(error.errno or 0, _WHO)
        raise WorldError(f"{top / OWN} can't be written: {said}", hint=hint) from error


def _write_json(out: Console, place: Place, found: Findings, choice: Choice) -> None:
    import json  # noqa: PLC0415

    told = {
        "written": str(place.top / OWN),
        "repository": place.repository,
        "sources": [
            {
                "path": seen.path,
                "format": seen.format,
                "open": seen.open,
                "total": seen.total,
                "problem": seen.problem,
            }
            for seen in found.sources
        ],
        "agents": list(found.agents),
        "agent": choice.agent,
        "verify": choice.verify,
        "verifyReason": found.verify.why if found.verify else None,
    }
    out.file.write(json.dumps(told, indent=2) + "\n")
