"""Fields in bold: `**Status**: open`, `- **Depends on:** 01-x`, each on a line of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plait.core.fast_dataclass import dataclass
from plait.sources.markdown import Block, BlockKind

_FIELD = re.compile(r"\s*\*\*([^*:\n]{1,60}?)\s*(?::\s*\*\*|\*\*\s*:)[ \t]*(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BoldField:
    """`key` is in lower case; `line` counts from 0."""

    key: str
    value: str
    line: int


def find_bold_fields(block: Block) -> Iterator[BoldField]:
    """Those of a paragraph, or of an item's first paragraph; a line without a key goes on with the value above it."""
    if block.kind is BlockKind.ITEM:
        first = block.head
    elif block.kind is BlockKind.PARAGRAPH:
        first = block.start
    else:
        return
    if "**" not in block.text:
        return
    key, at = "", first
    parts: list[str] = []
    for number, line in enumerate(block.text.split("\n"), first):
        found = _FIELD.match(line)
        if found is None:
            parts.append(line.strip())
            continue
        if key:
            yield BoldField(key, " ".join(parts).strip(), at)
        key, parts, at = " ".join(found[1].lower().split()), [found[2].strip()], number
    if key:
        yield BoldField(key, " ".join(parts).strip(), at)
