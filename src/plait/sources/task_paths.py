"""The files that a task says are its own, those that it only names, and those that it must leave alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.sources.markdown import Block, BlockKind
from plait.sources.source_model import Document
from plait.sources.task_paths__mentions import find_mentions
from plait.sources.task_paths__trees import parse_file_tree

_FORBIDDING = re.compile(
    r"\b(?:must|may|should|do|shall)\s+not\s+(?:be\s+)?(?:modif|touch|edit|chang)\w*"
    r"|\bdon['\u2019]t\s+(?:modify|touch|edit|change)\b|\bforbidden\b",
    re.IGNORECASE,
)
_OWNING = re.compile(r"\b(?:own|may|can|creat|modif|edit|writ|chang|touch|add)", re.IGNORECASE)
_LETTERS = re.compile(r"[a-z]+")
_SENTENCE = re.compile(r"[.;](?=\s)|\n\n")


@dataclass(slots=True)
class TaskPaths:
    """`owned`: declared under `## Owned Paths`. `mentioned`: named in the text, outside of examples.

    What must not be modified is neither.
    """

    owned: list[str] = field(default_factory=list)
    mentioned: dict[str, None] = field(default_factory=dict)

    def undeclared(self, declared: Iterable[str]) -> tuple[str, ...]:
        """What is mentioned and not declared."""
        known = set(declared)
        return tuple(path for path in self.mentioned if path not in known)


def find_task_paths(document: Document) -> TaskPaths:
    found = TaskPaths()
    scan = _OwnershipScanner()
    for block in document.markdown.blocks:
        if block.quoted:
            continue
        text = scan.read_allowed(block)
        if text is None:
            continue
        if block.kind is BlockKind.FENCE:
            found.owned += parse_file_tree(block.text) if scan.owns else ()
            continue
        found.mentioned |= dict.fromkeys(find_mentions(text))
        if block.kind is BlockKind.ITEM and scan.owns:
            found.owned += find_declared_paths(text)
    return found


def find_declared_paths(text: str) -> Iterator[str]:
    """The paths in a text that is a list of them: also `src/core/` and `src/*.py` without back-ticks, if they lead."""
    named = dict.fromkeys(find_mentions(text))
    first = next(iter(text.split(maxsplit=1)), "").rstrip(",;:")
    if first and "`" not in first:
        named = dict.fromkeys((*find_mentions(f"`{first}`"), *named))
    yield from named


class _OwnershipScanner:
    """Goes through the blocks of a file and knows of each whether it is under a heading or label that forbids or owns."""

    def __init__(self) -> None:
        self.owns = False
        self._own_section = 0  # the level of its heading, 0 outside
        self._forbidden_section = 0
        self._forbidden_list = False
        self._forbidden_item: Block | None = None

    def read_allowed(self, block: Block) -> str | None:
        """What a block says without what must not be modified; None if there is nothing left of it."""
        if block.kind is BlockKind.HEADING and block.parent is None:
            return self._heading(block)
        if self._forbidden_section or self._in_forbidden_item(block):
            return None
        if block.kind is BlockKind.RULE:
            self._forbidden_list = False
        elif block.kind is BlockKind.PARAGRAPH and block.parent is None:
            return self._paragraph(block.text)
        elif self._forbidden_list:
            return None
        elif block.kind is BlockKind.ITEM and _FORBIDDING.search(block.text):
            self._forbidden_item = block
            return _without_forbidden(block.text)
        if block.kind is BlockKind.TABLE:
            return "\n".join(" ".join(row) for row in block.rows)
        return None if block.kind in {BlockKind.RULE, BlockKind.HTML} else block.text

    def _heading(self, block: Block) -> str | None:
        self._forbidden_list, self._forbidden_item = False, None
        if block.level <= self._forbidden_section:
            self._forbidden_section = 0
        if block.level <= self._own_section:
            self._own_section = 0
        said = " ".join(_LETTERS.findall(block.text.lower()))
        if not self._forbidden_section and _FORBIDDING.search(block.text):
            self._forbidden_section = block.level
        elif said.startswith(("owned paths", "owned files")):
            self._own_section = block.level
            self.owns = True
            return block.text
        self.owns = bool(self._own_section) and bool(_OWNING.search(said))
        return None if self._forbidden_section else block.text

    def _paragraph(self, text: str) -> str:
        """A paragraph that is no sentence may be the label of the list beneath it: it then says what the list means."""
        said = text.rstrip("* \t")
        forbids = _FORBIDDING.search(text) is not None
        self._forbidden_list = forbids and not said.endswith((".", "!", ","))
        if self._own_section:
            self.owns = not forbids and (
                _OWNING.search(text) is not None if said.endswith(":") else self.owns
            )
        return _without_forbidden(text) if forbids else text

    def _in_forbidden_item(self, block: Block) -> bool:
        above = block.parent if self._forbidden_item is not None else None
        while above is not None and above is not self._forbidden_item:
            above = above.parent
        return above is not None


def _without_forbidden(text: str) -> str:
    """The text without the parts of sentences that forbid."""
    kept, place = [], 0
    for found in _FORBIDDING.finditer(text):
        if found.start() < place:
            continue
        kept.append(text[place : found.start()])
        end = _SENTENCE.search(text, found.end())
        place = end.end() if end else len(text)
    return " ".join([*kept, text[place:]])
