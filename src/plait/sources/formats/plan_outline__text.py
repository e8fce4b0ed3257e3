"""The words of a plan's task: what it depends on, how urgent it is, and the title that is left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plait.core.fast_dataclass import dataclass
from plait.sources.formats.plan_notes__numbers import NumberReference, find_task_references
from plait.sources.markdown import Block
from plait.sources.vocabulary import parse_priority, split_list

_CODE = re.compile(r"`[^`]*`")
_DEPENDS = re.compile(
    r"[(\[] ?depend(?:s|ent|ency|encies)?\b(?P<on> (?:up)?on\b)?(?P<colon> ?:)?(?P<what>[^()\[\]]*)[)\]]",
    re.IGNORECASE,
)
_OWN_LINE = re.compile(
    r"[(\[]?depend(?:s|ent|ency|encies)?\b(?: (?:up)?on\b)? ?:? ?"
    r"(?P<what>(?:[0-9., ;&\u2010-\u2015\u2212-]|tasks?\b|and\b|to\b|through\b)+)[)\]]?\.?\Z",
    re.IGNORECASE,
)
_URGENCY = re.compile(r"\b(CRITICAL|HIGH|MEDIUM|LOW)\b(?!-[a-z])")
_SPACE_BEFORE = re.compile(r" +(?=[.,;:])")
_MAX_LINE_LENGTH = 1_000


@dataclass(frozen=True, slots=True)
class DependsClause:
    """`(depends: 1.1, 2.3)`, as it is written. `unread`: it names no task."""

    line: int
    text: str
    references: tuple[NumberReference, ...]
    names_no_task: bool = False


def split_depends(words: str, line: int) -> tuple[str, list[DependsClause]]:
    """The words of this line without what they depend on. What stands in back-ticks is only talked about."""
    found: list[DependsClause] = []
    parts: list[str] = []
    done = 0
    for clause in _DEPENDS.finditer(_mask_code(words)):
        depends = _parse_clause(clause, line)
        if depends is None:
            continue
        found.append(depends)
        if not depends.names_no_task:
            parts.append(words[done : clause.start()])
            done = clause.end()
    if not done:
        return words, found
    left = " ".join(" ".join((*parts, words[done:])).split())
    return _SPACE_BEFORE.sub("", left), found


def parse_depends_line(block: Block) -> Iterator[DependsClause]:
    """A bullet of a task's body that says nothing else: `- Depends on: 1.1`."""
    if len(block.text) > _MAX_LINE_LENGTH:
        return
    plain = " ".join(block.text.replace("**", "").split())
    found = _OWN_LINE.match(plain)
    named = tuple(find_task_references(found["what"])) if found else ()
    if named:
        yield DependsClause(block.head, plain, named)


def parse_urgency(words: str) -> int | None:
    """The priority that a word in capitals tells."""
    found = _URGENCY.search(_mask_code(words))
    return parse_priority(found[1]) if found else None


def _parse_clause(clause: re.Match[str], line: int) -> DependsClause | None:
    named = tuple(find_task_references(clause["what"]))
    if named:
        return DependsClause(line, clause[0], named)
    if not (clause["colon"] or clause["on"]):
        return None  # (dependencies updated): about something else
    return DependsClause(line, clause[0], (), names_no_task=bool(split_list(clause["what"])))


def _mask_code(words: str) -> str:
    """The words with everything in back-ticks blotted out, in the same places."""
    return _CODE.sub(lambda found: "`" * len(found[0]), words) if "`" in words else words
