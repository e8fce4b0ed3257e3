"""Prints messages that people read in the transcript, one line each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from plait.core.text import join_names

_MAX_LENGTH = 300
_MAX_WARNINGS = 20
_MAX_PATHS = 5  # files in one line


def to_single_line(text: str) -> str:
    """Put a text on one line, without control characters."""
    line = "; ".join(part for each in text.splitlines() if (part := each.strip()))
    clean = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)
    return clean if len(clean) <= _MAX_LENGTH else f"{clean[:_MAX_LENGTH]}…"


def summarize_paths(paths: Sequence[str]) -> str:
    return join_names(paths, _MAX_PATHS)


def print_message(text: str) -> None:
    """Print a message; a closed standard output is ignored."""
    with suppress(OSError):
        os.write(1, f"plait: {to_single_line(text)}\n".encode("utf-8", "replace"))


class WarningPrinter:
    """Prints the first warnings in full, then only their number."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, text: str) -> None:
        self._count += 1
        if self._count <= _MAX_WARNINGS:
            print_message(f"warning: {text}")

    def print_summary(self) -> None:
        if self._count > _MAX_WARNINGS:
            print_message(f"warning: … and {self._count - _MAX_WARNINGS} more like these")
