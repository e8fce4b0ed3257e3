"""The formats: a name and a module for each. A module is a Format if it has these four functions; nothing registers.

Any dotted path of a module with the same functions works wherever a format's name does.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from enum import IntEnum
from importlib import import_module
from typing import Protocol, cast

from plait.core.errors import UserError
from plait.sources.source_model import Reading, SourceFiles
from plait.sources.status_changes import StatusChange, StatusFileWriter

FORMATS = {
    "folder": "plait.sources.formats.folder",
    "plan": "plait.sources.formats.plan",
    "todo": "plait.sources.formats.todo",
    "jobs": "plait.sources.formats.jobs",
    "speckit": "plait.sources.formats.speckit",
    "kiro": "plait.sources.formats.kiro",
    "openspec": "plait.sources.formats.openspec",
    "checklist": "plait.sources.formats.checklist",
    "taskmaster": "plait.sources.formats.taskmaster",
    "beads": "plait.sources.formats.beads",
    "backlog": "plait.sources.formats.backlog",
    "ccpm": "plait.sources.formats.ccpm",
    "prd": "plait.sources.formats.prd",
}

# Formats of JSON files; all the others are markdown, so that each file is parsed as what it is.
JSON_FORMATS = frozenset({"taskmaster", "beads", "prd"})
# Formats whose files hold several lists, told apart by a tag.
TAGGED_FORMATS = frozenset({"taskmaster"})
# Formats whose files hold one task each: several of them in one folder are one source.
ONE_TASK_PER_FILE = frozenset({"folder", "jobs", "backlog", "ccpm"})


class Confidence(IntEnum):
    """How sure a format is that a source is one of its own."""

    NO = 0
    PERHAPS = 1  # if nobody else wants it
    CONTENT = 2
    NAME = 3  # both where it lies and what is in it


class Format(Protocol):
    """One task format, pure on text. Nothing in a text makes any of these raise: what is wrong is a problem."""

    def detect(self, source: SourceFiles) -> Confidence: ...

    def companions(self, path: str) -> tuple[str, ...]:
        """Files that belong to the source at `path`, whether or not they exist."""

    def read(self, source: SourceFiles) -> Reading: ...

    def writers(self, path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
        """How the source at `path` takes these changes: a writer for each file that could tell of them."""


def load_format(name: str) -> Format:
    module = FORMATS.get(name) or (name if "." in name else None)
    if module is None:
        near = get_close_matches(name, FORMATS, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise UserError(f"there is no format called {name}", hint=f"{hint}The formats: {', '.join(FORMATS)}.")
    try:
        return cast("Format", import_module(module))
    except ImportError as error:
        raise UserError(f"the format {name} can't be loaded: {error}") from error
