"""`_jobstatus.json`: how far each job is, as a list of objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from datetime import UTC, datetime

from plait.core.frozen import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources import records
from plait.sources.jsontext import MalformedError, Node, inserted, parse, removed, replaced
from plait.sources.model import Change, Document, Mark, Rewrite
from plait.sources.report import error, warning
from plait.sources.taskfiles.files import beside
from plait.sources.taskfiles.status_line import moment
from plait.sources.text import BOM, Edit, Lines, apply, printable

NAME = "_jobstatus.json"
_READ = {"created": Mark.TODO, "pass": Mark.DONE, "fail": Mark.FAILED, "partial": Mark.PARTIAL}
_WRITTEN = {
    Mark.TODO: "created",
    Mark.DOING: "pending_work",
    Mark.DONE: "pass",
    Mark.FAILED: "fail",
    Mark.PARTIAL: "partial",
}
_RAN = frozenset({Mark.DOING, Mark.DONE, Mark.FAILED, Mark.PARTIAL})


@dataclass(frozen=True, slots=True)
class Status:
    mark: Mark
    said: str
    since: datetime | None = None


@dataclass(slots=True)
class Statuses:
    by_id: dict[str, Status] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read(document: Document | None) -> Statuses:
    """What the file says; without one every job is new. One that can't be read must not make finished jobs run again."""
    found = Statuses()
    if document is None or not document.text.strip(f"{BOM} \t\r\n"):
        return found
    try:
        root = parse(document.text)
    except MalformedError as flaw:
        message = f"the statuses of the jobs can't be read: {flaw.message} (column {flaw.column})"
        hint = "Correct this place; without the file all jobs would be new."
        found.problems.append(error(document, flaw.line - 1, message, hint))
        return found
    if not isinstance(root.value, list):
        hint = "Without the file all jobs would be new."
        found.problems.append(error(document, 0, "this is not a list of jobs and their statuses", hint))
        return found
    lines = Lines(document.text)
    for node in root.items:
        name = records.name_of(node)
        status = _status(node)
        if name and status is not None:
            found.by_id[name] = status
        else:
            message = f"this says nothing of a job that is known: {node.source[:60]!r}"
            found.problems.append(warning(document, lines.at(node.start), message))
    return found


def _status(node: Node) -> Status | None:
    said = node.get("status")
    if not isinstance(said, str):
        return None
    mark = Mark.STUCK if said.startswith("pending") else _READ.get(said)
    return None if mark is None else Status(mark, said, _time(node.get("updated_at")))


def _time(said: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def write(path: str, text: str, changes: Sequence[Change]) -> Rewrite:
    """The list with these statuses in place; other jobs and other keys stay, and jobs it did not have are added."""
    asked = {change.id: change for change in changes if beside(change.file, NAME) == path}
    if not asked:
        return Rewrite(text)
    shown = printable(text)
    bare = not shown.strip(f"{BOM} \t\r\n")
    try:
        root = parse("[]" if bare else shown)
    except MalformedError as flaw:
        return Rewrite(text, (records.unwritable(path, flaw),))
    if not isinstance(root.value, list):
        message = "this is not a list of jobs any more; no status was written"
        return Rewrite(text, (Problem(Severity.WARNING, message, Origin(path, 1)),))
    known = {records.name_of(node): node for node in root.items}
    edits: list[Edit] = []
    new: list[Change] = []
    for change in asked.values():
        if change.id in known:
            edits += _edits(known[change.id], change)
        elif _wanted(None, change.mark) is not None:
            new.append(change)
    if new:
        edits.append(_added(root, new, Lines(shown).eol))
    written = apply("[]" if bare and edits else text, edits)
    return Rewrite(f"{written}\n" if bare and edits else written)


def _wanted(now: Mark | None, asked: Mark) -> Mark | None:
    """What to write; None to leave it as it is. Blocked and skipped can't be told: the job is as if not begun."""
    told = Mark.DOING if now is Mark.STUCK else now or Mark.TODO
    if asked in {Mark.BLOCKED, Mark.SKIPPED}:
        return Mark.TODO if told is Mark.DOING else None
    if asked not in _WRITTEN or asked is told or (asked is Mark.DOING and told is Mark.DONE):
        return None
    return asked


def _edits(node: Node, change: Change) -> list[Edit]:
    now = _status(node)
    mark = _wanted(now.mark if now else None, change.mark)
    if mark is None:
        return []
    edits = [
        _put(node, "status", "id", value=_WRITTEN[mark]),
        _put(node, "updated_at", "created_at", value=moment(change.at)),
    ]
    if mark in {Mark.FAILED, Mark.PARTIAL} and change.reason:
        edits.append(_put(node, "error", "updated_at", value=change.reason))
    elif "error" in node.members and node.get("error") is not None:
        edits.append(removed(node, "error"))
    if mark in _RAN and node.get("ran") is not True:
        edits.append(_put(node, "ran", "error", value=True))
    return edits


def _put(node: Node, key: str, after: str, *, value: str | bool) -> Edit:
    return replaced(node[key], value) if key in node.members else inserted(node, key, value, (after,))


def _added(root: Node, changes: Sequence[Change], eol: str) -> Edit:
    """New objects at the end of the list, set as the first one is."""
    items = root.items
    if not items:
        between, inside = f"{eol}  ", f"{eol}    "
        rows = ",".join(between + _object(change, inside, between) for change in changes)
        return Edit(root.start, root.stop, f"[{rows}{eol}]")
    first = items[0]
    between = root.text[root.start + 1 : first.start]
    inside = root.text[first.start + 1 : first.written[0].start] if first.written else ""
    rows = "".join(f",{between or ' '}{_object(change, inside, between)}" for change in changes)
    return Edit(items[-1].stop, items[-1].stop, rows)


def _object(change: Change, inside: str, between: str) -> str:
    at = moment(change.at)
    values: dict[str, str | bool] = {
        "id": change.id,
        "status": _WRITTEN[change.mark],
        "created_at": at,
        "updated_at": at,
    }
    if change.mark in {Mark.FAILED, Mark.PARTIAL} and change.reason:
        values["error"] = change.reason
    values["ran"] = change.mark in _RAN
    rows = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    if "\n" in inside or "\r" in inside:
        return "{" + ",".join(inside + row for row in rows) + between + "}"
    return "{" + ", ".join(rows) + "}"
