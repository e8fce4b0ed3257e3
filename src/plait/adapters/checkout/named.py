"""What a person named: files, folders and globs, as paths."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from plait.core.plan import Problem, Severity
from plait.core.task import Origin


def new(paths: Sequence[Path], met: set[Path]) -> list[Path]:
    """Those that were not met before; now they are."""
    found = []
    for path in paths:
        whole = path.resolve()
        if whole not in met:
            met.add(whole)
            found.append(path)
    return found


def missing(said: str) -> Problem:
    what = "nothing fits this pattern" if glob.has_magic(said) else "there is no such file or folder"
    return Problem(Severity.WARNING, f"{what}: skipped", Origin(said))


def paths_of(where: Path, said: str) -> list[Path]:
    if not said:  # a variable that was not set, and not this folder
        return []
    path = where / said
    if path.exists():
        return [path]
    if not glob.has_magic(said):
        return []
    found = glob.glob(said, root_dir=where, recursive=True)  # noqa: PTH207 - it takes absolute patterns too
    return sorted(where / name for name in found)
