"""Which format a source has, by its name and its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from plait.core.errors import UserError
from plait.sources.formats import FORMATS, JSON, ONE_TASK_EACH, Format, Likeness, load
from plait.sources.jsontext import MalformedError, parse
from plait.sources.model import Document, Material
from plait.sources.text import BOM

_TASK_NAME = re.compile(r"\d|task|writer", re.IGNORECASE)
_TASK = re.compile(r"task|\*\*", re.IGNORECASE)
_NUMBERED_BOX = re.compile(r"\]\*?\s+\**\d")
_PHASE = re.compile(r"phase", re.IGNORECASE)
_T_NUMBER = re.compile(r"[Tt]\d")


def _has_front_matter(document: Document) -> bool:
    return document.text.removeprefix(BOM).startswith("---")


# What a text of a format can't be without. A look at the text spares the import of formats that are out of the question.
SIGNS: Mapping[str, Callable[[Document], object]] = {
    "folder": lambda document: (
        _TASK_NAME.match(document.stem) or _has_front_matter(document) or _TASK.search(document.text)
    ),
    "plan": lambda document: _PHASE.search(document.text),
    "todo": lambda document: "###" in document.text,
    "speckit": lambda document: _T_NUMBER.search(document.text),
    "kiro": lambda document: _NUMBERED_BOX.search(document.text),
    "openspec": lambda document: "openspec/" in document.path or _NUMBERED_BOX.search(document.text),
    "checklist": lambda document: "[" in document.text,
    "jobs": _has_front_matter,
    "backlog": _has_front_matter,
    "ccpm": _has_front_matter,
    "beads": lambda document: document.name.endswith(".jsonl"),
    "prd": lambda document: '"userStories"' in document.text,
}


class UnrecognisedError(UserError):
    """No format knows a source."""


def detect(material: Material) -> tuple[str, Format]:
    """The one format that is surest of it; a tie, or nobody, is an error that lists the formats."""
    likeness = {name: load(name).likeness(material) for name in _candidates(material)}
    best = max(likeness.values(), default=Likeness.NO)
    likely = [name for name, sure in likeness.items() if sure is best]
    if best is Likeness.NO:
        raise UnrecognisedError(
            f"{material.path}: none of the formats recognises this source, so no task was read from it",
            hint=f"{_why(material)}Name its format with --source-format: {', '.join(FORMATS)}.",
        )
    if len(likely) > 1 and ONE_TASK_EACH.issuperset(likely):
        # The others are folders of task files too, with something of their own.
        likely = [name for name in likely if name != "folder"]
    if len(likely) > 1:
        raise UserError(
            f"{material.path}: this could be {' or '.join(likely)}",
            hint=f"Name its format with --source-format: {', '.join(FORMATS)}.",
        )
    return likely[0], load(likely[0])


def _candidates(material: Material) -> Iterable[str]:
    if material.folder or len(material.documents) != 1:
        return [name for name in FORMATS if name in ONE_TASK_EACH]
    document = material.document
    json = document.name.endswith((".json", ".jsonl"))
    return [name for name in FORMATS if (name in JSON) is json and SIGNS.get(name, bool)(document)]


def _why(material: Material) -> str:
    if len(material.documents) == 1 and not material.folder:
        if material.document.name.endswith((".json", ".jsonl")):
            return _flaw(material.document)
        from plait.sources.markdown import Kind  # noqa: PLC0415 - only where something is wrong

        blocks = material.document.markdown.blocks
        if any(block.kind is Kind.ITEM for block in blocks) and not any(block.box for block in blocks):
            return "It has no boxes (- [ ]), numbered headings or task fields: plain bullets are not tasks. "
    return ""


def _flaw(document: Document) -> str:
    """What keeps a JSON file from being read at all."""
    if document.name.endswith(".jsonl"):
        return ""
    try:
        parse(document.text)
    except MalformedError as flaw:
        return f"It is not JSON: {flaw}. "
    return ""
