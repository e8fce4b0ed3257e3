"""The lines of a Beads file: which issue each one tells of, how far it is, and how its status is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from datetime import UTC, datetime

from plait.core.fast_dataclass import dataclass
from plait.sources import json_tasks, vocabulary
from plait.sources.json_text import (
    JsonNode,
    JsonSyntaxError,
    insert_key,
    parse_json,
    remove_key,
    replace_value,
)
from plait.sources.source_model import SourceStatus, StatusChange
from plait.sources.text import BOM, TextEdit, TextLines

# Beads knows no failure: what failed is open.
_STATUSES = {
    SourceStatus.TODO: "open",
    SourceStatus.DOING: "in_progress",
    SourceStatus.DONE: "closed",
    SourceStatus.FAILED: "open",
    SourceStatus.BLOCKED: "blocked",
    SourceStatus.SKIPPED: "deferred",
}
# Words of its own: pinned issues stay open for ever and are nobody's work; hooked ones hang at an agent.
_EXTRA_STATUSES = {"pinned": SourceStatus.SKIPPED, "hooked": SourceStatus.DOING}
# Records that are kept as issues and are no work.
_NON_TASK_TYPES = ("agent", "event", "message", "rig", "role")
_RECORD_TYPES = (None, "issue")
_ID = re.compile(r'"id"[ \t]*:[ \t]*"([^"\\]+)"')
_CONFLICT_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue and the number of its line, from 0."""

    id: str
    number: int
    node: JsonNode

    @property
    def title(self) -> str:
        return json_tasks.read_json_title(self.node, self.id)

    @property
    def status(self) -> SourceStatus:
        return parse_issue_status(self.node.get("status")) or SourceStatus.TODO


@dataclass(frozen=True, slots=True)
class LineProblem:
    """What is wrong with a line (from 0)."""

    number: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class IssueFile:
    """The issues of a file: of several lines with one id the last counts, as it does when Beads reads the file.

    `absent` are those that exist and are no tasks: deleted ones, templates, messages. `unreadable` lines tell no more
    than an id.
    """

    by_id: dict[str, Issue] = field(default_factory=dict)
    non_task_ids: set[str] = field(default_factory=set)
    unreadable: dict[str, int] = field(default_factory=dict)
    problems: list[LineProblem] = field(default_factory=list)

    @classmethod
    def parse(cls, lines: TextLines) -> IssueFile:
        issues = cls()
        for number, line in enumerate(lines.all):
            if line.strip().strip(BOM):
                issues._add(number, line)
        for name in issues.by_id.keys() & issues.unreadable.keys():
            del issues.unreadable[name]
        return issues

    def _add(self, number: int, line: str) -> None:
        try:
            node = parse_json(line)
        except JsonSyntaxError as flaw:
            self._report_invalid(number, line, flaw)
            return
        if node.get("_type") not in _RECORD_TYPES:
            return
        name = json_tasks.read_id(node)
        if not name:
            what = "has no id" if isinstance(node.value, dict) else "is no issue"
            self.problems.append(LineProblem(number, f"this line {what}, and was passed over"))
            return
        before = self.by_id.pop(name, None)
        if before is not None:
            message = f"{name} is here again in line {number + 1}, which counts: this line was passed over"
            self.problems.append(LineProblem(before.number, message, "Keep one of the lines."))
        self.non_task_ids.discard(name)
        if _is_not_task(node):
            self.non_task_ids.add(name)
        else:
            self.by_id[name] = Issue(name, number, node)

    def _report_invalid(self, number: int, line: str, error: JsonSyntaxError) -> None:
        if line.startswith(_CONFLICT_MARKERS):
            message = "this line is a mark of git's, about two versions that were not merged"
            self.problems.append(LineProblem(number, message, "Resolve the conflict first."))
            return
        message = f"this line is not JSON: {error.message} (column {error.column}); it was passed over"
        self.problems.append(LineProblem(number, message))
        found = _ID.search(line)
        if found and json_tasks.collapse_whitespace(found[1]):
            self.unreadable[json_tasks.collapse_whitespace(found[1])] = number


def parse_issue_status(status: object) -> SourceStatus | None:
    """What a status says; None if it is not known."""
    if not isinstance(status, str):
        return None
    return _EXTRA_STATUSES.get(status) or vocabulary.parse_status(status)


def make_status_edits(issue: Issue, change: StatusChange) -> Iterator[TextEdit]:
    """The edits of its line that make it so: the status, and the times that go with it."""
    told = parse_issue_status(_STATUSES.get(change.status)) or issue.status
    finished_meanwhile = issue.status is SourceStatus.DONE and change.status is SourceStatus.DOING
    if issue.status in {change.status, told} or finished_meanwhile:
        return
    node, now = issue.node, _format_time(change.at)
    yield _set_key(node, "status", _STATUSES[change.status], ("title", "id"))
    yield _set_key(node, "updated_at", now, ("status", "title", "id"))
    if told is SourceStatus.DONE:
        yield _set_key(node, "closed_at", now, ("updated_at", "status", "title", "id"))
    elif "closed_at" in node.members:
        yield remove_key(node, "closed_at")


def _is_not_task(node: JsonNode) -> bool:
    return (
        node.get("status") == "tombstone"
        or node.get("is_template") is True
        or node.get("issue_type") in _NON_TASK_TYPES
    )


def _set_key(node: JsonNode, key: str, value: str, after: tuple[str, ...]) -> TextEdit:
    return replace_value(node[key], value) if key in node.members else insert_key(node, key, value, after)


def _format_time(at: datetime) -> str:
    """As Beads writes times: RFC 3339."""
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return aware.isoformat().replace("+00:00", "Z")


def parse_time(value: object) -> datetime | None:
    """A time as Beads writes it."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at
