"""Beads' `issues.jsonl`: an issue on each line, with edges between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from plait.core.plan import Problem
from plait.core.task import Need, Origin, Task
from plait.sources import records, words
from plait.sources.formats import Likeness
from plait.sources.formats.beads.issues import Issue, Issues, edits, mark, moment
from plait.sources.found import Places, files, gone, own
from plait.sources.jsontext import MalformedError, parse
from plait.sources.mentions import mentions
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Rewrite, Writer
from plait.sources.report import warning
from plait.sources.text import Lines, apply, printable

_NAMES = ("issues.jsonl", "beads.jsonl")
_SECTIONS = {"design": "Design", "acceptance_criteria": "Acceptance criteria", "notes": "Notes"}
# Issues that hold others together: when those are done there may be nothing left to change.
_CONTAINERS = ("epic", "molecule")
_MIDDLE = 2  # of the priorities 0 to 4


def likeness(material: Material) -> Likeness:
    if material.folder or not material.documents or not material.document.name.endswith(".jsonl"):
        return Likeness.NO
    document = material.document
    if document.path.endswith(tuple(f".beads/{name}" for name in _NAMES)):
        return Likeness.NAME
    lines = (line for line in Lines(document.text).all if line.strip())
    if not any(map(_alike, islice(lines, 20))):
        return Likeness.NO
    return Likeness.NAME if document.name in _NAMES else Likeness.CONTENT


def _alike(line: str) -> bool:
    try:
        value = parse(line).value
    except MalformedError:
        return False
    return isinstance(value, dict) and {"id", "title", "status"} <= value.keys()


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001
    return ()


def read(material: Material) -> Reading:
    readings = [_Reader(document).reading() for document in material.documents]
    entries = tuple(entry for reading in readings for entry in reading.entries)
    return Reading(entries, problems=tuple(problem for reading in readings for problem in reading.problems))


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return [Writer(file, partial(_write, file)) for file in files(path, changes)]


class _Reader:
    """One file: its issues, what each of them waits for, and what is wrong with them."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._issues = Issues.of(Lines(document.text))
        self._problems: list[Problem] = []
        self._needs: dict[str, dict[str, Need]] = {}
        self._parents: set[str] = set()

    def reading(self) -> Reading:
        for flaw in self._issues.flaws:
            self._warn(flaw.number, flaw.message, flaw.hint)
        self._edges()
        entries = [self._entry(issue) for issue in self._issues.live.values()]
        entries += (
            Entry(Task(name, origin=self._origin(number)), Mark.UNREADABLE)
            for name, number in self._issues.unreadable.items()
        )
        entries.sort(key=lambda entry: entry.task.origin.line if entry.task.origin else 0)
        self._problems.sort(key=lambda problem: problem.at.line if problem.at else 0)
        return Reading(tuple(entries), problems=tuple(self._problems))

    def _edges(self) -> None:
        """`blocks`: the one waits for the other. `parent-child`: the parent waits for the child, unless that waits for it."""
        children: list[tuple[str, str, int]] = []
        for issue in self._issues.live.values():
            for name, on, kind in self._dependencies(issue):
                if kind == "blocks":
                    self._edge(name, on, f"blocks: {on}", issue.number)
                elif kind == "parent-child":
                    children.append((name, on, issue.number))
        for child, parent, number in children:
            self._parents.add(parent)
            if parent not in self._needs.get(child, {}):
                self._edge(parent, child, f"parent-child: {child}", number)

    def _edge(self, name: str, on: str, reason: str, number: int) -> None:
        if on not in self._issues.absent:
            need = Need(on, reason=reason, at=self._origin(number))
            self._needs.setdefault(name, {}).setdefault(on, need)

    def _dependencies(self, issue: Issue) -> Iterator[tuple[str, str, str]]:
        """Who waits, for whom, and in which way; the older files that say no way mean `blocks`."""
        said = issue.node.get("dependencies")
        if said is not None and not isinstance(said, list):
            self._warn(issue.number, f"{issue.id}: dependencies is not a list, and was passed over")
        for item in said if isinstance(said, list) else ():
            on = records.one_line(item.get("depends_on_id")) if isinstance(item, dict) else ""
            if not on:
                message = f"{issue.id}: a dependency without a depends_on_id was passed over"
                self._warn(issue.number, message)
                continue
            yield records.one_line(item.get("issue_id")) or issue.id, on, item.get("type") or "blocks"

    def _entry(self, issue: Issue) -> Entry:
        node, title = issue.node, issue.title
        status = node.get("status")
        if status is not None and mark(status) is None:
            message = (
                f"{issue.id}: {records.one_line(str(status))[:40]} is no status, so it is taken for open"
            )
            self._warn(issue.number, message)
        body = records.sections(node, _SECTIONS)
        task = Task(
            issue.id,
            title,
            body,
            needs=tuple(self._needs.get(issue.id, {}).values()),
            priority=self._priority(issue),
            estimate=_estimate(node.get("estimated_minutes")),
            allow_empty=issue.id in self._parents or node.get("issue_type") in _CONTAINERS,
            origin=self._origin(issue.number),
        )
        since = moment(node.get("updated_at")) if issue.mark is Mark.DOING else None
        named = mentions(f"{title}\n{body}")
        return Entry(task, issue.mark, records.one_line(status), named, since=since)

    def _priority(self, issue: Issue) -> int:
        """0 is critical, 2 the middle, 4 some day."""
        said = issue.node.get("priority")
        if isinstance(said, int) and not isinstance(said, bool) and 0 <= said <= 2 * _MIDDLE:
            return said - 1
        found = words.priority(said) if isinstance(said, str) else None
        if said is not None and found is None:
            message = f"{issue.id}: priority is not a number from 0 to 4, and was passed over"
            self._warn(issue.number, message)
        return _MIDDLE - 1 if found is None else found

    def _origin(self, number: int) -> Origin:
        return Origin(self._document.path, number + 1)

    def _warn(self, number: int, message: str, hint: str = "") -> None:
        self._problems.append(warning(self._document, number, message, hint))


def _estimate(minutes: object) -> float | None:
    match minutes:
        case bool():
            return None
        case (int() | float()) as number if 0 < number < 1e6:
            return number * 60.0
        case _:
            return None


def _write(path: str, text: str, changes: Sequence[Change]) -> Rewrite:
    issues = Issues.of(Lines(printable(text))).live
    places = Places(issues.values(), lambda issue: issue.id, lambda issue: issue.title)
    asked: dict[int, tuple[Issue, Change]] = {}
    problems: list[Problem] = []
    for change in own(path, changes):
        issue = places.find(change)
        if issue is None:
            problems.append(gone(change))
        else:
            asked[issue.number] = (issue, change)
    lines = list(Lines(text).all)
    for number, (issue, change) in asked.items():
        lines[number] = apply(lines[number], edits(issue, change))
    return Rewrite("".join(lines), tuple(problems))
