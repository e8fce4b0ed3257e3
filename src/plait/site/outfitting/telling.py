"""What a person reads in the transcript: a line each, whatever the names of files hold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

_LONGEST = 300
_WARNINGS = 20
_NAMED = 5  # files in one line


def shown(text: str) -> str:
    """On one line, without what a terminal would obey."""
    line = "; ".join(part for each in text.splitlines() if (part := each.strip()))
    clean = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)
    return clean if len(clean) <= _LONGEST else f"{clean[:_LONGEST]}…"


def few(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more


def say(text: str) -> None:
    """Nobody to hear it is no reason to stop."""
    with suppress(OSError):
        os.write(1, f"plait: {shown(text)}\n".encode("utf-8", "replace"))


class Warnings:
    """The first ones in full, the rest as a number."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, text: str) -> None:
        self._count += 1
        if self._count <= _WARNINGS:
            say(f"warning: {text}")

    def end(self) -> None:
        if self._count > _WARNINGS:
            say(f"warning: … and {self._count - _WARNINGS} more like these")
