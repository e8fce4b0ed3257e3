"""Numbered boxes: `1. Title`, `1.1 Title`, and which of them are parts of which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plait.core.fast_dataclass import dataclass
from plait.sources.checkboxes__boxes import find_checkboxes, is_checkbox, read_checkbox_text
from plait.sources.markdown import Block, Checkbox, Markdown

# A whole number needs a full stop or a parenthesis: "2 eggs" is no second task.
_NUMBER = re.compile(
    r"\**(?:(\d{1,6}(?:\.\d{1,6}){1,7})[.):]?|(\d{1,6})[.):])\**(?:\s+|\Z)(.*)\Z",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class NumberedBox:
    """A box and its number; an empty one if it has none. `text` is what follows."""

    block: Block
    box: Checkbox
    number: str
    text: str


def find_numbered_boxes(markdown: Markdown) -> Iterator[NumberedBox]:
    """Every box of a file."""
    for block, box in find_checkboxes(markdown):
        if is_checkbox(box):
            text = read_checkbox_text(markdown, block, box)
            found = _NUMBER.match(text)
            number = (found[1] or found[2]) if found else ""
            yield NumberedBox(block, box, number, found[3] if found else text)


def find_parents(ids: Sequence[str]) -> list[int | None]:
    """For each number the place of the nearest one above it that it begins with: of 1.2 for 1.2.3, else of 1."""
    seen: dict[str, int] = {}
    found = []
    for place, number in enumerate(ids):
        prefix = number.rpartition(".")[0]
        while prefix and prefix not in seen:
            prefix = prefix.rpartition(".")[0]
        found.append(seen.get(prefix))
        seen[number] = place
    return found
