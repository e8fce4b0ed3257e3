"""`_jobstatus.json`: the statuses of jobs, as a list of objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources import json_tasks, vocabulary
from plait.sources.json_text import JsonNode, JsonSyntaxError, parse_json, remove_key, set_key
from plait.sources.source_model import Document, SourceStatus, make_error, make_warning
from plait.sources.status_changes import Rewrite, StatusChange, changes_status
from plait.sources.task_files import get_sibling_path
from plait.sources.text import BOM, TextEdit, TextLines, apply_edits, to_printable

STATUS_FILE = "_jobstatus.json"
_STATUS_BY_WORD = {
    "created": SourceStatus.TODO,
    "pass": SourceStatus.DONE,
    "fail": SourceStatus.FAILED,
    "partial": SourceStatus.PARTIAL,
}
_WORD_BY_STATUS = {
    SourceStatus.TODO: "created",
    SourceStatus.DOING: "pending_work",
    SourceStatus.DONE: "pass",
    SourceStatus.FAILED: "fail",
    SourceStatus.PARTIAL: "partial",
}
_RAN_STATUSES = frozenset({SourceStatus.DOING, SourceStatus.DONE, SourceStatus.FAILED, SourceStatus.PARTIAL})


@dataclass(frozen=True, slots=True)
class JobStatus:
    status: SourceStatus
    status_text: str
    since: datetime | None = None


@dataclass(slots=True)
class JobStatuses:
    by_id: dict[str, JobStatus] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_job_statuses(document: Document | None) -> JobStatuses:
    """Without a file every job is new. An unreadable file is an error, so that finished jobs are not run again."""
    found = JobStatuses()
    if document is None or not document.text.strip(f"{BOM} \t\r\n"):
        return found
    try:
        root = parse_json(document.text)
    except JsonSyntaxError as error:
        message = f"the statuses of the jobs can't be read: {error.message} (column {error.column})"
        hint = "Correct this place; without the file all jobs would be new."
        found.problems.append(make_error(document, error.line - 1, message, hint))
        return found
    if not isinstance(root.value, list):
        hint = "Without the file all jobs would be new."
        found.problems.append(make_error(document, 0, "this is not a list of jobs and their statuses", hint))
        return found
    lines = TextLines(document.text)
    for node in root.items:
        name = json_tasks.read_id(node)
        status = _parse_job_status(node)
        if name and status is not None:
            found.by_id[name] = status
        else:
            message = f"not a job with a known status: {node.source[:60]!r}"
            found.problems.append(make_warning(document, lines.line_at(node.start), message))
    return found


def _parse_job_status(node: JsonNode) -> JobStatus | None:
    value = node.get("status")
    if not isinstance(value, str):
        return None
    mark = SourceStatus.STUCK if value.startswith("pending") else _STATUS_BY_WORD.get(value)
    return None if mark is None else JobStatus(mark, value, vocabulary.parse_time(node.get("updated_at")))


def write_job_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    """The list with these statuses in place; other jobs and other keys stay, and jobs it did not have are added."""
    asked = {change.id: change for change in changes if get_sibling_path(change.file, STATUS_FILE) == path}
    if not asked:
        return Rewrite(text)
    shown = to_printable(text)
    bare = not shown.strip(f"{BOM} \t\r\n")
    try:
        root = parse_json("[]" if bare else shown)
    except JsonSyntaxError as error:
        return Rewrite(text, (json_tasks.report_unwritable(path, error),))
    if not isinstance(root.value, list):
        message = "not a list of jobs; no status written"
        return Rewrite(text, (Problem(Severity.WARNING, message, Origin(path, 1)),))
    known = {json_tasks.read_id(node): node for node in root.items}
    edits: list[TextEdit] = []
    new: list[StatusChange] = []
    for change in asked.values():
        if change.id in known:
            edits += _make_edits(known[change.id], change)
        elif _status_to_write(None, change.status) is not None:
            new.append(change)
    if new:
        edits.append(_make_append_edit(root, new, TextLines(shown).eol))
    written = apply_edits("[]" if bare and edits else text, edits)
    return Rewrite(f"{written}\n" if bare and edits else written)


def _status_to_write(now: SourceStatus | None, asked: SourceStatus) -> SourceStatus | None:
    """The status to write, None to keep the old one. Blocked and skipped have no word and count as not started."""
    current = SourceStatus.DOING if now is SourceStatus.STUCK else now or SourceStatus.TODO
    if asked in {SourceStatus.BLOCKED, SourceStatus.SKIPPED}:
        return SourceStatus.TODO if current is SourceStatus.DOING else None
    return asked if asked in _WORD_BY_STATUS and changes_status(current, asked) else None


def _make_edits(node: JsonNode, change: StatusChange) -> list[TextEdit]:
    now = _parse_job_status(node)
    mark = _status_to_write(now.status if now else None, change.status)
    if mark is None:
        return []
    edits = [
        set_key(node, "status", _WORD_BY_STATUS[mark], after=("id",)),
        set_key(node, "updated_at", vocabulary.format_time(change.at), after=("created_at",)),
    ]
    if mark in {SourceStatus.FAILED, SourceStatus.PARTIAL} and change.reason:
        edits.append(set_key(node, "error", change.reason, after=("updated_at",)))
    elif "error" in node.members and node.get("error") is not None:
        edits.append(remove_key(node, "error"))
    if mark in _RAN_STATUSES and node.get("ran") is not True:
        edits.append(set_key(node, "ran", value=True, after=("error",)))
    return edits


def _make_append_edit(root: JsonNode, changes: Sequence[StatusChange], eol: str) -> TextEdit:
    """New objects at the end of the list, set as the first one is."""
    items = root.items
    if not items:
        between, inside = f"{eol}  ", f"{eol}    "
        rows = ",".join(between + _format_object(change, inside, between) for change in changes)
        return TextEdit(root.start, root.stop, f"[{rows}{eol}]")
    first = items[0]
    between = root.text[root.start + 1 : first.start]
    inside = root.text[first.start + 1 : first.ordered_members[0].start] if first.ordered_members else ""
    rows = "".join(f",{between or ' '}{_format_object(change, inside, between)}" for change in changes)
    return TextEdit(items[-1].stop, items[-1].stop, rows)


def _format_object(change: StatusChange, inside: str, between: str) -> str:
    at = vocabulary.format_time(change.at)
    values: dict[str, str | bool] = {
        "id": change.id,
        "status": _WORD_BY_STATUS[change.status],
        "created_at": at,
        "updated_at": at,
    }
    if change.status in {SourceStatus.FAILED, SourceStatus.PARTIAL} and change.reason:
        values["error"] = change.reason
    values["ran"] = change.status in _RAN_STATUSES
    rows = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    if "\n" in inside or "\r" in inside:
        return "{" + ",".join(inside + row for row in rows) + between + "}"
    return "{" + ", ".join(rows) + "}"
