"""What a source consists of, what is read from it, and the problems that readers report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin, Phase, Task
from plait.sources.text import TextLines, find_invalid_utf8_line

if TYPE_CHECKING:
    from plait.sources.markdown import Markdown


class SourceStatus(StrEnum):
    """The status of a task in its source; people and programs see these values."""

    TODO = "pending"
    DOING = "in_progress"
    DONE = "completed"
    SKIPPED = "skipped"  # abandoned, cancelled, deferred: nothing waits for it
    FAILED = "failed"
    BLOCKED = "blocked"
    PARTIAL = "partial"
    STUCK = "stuck"  # started by another run; run again only on request
    UNREADABLE = "unreadable"  # only its name is known; never counts as finished

    @property
    def is_closed(self) -> bool:
        return self in {SourceStatus.DONE, SourceStatus.SKIPPED}


@dataclass(frozen=True)
class Document:
    """One file of a source. `path` is how messages name it; `text` is every byte of it (`sources.text.decode`)."""

    path: str
    text: str

    @cached_property
    def markdown(self) -> Markdown:
        """The parsed text, which all readers share."""
        from plait.sources.markdown import Markdown  # not needed for writing statuses

        return Markdown(self.text)

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_json(self) -> bool:
        return self.name.endswith((".json", ".jsonl"))

    @property
    def stem(self) -> str:
        stem, dot, _ = self.name.rpartition(".")
        return stem if dot and stem else self.name

    def origin(self, line: int) -> Origin:
        """Return the place of a line. `line` counts from 0, here and below; people count from 1."""
        return Origin(self.path, line + 1)

    def make_error(self, line: int, message: str, hint: str = "") -> Problem:
        return Problem(Severity.ERROR, message, self.origin(line), hint)

    def make_warning(self, line: int, message: str, hint: str = "") -> Problem:
        return Problem(Severity.WARNING, message, self.origin(line), hint)

    def make_info(self, line: int, message: str, hint: str = "") -> Problem:
        return Problem(Severity.INFO, message, self.origin(line), hint)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading sources."""

    tag: str = "master"
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceFiles:
    """The files of a source; `path` is the file or folder that was named.

    `documents` may hold tasks and are sorted by name; `companions` are other existing files, by path, that the format
    asked for.
    """

    path: str
    documents: tuple[Document, ...]
    companions: Mapping[str, Document] = field(default_factory=dict)
    options: ReadOptions = ReadOptions()
    folder: bool = False

    @property
    def document(self) -> Document:
        """The one file of a source that is a file."""
        return self.documents[0]


@dataclass(frozen=True, slots=True)
class Chain:
    """A group of tasks that a source wants one after another: `name` is the group as written, `reason` why."""

    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A task in its source.

    `task.touches` are the files it declares; `mentions` those that its text names. An entry with `parts` is a group:
    it is not run, is done when its parts are, and a dependency on it is one on its parts. `aliases` are other names
    for selectors. `status_text` is the status as written, `since` its time, `retries` the number of retries.
    """

    task: Task
    status: SourceStatus = SourceStatus.TODO
    status_text: str = ""
    mentions: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    chain: Chain | None = None
    since: datetime | None = None
    retries: int = 0


@dataclass(frozen=True, slots=True)
class RecordedStatus:
    """A task's status in a file that holds nothing but statuses; the fields are as in SourceEntry."""

    status: SourceStatus
    status_text: str = ""
    since: datetime | None = None
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a source. Phases are in order, with `total` and `settled` counted over all entries.

    `unread` are the open checkboxes that are neither tasks nor part of one that can still run.
    """

    entries: tuple[SourceEntry, ...] = ()
    phases: tuple[Phase, ...] = ()
    problems: tuple[Problem, ...] = ()
    unread: tuple[Origin, ...] = ()


def find_repeated_ids(document: Document, named: Iterable[tuple[int, str, str]]) -> Iterator[Problem]:
    """Report tasks that got another id because theirs was taken; `named` has line, written id and id."""
    first: dict[str, int] = {}
    for line, written, name in named:
        before = first.setdefault(written, line)
        if name != written:
            message = f"duplicate id {written} (first on line {before + 1}); using {name}"
            yield document.make_warning(line, message, "Give it a number of its own.")


def check_text(document: Document) -> list[Problem]:
    """Report problems of a file as text, whatever its format."""
    problems = []
    line = find_invalid_utf8_line(document.text)
    if line is not None:
        message = "this line holds bytes that are not UTF-8; they are shown as \ufffd and kept as they are"
        problems.append(document.make_warning(line - 1, message, "Save the file as UTF-8."))
    if "\0" in document.text:
        line = TextLines(document.text).line_at(document.text.index("\0"))
        problems.append(document.make_warning(line, "this line holds a NUL character", "Is this a text file?"))
    return problems


def check_nesting(document: Document) -> list[Problem]:
    """Warn about the line of a Markdown file that is nested too deep for the parser."""
    line = document.markdown.too_deep_line
    if line is None:
        return []
    return [document.make_warning(line, "this line is nested too deep to be read; ignored", "Indent less.")]


def read_single_file(reader: Callable[[Document], Reading], source: SourceFiles) -> Reading:
    """Read a source that is one file; a folder is an error."""
    if len(source.documents) == 1:
        return reader(source.document)
    message = "this format reads one file at a time, and this is a folder"
    problem = Problem(Severity.ERROR, message, Origin(source.path), "Name the file.")
    return Reading(problems=(problem,))


def sort_by_line(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.at.line if problem.at else 0))
