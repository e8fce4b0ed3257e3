"""Beads' `issues.jsonl`: one issue per line, with dependencies between them.

A backup has the dependencies in a file of their own. A database (`.beads` without a file name) is read from what bd
exports, and only bd writes to it: its own export, and a backup, are never changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Need, Origin, Task
from plait.sources import json_tasks, status_changes, vocabulary
from plait.sources.formats import Confidence, Format
from plait.sources.json_text import JsonNode, JsonSyntaxError, parse_json, remove_key, set_key
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus, sort_by_line
from plait.sources.status_changes import DatabaseCommands, Rewrite, StatusChange, StatusFileWriter, TaskIndex
from plait.sources.task_paths import find_mentions
from plait.sources.text import BOM, TextEdit, TextLines, apply_edits, to_printable

# Beads has no status for failures: a failed issue is open.
_STATUSES = {
    SourceStatus.TODO: "open",
    SourceStatus.DOING: "in_progress",
    SourceStatus.DONE: "closed",
    SourceStatus.FAILED: "open",
    SourceStatus.BLOCKED: "blocked",
    SourceStatus.SKIPPED: "deferred",
}

# Beads' own: pinned issues stay open forever and are not work; hooked ones are assigned to an agent.
_EXTRA_STATUSES = {"pinned": SourceStatus.SKIPPED, "hooked": SourceStatus.DOING}
# Types of issues that are not tasks.
_NON_TASK_TYPES = ("agent", "event", "message", "rig", "role")
_RECORD_TYPES = (None, "issue")
_BLOCKING_TYPES = ("blocks", "conditional-blocks", "waits-for")
_OTHER_TYPES = frozenset({
    "related", "relates-to", "discovered-from", "replies-to", "duplicates", "supersedes", "authored-by", "assigned-to",
    "approved-by", "attests", "tracks", "until", "caused-by", "validates", "delegated-from",
})  # fmt: skip
DEPENDENCIES_FILE = "dependencies.jsonl"
_BACKUP = re.compile(r"(?:^|/)\.beads/backup/[^/]+\Z")
_ID = re.compile(r'"id"[ \t]*:[ \t]*"([^"\\]+)"')
_CONFLICT_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_NAMES = ("issues.jsonl", "beads.jsonl")
_SECTIONS = {"design": "Design", "acceptance_criteria": "Acceptance criteria", "notes": "Notes"}
# Issues that group others: when those are done, there may be nothing left to change.
_CONTAINERS = ("epic", "molecule")
_DEFAULT_PRIORITY = 2  # of the priorities 0 to 4


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


class _IssueFile:
    """The issues of a file; of several lines with one id the last counts, as in Beads.

    `_non_task_ids` exist but are not tasks: deleted issues, templates, messages. `_unreadable` lines have only an id.
    """

    def __init__(self, document: Document, dependencies: Document | None = None) -> None:
        self.by_id: dict[str, Issue] = {}
        self._document = document
        self._dependencies = dependencies
        self._non_task_ids: set[str] = set()
        self._unreadable: dict[str, int] = {}
        self._problems: list[Problem] = []
        self._needs: dict[str, dict[str, Need]] = {}
        self._parents: set[str] = set()
        for number, line in enumerate(TextLines(document.text).all):
            if line.strip().strip(BOM):
                self._add(number, line)
        for name in self.by_id.keys() & self._unreadable.keys():
            del self._unreadable[name]

    def _add(self, number: int, line: str) -> None:
        try:
            node = parse_json(line)
        except JsonSyntaxError as error:
            self._report_invalid(number, line, error)
            return
        if node.get("_type") not in _RECORD_TYPES:
            return
        name = json_tasks.read_id(node)
        if not name:
            what = "has no id" if isinstance(node.value, dict) else "is no issue"
            self._warn(number, f"this line {what}; ignored")
            return
        before = self.by_id.pop(name, None)
        if before is not None:
            message = f"{name} is repeated on line {number + 1}; this line is ignored"
            self._warn(before.number, message, "Keep one of the lines.")
        self._non_task_ids.discard(name)
        deleted = node.get("status") == "tombstone"
        if deleted or node.get("is_template") in (True, 1) or node.get("issue_type") in _NON_TASK_TYPES:
            self._non_task_ids.add(name)
        else:
            self.by_id[name] = Issue(name, number, node)

    def _report_invalid(self, number: int, line: str, error: JsonSyntaxError) -> None:
        if line.startswith(_CONFLICT_MARKERS):
            self._warn(number, "this line is a git conflict marker", "Resolve the conflict first.")
            return
        self._warn(number, f"this line is not JSON: {error.message} (column {error.column}); ignored")
        match = _ID.search(line)
        if match and json_tasks.collapse_whitespace(match[1]):
            self._unreadable[json_tasks.collapse_whitespace(match[1])] = number

    def read(self) -> Reading:
        self._collect_needs()
        entries = [self._build_entry(issue) for issue in self.by_id.values()]
        entries += (
            SourceEntry(Task(name, origin=self._document.origin(number)), SourceStatus.UNREADABLE)
            for name, number in self._unreadable.items()
        )
        entries.sort(key=lambda entry: entry.task.origin.line if entry.task.origin else 0)
        return Reading(tuple(entries), problems=sort_by_line(self._problems))

    def _collect_needs(self) -> None:
        """Collect the needs of all issues. `blocks`: one waits for the other. `parent-child`: the parent waits for the
        child, unless the child waits for the parent.
        """
        children: list[tuple[str, str, Origin]] = []
        for name, on, kind, at in self._iter_dependencies():
            if name not in self.by_id and on not in self.by_id:
                self._note(at, f"{name} should come after {on}, but neither is an issue here; ignored")
            elif kind in _BLOCKING_TYPES:
                self._add_need(name, on, f"{kind}: {on}", at)
            elif kind == "parent-child":
                children.append((name, on, at))
            elif kind not in _OTHER_TYPES:
                shown = vocabulary.shorten(str(kind))
                self._note(at, f"the dependency of {name} on {on} has the unknown type {shown}; ignored")
        for child, parent, at in children:
            self._parents.add(parent)
            if parent not in self._needs.get(child, {}):
                self._add_need(parent, child, f"parent-child: {child}", at)

    def _add_need(self, name: str, on: str, reason: str, at: Origin) -> None:
        if on not in self._non_task_ids:
            self._needs.setdefault(name, {}).setdefault(on, Need(on, reason=reason, at=at))

    def _note(self, at: Origin, message: str) -> None:
        self._problems.append(Problem(Severity.INFO, message, at))

    def _iter_dependencies(self) -> Iterator[tuple[str, str, object, Origin]]:
        """Yield the waiting issue, the awaited issue, the kind and the place of each dependency; older files without a
        kind mean `blocks`.
        """
        for issue in self.by_id.values():
            value = issue.node.get("dependencies")
            if value is not None and not isinstance(value, list):
                self._warn(issue.number, f"{issue.id}: dependencies is not a list; ignored")
            for item in value if isinstance(value, list) else ():
                on = json_tasks.collapse_whitespace(item.get("depends_on_id")) if isinstance(item, dict) else ""
                if not on:
                    self._warn(issue.number, f"{issue.id}: a dependency without a depends_on_id; ignored")
                    continue
                name = json_tasks.collapse_whitespace(item.get("issue_id")) or issue.id
                yield name, on, item.get("type") or "blocks", self._document.origin(issue.number)
        if self._dependencies is not None:
            yield from self._iter_separate_dependencies(self._dependencies)

    def _iter_separate_dependencies(self, document: Document) -> Iterator[tuple[str, str, object, Origin]]:
        for number, line in enumerate(TextLines(document.text).all):
            if not line.strip().strip(BOM):
                continue
            try:
                node = parse_json(line)
            except JsonSyntaxError as error:
                message = f"this line is not JSON: {error.message} (column {error.column}); ignored"
                self._problems.append(document.make_warning(number, message))
                continue
            name, on = (json_tasks.collapse_whitespace(node.get(key)) for key in ("issue_id", "depends_on_id"))
            if name and on:
                yield name, on, node.get("type") or "blocks", document.origin(number)
            else:
                message = "this line has no issue_id and depends_on_id; ignored"
                self._problems.append(document.make_warning(number, message))

    def _build_entry(self, issue: Issue) -> SourceEntry:
        node, title = issue.node, issue.title
        status = node.get("status")
        if status is not None and parse_issue_status(status) is None:
            shown = json_tasks.collapse_whitespace(str(status))[:40]
            self._warn(issue.number, f"{issue.id}: {shown} is not a known status; treated as open")
        estimate: float | None = None
        minutes = node.get("estimated_minutes")
        if isinstance(minutes, int | float) and not isinstance(minutes, bool) and 0 < minutes < 1e6:
            estimate = minutes * 60.0
        body = json_tasks.render_sections(node, _SECTIONS)
        task = Task(
            issue.id,
            title,
            body,
            needs=tuple(self._needs.get(issue.id, {}).values()),
            priority=self._read_priority(issue),
            estimate=estimate,
            allow_empty=issue.id in self._parents or node.get("issue_type") in _CONTAINERS,
            origin=self._document.origin(issue.number),
        )
        since = vocabulary.parse_time(node.get("updated_at")) if issue.status is SourceStatus.DOING else None
        named = find_mentions(f"{title}\n{body}")
        return SourceEntry(task, issue.status, json_tasks.collapse_whitespace(status), named, since=since)

    def _read_priority(self, issue: Issue) -> int:
        """Return the priority: in the file, 0 is critical, 2 the middle and 4 some day."""
        value = issue.node.get("priority")
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2 * _DEFAULT_PRIORITY:
            return value - 1
        priority = vocabulary.parse_priority(value) if isinstance(value, str) else None
        if value is not None and priority is None:
            self._warn(issue.number, f"{issue.id}: priority is not a number from 0 to 4; ignored")
        return _DEFAULT_PRIORITY - 1 if priority is None else priority

    def _warn(self, number: int, message: str, hint: str = "") -> None:
        self._problems.append(self._document.make_warning(number, message, hint))


def parse_issue_status(status: object) -> SourceStatus | None:
    """Return the status, or None if it is unknown."""
    if not isinstance(status, str):
        return None
    return _EXTRA_STATUSES.get(status) or vocabulary.parse_status(status)


def make_status_edits(issue: Issue, change: StatusChange) -> Iterator[TextEdit]:
    """Edit the status and its times in the issue's line."""
    written = parse_issue_status(_STATUSES.get(change.status)) or issue.status
    if issue.status is written or not status_changes.changes_status(issue.status, change.status):
        return
    node, now = issue.node, vocabulary.ensure_utc(change.at).isoformat().replace("+00:00", "Z")
    yield set_key(node, "status", _STATUSES[change.status], ("title", "id"))
    yield set_key(node, "updated_at", now, ("status", "title", "id"))
    if written is SourceStatus.DONE:
        yield set_key(node, "closed_at", now, ("updated_at", "status", "title", "id"))
    elif "closed_at" in node.members:
        yield remove_key(node, "closed_at")


def detect(source: SourceFiles) -> Confidence:
    if source.folder or not source.documents or not source.document.name.endswith(".jsonl"):
        return Confidence.NO
    document = source.document
    if document.path.endswith(tuple(f".beads/{name}" for name in _NAMES)):
        return Confidence.NAME
    lines = (line for line in TextLines(document.text).all if line.strip())
    if not any(map(_looks_like_issue, islice(lines, 20))):
        return Confidence.NO
    return Confidence.NAME if document.name in _NAMES else Confidence.CONTENT


def _looks_like_issue(line: str) -> bool:
    try:
        value = parse_json(line).value
    except JsonSyntaxError:
        return False
    return isinstance(value, dict) and {"id", "title", "status"} <= value.keys()


def read(source: SourceFiles) -> Reading:
    readings = [
        _IssueFile(document, source.companions.get(_get_dependencies_path(document.path))).read()
        for document in source.documents
    ]
    entries = tuple(entry for reading in readings for entry in reading.entries)
    problems = [problem for reading in readings for problem in reading.problems]
    if _BACKUP.search(source.path):
        message = "this is Beads' backup of a database: statuses are not written to it"
        problems.append(Problem(Severity.INFO, message, Origin(source.path), "Name .beads to work on the database."))
    return Reading(entries, problems=tuple(problems))


def companions(path: str) -> tuple[str, ...]:
    """Return the files to read with a source: a backup's dependencies, or all that a database may be read from."""
    if path.endswith(".jsonl"):
        return (_get_dependencies_path(path),)
    return (f"{path}/{DEPENDENCIES_FILE}", f"{path}/backup/{DEPENDENCIES_FILE}")


def _get_dependencies_path(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}{DEPENDENCIES_FILE}"


def is_dolt_database(metadata: str, config: str, *, has_data: bool = False) -> bool:
    """Whether Beads' own settings, `metadata.json` and `config.yaml`, say that the issues are in a Dolt database.

    A version that kept no metadata is recognised by its data (`has_data`).
    """
    if re.search(r"^no-db:[ \t]*true\b", config, re.MULTILINE):
        return False  # bd itself reads and writes issues.jsonl
    try:
        node = parse_json(metadata)
    except JsonSyntaxError:
        return has_data
    return "dolt" in {node.get("backend"), node.get("database")}


def convert_list_to_lines(text: str) -> str | None:
    """Convert the output of `bd list --json` to lines of issues; None if it is not such output."""
    try:
        value = parse_json(text).value
    except JsonSyntaxError:
        return None
    for key in ("data", "issues"):
        value = value[key] if isinstance(value, dict) and key in value else value
    return "".join(f"{json.dumps(item)}\n" for item in value) if isinstance(value, list) else None


def list_status_commands(text: str, changes: Sequence[StatusChange]) -> DatabaseCommands:
    """Return bd's calls that write these statuses, except for issues in `text` that have theirs already."""
    issues = _IssueFile(Document("issues.jsonl", to_printable(text))).by_id
    index = TaskIndex(issues.values(), lambda issue: issue.id, lambda issue: issue.title)
    matched, problems = index.match(list({change.id: change for change in changes}.values()))
    ids: dict[str, list[str]] = {}
    for issue, change in matched:
        if any(True for _ in make_status_edits(issue, change)) and not issue.id.startswith("-"):
            ids.setdefault(_STATUSES[change.status], []).append(issue.id)
    arguments = (
        ("close", *names) if status == _STATUSES[SourceStatus.DONE] else ("update", *names, "--status", status)
        for status, names in ids.items()
    )
    return DatabaseCommands(tuple(arguments), problems)


def _make_writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    if path.endswith(".jsonl"):
        return [] if _BACKUP.search(path) else status_changes.write_each_file(_write_statuses, path, changes)
    return [StatusFileWriter(path, lambda text, _changes: Rewrite(text), list_commands=list_status_commands)]


def _write_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    issues = _IssueFile(Document(path, to_printable(text))).by_id
    index = TaskIndex(issues.values(), lambda issue: issue.id, lambda issue: issue.title)
    matched, problems = index.match(status_changes.select_file_changes(path, changes))
    lines = list(TextLines(text).all)
    for issue, change in matched:
        lines[issue.number] = apply_edits(lines[issue.number], make_status_edits(issue, change))
    return Rewrite("".join(lines), problems)


FORMAT = Format(detect, read, _make_writers, companions)
