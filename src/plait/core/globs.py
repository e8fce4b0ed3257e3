"""A glob: `*`, `?` and `[ab]` stay within a name; `**` between slashes stands for any folders, or none."""

from __future__ import annotations

import re

from plait.core.fast_dataclass import dataclass

_WILDCARD = re.compile(r"[*?\[]")
_PIECE = re.compile(r"(?P<star>\*+)|(?P<one>\?)|\[(?P<no>!?)(?P<of>[^/\]]+)\]|(?P<plain>[^*?\[]+|\[)")


def is_glob(path: str) -> bool:
    return _WILDCARD.search(path) is not None


@dataclass(frozen=True, slots=True)
class Glob:
    """`prefix` is the text before the first wildcard, `folder` the folder that all it matches lies in."""

    text: str
    prefix: str
    folder: str
    pattern: re.Pattern[str]
    folder_pattern: re.Pattern[str]

    def matches(self, path: str) -> bool:
        return self.pattern.fullmatch(path) is not None

    def reaches(self, folder: str) -> bool:
        """Could it match anything inside this folder?"""
        return self.folder_pattern.fullmatch(f"/{folder}") is not None


def parse_glob(text: str) -> Glob:
    prefix = _WILDCARD.split(text, maxsplit=1)[0]
    parts = text.split("/")
    names = [name for place, name in enumerate(parts) if name != "**" or parts[place - 1 : place] != ["**"]]
    whole, above = (re.compile(pattern, re.DOTALL) for pattern in (_full_pattern(names), _folder_pattern(names)))
    return Glob(text, prefix, prefix.rpartition("/")[0], whole, above)


def _full_pattern(names: list[str]) -> str:
    *folders, last = names
    crossed = "".join("(?:[^/]+/)*" if name == "**" else f"{_name_pattern(name)}/" for name in folders)
    return crossed + (".+" if last == "**" else _name_pattern(last))


def _folder_pattern(names: list[str]) -> str:
    """Matches each folder, with a slash before every name, in which the rest of the names could still be found."""
    pattern = ""
    for place, name in reversed(list(enumerate(names))):
        if name == "**":
            pattern = "(?:/.*)?"
        elif place < len(names) - 1:
            pattern = f"(?:/{_name_pattern(name)}{pattern})?"
    return pattern


def _name_pattern(name: str) -> str:
    """The pattern of one name. Text between two stars is matched without backtracking, so that no name takes long."""
    runs = [""]
    for piece in _PIECE.finditer(name):
        if piece["star"]:
            runs.append("")
        else:
            runs[-1] += _piece_pattern(piece)
    first, *between = runs
    last = f"[^/]*{between.pop()}" if between else ""
    return first + "".join(f"(?>[^/]*?{run})" for run in between) + last


def _piece_pattern(found: re.Match[str]) -> str:
    if found["one"]:
        return "[^/]"
    if found["plain"]:
        return re.escape(found["plain"])
    ranges = re.sub(r"(.)-(.)|(.)", _range_pattern, found["of"], flags=re.DOTALL)
    return f"[^/{ranges}]" if found["no"] else f"(?!/)[{ranges}]"


def _range_pattern(found: re.Match[str]) -> str:
    low, high, single = found.groups()
    if single is not None:
        return re.escape(single)
    return f"{re.escape(low)}-{re.escape(high)}" if low <= high else "".join(map(re.escape, (low, "-", high)))
