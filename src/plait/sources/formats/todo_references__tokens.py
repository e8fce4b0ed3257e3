"""The pieces of a text about dependencies: numbers, words, remarks in brackets, commas, ends of sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from plait.core.fast_dataclass import dataclass

DASHES = "-\u2013\u2014"

_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_CHUNK = re.compile(r"[()\[\]]|[,;&+\n]|[^\s,;&+()\[\]]+")
_NUMBER = re.compile(
    r"(?P<task>tasks?[-#]?)?#?(?P<first>[0-9]{1,9})"
    rf"(?:(?:[{DASHES}]|\.\.\.?)#?(?P<last>[0-9]{{1,9}}))?(?:['\u2019]s)?\Z",
    re.IGNORECASE,
)
_MONTH = re.compile(r"(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])\Z")
_QUOTE_CHARACTERS = "*_`\"'\u201c\u201d\u2018\u2019"
_CLOSERS = {"(": ")", "[": "]"}
_COMMAS = frozenset({",", "&", "+", "and", "or", "plus", "but", "then"})


class TokenKind(Enum):
    NUMBER = auto()
    WORD = auto()
    NOTE = auto()
    COMMA = auto()
    STOP = auto()  # the end of a sentence


@dataclass(frozen=True, slots=True)
class Token:
    """A number has its bounds; a range that is written in one piece has two different ones.

    `tasked`: the word is part of it (`Task#72`). `marked`: it has a # (a number), or stands in square brackets (a note).
    """

    kind: TokenKind
    text: str
    bounds: tuple[int, int] | None = None
    has_task_word: bool = False
    is_marked: bool = False
    has_colon: bool = False


def tokenize(text: str) -> Iterator[Token]:
    """Links are their texts, and what is in brackets is one token."""
    chunks = [found[0] for found in _CHUNK.finditer(_LINK.sub(r"\1", text))]
    ends = _match_brackets(chunks)
    place = 0
    while place < len(chunks):
        chunk = chunks[place]
        if place in ends:
            yield Token(TokenKind.NOTE, " ".join(chunks[place + 1 : ends[place]]), is_marked=chunk == "[")
            place = ends[place]
        elif chunk.lower() in _COMMAS:
            yield Token(TokenKind.COMMA, chunk)
        elif chunk in ";\n":
            yield Token(TokenKind.STOP, chunk)
        elif chunk not in "()[]":
            yield from _tokenize_word(chunk)
        place += 1


def _match_brackets(chunks: list[str]) -> dict[int, int]:
    """Where each bracket that is closed ends; one that is never closed is as good as not there."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for place, chunk in enumerate(chunks):
        if chunk in _CLOSERS:
            opened.append(place)
        elif opened and chunk == _CLOSERS[chunks[opened[-1]]]:
            pairs[opened.pop()] = place
    return pairs


def _tokenize_word(chunk: str) -> Iterator[Token]:
    bare = chunk.strip(_QUOTE_CHARACTERS)
    plain = bare.rstrip(".:!?").rstrip(_QUOTE_CHARACTERS) or bare
    if not plain:
        return
    found = _NUMBER.match(plain)
    if found is None or _MONTH.match(plain):
        yield Token(TokenKind.WORD, plain)
    else:
        first = int(found["first"])
        bounds = (first, int(found["last"] or first))
        yield Token(TokenKind.NUMBER, plain, bounds, bool(found["task"]), "#" in plain, bare.endswith(":"))
    if bare.endswith((".", "!", "?")) and "." not in plain:
        yield Token(TokenKind.STOP, ".")
