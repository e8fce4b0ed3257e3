"""Bold header lines of a task file: `**Priority:** P0` and the like, in front of its first section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from plait.core.frozen import dataclass
from plait.sources import words
from plait.sources.fields import Field, fields
from plait.sources.formats.folder.owned import declared
from plait.sources.markdown import Kind
from plait.sources.model import Document, Mark
from plait.sources.taskfiles.keys import Said

_COMMAS = re.compile(r"[,;]|\n")


@dataclass(slots=True)
class Header:
    """What the lines say; a field that is not there, or that says nothing usable, is None or empty."""

    priority: int | None = None
    weight: float | None = None
    estimate: float | None = None
    mark: Mark | None = None
    said: str = ""
    files: list[str] = field(default_factory=list)
    needs: list[Said] = field(default_factory=list)
    enables: list[Said] = field(default_factory=list)


def header(document: Document) -> Header:
    found = Header()
    for line in _fields(document):
        _take(found, line)
    return found


def _fields(document: Document) -> Iterator[Field]:
    """Those before the first heading of the second level; one without a value takes the list beneath it."""
    waiting: Field | None = None
    for block in document.markdown.blocks:
        if block.kind is Kind.HEADING and block.level > 1:
            break
        if block.quoted:
            continue
        own = list(fields(block))
        if waiting is not None and block.kind is Kind.ITEM and not own:
            waiting = Field(waiting.key, f"{waiting.value}\n{block.text}", waiting.line)
            continue
        if waiting is not None:
            yield waiting
        last = own.pop() if own else None
        yield from own
        if last is not None and last.value:
            yield last
        waiting = last if last is not None and not last.value else None
    if waiting is not None:
        yield waiting


def _take(found: Header, said: Field) -> None:
    match said.key:
        case "priority":
            found.priority = words.priority(said.value)
        case "complexity" | "weight":
            found.weight = words.weight(said.value)
        case "time estimate" | "estimated time" | "estimate":
            found.estimate = words.duration(said.value)
        case "status":
            found.mark, found.said = words.mark(said.value), said.value
        case "files":
            found.files += [path for piece in _COMMAS.split(said.value) for path in declared(piece)]
        case "depends on" | "dependencies" | "needs" | "blocked by":
            found.needs += _names(said)
        case "enables" | "blocks":
            found.enables += _names(said)
        case _:
            pass


def _names(said: Field) -> Iterator[Said]:
    label = said.key.capitalize()
    for line in said.value.split("\n"):
        for piece in words.items(line):
            yield Said(piece, f"{label}: {piece[:60]}", said.line)
