"""Beads' Dolt database in a `.beads` folder: only bd, Beads' own program, reads it and writes to it.

bd runs hooks of the repository when a status changes. Hooks are not trusted, so they are switched off.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.formats import beads
from plait.sources.status_changes import StatusChange, StatusFileWriter

NOT_INSTALLED_HINT = "Install bd, Beads' own program, and run plait again."
_DATA_FOLDERS = ("dolt", "embeddeddolt")
_TIMEOUT_SECONDS = 60.0
_VARIABLES = {"BD_JSON_ENVELOPE": "0", "BD_NO_HOOKS": "1", "NO_COLOR": "1"}
_HOOKS = ("on_update", "on_close")
_NEW_VERSION = re.compile(r"version v?[1-9]")  # an older one runs hooks in any case


class BeadsError(WorldError):
    """bd can't be run, or fails."""


def is_dolt_database(folder: Path) -> bool:
    """Whether a `.beads` folder belongs to a Dolt database; its issues.jsonl, if there is one, is then an export."""
    has_data = any((folder / name).is_dir() for name in _DATA_FOLDERS)
    has_data = has_data or "last_dolt_commit" in _read_text(folder / "backup" / "backup_state.json")
    metadata, config = (_read_text(folder / name) for name in ("metadata.json", "config.yaml"))
    return beads.is_dolt_database(metadata, config, has_data=has_data)


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def find_bd() -> str | None:
    return shutil.which("bd")


def read_issues(folder: Path) -> str:
    """Read all issues, one per line as in issues.jsonl. Raises BeadsError."""
    try:
        return _run_bd(folder, ("export", "--json"))
    except BeadsError:  # a version without it
        lines = beads.convert_list_to_lines(_run_bd(folder, ("list", "--all", "--limit", "0", "--json")))
    if lines is None:
        raise BeadsError("bd list --json printed no list of issues", hint="Update bd.")
    return lines


def write_statuses(folder: Path, writer: StatusFileWriter, changes: Sequence[StatusChange]) -> Sequence[Problem]:
    """Write statuses with bd. A bd that runs hooks in any case is reported as a problem, because trying again would not
    help.

    Raises BeadsError if bd fails.
    """
    assert writer.list_commands is not None
    if find_bd() is None:
        message = (
            "these issues are in a Dolt database, which only bd writes, and bd is not installed: no status was written"
        )
        return [Problem(Severity.WARNING, message, Origin(writer.path), NOT_INSTALLED_HINT)]
    hook = next((name for name in _HOOKS if os.access(folder / "hooks" / name, os.X_OK)), None)
    if hook is not None and not _NEW_VERSION.search(_run_bd(folder, ("version",))):
        message = f"this version of bd would run the repository's hook hooks/{hook}: no status was written"
        return [
            Problem(
                Severity.WARNING,
                message,
                Origin(writer.path),
                "Update bd to 1.0 or newer, which plait runs without hooks.",
            )
        ]
    commands = writer.list_commands(read_issues(folder), changes)
    for arguments in commands.arguments:
        _run_bd(folder, arguments)
    return commands.problems


def _run_bd(folder: Path, arguments: Sequence[str]) -> str:
    program = find_bd()
    if program is None:
        raise BeadsError("bd is not installed", hint=NOT_INSTALLED_HINT)
    shown = f"bd {arguments[0]}"
    try:
        process = subprocess.run(  # words, never a line for a shell
            [program, *arguments],
            cwd=folder.parent,
            env={**os.environ, **_VARIABLES},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise BeadsError(f"{shown} did not end in {_TIMEOUT_SECONDS:.0f} seconds") from error
    except OSError as error:
        raise BeadsError(f"{shown} can't be run: {error}") from error
    if process.returncode != 0:
        lines = [line.strip() for line in process.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        why = lines[-1] if lines else f"exit status {process.returncode}"
        raise BeadsError(f"{shown}: {why[:300]}", hint=f"Run {shown} in {folder.parent} to see what is wrong.")
    return process.stdout.decode("utf-8", "replace")
