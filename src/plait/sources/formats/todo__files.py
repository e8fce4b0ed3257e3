"""The files that a task declares: `Files Affected`, in line or as bullets, with back-ticks or without."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plait.sources.task_paths__mentions import find_mentions

_LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]*)\)")
_REMARK = re.compile(r"\s\([^()]*\)")
_COMMA = re.compile(r"[,;]")
_TICKED = re.compile(r"`([^`\s]{1,300})`")
_PLAIN = re.compile(r"[\w@+~.()\[\]*?{}/-]{1,300}\Z")
_LINES = re.compile(r":[0-9]+(?:[-:,][0-9]+)*\Z")


def parse_declared_files(texts: Iterable[str]) -> tuple[str, ...]:
    """The paths in the order in which they are given. A bullet in words (`Other modules`) declares nothing."""
    found: dict[str, None] = {}
    for text in texts:
        for part in _COMMA.split(_REMARK.sub(" ", _LINK.sub(r"\1", text))):
            found.update(dict.fromkeys(_parse_part(part.strip())))
    return tuple(found)


def _parse_part(part: str) -> tuple[str, ...]:
    """What stands first is meant as a path; behind other words only what is one beyond doubt."""
    ticked = _TICKED.match(part)
    words = part.split()
    if not words:
        return ()
    first = ticked[1] if ticked else words[0] if len(words) == 1 else ""
    path = _LINES.sub("", first.strip("`*")).removeprefix("./")
    alone = _is_path(path)
    named = find_mentions(part) + (find_mentions(f"`{words[0]}`") if len(words) > 1 and not ticked else ())
    return (path, *(name for name in named if name != path)) if alone else named


def _is_path(word: str) -> bool:
    if not _PLAIN.match(word) or word.startswith(("/", "~", "-", "..")) or word.lower() == "n/a":
        return False
    return "/" in word or "." in word.strip(".") or word.startswith(".")
