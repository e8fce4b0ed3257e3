"""The text of a file that holds one task: its title, and what the agent will read."""

from __future__ import annotations

import re

from plait.sources.source_model import Document

_TASK_PREFIX = re.compile(r"task(?:\s+#?\d[\w.]{0,20})?\s*(?::|\s[-\u2013\u2014](?=\s))\s*", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"[-_\s]+")


def read_task_title(document: Document, otherwise: str | None = None) -> str:
    """The first heading of the first level, without `Task 04:`; else what is given; else the file's name in words."""
    said = _read_heading(document)
    found = _TASK_PREFIX.match(said)
    if said[found.end() if found else 0 :]:
        return said[found.end() if found else 0 :]
    return " ".join((otherwise or "").split()) or split_stem(document.stem)


def split_stem(stem: str) -> str:
    return _BETWEEN_WORDS.sub(" ", stem).strip() or stem


def has_task_heading(document: Document) -> bool:
    """The first heading says itself that this is a task."""
    return _TASK_PREFIX.match(_read_heading(document)) is not None


def _read_heading(document: Document) -> str:
    blocks = (block for block in document.markdown.headings(1) if block.parent is None and not block.quoted)
    return next((" ".join(block.text.split()) for block in blocks if block.text.strip()), "")


def read_task_body(document: Document) -> str:
    """The text without the front matter, as it is written."""
    front = document.markdown.front_matter
    return document.markdown.source(front[1] + 1 if front else 0, len(document.markdown.lines))
