"""What a source is made of, what is read from it, and what is written back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.task import Phase, Task

if TYPE_CHECKING:
    from plait.sources.markdown import Markdown


class SourceStatus(StrEnum):
    """How far a task is, as its source tells it; the values are what people and programs see."""

    TODO = "pending"
    DOING = "in_progress"
    DONE = "completed"
    SKIPPED = "skipped"  # abandoned, cancelled, deferred: not wanted any more, and not waited for
    FAILED = "failed"
    BLOCKED = "blocked"
    PARTIAL = "partial"
    STUCK = "stuck"  # begun by another run, and taken up again only on request
    UNREADABLE = "unreadable"  # known by name only, so that nobody takes it for finished

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
        """Parsed once, however many readers look at it."""
        from plait.sources.markdown import Markdown  # who only writes statuses reads no text

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


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person can say about how sources are read."""

    tag: str = "master"
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceFiles:
    """A source as it lies on disk: `path` is what was named (a file or a folder).

    `documents` hold tasks, or may hold them, in the order of their names; `companions` are files beside them, by path,
    that a format asked for and that exist.
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
    """A task as its source tells it.

    `task.touches` are the files it declares; `mentions` those that its text names. An entry with `parts` is a group: it
    is not run itself, is done when its parts are, and whoever needs it needs them. `aliases` are other names that a
    selector may use. `said` is the status in the source's own words, `since` when it got it, `tries` how often it was tried again.
    """

    task: Task
    status: SourceStatus = SourceStatus.TODO
    status_text: str = ""
    mentions: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    chain: Chain | None = None
    since: datetime | None = None
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a source says. Phases are in order, with `total` and `settled` counted over all entries."""

    entries: tuple[SourceEntry, ...] = ()
    phases: tuple[Phase, ...] = ()
    problems: tuple[Problem, ...] = ()
