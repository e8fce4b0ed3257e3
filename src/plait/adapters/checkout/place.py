"""Where plait stands: the top of the repository, and where its state lies."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from plait.core.errors import UserError

_PATIENCE = 60.0  # seconds for git to answer


@dataclass(frozen=True, slots=True)
class Place:
    """`state` is in git's common folder: safe from `git clean`, and one for all linked worktrees of a repository.

    A folder that is no repository keeps it in `.plait/`; then `repository` is False.
    """

    top: Path
    state: Path
    repository: bool

    def spell(self, path: Path) -> str:
        """A path as messages, ids and the journal name it: from the top, with slashes, or absolute if outside."""
        try:
            return path.relative_to(self.top).as_posix() or "."
        except ValueError:
            return path.as_posix()


def find_place(where: Path) -> Place:
    if not where.is_dir():
        raise UserError(f"there is no folder {where}")
    where = where.resolve()
    told = _git(where, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir")
    if told is None:
        return Place(where, where / ".plait", repository=False)
    top, common = told.splitlines()
    return Place(Path(top), Path(common) / "plait", repository=True)


def files(place: Place) -> list[str]:
    """The files git knows or would know; nothing outside a repository, where walking could take for ever."""
    if not place.repository:
        return []
    told = _git(place.top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return [] if told is None else list(filter(None, told.split("\0")))


def _git(where: Path, *command: str) -> str | None:
    """What git says; None if it refuses (no repository, a bare one, no git at all)."""
    try:
        told = subprocess.run(  # noqa: S603 - fixed words and a folder
            ["git", "-C", str(where), *command],  # noqa: S607 - git as the person has it
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return told.stdout.decode("utf-8", "surrogateescape") if told.returncode == 0 else None
