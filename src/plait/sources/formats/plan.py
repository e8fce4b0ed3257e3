"""Plans: `## Phase N: Title`, below it tasks `- [ ] N.N Text`, and notes about the order in which they run.

Only a top-level box with an id is a task. A ticked box is done, whatever status.json says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from plait.core.plan import Problem
from plait.core.task import Need, NeedKind, Phase, Task
from plait.sources import checkboxes
from plait.sources.formats import Confidence
from plait.sources.formats.plan_notes import ExecutionNote, VerifyNote
from plait.sources.formats.plan_outline import (
    DependsClause,
    PhaseHeading,
    PlanItem,
    PlanOutline,
    looks_like_plan,
    parse_urgency,
    read_outline,
)
from plait.sources.formats.plan_status import STATUS_FILE, read_status_json, write_status_json
from plait.sources.markdown import chain_phases
from plait.sources.references import TaskIds, TaskRange
from plait.sources.source_model import (
    Chain,
    Document,
    Reading,
    RecordedStatus,
    SourceEntry,
    SourceFiles,
    SourceStatus,
    read_single_file,
)
from plait.sources.status_changes import ApplyStatuses, StatusChange, StatusFileWriter
from plait.sources.task_paths import find_mentions
from plait.sources.text import to_printable

# Above this many pairs of task and verifying task, only the first verifying task gets the dependencies.
_MAX_VERIFY_PAIRS = 20_000
# A limit for ranges that are too wide.
_MAX_EDGES = 500_000


class PlanOrder:
    """The order that an outline states. References to tasks and phases that don't exist are problems."""

    def __init__(self, document: Document, outline: PlanOutline) -> None:
        self.problems: list[Problem] = []
        self.chains: dict[str, Chain] = {}
        self.opening_tasks: dict[str, str] = {}
        self._document = document
        self._tasks = TaskIds(item.id for item in outline.items)
        self._phases = TaskIds(outline.phases)
        self._members: dict[str | None, list[str]] = defaultdict(list)
        self._needs: dict[str, dict[str, Need]] = defaultdict(dict)
        self._verify_needs: dict[str, tuple[Need, ...]] = {}
        self._parallel_groups: dict[str, list[set[str]]] = defaultdict(list)
        self._sequential: set[str] = set()
        self._edges = 0
        for item in outline.items:
            self._members[item.phase].append(item.id)
            for depends in item.depends:
                self._add_depends(item, depends)
        for note, phase in outline.notes:
            self._apply_note(note, phase)
        self._add_verify_needs(outline)
        for heading in outline.phases.values():
            self._set_opening_task(heading)

    def list_needs(self, task: str) -> tuple[Need, ...]:
        """Return the needs of a task, those that it states itself first; no task occurs twice."""
        own, shared = self._needs.get(task), self._verify_needs.get(task, ())
        if not own:
            return shared
        return (*own.values(), *(need for need in shared if need.on not in own))

    def may_run_together(self, phase: str, other: str) -> bool:
        """Whether a note lets these phases run side by side."""
        return any(other in group for group in self._parallel_groups.get(phase, ()))

    def _add_depends(self, item: PlanItem, depends: DependsClause) -> None:
        if depends.names_no_task:
            self._warn(depends.line, f"{item.id} names no task that it depends on: {depends.text}", _DEPENDS_HINT)
        at = self._document.origin(depends.line)
        for reference in depends.references:
            for name in self._find_needed(item, depends, reference):
                self._needs[item.id].setdefault(name, Need(name, NeedKind.NEED, depends.text, at))

    def _find_needed(self, item: PlanItem, depends: DependsClause, reference: TaskRange) -> Iterable[str]:
        if self._exceeds_edge_limit([reference], depends.line):
            return []
        named = self._tasks.sort(self._tasks.find(reference))
        if not reference.last and item.id in named:
            self._warn(depends.line, f"{item.id} can't depend on itself: {depends.text}", "Take it out.")
        elif not reference.last and not named:
            return [reference.first]  # unknown tasks are handled where all sources are known
        elif not named:
            message = f"{item.id} depends on tasks that don't exist: {depends.text}"
            self._warn(depends.line, message, _DEPENDS_HINT)
        return [name for name in named if name != item.id]

    def _apply_note(self, note: ExecutionNote, phase: str | None) -> None:
        known = self._phases if note.is_about_phases else self._tasks
        missing = [name for reference in note.references for name in known.find_missing(reference)]
        empty = [reference for reference in note.references if not known.count(reference)]
        if missing or empty:
            what = "phase" if known is self._phases else "task"
            names = ", ".join(dict.fromkeys(missing)) or note.name
            message = f"this note names {names}, but there is no such {what}"
            self._warn(note.line, message, "The others that it names are used.")
        if note.is_parallel:
            group = {name for reference in note.references for name in self._phases.find(reference)}
            for name in group:
                self._parallel_groups[name].append(group)
        else:
            self._add_chain(note, phase)

    def _add_chain(self, note: ExecutionNote, phase: str | None) -> None:
        if self._exceeds_edge_limit(note.references, note.line):
            return
        name, group = self._find_chain_tasks(note, phase)
        if len(group) < 2:
            return
        reason = note.reason or f"{note.subject} [SEQUENTIAL]"
        at = self._document.origin(note.line)
        for before, task in pairwise(group):
            self._needs[task].setdefault(before, Need(before, NeedKind.CHAIN, reason, at))
        for task in group:
            self.chains.setdefault(task, Chain(name, note.reason))

    def _find_chain_tasks(self, note: ExecutionNote, phase: str | None) -> tuple[str, list[str]]:
        """Return a chain's name and its tasks in the order of the file: the named ones, or all of one phase."""
        if note.references and not note.is_about_phases:
            named = (name for reference in note.references for name in self._tasks.find(reference))
            return note.name, self._tasks.sort(named)
        phases = [name for reference in note.references for name in self._phases.find(reference)]
        if not note.references and phase is not None:
            phases = [phase]
        if not phases and not note.references:
            hint = 'Write "Tasks 1.1-1.3 are [SEQUENTIAL]".'
            self._warn(note.line, "this note names no task, and is in no phase", hint)
        if len(phases) != 1 or phases[0] in self._sequential:  # one phase after another is what phases do anyway
            return "", []
        self._sequential.add(phases[0])
        return f"phase {phases[0]}", self._tasks.sort(self._members.get(phases[0], ()))

    def _add_verify_needs(self, outline: PlanOutline) -> None:
        """Let tasks that verify a phase come after all others of that phase."""
        ordinary: dict[str | None, list[str]] = defaultdict(list)
        checks: dict[VerifyNote, list[str]] = defaultdict(list)
        for item in outline.items:
            if item.verify is None:
                ordinary[item.phase].append(item.id)
            else:
                checks[item.verify].append(item.id)
        for verify, tasks in checks.items():
            if self._phases.get(verify.phase) is None:
                self._warn(verify.line, f"there is no phase {verify.phase} to verify", "Correct its number.")
            at = self._document.origin(verify.line)
            before = self._tasks.sort(ordinary.get(verify.phase, ()))
            needs = tuple(Need(name, NeedKind.CHAIN, verify.text, at) for name in before)
            first = (Need(tasks[0], NeedKind.CHAIN, verify.text, at),)
            others = needs if len(before) * len(tasks) <= _MAX_VERIFY_PAIRS else first
            self._verify_needs |= dict.fromkeys(tasks[1:], others) | {tasks[0]: needs}

    def _set_opening_task(self, heading: PhaseHeading) -> None:
        start = heading.pipeline_start
        if start is None:
            return
        if not start.task:
            hint = 'Write "pipeline-start: when 1.3 completes".'
            self._warn(start.line, f"this pipeline start names no task: {start.text}", hint)
        elif self._tasks.get(start.task) is None:
            message = f"phase {heading.key} opens with {start.task}, but there is no such task"
            self._warn(start.line, message, "It waits for the earlier phases.")
        elif start.task in self._members[heading.key]:
            message = f"phase {heading.key} can't open with {start.task}, which is one of its own tasks"
            self._warn(start.line, message, "It waits for the earlier phases.")
        else:
            self.opening_tasks[heading.key] = start.task

    def _exceeds_edge_limit(self, references: Iterable[TaskRange], line: int) -> bool:
        before = self._edges
        self._edges += sum(self._tasks.count(reference) for reference in references)
        if before <= _MAX_EDGES < self._edges:
            message = f"the ranges up to here name {_MAX_EDGES:,} tasks: this one and those below were not read"
            self.problems.append(self._document.make_error(line, message, "Name fewer tasks."))
        return self._edges > _MAX_EDGES

    def _warn(self, line: int, message: str, hint: str) -> None:
        self.problems.append(self._document.make_warning(line, message, hint))


_DEPENDS_HINT = 'Write "(depends: 1.1, 2.3)", with ids of this plan.'
_MAX_EARLIER_PHASES = 100
_DEFAULT_PRIORITY = Task("").priority


def _detect(document: Document) -> Confidence:
    if "phase" not in document.text.lower() or not looks_like_plan(document.markdown):
        return Confidence.NO
    return Confidence.NAME if "plans" in document.path.split("/")[:-1] else Confidence.CONTENT


def companions(path: str) -> tuple[str, ...]:
    return (f"docs/plan-outputs/{Document(path, '').stem}/{STATUS_FILE}",)


def read(source: SourceFiles) -> Reading:
    (path,) = companions(source.path)
    recorded, problems = read_status_json(source.companions[path]) if path in source.companions else ({}, [])
    reading = read_single_file(partial(_read_document, recorded), source)
    return replace(reading, problems=(*reading.problems, *problems))


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    del changes  # both files have every task
    (status,) = companions(path)
    return [
        StatusFileWriter(
            path, partial(checkboxes.write_checkboxes, partial(_read_document, {}), lambda _used: {}, path)
        ),
        StatusFileWriter(
            status,
            partial(write_status_json, status, Document(path, ""), Reading()),
            creates=True,
            source=path,
            bind_source=partial(_bind_plan, path, status),
        ),
    ]


def _bind_plan(path: str, status: str, text: str) -> ApplyStatuses:
    plan = Document(path, to_printable(text))
    return partial(write_status_json, status, plan, _read_document({}, plan))


def _read_document(recorded: dict[str, RecordedStatus], document: Document) -> Reading:
    outline = read_outline(document)
    order = PlanOrder(document, outline)
    entries = tuple(_build_entries(document, outline, order, recorded))
    problems = (*outline.problems, *order.problems, *_find_problems(document, outline))
    return Reading(entries, tuple(_build_phases(document, outline, order, entries)), problems)


def _build_entries(
    document: Document, outline: PlanOutline, order: PlanOrder, recorded: dict[str, RecordedStatus]
) -> Iterator[SourceEntry]:
    urgencies = {key: parse_urgency(heading.text) for key, heading in outline.phases.items()}
    for item in outline.items:
        body = document.markdown.source(item.start, item.stop).rstrip()
        urgent = (parse_urgency(item.words), urgencies[item.phase or ""], _DEFAULT_PRIORITY)
        task = Task(
            item.id,
            item.title,
            body,
            needs=order.list_needs(item.id),
            phase=item.phase,
            gating=item.verify is None or item.verify.is_gating,
            priority=next(value for value in urgent if value is not None),
            origin=document.origin(item.start),
        )
        yield _build_entry(task, item, order, recorded.get(item.id))


def _build_entry(task: Task, item: PlanItem, order: PlanOrder, recorded: RecordedStatus | None) -> SourceEntry:
    """Build a task's entry. A box that is ticked or crossed out decides its status; else status.json does."""
    status, status_text = checkboxes.read_checkbox_status(item.box), f"[{item.box.character}]"
    if recorded is not None and not status.is_closed:
        status, status_text = recorded.status, recorded.status_text
    since, retries = (recorded.since, recorded.retries) if recorded else (None, 0)
    chain = order.chains.get(item.id)
    return SourceEntry(task, status, status_text, find_mentions(task.body), chain=chain, since=since, retries=retries)


def _build_phases(
    document: Document, outline: PlanOutline, order: PlanOrder, entries: Sequence[SourceEntry]
) -> Iterator[Phase]:
    """Yield the phases with tasks, in the order of the file."""
    written = (
        Phase(
            key,
            heading.title,
            opens_with=order.opening_tasks.get(key),
            at=document.origin(heading.line),
            reason=heading.text,
        )
        for key, heading in outline.phases.items()
    )
    for phase in chain_phases(written, entries, _MAX_EARLIER_PHASES):
        after = tuple(other for other in phase.after if not order.may_run_together(phase.key, other))
        yield replace(phase, after=after)


def _find_problems(document: Document, outline: PlanOutline) -> Iterator[Problem]:
    if not outline.items:
        hint = 'Tasks are written "- [ ] 1.1 Text", at the margin and below a heading "## Phase 1: Title".'
        yield document.make_warning(0, "there is no task in this plan", hint)
    for item in outline.items:
        if not item.title:
            yield document.make_warning(item.start, f"{item.id} has no text", "Give it a text.")
        if item.box.character != " " and checkboxes.read_checkbox_status(item.box) is SourceStatus.TODO:
            message = f"{item.id} is marked [{item.box.character}], which is unknown: treated as not done"
            yield document.make_warning(item.start, message, "Use [ ] or [x].")


FORMAT = replace(
    checkboxes.make_checkbox_format(_detect, partial(_read_document, {})),
    read=read,
    writers=writers,
    companions=companions,
)
