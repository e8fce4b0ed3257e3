"""Sources that are one markdown file."""

from __future__ import annotations

from collections.abc import Callable

from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.model import Document, Material, Reading

_OTHERS = (".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv")


def boxed(material: Material) -> Document | None:
    """The one file of the source, if it is a text in which there may be boxes."""
    if material.folder or len(material.documents) != 1:
        return None
    document = material.document
    return document if "[" in document.text and not document.name.lower().endswith(_OTHERS) else None


def read(material: Material, reader: Callable[[Document], Reading]) -> Reading:
    """What the one file says; a format that is asked to read a folder says that it can't."""
    if len(material.documents) == 1:
        return reader(material.document)
    message = "this format reads one file at a time, and this is a folder"
    problem = Problem(Severity.ERROR, message, Origin(material.path), "Name the file.")
    return Reading(problems=(problem,))
