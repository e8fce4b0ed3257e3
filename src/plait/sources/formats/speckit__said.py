"""Where a spec-kit file speaks about the order of its tasks: beside a task, below it, or in a section of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.sources.formats.speckit_grammar import (
    ID,
    OrderStatement,
    parse_orders,
    parse_refs,
    starts_with_verb,
)
from plait.sources.formats.speckit_grammar__tasks import ListedTask, is_phase
from plait.sources.markdown import Block, BlockKind
from plait.sources.outline import walk_outline
from plait.sources.source_model import Document

_SECTION = re.compile(r"\b(?:dependenc(?:y|ies)|execution order|critical path)\b", re.IGNORECASE)
_NO_ORDER = re.compile(r"\b(?:parallel|examples?|strategy|mvp)\b", re.IGNORECASE)
_TASK = re.compile(r"\b(?:tasks?|id)\b", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:depend\w*|blocked|needs?|requires?|prereq\w*|after)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:blocks|enables|unblocks|before)\b", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`]")
_LIST = re.compile(rf"({ID})\s*:\s*({ID}(?:\s*(?:,|&|\+|-|\u2013|\band\b)\s*{ID})*)", re.IGNORECASE)

_MAX_ITEM_LENGTH = 400
_MAX_SECTION_LENGTH = 200_000  # characters in all: what a section has beyond that was not written by anybody


def find_order_statements(document: Document, tasks: Sequence[ListedTask]) -> Iterator[OrderStatement]:
    """All statements; their lines count from the file's first."""
    places = {id(task.block): task for task in tasks}
    for task in tasks:
        for aside in task.asides:
            yield from _offset_lines(task.block.head, parse_orders(aside, subject=task.id))
    left = _MAX_SECTION_LENGTH
    for block, path in walk_outline(document.markdown):
        if id(block) in places or block.quoted or left < 0:
            continue
        owner = _find_owner(block, places)
        if owner is not None:
            yield from _parse_below_task(block, owner)
        elif _is_order_section(path):
            left -= len(block.text)
            yield from _parse_block(block)


def _offset_lines(line: int, found: Iterator[OrderStatement]) -> Iterator[OrderStatement]:
    for order in found:
        yield replace(order, line=line + order.line)


def _find_owner(block: Block, places: dict[int, ListedTask]) -> ListedTask | None:
    above = block.parent
    while above is not None and id(above) not in places:
        above = above.parent
    return places[id(above)] if above is not None else None


def _parse_below_task(block: Block, owner: ListedTask) -> Iterator[OrderStatement]:
    """`- Depends on: T001` in the list below a task."""
    if block.kind in {BlockKind.ITEM, BlockKind.PARAGRAPH} and starts_with_verb(block.text):
        yield from _offset_lines(max(block.head, block.start), parse_orders(block.text, subject=owner.id))


def _is_order_section(path: Sequence[Block]) -> bool:
    """A phase that installs dependencies is no section about them, nor is an example inside one."""
    below = [heading.text for heading in path if heading.level > 1 and not is_phase(heading)]
    return any(map(_SECTION.search, below)) and not any(map(_NO_ORDER.search, below))


def _parse_block(block: Block) -> Iterator[OrderStatement]:
    match block.kind:
        case BlockKind.ITEM if block.head >= 0:
            yield from _offset_lines(block.head, _parse_list_item(block.text) or parse_orders(block.text))
        case BlockKind.PARAGRAPH:
            yield from _offset_lines(block.start, parse_orders(block.text))
        case BlockKind.FENCE:
            yield from _offset_lines(block.start + 1, parse_orders(block.text, fenced=True))
        case BlockKind.TABLE:
            yield from _parse_table(block)
        case _:
            pass


def _parse_list_item(text: str) -> Iterator[OrderStatement] | None:
    """`- T003: T001, T002`: a task, and what it needs."""
    found = _LIST.fullmatch(_MARKUP.sub("", text)) if len(text) <= _MAX_ITEM_LENGTH else None
    return iter([OrderStatement(parse_refs(found[2]), parse_refs(found[1]), 0, found[0])]) if found else None


def _parse_table(block: Block) -> Iterator[OrderStatement]:
    """A column of tasks, and others that say what each needs or blocks."""
    header, *rows = block.rows
    who = next((n for n, cell in enumerate(header) if _TASK.search(cell)), 0)
    after = [n for n, cell in enumerate(header) if n != who and _AFTER.search(cell)]
    before = [n for n, cell in enumerate(header) if n != who and n not in after and _BEFORE.search(cell)]
    for number, row in enumerate(rows, block.start + 2):
        tasks = parse_refs(row[who]) if who < len(row) else ()
        for column in (*after, *before):
            others = parse_refs(row[column]) if tasks and column < len(row) else ()
            if others:
                shown = f"{header[column]}: {row[column]}"
                earlier, later = (others, tasks) if column in after else (tasks, others)
                yield OrderStatement(earlier, later, number, shown)
