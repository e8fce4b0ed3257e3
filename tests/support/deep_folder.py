"""Folders inside each other, more than Python calls functions inside each other."""

from __future__ import annotations

from pathlib import Path


def make_deep_folder(path: Path, depth: int) -> None:
    """Made from the inside, since a path may be too long."""
    outer = path.with_name(f"{path.name}-outer")
    path.mkdir()
    for _ in range(depth):
        outer.mkdir()
        path.rename(outer / "ab")
        outer.rename(path)
