"""`plait init`: a `plait.toml` for what is found here."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli import output
from plait.cli.commands.init__init_ask import InitChoice, Prompt, ask_choice, make_prompt, suggest_choice
from plait.cli.commands.init__init_text import print_findings, print_next_steps
from plait.client.project_sources import create_text_file, has_settings_in_pyproject, scan_project
from plait.config.loading__files import PLAIT_TOML, PYPROJECT
from plait.config.reference__template import render_config_template
from plait.core.errors import UserError, WorldError
from plait.git.location import RepoLocation, find_repo

if TYPE_CHECKING:  # rich is slow to import, and `plait --help` reads this file
    from rich.console import Console

    from plait.client.repo_scan import RepoScan

_HINT_BY_ERRNO = {
    errno.ENOSPC: "Make room on the disk, then run `plait init` again.",
    errno.EDQUOT: "Make room in your quota, then run `plait init` again.",
    errno.EROFS: "The file system can be read only.",
    errno.EISDIR: "Move the folder of that name away.",
}
_PERMISSION_HINT = "See who may write there: ls -ld ."


def init_command(  # noqa: PLR0913 - the command line's own flags, and what tests put in place of the terminal
    where: Path,
    *,
    yes: bool,
    force: bool,
    as_json: bool,
    console: Console | None = None,
    ask: Prompt | None = None,
    path: str | None = None,
) -> int:
    """The exit code; what stands in the way is raised. Nothing is run, and nothing is written before all is answered.

    `ask` takes the place of the terminal's own prompt, `path` that of PATH.
    """
    out = console or output.make_console()
    place = find_repo(where)
    _check_not_configured(place.top, force=force)
    found = scan_project(place, os.environ.get("PATH", os.defpath) if path is None else path)
    if not as_json:
        print_findings(out, place, found)
    quiet = yes or as_json or not out.is_terminal or (ask is None and not sys.stdin.isatty())
    choice = suggest_choice(found) if quiet else ask_choice(ask or make_prompt(out), out, place, found)
    _write_config(place.top, render_config_template(choice.settings()), force=force)
    if as_json:
        _print_json(out, place, found, choice)
    else:
        print_next_steps(out, place, sources=bool(choice.sources), agent=choice.agent is not None)
    return output.OK


def _check_not_configured(top: Path, *, force: bool) -> None:
    """A second set of settings beside those of pyproject would contradict them, so --force can't have that either."""
    if has_settings_in_pyproject(top):
        raise UserError(
            f"{PYPROJECT} has settings already, under [tool.plait]",
            hint=f"`plait config` shows them. For a {PLAIT_TOML} instead, delete that table first.",
        )
    if not force and os.path.lexists(top / PLAIT_TOML):
        raise _make_exists_error(f"there is a {PLAIT_TOML} already")


def _make_exists_error(message: str) -> UserError:
    return UserError(
        message,
        hint="`plait config` shows what is in force; `plait init --force` writes a new file in its place.",
    )


def _write_config(top: Path, text: str, *, force: bool) -> None:
    try:
        create_text_file(top / PLAIT_TOML, text, replace=force)
    except FileExistsError:
        raise _make_exists_error(f"somebody else has just made a {PLAIT_TOML}: it stays as it is") from None
    except OSError as error:
        said = error.strerror or str(error)
        hint = _HINT_BY_ERRNO.get(error.errno or 0, _PERMISSION_HINT)
        raise WorldError(f"{top / PLAIT_TOML} can't be written: {said}", hint=hint) from error


def _print_json(out: Console, place: RepoLocation, found: RepoScan, choice: InitChoice) -> None:
    import json  # noqa: PLC0415

    answer = {
        "written": str(place.top / PLAIT_TOML),
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
    out.file.write(json.dumps(answer, indent=2) + "\n")
