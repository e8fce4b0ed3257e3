"""What a person named: files, folders and globs, as paths."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from plait.core.plan import Problem, Severity
from plait.core.task import Origin


def drop_known(paths: Sequence[Path], known: set[Path]) -> list[Path]:
    """Those that were not met before; now they are."""
    found = []
    for path in paths:
        whole = path.resolve()
        if whole not in known:
            known.add(whole)
            found.append(path)
    return found


def report_missing(value: str) -> Problem:
    what = "nothing fits this pattern" if glob.has_magic(value) else "there is no such file or folder"
    return Problem(Severity.WARNING, f"{what}: skipped", Origin(value))


def expand_name(where: Path, value: str) -> list[Path]:
    if not value:  # a variable that was not set, and not this folder
        return []
    path = where / value
    if path.exists():
        return [path]
    if not glob.has_magic(value):
        return []
    found = glob.glob(value, root_dir=where, recursive=True)  # noqa: PTH207 - it takes absolute patterns too
    return sorted(where / name for name in found)
