"""Which format a source has, by its name and its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from plait.core.errors import UserError
from plait.sources.formats import FORMATS, JSON_FORMATS, ONE_TASK_PER_FILE, Confidence, Format, load_format
from plait.sources.json_text import JsonSyntaxError, parse_json
from plait.sources.source_model import Document, SourceFiles
from plait.sources.text import BOM

_TASK_NAME = re.compile(r"\d|task|writer", re.IGNORECASE)
_TASK = re.compile(r"task|\*\*", re.IGNORECASE)
_NUMBERED_BOX = re.compile(r"\]\*?\s+\**\d")
_PHASE = re.compile(r"phase", re.IGNORECASE)
_T_NUMBER = re.compile(r"[Tt]\d")


def _has_front_matter(document: Document) -> bool:
    return document.text.removeprefix(BOM).startswith("---")


# What a text of a format can't be without. A look at the text spares the import of formats that are out of the question.
QUICK_CHECKS: Mapping[str, Callable[[Document], object]] = {
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


class UnknownFormatError(UserError):
    """No format knows a source."""


def detect_format(source: SourceFiles) -> tuple[str, Format]:
    """The one format that is surest of it; a tie, or nobody, is an error that lists the formats."""
    likeness = {name: load_format(name).detect(source) for name in _list_candidates(source)}
    best = max(likeness.values(), default=Confidence.NO)
    likely = [name for name, sure in likeness.items() if sure is best]
    if best is Confidence.NO:
        raise UnknownFormatError(
            f"{source.path}: none of the formats recognises this source, so no task was read from it",
            hint=f"{_explain_unknown(source)}Name its format with --source-format: {', '.join(FORMATS)}.",
        )
    if len(likely) > 1 and ONE_TASK_PER_FILE.issuperset(likely):
        # The others are folders of task files too, with something of their own.
        likely = [name for name in likely if name != "folder"]
    if len(likely) > 1:
        raise UserError(
            f"{source.path}: this could be {' or '.join(likely)}",
            hint=f"Name its format with --source-format: {', '.join(FORMATS)}.",
        )
    return likely[0], load_format(likely[0])


def _list_candidates(source: SourceFiles) -> Iterable[str]:
    if source.folder or len(source.documents) != 1:
        return [name for name in FORMATS if name in ONE_TASK_PER_FILE]
    document = source.document
    json = document.name.endswith((".json", ".jsonl"))
    return [name for name in FORMATS if (name in JSON_FORMATS) is json and QUICK_CHECKS.get(name, bool)(document)]


def _explain_unknown(source: SourceFiles) -> str:
    if len(source.documents) == 1 and not source.folder:
        if source.document.name.endswith((".json", ".jsonl")):
            return _describe_json_error(source.document)
        from plait.sources.markdown import BlockKind  # only where something is wrong

        blocks = source.document.markdown.blocks
        if any(block.kind is BlockKind.ITEM for block in blocks) and not any(block.checkbox for block in blocks):
            return "It has no boxes (- [ ]), numbered headings or task fields: plain bullets are not tasks. "
    return ""


def _describe_json_error(document: Document) -> str:
    """What keeps a JSON file from being read at all."""
    if document.name.endswith(".jsonl"):
        return ""
    try:
        parse_json(document.text)
    except JsonSyntaxError as flaw:
        return f"It is not JSON: {flaw}. "
    return ""
