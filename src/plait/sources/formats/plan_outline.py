"""The outline of a plan: its phases, their tasks, and the statements about both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.sources.formats import plan_notes
from plait.sources.formats.plan_notes import ExecutionNote, PipelineStart, PlanStatement, TasksLabel, VerifyNote
from plait.sources.markdown import Block, BlockKind, Checkbox, Markdown, make_title, parse_checkbox
from plait.sources.references import DASH, TaskRange
from plait.sources.source_model import Document
from plait.sources.vocabulary import parse_priority, split_list

_CODE = re.compile(r"`[^`]*`")
_DEPENDS = re.compile(
    r"[(\[] ?depend(?:s|ent|ency|encies)?\b(?P<on> (?:up)?on\b)?(?P<colon> ?:)?(?P<what>[^()\[\]]*)[)\]]", re.IGNORECASE
)
_OWN_LINE = re.compile(
    r"[(\[]?depend(?:s|ent|ency|encies)?\b(?: (?:up)?on\b)? ?:? ?"
    r"(?P<what>(?:[0-9., ;&\u2010-\u2015\u2212-]|tasks?\b|and\b|to\b|through\b)+)[)\]]?\.?\Z",
    re.IGNORECASE,
)
_URGENCY = re.compile(r"\b(CRITICAL|HIGH|MEDIUM|LOW)\b(?!-[a-z])")
_SPACE_BEFORE = re.compile(r" +(?=[.,;:])")
_MAX_LINE_LENGTH = 1_000


@dataclass(frozen=True, slots=True)
class DependsClause:
    """A clause `(depends: 1.1, 2.3)`, as it is written. `unread`: no task could be read from it."""

    line: int
    text: str
    references: tuple[TaskRange, ...]
    names_no_task: bool = False


def split_depends(text: str, line: int) -> tuple[str, list[DependsClause]]:
    """Split a line into its text and its dependencies; code in back-ticks is ignored."""
    clauses: list[DependsClause] = []
    parts: list[str] = []
    done = 0
    for clause in _DEPENDS.finditer(_mask_code(text)):
        depends = _parse_clause(clause, line)
        if depends is None:
            continue
        clauses.append(depends)
        if not depends.names_no_task:
            parts.append(text[done : clause.start()])
            done = clause.end()
    if not done:
        return text, clauses
    left = " ".join(" ".join((*parts, text[done:])).split())
    return _SPACE_BEFORE.sub("", left), clauses


def parse_depends_line(block: Block) -> Iterator[DependsClause]:
    """Yield the dependencies of a bullet that names nothing else: `- Depends on: 1.1`."""
    if len(block.text) > _MAX_LINE_LENGTH:
        return
    plain = " ".join(block.text.replace("**", "").split())
    match = _OWN_LINE.match(plain)
    named = tuple(plan_notes.find_task_references(match["what"])) if match else ()
    if named:
        yield DependsClause(block.head, plain, named)


def parse_urgency(text: str) -> int | None:
    """Return the priority that a word in capitals names, or None."""
    match = _URGENCY.search(_mask_code(text))
    return parse_priority(match[1]) if match else None


def _parse_clause(clause: re.Match[str], line: int) -> DependsClause | None:
    named = tuple(plan_notes.find_task_references(clause["what"]))
    if named:
        return DependsClause(line, clause[0], named)
    if not (clause["colon"] or clause["on"]):
        return None  # (dependencies updated): about something else
    return DependsClause(line, clause[0], (), names_no_task=bool(split_list(clause["what"])))


def _mask_code(text: str) -> str:
    """Replace everything in back-ticks, so that positions stay the same."""
    return _CODE.sub(lambda match: "`" * len(match[0]), text) if "`" in text else text


_PHASE = re.compile(
    rf"[^\w\n]{{0,8}}Phase[ \t]+({plan_notes.NUMBER})(?!\w|\.[0-9]|{DASH}[0-9])[ \t]*(?:[:.]|{DASH}{{1,2}}(?=\s))?",
    re.IGNORECASE,
)
_START = re.compile(r"[(\[]?\**(?=pipeline-start)", re.IGNORECASE)
_TASK = re.compile(rf"(\*\*)?({plan_notes.ID})(\*\*)?[.:)]?(\*\*)?(?:\s+|\Z)(?:(?:{DASH}|:)\s+)?")
_MALFORMED_TASK = re.compile(r"\[[ xX]?\][ \t]*\**[0-9]{1,9}(?:\.[0-9]{1,9})+\**[.:)]?(?=\s|\Z)")
_ITEM_END_PREFIXES = ("**", "VERIFY Phase", "Execution Note", "pipeline-start:")
# Sections whose boxes are not tasks, even if they start with a number.
_NON_PHASE_SECTION = re.compile(
    r"\b(?:criteria|acceptance|definition of done|risks?|notes?|deferred|future|out of scope|examples?|appendix)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class PhaseHeading:
    """A heading `## Phase 1: Title`; `text` is the heading as written."""

    key: str
    title: str
    text: str
    line: int
    pipeline_start: PipelineStart | None = None


@dataclass(slots=True)
class PlanItem:
    """`- [ ] 1.1 Text (depends: 1.2)`, from line `start` up to but not including line `stop`.

    `words` is its first paragraph without the id, `title` that without the dependencies. `verify` is the line that
    makes it a task which verifies a phase.
    """

    id: str
    box: Checkbox
    words: str
    title: str
    depends: list[DependsClause]
    block: Block
    stop: int
    phase: str | None
    verify: VerifyNote | None = None

    @property
    def start(self) -> int:
        return self.block.start


@dataclass(slots=True)
class PlanOutline:
    """The phases, items and notes of a plan; `notes` are paired with the phase that they are in."""

    phases: dict[str, PhaseHeading] = field(default_factory=dict)
    items: list[PlanItem] = field(default_factory=list)
    notes: list[tuple[ExecutionNote, str | None]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def looks_like_plan(markdown: Markdown) -> bool:
    """Whether there is a phase and an unindented box with an id; cheaper than `read_outline`."""
    phases = any(_PHASE.match(heading.text) for heading in markdown.headings(2))
    return phases and any(
        block.checkbox is not None and block.parent is None and _TASK.match(block.checkbox.text)
        for block in markdown.blocks
    )


def read_outline(document: Document) -> PlanOutline:
    """Read the outline. Every unindented box with an id is an item once; what can't be one is a problem."""
    walk = _OutlineBuilder(document)
    for element in _list_in_order(document.markdown):
        match element:
            case Block(kind=BlockKind.HEADING):
                walk.add_heading(element)
            case Block():
                walk.add_item(element)
            case VerifyNote():
                walk.verify = element
            case TasksLabel():
                walk.verify = None
            case ExecutionNote():
                walk.outline.notes.append((element, walk.phase.key if walk.phase else None))
            case PipelineStart():
                walk.add_pipeline_start(element)
    return walk.finish()


def _list_in_order(markdown: Markdown) -> list[Block | PlanStatement]:
    """Return headings, items and the statements between them in order; a heading comes before the statement in it."""
    kinds = {BlockKind.HEADING, BlockKind.ITEM}
    blocks = [block for block in markdown.blocks if block.kind in kinds and not block.quoted]
    return sorted(
        [*blocks, *plan_notes.find_statements(markdown)],
        key=lambda element: element.start if isinstance(element, Block) else element.line,
    )


class _OutlineBuilder:
    """Builds the outline while it goes from the top of a plan to its end."""

    def __init__(self, document: Document) -> None:
        self.outline = PlanOutline()
        self.phase: PhaseHeading | None = None
        self.verify: VerifyNote | None = None
        self._document = document
        self._lines = document.markdown.lines
        self._aside = False
        self._fresh = False  # no task since the heading
        self._again: int | None = None  # the line of a phase's second heading
        self._waiting: PipelineStart | None = None  # for the next phase
        self._last: PlanItem | None = None
        self._strays: list[PlanItem] = []

    def add_heading(self, block: Block) -> None:
        if block.parent is not None:
            return
        self.verify = None
        if block.level > 2:
            return
        match = _PHASE.match(block.text) if block.level == 2 else None
        self.phase, self._fresh = None, False
        self._aside = match is None and bool(_NON_PHASE_SECTION.search(block.text))
        if match:
            self._enter_phase(block, match)

    def _enter_phase(self, block: Block, match: re.Match[str]) -> None:
        name, title = plan_notes.normalize_number(match[1]), block.text[match.end() :]
        start = _START.search(title)
        pipeline_start = (
            next(plan_notes.parse_pipeline_start(block.start, title[start.end() :]), None) if start else None
        )
        if start and pipeline_start:
            title = title[: start.start()]
        heading = PhaseHeading(name, make_title(title.strip(" \t*-\u2013\u2014")), block.text.strip(), block.start)
        self._again = block.start if name in self.outline.phases else None
        self.phase = self.outline.phases.setdefault(name, heading)
        self.phase.pipeline_start, self._waiting = pipeline_start or self._waiting or self.phase.pipeline_start, None
        self._fresh = True

    def add_pipeline_start(self, statement: PipelineStart) -> None:
        """Assign a pipeline start to its phase: right below a heading to that phase, unless it names one of its tasks;
        else to the next one.
        """
        phase = self.phase
        if (
            phase is not None
            and self._fresh
            and not (statement.task and phase.key in _list_candidate_phases(statement.task))
        ):
            phase.pipeline_start = statement
        else:
            self._waiting = statement

    def add_item(self, block: Block) -> None:
        if block.parent is not None:
            if self._last is not None and block.parent is self._last.block:
                self._last.depends += parse_depends_line(block)
            return
        if not self._lines.all[block.start].removeprefix("\ufeff").startswith(("-", "*", "+")):
            self._extend_last(block)
            return
        item, self._last = self._parse_item(block), None
        if item is None:
            return
        self._last = item
        self._fresh = False
        if item.phase is None:
            self._strays.append(item)
            return
        self.outline.items.append(item)
        if self._again is not None:
            message = f"phase {item.phase} has a second heading here: the tasks of both are one phase"
            self._warn(self._again, message, "Give each phase a number of its own.")
            self._again = None

    def _extend_last(self, block: Block) -> None:
        """Extend the task above by a bullet that is indented too little for a nested list, but belongs to it."""
        if self._last is not None and self._last.stop == block.start:
            self._last.stop = self._find_end(block)

    def _parse_item(self, block: Block) -> PlanItem | None:
        stop = self._find_end(block)
        own = "\n".join(block.text.split("\n")[: stop - block.head]) if stop < block.stop else block.text
        box = None if self._aside else parse_checkbox(own)
        match = _TASK.match(box.text) if box is not None else None
        if box is None or match is None:
            if self.phase is not None and _MALFORMED_TASK.match(own):
                message = f"not a task: {make_title(own)}"
                self._warn(block.start, message, 'Write it as "- [ ] 1.1 Text", or with an id such as 1.1.1.')
            return None
        words = " ".join(box.text[match.end() :].split())
        if match[1] and not (match[3] or match[4]):
            words = words.replace("**", "", 1)
        phase = self.phase.key if self.phase else None
        name, depends = split_depends(words, block.head)
        return PlanItem(match[2], box, words, make_title(name), depends, block, stop, phase, self.verify)

    def _find_end(self, block: Block) -> int:
        """Return the line after an item. An unindented line in bold, or with a statement, is not part of it."""
        lines = self._lines.all
        for line in range(max(block.start, block.head) + 1, block.stop):
            if lines[line].startswith(_ITEM_END_PREFIXES):
                return line
        return block.stop

    def finish(self) -> PlanOutline:
        if self._waiting is not None:
            self._warn(self._waiting.line, f"no phase follows: {self._waiting.text}", "Put it before the phase.")
        ids = {item.id for item in self.outline.items}
        for item in self._strays:
            self._place_stray(item, ids)
        self.outline.items.sort(key=lambda item: item.start)
        return self.outline

    def _place_stray(self, item: PlanItem, ids: set[str]) -> None:
        """Put a task outside of the phases into the phase of its number."""
        if item.id in ids:
            message = f"{item.id} is listed again, outside of its phase: the one in its phase counts"
            self.outline.problems.append(self._document.make_info(item.start, message))
            return
        item.phase = next((name for name in _list_candidate_phases(item.id) if name in self.outline.phases), None)
        if item.phase is None:
            message = f"{item.id} is in no phase, and there is no phase of its number: not a task"
            self._warn(item.start, message, 'Put it below a heading "## Phase N: Title".')
        else:
            self.outline.items.append(item)

    def _warn(self, line: int, message: str, hint: str) -> None:
        self.outline.problems.append(self._document.make_warning(line, message, hint))


def _list_candidate_phases(task: str) -> tuple[str, ...]:
    """Return the numbers of phases that a task may be in, by its own number: for 2.5.1 phase 2.5, else 2."""
    parts = plan_notes.normalize_number(task).split(".")
    return tuple(".".join(parts[:size]) for size in range(len(parts) - 1, 0, -1))
