"""Remote repositories: where their mirrors are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # only for those who name a remote repository
    from plait.git.mirror import Mirror  # noqa: TC004 - a name for type checkers only

__all__ = ["Mirror"]


def find_mirrors_folder() -> Path:
    """No cache: journals lie there, and branches that may be nowhere else."""
    from platformdirs import user_data_path  # noqa: PLC0415

    return user_data_path("plait", appauthor=False) / "mirrors"


def open_project_mirror(url: str, *, environment: Mapping[str, str], log: Callable[[str], None]) -> Mirror:
    """Cloned or fetched just now. Raises UserError or WorldError."""
    from plait.git.mirror import open_mirror as open_  # noqa: PLC0415

    return open_(url, find_mirrors_folder(), environment=environment, report=log)


def remove_unused_checkouts(mirror: Mirror, in_use: Collection[Path]) -> int:
    """Remove the checkouts that nobody needs, with what was left in them saved; how many."""
    from plait.git.mirror_checkouts import list_stale_checkouts, remove_checkout  # noqa: PLC0415

    return sum(remove_checkout(mirror, path) for path in list_stale_checkouts(mirror, in_use))
