"""Task formats: the table of their names, the record that each format's module declares, and detection.

A row has what it takes to find a source, so that only the formats that may be the source's are imported. The module's
`FORMAT` has the rest. Wherever a format's name is expected, the dotted path of a module with a `FORMAT` works too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from difflib import get_close_matches
from enum import IntEnum
from importlib import import_module

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.sources.json_text import JsonSyntaxError, parse_json
from plait.sources.source_model import Document, Reading, SourceFiles
from plait.sources.status_changes import StatusChange, StatusFileWriter


class Confidence(IntEnum):
    """How sure a format is that a source is one of its own."""

    NO = 0
    PERHAPS = 1  # if no other format claims it
    CONTENT = 2
    NAME = 3  # both its path and its content


def _write_nothing(_path: str, _changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    return []


@dataclass(frozen=True, slots=True)
class Format:
    """A task format, pure on text. Its functions never raise, whatever a text says: what is wrong becomes a problem."""

    detect: Callable[[SourceFiles], Confidence]
    read: Callable[[SourceFiles], Reading]
    # For the source at a path and these changes: a writer for each file that holds their statuses.
    writers: Callable[[str, Sequence[StatusChange]], list[StatusFileWriter]] = _write_nothing
    # Paths of other files that belong to the source at a path, whether or not they exist.
    companions: Callable[[str], tuple[str, ...]] = lambda _path: ()
    # For files that hold several lists of tasks: the tags of those in a text.
    list_tags: Callable[[str], Sequence[str]] | None = None
    # For files that hold one task each: the front matter keys of its fields; the first one is written where none is.
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # The first heading is the title of a task without a key for it.
    title_in_heading: bool = False

    @property
    def has_statuses(self) -> bool:
        """Whether the format's sources hold statuses, which plait writes."""
        return self.writers is not _write_nothing


@dataclass(frozen=True, slots=True)
class FormatEntry:
    """A row of the table: how to recognise possible sources of a format without importing its module."""

    found_at: tuple[str, ...] = ()  # globs from the top of a repository; those of folders end in a slash
    found_files: str = "*.md"  # a folder is one of them if it has such a file
    pointer: str = ""  # a file that holds the path of a source
    folder_files: tuple[str, ...] = ()  # naming a folder that has one of these is naming that file
    status_file: str = ""  # the name of a companion that holds nothing but statuses
    is_json: bool = False  # else markdown
    one_task_per_file: bool = False  # several of its files in one folder are one source
    path_hint: str = ""  # a source of this format matches one of these patterns, if there are any
    text_hint: str = ""
    writes_verifying: bool = False  # it has a status for work that is being verified

    def may_match(self, document: Document) -> bool:
        hints = [
            (hint, text) for hint, text in ((self.path_hint, document.path), (self.text_hint, document.text)) if hint
        ]
        return not hints or any(re.search(hint, text) for hint, text in hints)


_FRONT_MATTER = r"\A\ufeff?---"
_NUMBERED_BOX = r"\][\\*\s]*\s\**\d"

# In the order in which sources are looked for.
FORMATS: Mapping[str, FormatEntry] = {
    "plan": FormatEntry(pointer=".claude/current-plan.txt", status_file="status.json", text_hint=r"(?i)phase"),
    "folder": FormatEntry(
        found_at=("tasks/", "docs/tasks/"),
        one_task_per_file=True,
        path_hint=r"(?i)(?:^|/)(?:\d|task|writer)[^/]*\Z",
        text_hint=rf"{_FRONT_MATTER}|(?i:task)|\*\*",
    ),
    "speckit": FormatEntry(found_at=("specs/*/tasks.md",), folder_files=("tasks.md",), text_hint=r"[Tt]\d"),
    "kiro": FormatEntry(found_at=(".kiro/specs/*/tasks.md",), folder_files=("tasks.md",), text_hint=_NUMBERED_BOX),
    "openspec": FormatEntry(
        found_at=("openspec/changes/*/tasks.md",),
        folder_files=("tasks.md",),
        path_hint="openspec/",
        text_hint=_NUMBERED_BOX,
    ),
    "taskmaster": FormatEntry(
        found_at=(".taskmaster/tasks/tasks.json",), folder_files=("tasks/tasks.json", "tasks.json"), is_json=True
    ),
    "beads": FormatEntry(
        found_at=(".beads/issues.jsonl",),
        folder_files=("issues.jsonl", "beads.jsonl"),
        is_json=True,
        path_hint=r"\.jsonl\Z",
    ),
    "backlog": FormatEntry(found_at=("backlog/tasks/",), one_task_per_file=True, text_hint=_FRONT_MATTER),
    "ccpm": FormatEntry(
        found_at=(".claude/epics/*/", ".claude/epics/*/tasks/"),
        found_files="*[0-9]*.md",
        one_task_per_file=True,
        text_hint=_FRONT_MATTER,
    ),
    "jobs": FormatEntry(
        found_at=("jobs/",),
        status_file="_jobstatus.json",
        one_task_per_file=True,
        text_hint=_FRONT_MATTER,
        writes_verifying=True,
    ),
    "prd": FormatEntry(found_at=("prd.json",), folder_files=("prd.json",), is_json=True, text_hint='"userStories"'),
    "todo": FormatEntry(found_at=("TODO.md", "docs/TODO.md"), text_hint="###"),
    "checklist": FormatEntry(text_hint=r"\["),
}


def get_entry(name: str) -> FormatEntry:
    """Return the row of a format; for a dotted path, an empty row."""
    return FORMATS.get(name) or FormatEntry()


def load_format(name: str) -> Format:
    if name not in FORMATS and "." not in name:
        similar = get_close_matches(name, FORMATS, n=1)
        hint = f"Did you mean {similar[0]}? " if similar else ""
        raise UserError(f"unknown format: {name}", hint=f"{hint}The formats: {', '.join(FORMATS)}.")
    try:
        module = import_module(f"{__name__}.{name}" if name in FORMATS else name)
    except ImportError as error:
        raise UserError(f"can't load the format {name}: {error}") from error
    record = getattr(module, "FORMAT", None)
    if not isinstance(record, Format):
        raise UserError(f"can't load the format {name}: the module has no FORMAT (a plait.sources.formats.Format)")
    return record


class UnknownFormatError(UserError):
    """No format recognises a source."""


def detect_format(source: SourceFiles) -> tuple[str, Format]:
    """Find the format that is most confident about a source. Raises UserError for a tie, UnknownFormatError if there is none."""
    confidence = {name: load_format(name).detect(source) for name in _list_candidates(source)}
    best = max(confidence.values(), default=Confidence.NO)
    likely = [name for name, value in confidence.items() if value is best]
    if best is Confidence.NO:
        raise UnknownFormatError(
            f"{source.path}: unknown format, no tasks read",
            hint=f"{_explain_unknown(source)}Name its format with --source-format: {', '.join(FORMATS)}.",
        )
    if len(likely) > 1 and all(FORMATS[name].one_task_per_file for name in likely):
        # The other formats are also folders of task files, with more specific signs.
        likely = [name for name in likely if name != "folder"]
    if len(likely) > 1:
        raise UserError(
            f"{source.path}: the format could be {' or '.join(likely)}",
            hint=f"Name it with --source-format: {', '.join(FORMATS)}.",
        )
    return likely[0], load_format(likely[0])


def _list_candidates(source: SourceFiles) -> Iterable[str]:
    if source.folder or len(source.documents) != 1:
        return [name for name, row in FORMATS.items() if row.one_task_per_file]
    document = source.document
    return [name for name, row in FORMATS.items() if row.is_json is document.is_json and row.may_match(document)]


def _explain_unknown(source: SourceFiles) -> str:
    if source.folder or len(source.documents) != 1:
        return ""
    if source.document.is_json:
        return _describe_json_error(source.document)
    from plait.sources.markdown import BlockKind  # only where something is wrong

    blocks = source.document.markdown.blocks
    if any(block.kind is BlockKind.ITEM for block in blocks) and not any(block.checkbox for block in blocks):
        return "It has no checkboxes (- [ ]), numbered headings or task fields: plain bullets are not tasks. "
    return ""


def _describe_json_error(document: Document) -> str:
    if document.name.endswith(".jsonl"):
        return ""
    try:
        parse_json(document.text)
    except JsonSyntaxError as error:
        return f"It is not JSON: {error}. "
    return ""
