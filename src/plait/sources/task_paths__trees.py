"""Trees of files, as people draw them: with lines and corners, or only indented."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What a tree is drawn with: box lines and corners, their stand-ins in plain text, and a list's marker.
_TREE_LINES = re.compile(r"(?:[\s\u2500-\u257f]|\|(?=[\s-])|[+`\\](?=--)|-(?=[\s-]))*")
_LINES = re.compile(r"[\u2500-\u257f]|[|+`\\]--")
_NAME = re.compile(r"[\w*]")
_COMMENTS = ("#", "//", "<-", "\u2190")
_MAX_DEPTH = 64


def parse_file_tree(text: str) -> Iterator[str]:
    """The full paths of the leaves; folders that have nothing beneath them end in a slash as they are written."""
    rows = list(_parse_rows(text))
    above: list[tuple[int, str]] = []
    for place, (column, name, drawn) in enumerate(rows):
        while above and above[-1][0] >= column:
            above.pop()
        following = rows[place + 1][0] if place + 1 < len(rows) else 0
        if following > column:
            if len(above) < _MAX_DEPTH:
                above.append((column, name))
        elif drawn or "/" in name or "." in name:
            folders = "".join(f"{folder.rstrip('/')}/" for _, folder in above if folder.rstrip("/") != ".")
            yield folders + name.removeprefix("./")


def _parse_rows(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line's column, its name, and whether lines are drawn to it."""
    for line in text.split("\n"):
        found = _TREE_LINES.match(line)
        rest = line[found.end() :].split(maxsplit=1) if found else ()
        name = rest[0].strip("`,;") if rest else ""
        if found and _NAME.search(name) and not name.startswith(_COMMENTS) and "://" not in name:
            yield len(found[0].expandtabs(4)), name, _LINES.search(found[0]) is not None
