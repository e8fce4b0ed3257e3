"""Bold header lines of a task file: `**Priority:** P0` and the like, in front of its first section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.sources import vocabulary
from plait.sources.front_matter import NamedReference
from plait.sources.markdown import BlockKind
from plait.sources.markdown__fields import BoldField, find_bold_fields
from plait.sources.source_model import Document, SourceStatus
from plait.sources.task_paths import find_declared_paths

_LIST_SEPARATOR = re.compile(r"[,;]|\n")


@dataclass(slots=True)
class BoldHeader:
    """What the lines say; a field that is not there, or that says nothing usable, is None or empty."""

    priority: int | None = None
    weight: float | None = None
    estimate: float | None = None
    status: SourceStatus | None = None
    status_text: str = ""
    files: list[str] = field(default_factory=list)
    needs: list[NamedReference] = field(default_factory=list)
    enables: list[NamedReference] = field(default_factory=list)


def read_bold_header(document: Document) -> BoldHeader:
    found = BoldHeader()
    for line in _find_header_fields(document):
        _apply_field(found, line)
    return found


def _find_header_fields(document: Document) -> Iterator[BoldField]:
    """Those before the first heading of the second level; one without a value takes the list beneath it."""
    waiting: BoldField | None = None
    for block in document.markdown.blocks:
        if block.kind is BlockKind.HEADING and block.level > 1:
            break
        if block.quoted:
            continue
        own = list(find_bold_fields(block))
        if waiting is not None and block.kind is BlockKind.ITEM and not own:
            waiting = BoldField(waiting.key, f"{waiting.value}\n{block.text}", waiting.line)
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


def _apply_field(found: BoldHeader, said: BoldField) -> None:
    match said.key:
        case "priority":
            found.priority = vocabulary.parse_priority(said.value)
        case "complexity" | "weight":
            found.weight = vocabulary.parse_weight(said.value)
        case "time estimate" | "estimated time" | "estimate":
            found.estimate = vocabulary.parse_duration(said.value)
        case "status":
            found.status, found.status_text = vocabulary.parse_status(said.value), said.value
        case "files":
            found.files += [
                path for piece in _LIST_SEPARATOR.split(said.value) for path in find_declared_paths(piece)
            ]
        case "depends on" | "dependencies" | "needs" | "blocked by":
            found.needs += _split_references(said)
        case "enables" | "blocks":
            found.enables += _split_references(said)
        case _:
            pass


def _split_references(said: BoldField) -> Iterator[NamedReference]:
    label = said.key.capitalize()
    for line in said.value.split("\n"):
        for piece in vocabulary.split_list(line):
            yield NamedReference(piece, f"{label}: {piece[:60]}", said.line)
