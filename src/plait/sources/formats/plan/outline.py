"""The outline of a plan: its phases, the tasks that lie in them, and what is said about both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from plait.core.frozen import dataclass
from plait.core.plan import Problem
from plait.sources.formats.plan.notes import Note, Opening, Statement, Tasks, Verify, opening, statements
from plait.sources.formats.plan.numbers import DASH, ID, NUMBER, key
from plait.sources.formats.plan.text import Depends, own_line, title
from plait.sources.markdown import Block, Box, Kind, Markdown, box_of
from plait.sources.model import Document
from plait.sources.report import info, warning
from plait.sources.titles import headline

_PHASE = re.compile(
    rf"[^\w\n]{{0,8}}Phase[ \t]+({NUMBER})(?!\w|\.[0-9]|{DASH}[0-9])[ \t]*(?:[:.]|{DASH}{{1,2}}(?=\s))?",
    re.IGNORECASE,
)
_START = re.compile(r"[(\[]?\**(?=pipeline-start)", re.IGNORECASE)
_TASK = re.compile(rf"(\*\*)?({ID})(\*\*)?[.:)]?(\*\*)?(?:\s+|\Z)(?:(?:{DASH}|:)\s+)?")
_ALMOST = re.compile(r"\[[ xX]?\][ \t]*\**[0-9]{1,9}(?:\.[0-9]{1,9})+\**[.:)]?(?=\s|\Z)")
_NOT_ITS_TEXT = ("**", "VERIFY Phase", "Execution Note", "pipeline-start:")
# Sections beside the phases whose boxes tell of the whole, even if they start with a number.
_ASIDE = re.compile(
    r"\b(?:criteria|acceptance|definition of done|risks?|notes?|deferred|future|out of scope|examples?|appendix)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Heading:
    """`## Phase 1: Title`. `said` is the heading as written."""

    key: str
    title: str
    said: str
    line: int
    opening: Opening | None = None


@dataclass(slots=True)
class Item:
    """`- [ ] 1.1 Text (depends: 1.2)`, from line `start` up to but not including line `stop`.

    `words` are all of its first paragraph without the id, `title` those without what it depends on. `phase` is None for
    one that lies in no phase. `verify` is the line that makes it a task which verifies a phase.
    """

    id: str
    box: Box
    words: str
    title: str
    depends: list[Depends]
    block: Block
    stop: int
    phase: str | None
    verify: Verify | None = None

    @property
    def start(self) -> int:
        return self.block.start


@dataclass(slots=True)
class Outline:
    """`notes` come with the phase that they lie in."""

    phases: dict[str, Heading] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    notes: list[tuple[Note, str | None]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def likely(markdown: Markdown) -> bool:
    """Whether there is a phase, and a box with an id at the margin: a look, where `outline` reads."""
    phases = any(_PHASE.match(heading.text) for heading in markdown.headings(2))
    return phases and any(
        block.box is not None and block.parent is None and _TASK.match(block.box.text)
        for block in markdown.blocks
    )


def outline(document: Document) -> Outline:
    """Every box with an id at the margin is an item once; what can't be one is a problem."""
    walk = _Walk(document)
    for thing in _in_order(document.markdown):
        match thing:
            case Block(kind=Kind.HEADING):
                walk.heading(thing)
            case Block():
                walk.item(thing)
            case Verify():
                walk.verify = thing
            case Tasks():
                walk.verify = None
            case Note():
                walk.outline.notes.append((thing, walk.phase.key if walk.phase else None))
            case Opening():
                walk.opening(thing)
    return walk.end()


def _in_order(markdown: Markdown) -> Iterator[Block | Statement]:
    """Headings and items, with what is said between them; a heading comes before what is said in it."""
    waiting = statements(markdown)
    said = next(waiting, None)
    for block in markdown.blocks:
        if block.quoted or block.kind not in (Kind.HEADING, Kind.ITEM):
            continue
        while said is not None and said.line < block.start:
            yield said
            said = next(waiting, None)
        yield block
    if said is not None:
        yield said
    yield from waiting


class _Walk:
    """From the top of a plan to its end."""

    def __init__(self, document: Document) -> None:
        self.outline = Outline()
        self.phase: Heading | None = None
        self.verify: Verify | None = None
        self._document = document
        self._lines = document.markdown.lines
        self._aside = False
        self._fresh = False  # no task since the heading
        self._again: int | None = None  # the line of a phase's second heading
        self._waiting: Opening | None = None  # for the next phase
        self._last: Item | None = None
        self._strays: list[Item] = []

    def heading(self, block: Block) -> None:
        if block.parent is not None:
            return
        self.verify = None
        if block.level > 2:
            return
        found = _PHASE.match(block.text) if block.level == 2 else None
        self.phase, self._fresh = None, False
        self._aside = found is None and bool(_ASIDE.search(block.text))
        if found:
            self._enter(block, found)

    def _enter(self, block: Block, found: re.Match[str]) -> None:
        name, title = key(found[1]), block.text[found.end() :]
        start = _START.search(title)
        said = next(opening(block.start, title[start.end() :]), None) if start else None
        if start and said:
            title = title[: start.start()]
        heading = Heading(name, headline(title.strip(" \t*-\u2013\u2014")), block.text.strip(), block.start)
        self._again = block.start if name in self.outline.phases else None
        self.phase = self.outline.phases.setdefault(name, heading)
        self.phase.opening, self._waiting = said or self._waiting or self.phase.opening, None
        self._fresh = True

    def opening(self, said: Opening) -> None:
        """Right below a heading it is about that phase, unless it names one of its tasks; else about the next one."""
        phase = self.phase
        if phase is not None and self._fresh and not (said.task and phase.key in _phases(said.task)):
            phase.opening = said
        else:
            self._waiting = said

    def item(self, block: Block) -> None:
        if block.parent is not None:
            if self._last is not None and block.parent is self._last.block:
                self._last.depends += own_line(block)
            return
        if not self._lines.all[block.start].removeprefix("\ufeff").startswith(("-", "*", "+")):
            self._go_on(block)
            return
        item, self._last = self._task(block), None
        if item is None:
            return
        self._last = item
        self._fresh = False
        if item.phase is None:
            self._strays.append(item)
            return
        self.outline.items.append(item)
        if self._again is not None:
            message = f"phase {item.phase} has a second heading here: its tasks are taken together"
            self._report(self._again, message, "Give each phase a number of its own.")
            self._again = None

    def _go_on(self, block: Block) -> None:
        """A bullet that is indented by less than a list asks for still belongs to the task above it."""
        if self._last is not None and self._last.stop == block.start:
            self._last.stop = self._stop(block)

    def _task(self, block: Block) -> Item | None:
        stop = self._stop(block)
        own = "\n".join(block.text.split("\n")[: stop - block.head]) if stop < block.stop else block.text
        box = None if self._aside else box_of(own)
        found = _TASK.match(box.text) if box is not None else None
        if box is None or found is None:
            if self.phase is not None and _ALMOST.match(own):
                message = f"this is not taken as a task: {headline(own)}"
                self._report(
                    block.start, message, 'Write it as "- [ ] 1.1 Text", or with an id such as 1.1.1.'
                )
            return None
        words = " ".join(box.text[found.end() :].split())
        if found[1] and not (found[3] or found[4]):
            words = words.replace("**", "", 1)
        phase = self.phase.key if self.phase else None
        name, depends = title(words, block.head)
        return Item(found[2], box, words, headline(name), depends, block, stop, phase, self.verify)

    def _stop(self, block: Block) -> int:
        """Where an item ends. A line at the margin that starts in bold, or says something, is not its text."""
        lines = self._lines.all
        for line in range(max(block.start, block.head) + 1, block.stop):
            if lines[line].startswith(_NOT_ITS_TEXT):
                return line
        return block.stop

    def end(self) -> Outline:
        if self._waiting is not None:
            self._report(
                self._waiting.line, f"no phase follows: {self._waiting.said}", "Put it before the phase."
            )
        known = {item.id for item in self.outline.items}
        for item in self._strays:
            self._adopt(item, known)
        self.outline.items.sort(key=lambda item: item.start)
        return self.outline

    def _adopt(self, item: Item, known: set[str]) -> None:
        """A task outside of the phases is part of the phase of its number."""
        if item.id in known:
            message = f"{item.id} is listed again, outside of its phase: the one in its phase counts"
            self.outline.problems.append(info(self._document, item.start, message))
            return
        item.phase = next((name for name in _phases(item.id) if name in self.outline.phases), None)
        if item.phase is None:
            message = (
                f"{item.id} lies in no phase, and there is no phase of its number: it is not taken as a task"
            )
            self._report(item.start, message, 'Put it below a heading "## Phase N: Title".')
        else:
            self.outline.items.append(item)

    def _report(self, line: int, message: str, hint: str) -> None:
        self.outline.problems.append(warning(self._document, line, message, hint))


def _phases(task: str) -> tuple[str, ...]:
    """The phases that a task's number could be of: 2.5.1 of 2.5, else of 2."""
    parts = key(task).split(".")
    return tuple(".".join(parts[:size]) for size in range(len(parts) - 1, 0, -1))
