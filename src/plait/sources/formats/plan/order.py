"""The order of a plan's tasks: what each one needs, which of them form a chain, which phases run side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from plait.core.plan import Problem
from plait.core.task import Need, NeedKind, Origin
from plait.sources.formats.plan.notes import Note, Order, Verify
from plait.sources.formats.plan.numbers import Numbered, Reference
from plait.sources.formats.plan.outline import Heading, Item, Outline
from plait.sources.formats.plan.text import Depends
from plait.sources.model import Chain, Document
from plait.sources.report import error, warning

# So many pairs of a task and one that verifies it are told one by one; of more, the first that verifies stands for all.
_PAIRS = 20_000
# Ranges can name more than anybody means.
_EDGES = 500_000


class Ordered:
    """What an outline says about order. What it says of tasks and phases that are not there is a problem."""

    def __init__(self, document: Document, outline: Outline) -> None:
        self.problems: list[Problem] = []
        self.chains: dict[str, Chain] = {}
        self.openings: dict[str, str] = {}
        self._document = document
        self._tasks = Numbered(item.id for item in outline.items)
        self._phases = Numbered(outline.phases)
        self._members: dict[str | None, list[str]] = defaultdict(list)
        self._needs: dict[str, dict[str, Need]] = defaultdict(dict)
        self._verifies: dict[str, tuple[Need, ...]] = {}
        self._beside: dict[str, list[set[str]]] = defaultdict(list)
        self._sequential: set[str] = set()
        self._edges = 0
        for item in outline.items:
            self._members[item.phase].append(item.id)
            for depends in item.depends:
                self._depend(item, depends)
        for note, phase in outline.notes:
            self._note(note, phase)
        self._verify(outline)
        for heading in outline.phases.values():
            self._open(heading)

    def needs(self, task: str) -> tuple[Need, ...]:
        """What it names itself comes first; nothing is named twice."""
        own, shared = self._needs.get(task), self._verifies.get(task, ())
        if not own:
            return shared
        return (*own.values(), *(need for need in shared if need.on not in own))

    def together(self, phase: str, other: str) -> bool:
        """Whether a note lets these phases run side by side."""
        return any(other in group for group in self._beside.get(phase, ()))

    def _depend(self, item: Item, depends: Depends) -> None:
        if depends.unread:
            self._warn(
                depends.line, f"{item.id} names no task that it depends on: {depends.said}", _DEPENDS_HINT
            )
        at = self._at(depends.line)
        for reference in depends.references:
            for name in self._needed(item, depends, reference):
                self._needs[item.id].setdefault(name, Need(name, NeedKind.NEED, depends.said, at))

    def _needed(self, item: Item, depends: Depends, reference: Reference) -> Iterable[str]:
        if self._too_many([reference], depends.line):
            return []
        named = self._tasks.named(reference)
        if reference.alone and item.id in named:
            self._warn(depends.line, f"{item.id} can't depend on itself: {depends.said}", "Take it out.")
        elif reference.alone and not named:
            return [reference.first]  # what an unknown task means is for whoever knows all sources
        elif not named:
            message = f"{item.id} depends on tasks that are not there: {depends.said}"
            self._warn(depends.line, message, _DEPENDS_HINT)
        return [name for name in named if name != item.id]

    def _note(self, note: Note, phase: str | None) -> None:
        known = self._phases if self._of_phases(note) else self._tasks
        missing = [name for reference in note.references for name in known.missing(reference)]
        empty = [reference for reference in note.references if not known.count(reference)]
        if missing or empty:
            what = "phase" if known is self._phases else "task"
            names = ", ".join(dict.fromkeys(missing)) or note.name
            message = f"this note names {names}, and there is no such {what}"
            self._warn(note.line, message, "The others that it names are taken.")
        if note.order is Order.PARALLEL:
            self._side_by_side(note)
        else:
            self._chain(note, phase)

    @staticmethod
    def _of_phases(note: Note) -> bool:
        return note.order is Order.PARALLEL or not any(
            "." in reference.first for reference in note.references
        )

    def _side_by_side(self, note: Note) -> None:
        group = {name for reference in note.references for name in self._phases.named(reference)}
        for name in group:
            self._beside[name].append(group)

    def _chain(self, note: Note, phase: str | None) -> None:
        if self._too_many(note.references, note.line):
            return
        name, group = self._group(note, phase)
        if len(group) < 2:
            return
        reason = note.reason or f"{note.subject} [SEQUENTIAL]"
        at = self._at(note.line)
        for before, task in pairwise(group):
            self._needs[task].setdefault(before, Need(before, NeedKind.CHAIN, reason, at))
        for task in group:
            self.chains.setdefault(task, Chain(name, note.reason))

    def _group(self, note: Note, phase: str | None) -> tuple[str, list[str]]:
        """The tasks of a chain in the order of the file: those that are named, or all of one phase."""
        if note.references and not self._of_phases(note):
            named = (name for reference in note.references for name in self._tasks.named(reference))
            return note.name, self._tasks.ordered(named)
        phases = [name for reference in note.references for name in self._phases.named(reference)]
        if not note.references and phase is not None:
            phases = [phase]
        if not phases and not note.references:
            hint = 'Write "Tasks 1.1-1.3 are [SEQUENTIAL]".'
            self._warn(note.line, "this note names no task, and lies in no phase", hint)
        if (
            len(phases) != 1 or phases[0] in self._sequential
        ):  # one phase after another is what phases do anyway
            return "", []
        self._sequential.add(phases[0])
        return f"phase {phases[0]}", self._tasks.ordered(self._members.get(phases[0], ()))

    def _verify(self, outline: Outline) -> None:
        """Tasks that verify a phase come after all others of that phase."""
        ordinary: dict[str | None, list[str]] = defaultdict(list)
        checks: dict[Verify, list[str]] = defaultdict(list)
        for item in outline.items:
            if item.verify is None:
                ordinary[item.phase].append(item.id)
            else:
                checks[item.verify].append(item.id)
        for verify, tasks in checks.items():
            if verify.phase not in self._phases:
                self._warn(verify.line, f"there is no phase {verify.phase} to verify", "Correct its number.")
            before = self._tasks.ordered(ordinary.get(verify.phase, ()))
            self._after(verify, before, tasks)

    def _after(self, verify: Verify, before: list[str], tasks: list[str]) -> None:
        at = self._at(verify.line)
        needs = tuple(Need(name, NeedKind.CHAIN, verify.said, at) for name in before)
        others = needs
        if len(before) * len(tasks) > _PAIRS:
            others = (Need(tasks[0], NeedKind.CHAIN, verify.said, at),)
        self._verifies |= dict.fromkeys(tasks[1:], others) | {tasks[0]: needs}

    def _open(self, heading: Heading) -> None:
        said = heading.opening
        if said is None:
            return
        if not said.task:
            hint = 'Write "pipeline-start: when 1.3 completes".'
            self._warn(said.line, f"this pipeline start names no task: {said.said}", hint)
        elif said.task not in self._tasks:
            message = f"phase {heading.key} opens with {said.task}, and there is no such task"
            self._warn(said.line, message, "It waits for the earlier phases.")
        elif said.task in self._members[heading.key]:
            message = f"phase {heading.key} can't open with {said.task}, which is one of its own tasks"
            self._warn(said.line, message, "It waits for the earlier phases.")
        else:
            self.openings[heading.key] = said.task

    def _too_many(self, references: Iterable[Reference], line: int) -> bool:
        before = self._edges
        self._edges += sum(self._tasks.count(reference) for reference in references)
        if before <= _EDGES < self._edges:
            message = f"the ranges up to here name {_EDGES:,} tasks: this one and those below were not read"
            self.problems.append(error(self._document, line, message, "Name fewer tasks."))
        return self._edges > _EDGES

    def _at(self, line: int) -> Origin:
        return Origin(self._document.path, line + 1)

    def _warn(self, line: int, message: str, hint: str) -> None:
        self.problems.append(warning(self._document, line, message, hint))


_DEPENDS_HINT = 'Write "(depends: 1.1, 2.3)", with ids of this plan.'
