"""Parts of a file: the blocks that a line begins, and the literals of a struct."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.agents.model_jobs.text_search import get_indent

_PAIRS = {"{": "}", "(": ")", "[": "]"}
_BRACKET = re.compile(r"[{}()\[\]]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|//[^\n]*")
_MAX_LITERAL_CHARS = 20_000  # characters that one literal may have
_DEFINITION = re.compile(
    r"\b(?:struct|impl|class|enum|interface|type|trait|union|record|fn|func|def|function|for|extends|import|use)\b[^={;]*\Z|->\s*\Z"
)


def find_scopes(lines: Sequence[str], begins: str) -> tuple[range, ...]:
    """Each line that has this text, and all that is further in below it; where nothing is, all that follows."""
    found: list[range] = []
    for place, line in enumerate(lines):
        if begins in line and (not found or place >= found[-1].stop):
            found.append(range(place, _block_end(lines, place)))
    return tuple(found)


def _block_end(lines: Sequence[str], begin: int) -> int:
    """Before the first line that is as far out as the beginning, after some that were further in."""
    depth, inner = len(get_indent(lines[begin])), False
    for place in range(begin + 1, len(lines)):
        if not lines[place].strip():
            continue
        deeper = len(get_indent(lines[place])) > depth
        if inner and not deeper:
            return place
        inner = inner or deeper
    return len(lines)


def find_name_mentions(text: str, name: str) -> list[range]:
    """The characters from each place where the name is to the end of the bracket that it opens, or of its line."""
    return [
        range(found.start(), _bracket_end(text, found.end())) for found in _word_pattern(name).finditer(text)
    ]


def find_literals(text: str, name: str) -> list[range]:
    """Those of the mentions that make one: the name, right before its bracket, and not where it is defined."""
    found: list[range] = []
    for match in _word_pattern(name).finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[line : match.start()]
        opens = re.match(r"\s*[{(]", text[match.end() : match.end() + 40])
        if opens and not _DEFINITION.search(before[-200:]):
            found.append(range(match.start(), _bracket_end(text, match.end())))
    return found


def _word_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _bracket_end(text: str, at: int) -> int:
    """After the bracket that is opened in this line, or at the beginning of the next, is closed again."""
    line = text.find("\n", at)
    line = len(text) if line < 0 else line
    upto = text.find("\n", line + 1)
    opened = next(
        (m for m in _BRACKET.finditer(text, at, len(text) if upto < 0 else upto) if m[0] in _PAIRS), None
    )
    if opened is None or (opened.start() > line and text[line : opened.start()].strip()):
        return line
    depth = 0
    for each in _BRACKET.finditer(text, opened.start(), min(len(text), at + _MAX_LITERAL_CHARS)):
        depth += each[0] in _PAIRS
        depth -= each[0] in _PAIRS.values()
        if depth == 0:
            return each.end()
    return line
