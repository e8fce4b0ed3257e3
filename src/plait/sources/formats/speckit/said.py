"""Where a spec-kit file speaks about the order of its tasks: beside a task, below it, or in a section of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.sources.formats.speckit.order import ID, Order, begins_with_verb, orders, refs
from plait.sources.formats.speckit.tasks import Listed, is_phase
from plait.sources.markdown import Block, Kind
from plait.sources.model import Document
from plait.sources.outline import outline

_SECTION = re.compile(r"\b(?:dependenc(?:y|ies)|execution order|critical path)\b", re.IGNORECASE)
_NO_ORDER = re.compile(r"\b(?:parallel|examples?|strategy|mvp)\b", re.IGNORECASE)
_TASK = re.compile(r"\b(?:tasks?|id)\b", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:depend\w*|blocked|needs?|requires?|prereq\w*|after)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:blocks|enables|unblocks|before)\b", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`]")
_LIST = re.compile(rf"({ID})\s*:\s*({ID}(?:\s*(?:,|&|\+|-|\u2013|\band\b)\s*{ID})*)", re.IGNORECASE)

_SHORT = 400
_LONGEST = 200_000  # characters in all: what a section has beyond that was not written by anybody


def said(document: Document, tasks: Sequence[Listed]) -> Iterator[Order]:
    """All statements; their lines count from the file's first."""
    places = {id(task.block): task for task in tasks}
    for task in tasks:
        for aside in task.asides:
            yield from _at(task.block.head, orders(aside, subject=task.id))
    left = _LONGEST
    for block, path in outline(document.markdown):
        if id(block) in places or block.quoted or left < 0:
            continue
        owner = _owner(block, places)
        if owner is not None:
            yield from _below(block, owner)
        elif _speaks_of_order(path):
            left -= len(block.text)
            yield from _stated(block)


def _at(line: int, found: Iterator[Order]) -> Iterator[Order]:
    for order in found:
        yield replace(order, line=line + order.line)


def _owner(block: Block, places: dict[int, Listed]) -> Listed | None:
    above = block.parent
    while above is not None and id(above) not in places:
        above = above.parent
    return places[id(above)] if above is not None else None


def _below(block: Block, owner: Listed) -> Iterator[Order]:
    """`- Depends on: T001` in the list below a task."""
    if block.kind in {Kind.ITEM, Kind.PARAGRAPH} and begins_with_verb(block.text):
        yield from _at(max(block.head, block.start), orders(block.text, subject=owner.id))


def _speaks_of_order(path: Sequence[Block]) -> bool:
    """A phase that installs dependencies is no section about them, nor is an example inside one."""
    below = [heading.text for heading in path if heading.level > 1 and not is_phase(heading)]
    return any(map(_SECTION.search, below)) and not any(map(_NO_ORDER.search, below))


def _stated(block: Block) -> Iterator[Order]:
    match block.kind:
        case Kind.ITEM if block.head >= 0:
            yield from _at(block.head, _listed(block.text) or orders(block.text))
        case Kind.PARAGRAPH:
            yield from _at(block.start, orders(block.text))
        case Kind.FENCE:
            yield from _at(block.start + 1, orders(block.text, fenced=True))
        case Kind.TABLE:
            yield from _table(block)
        case _:
            pass


def _listed(text: str) -> Iterator[Order] | None:
    """`- T003: T001, T002`: a task, and what it needs."""
    found = _LIST.fullmatch(_MARKUP.sub("", text)) if len(text) <= _SHORT else None
    return iter([Order(refs(found[2]), refs(found[1]), 0, found[0])]) if found else None


def _table(block: Block) -> Iterator[Order]:
    """A column of tasks, and others that say what each needs or blocks."""
    header, *rows = block.rows
    who = next((n for n, cell in enumerate(header) if _TASK.search(cell)), 0)
    after = [n for n, cell in enumerate(header) if n != who and _AFTER.search(cell)]
    before = [n for n, cell in enumerate(header) if n != who and n not in after and _BEFORE.search(cell)]
    for number, row in enumerate(rows, block.start + 2):
        tasks = refs(row[who]) if who < len(row) else ()
        for column in (*after, *before):
            others = refs(row[column]) if tasks and column < len(row) else ()
            if others:
                shown = f"{header[column]}: {row[column]}"
                earlier, later = (others, tasks) if column in after else (tasks, others)
                yield Order(earlier, later, number, shown)
