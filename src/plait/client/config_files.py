"""Reads configuration files of other tools: a missing, broken or odd file counts as empty, never as an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

Tree = Mapping[str, object]
MAX_READ_BYTES = 1024 * 1024  # bytes; no configuration file is longer
# A text, a comment, or a comma before the end of a list. What is never closed ends with the file: one pass is enough.
_JSONC = re.compile(r'(?P<text>"(?:\\.|[^"\\])*+"?)|//[^\r\n]*+|/\*(?:.*?\*/|.*)|,(?=\s*+[\]}])', re.DOTALL)


def file_exists(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def find_first(top: Path, names: Iterable[str]) -> str | None:
    """Return the first of these files that exists, or None."""
    return next((name for name in names if file_exists(top / name)), None)


def read_text_or_empty(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > MAX_READ_BYTES:  # reading a pipe would block
            return ""
        return path.read_bytes().decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""


def read_toml(path: Path) -> Tree:
    import tomllib  # rarely needed

    try:
        return tomllib.loads(read_text_or_empty(path))
    except (ValueError, RecursionError):
        return {}


def read_json(path: Path) -> Tree:
    """Read JSON, with the comments and commas that some tools allow in it."""
    import json

    text = read_text_or_empty(path)
    for attempt in (text, _JSONC.sub(lambda match: match["text"] or "", text)):
        try:
            tree = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        return tree if isinstance(tree, dict) else {}
    return {}


def get_nested(tree: object, *names: str) -> object:
    """Return the value under these keys; None if there is none."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def get_table(tree: object, *names: str) -> Tree:
    value = get_nested(tree, *names)
    return value if isinstance(value, Mapping) else {}
