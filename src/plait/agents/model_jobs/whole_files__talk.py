"""How models talk around what they were asked for: sentences, lines that stand for others, changes in forms of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from plait.agents.model_jobs.code_blocks import is_bare_fence

PROSE_SUFFIXES = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc")
_MAX_LINE_CHARS = 200  # characters of a line that are looked at
_LEAD = r"[\s*_>\"'(\u201c\u2018]*"
# How models begin to talk. Code begins with none of these words, while prose may begin with the last ones.
_TALK = re.compile(
    rf"{_LEAD}(?:I|I'm|I\u2019m|I'll|Sure|Sorry|Here|Certainly|Of course|Okay|As an|As a (?:large|language|AI)|"
    r"Unfortunately|Absolutely|Apologies|Let me|Let's|Let\u2019s)\b[ ,'\u2019!]"
)
_OPENING = re.compile(
    rf"{_LEAD}(?:OK|To|The|This|That|Yes|No|It|You|We|Below|Please|Note|Hello|Hi|Great|Alright)\b[ ,'\u2019!]"
)
_SENTENCE = re.compile(r"[A-Z][a-z'\u2019]*[,!]?(?: [\w'\u2019`./-]+[,!]?){3,}[.:!?]\Z")
_BETWEEN = re.compile(r"[A-Z0-9][\w'\u2019`., /-]*[.:!?]\Z")
_ELISION = re.compile(
    r"\W*(?:\.\.\.|\u2026)\W*(?:the )?(?:rest of|existing|remaining|other|previous|same|unchanged)\b.{0,60}",
    re.IGNORECASE,
)
_ELISION_COMMENT = re.compile(
    r"(?:#|//|--|/\*|<!--|;+|%)\W*(?:(?:the|your) )?(?:rest of (?:the|this|your)|remaining|existing|previous) (?:\w+ ){0,2}"
    r"(?:code|file|methods?|functions?|implementations?|imports?|contents?|class(?:es)?|logic|tests?|module)\b"
    r"[^=;{}]{0,40}\b(?:remains?|stays?|unchanged|same|here|omitted|as before|as is)\b\W*",
    re.IGNORECASE,
)
_SEARCH, _REPLACE = re.compile(r"<{5,9} SEARCH\b"), re.compile(r">{5,9} REPLACE\b")
_DIFF = re.compile(r"(?:diff --git .*\n(?:.*\n){0,4})?--- .*\n\+\+\+ .*\n@@ -")


def looks_like_prose(path: str, line: str) -> bool:
    """So does no file of this name begin, but an answer that has talk in the place of one."""
    line = line[:_MAX_LINE_CHARS].strip()
    if _TALK.match(line) or path.endswith(PROSE_SUFFIXES):
        return _TALK.match(line) is not None
    code = "." in path.rpartition("/")[2]
    return _OPENING.match(line) is not None or (code and _SENTENCE.match(line) is not None)


def is_placeholder_line(line: str) -> bool:
    """`# ... existing code ...` and the like."""
    line = line[:_MAX_LINE_CHARS].strip()
    return _ELISION.fullmatch(line) is not None or _ELISION_COMMENT.fullmatch(line) is not None


def find_placeholder_line(path: str, text: str) -> int | None:
    """The line that stands for others that were left out."""
    if path.endswith(PROSE_SUFFIXES):
        return None
    return next((n for n, line in enumerate(text.split("\n"), 1) if is_placeholder_line(line)), None)


def is_patch(path: str, text: str) -> bool:
    """Changes of a file, as other tools want them, where a file should be."""
    if path.endswith((*PROSE_SUFFIXES, ".diff", ".patch")):
        return False
    searches = _SEARCH.search(text) is not None and _REPLACE.search(text) is not None
    return searches or _DIFF.match(text.lstrip()) is not None


def may_end_early(lines: Sequence[str]) -> bool:
    """After a fence in the middle goes on what may be talk: nobody can tell whether the file was over there."""
    return any(
        is_bare_fence(line) and _BETWEEN.match(after[:_MAX_LINE_CHARS].strip()) is not None
        for line, after in pairwise(lines)
    )
