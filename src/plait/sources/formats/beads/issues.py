"""The lines of a Beads file: which issue each one tells of, how far it is, and how its status is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from datetime import UTC, datetime

from plait.core.frozen import dataclass
from plait.sources import records, words
from plait.sources.jsontext import MalformedError, Node, inserted, parse, removed, replaced
from plait.sources.model import Change, Mark
from plait.sources.text import BOM, Edit, Lines

# Beads knows no failure: what failed is open.
_STATUSES = {
    Mark.TODO: "open",
    Mark.DOING: "in_progress",
    Mark.DONE: "closed",
    Mark.FAILED: "open",
    Mark.BLOCKED: "blocked",
    Mark.SKIPPED: "deferred",
}
# Words of its own: pinned issues stay open for ever and are nobody's work; hooked ones hang at an agent.
_MARKS = {"pinned": Mark.SKIPPED, "hooked": Mark.DOING}
# Records that are kept as issues and are no work.
_NO_WORK = ("agent", "event", "message", "rig", "role")
_KINDS = (None, "issue")
_ID = re.compile(r'"id"[ \t]*:[ \t]*"([^"\\]+)"')
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue and the number of its line, from 0."""

    id: str
    number: int
    node: Node

    @property
    def title(self) -> str:
        return records.title(self.node, self.id)

    @property
    def mark(self) -> Mark:
        return mark(self.node.get("status")) or Mark.TODO


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a line (from 0)."""

    number: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Issues:
    """The issues of a file: of several lines with one id the last counts, as it does when Beads reads the file.

    `absent` are those that exist and are no tasks: deleted ones, templates, messages. `unreadable` lines tell no more
    than an id.
    """

    live: dict[str, Issue] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    unreadable: dict[str, int] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Lines) -> Issues:
        issues = cls()
        for number, line in enumerate(lines.all):
            if line.strip().strip(BOM):
                issues._add(number, line)
        for name in issues.live.keys() & issues.unreadable.keys():
            del issues.unreadable[name]
        return issues

    def _add(self, number: int, line: str) -> None:
        try:
            node = parse(line)
        except MalformedError as flaw:
            self._refuse(number, line, flaw)
            return
        if node.get("_type") not in _KINDS:
            return
        name = records.name_of(node)
        if not name:
            what = "has no id" if isinstance(node.value, dict) else "is no issue"
            self.flaws.append(Flaw(number, f"this line {what}, and was passed over"))
            return
        before = self.live.pop(name, None)
        if before is not None:
            message = f"{name} is here again in line {number + 1}, which counts: this line was passed over"
            self.flaws.append(Flaw(before.number, message, "Keep one of the lines."))
        self.absent.discard(name)
        if _no_task(node):
            self.absent.add(name)
        else:
            self.live[name] = Issue(name, number, node)

    def _refuse(self, number: int, line: str, flaw: MalformedError) -> None:
        if line.startswith(_CONFLICT):
            message = "this line is a mark of git's, about two versions that were not merged"
            self.flaws.append(Flaw(number, message, "Resolve the conflict first."))
            return
        message = f"this line is not JSON: {flaw.message} (column {flaw.column}); it was passed over"
        self.flaws.append(Flaw(number, message))
        found = _ID.search(line)
        if found and records.one_line(found[1]):
            self.unreadable[records.one_line(found[1])] = number


def mark(status: object) -> Mark | None:
    """What a status says; None if it is not known."""
    if not isinstance(status, str):
        return None
    return _MARKS.get(status) or words.mark(status)


def edits(issue: Issue, change: Change) -> Iterator[Edit]:
    """The edits of its line that make it so: the status, and the times that go with it."""
    told = mark(_STATUSES.get(change.mark)) or issue.mark
    finished_meanwhile = issue.mark is Mark.DONE and change.mark is Mark.DOING
    if issue.mark in {change.mark, told} or finished_meanwhile:
        return
    node, now = issue.node, _stamp(change.at)
    yield _put(node, "status", _STATUSES[change.mark], ("title", "id"))
    yield _put(node, "updated_at", now, ("status", "title", "id"))
    if told is Mark.DONE:
        yield _put(node, "closed_at", now, ("updated_at", "status", "title", "id"))
    elif "closed_at" in node.members:
        yield removed(node, "closed_at")


def _no_task(node: Node) -> bool:
    return (
        node.get("status") == "tombstone"
        or node.get("is_template") is True
        or node.get("issue_type") in _NO_WORK
    )


def _put(node: Node, key: str, value: str, after: tuple[str, ...]) -> Edit:
    return replaced(node[key], value) if key in node.members else inserted(node, key, value, after)


def _stamp(at: datetime) -> str:
    """As Beads writes times: RFC 3339."""
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return aware.isoformat().replace("+00:00", "Z")


def moment(said: object) -> datetime | None:
    """A time as Beads writes it."""
    try:
        at = datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at
