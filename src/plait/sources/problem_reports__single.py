"""Sources that are one markdown file."""

from __future__ import annotations

from collections.abc import Callable

from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.source_model import Document, Reading, SourceFiles

_DATA_SUFFIXES = (".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv")


def find_checkbox_document(source: SourceFiles) -> Document | None:
    """The one file of the source, if it is a text in which there may be boxes."""
    if source.folder or len(source.documents) != 1:
        return None
    document = source.document
    return document if "[" in document.text and not document.name.lower().endswith(_DATA_SUFFIXES) else None


def read_single_file(source: SourceFiles, reader: Callable[[Document], Reading]) -> Reading:
    """What the one file says; a format that is asked to read a folder says that it can't."""
    if len(source.documents) == 1:
        return reader(source.document)
    message = "this format reads one file at a time, and this is a folder"
    problem = Problem(Severity.ERROR, message, Origin(source.path), "Name the file.")
    return Reading(problems=(problem,))
