"""Titles: one line of plain text, made from markdown as people write it."""

from __future__ import annotations

import re
from dataclasses import field

from plait.core.fast_dataclass import dataclass

_MAX_TITLE_LENGTH = 120
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
# What stands in back-ticks is code: `_x` and `*.py` keep their signs.
_MARKUP = re.compile(r"`([^`]*)`|\*\*|__|~~|`|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])")


def strip_markup(text: str) -> str:
    """The text without emphasis, back-ticks and the targets of links, on one line."""
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    return " ".join(_MARKUP.sub(lambda found: found[1] or "", text).split())


def make_title(text: str) -> str:
    """A text as a title: plain, and cut after a word if it is long."""
    line = strip_markup(text)
    if len(line) <= _MAX_TITLE_LENGTH:
        return line
    cut = line.rfind(" ", _MAX_TITLE_LENGTH // 2, _MAX_TITLE_LENGTH)
    return f"{line[: cut if cut > 0 else _MAX_TITLE_LENGTH].rstrip()}\u2026"


@dataclass
class UniqueNames:
    """Names that are all different: the second `x` is `x-2`."""

    _used: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        n = self._used.get(name, 0) + 1
        unique = name if n == 1 else f"{name}-{n}"
        while n > 1 and unique in self._used:
            n += 1
            unique = f"{name}-{n}"
        self._used[name] = n
        self._used.setdefault(unique, 1)
        return unique
