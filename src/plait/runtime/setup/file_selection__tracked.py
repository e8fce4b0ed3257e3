"""What git tracks in a workspace: nothing that it is given may lie over it."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

from plait.git.command import Git


class TrackedFiles:
    """Paths from the top, also those that a sparse checkout leaves out."""

    def __init__(self, workspace: Path) -> None:
        self._known = frozenset(Git(workspace).run("ls-files", "-z").fields)
        self._sorted: list[str] = []

    def contains(self, path: str) -> bool:
        """It is tracked itself, or lies in a link, a file or a submodule that is."""
        parts = path.split("/")
        return any("/".join(parts[:end]) in self._known for end in range(1, len(parts) + 1))

    def has_below(self, path: str) -> bool:
        """Something in this folder is tracked."""
        self._sorted = self._sorted or sorted(self._known)
        first = bisect_left(self._sorted, f"{path}/")
        return first < len(self._sorted) and self._sorted[first].startswith(f"{path}/")
