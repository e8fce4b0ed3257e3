"""`docs/plan-outputs/<plan>/status.json`: the statuses of a plan's tasks, its runs, and a summary."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.formats.plan_notes import ID
from plait.sources.json_text import JsonStyle, JsonSyntaxError, parse_json
from plait.sources.references import Number, parse_number
from plait.sources.source_model import Document, Reading, RecordedStatus, SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, select_file_changes
from plait.sources.text import BOM, find_invalid_utf8_line
from plait.sources.vocabulary import ensure_utc, format_time, parse_status, parse_time

Record = dict[str, object]
STATUS_FILE = "status.json"

# In the order in which the summary counts them.
STATUS_JSON_WORDS = {
    "completed": SourceStatus.DONE,
    "pending": SourceStatus.TODO,
    "in_progress": SourceStatus.DOING,
    "failed": SourceStatus.FAILED,
    "skipped": SourceStatus.SKIPPED,
}


def read_status_json(document: Document) -> tuple[dict[str, RecordedStatus], list[Problem]]:
    """Return statuses by id, and problems; the last of a repeated id counts. An unreadable file has none."""
    try:
        root = validate_root(document.text, parse_json(document.text).value)
    except JsonSyntaxError as error:
        return {}, [report_unreadable(document.path, error, "the boxes of the plan count")]
    recorded: dict[str, RecordedStatus] = {}
    unknown: list[str] = []
    for record in iter_task_records(root):
        name, word = str(record["id"]), str(record.get("status", "pending"))
        status = STATUS_JSON_WORDS.get(word) or parse_status(word)
        if status is None:
            unknown.append(f"{name}: {word[:40]}")
        else:
            reason, retries = record.get("error"), record.get("retryCount")
            if word == "failed" and isinstance(reason, str) and reason:
                word = f"{word}: {' '.join(reason.split())}"
            retries = retries if isinstance(retries, int) and not isinstance(retries, bool) and retries > 0 else 0
            recorded[name] = RecordedStatus(status, word, _find_since(status, record), retries)
    return recorded, [_report_unknown_statuses(document.path, unknown)] if unknown else []


def validate_root(text: str, root: object) -> Record:
    """Return the object with its list of tasks; raise JsonSyntaxError if it is anything else."""
    if not isinstance(root, dict):
        raise JsonSyntaxError(text, 0, "it is not an object")
    if not isinstance(root.setdefault("tasks", []), list):
        raise JsonSyntaxError(text, 0, "its tasks are not a list")
    return root


def iter_task_records(root: Record) -> Iterator[Record]:
    """Iterate over the records with an id."""
    records = root["tasks"]
    assert isinstance(records, list)
    return (task for task in records if isinstance(task, dict) and isinstance(task.get("id"), str))


def report_unreadable(path: str, error: JsonSyntaxError, effect: str) -> Problem:
    return Problem(
        Severity.WARNING,
        f"status.json can't be read: {error.message}; {effect}",
        Origin(path, error.line),
        "Correct it, or delete it: plait creates a new one.",
    )


def _find_since(status: SourceStatus, record: Record) -> datetime | None:
    started, ended = parse_time(record.get("startedAt")), parse_time(record.get("completedAt"))
    return started if status is SourceStatus.DOING else ended or started


def _report_unknown_statuses(path: str, unknown: list[str]) -> Problem:
    count = "a task has a status" if len(unknown) == 1 else f"{len(unknown)} tasks have a status"
    return Problem(
        Severity.WARNING,
        f"{count} that is not known ({unknown[0]}); the boxes of the plan count",
        Origin(path),
        f"The statuses are {', '.join(STATUS_JSON_WORDS)}.",
    )


_WORD_BY_STATUS = {
    SourceStatus.TODO: "pending",
    SourceStatus.BLOCKED: "pending",
    SourceStatus.DOING: "in_progress",
    SourceStatus.STUCK: "in_progress",
    SourceStatus.DONE: "completed",
    SourceStatus.SKIPPED: "skipped",
    SourceStatus.FAILED: "failed",
    SourceStatus.PARTIAL: "failed",
}

_ENDED = ("completed", "failed", "skipped")
_STATUS_KEYS = ("status", "startedAt", "completedAt", "duration", "error", "retryCount")
_ID = re.compile(rf"{ID}\Z")
_SORTS_LAST: Number = (10**9,)


def write_status_json(
    path: str, plan: Document, reading: Reading, text: str, changes: Sequence[StatusChange]
) -> Rewrite:
    """Apply the changes of a plan's tasks, and list its other tasks. Keys that are not plait's stay. An unreadable
    file is not changed.
    """
    wanted = [change for change in select_file_changes(plan.path, changes) if change.status in _WORD_BY_STATUS]
    if not wanted:
        return Rewrite(text)
    try:
        root = _load_root(text) if text.strip(f" \t\r\n{BOM}") else _make_root(plan)
        changed = _apply_changes(root, reading, wanted)
        if not changed:
            return Rewrite(text)
        _update_totals(root, changed)
        return Rewrite(JsonStyle.detect(text).dump(root))
    except ValueError as error:
        if not isinstance(error, JsonSyntaxError):
            error = JsonSyntaxError(text, 0, "it holds a number that is too big")
        return Rewrite(text, (report_unreadable(path, error, "no status was written to it"),))


def _load_root(text: str) -> Record:
    parse_json(text)  # for its better error messages
    if find_invalid_utf8_line(text) is not None:
        raise JsonSyntaxError(text, 0, "it holds bytes that are not UTF-8")
    return validate_root(text, json.loads(text.removeprefix(BOM)))


def _make_root(plan: Document) -> Record:
    fields: Record = {"planPath": plan.path, "planName": plan.stem, "lastUpdatedAt": "", "currentPhase": ""}
    return fields | {"tasks": [], "runs": [], "summary": {}}


def _apply_changes(root: Record, reading: Reading, changes: Iterable[StatusChange]) -> list[StatusChange]:
    """Apply the changes, add the plan's tasks that the file lacks, and return the changes that had an effect."""
    task_by_id = {str(task["id"]): task for task in iter_task_records(root)}
    phases = {name.partition(".")[0]: task.get("phase") for name, task in reversed(task_by_id.items())}
    headings = {phase.key: phase.reason for phase in reading.phases}
    new: dict[str, Record] = {}
    for entry in reading.entries:
        task, status = entry.task, entry.status if entry.status.is_closed else SourceStatus.TODO
        if task.id not in task_by_id:
            needs = tuple(need.on for need in task.needs)
            number = task.phase or task.id.partition(".")[0]
            phase = phases.get(number) or headings.get(number) or f"Phase {number}"
            new[task.id] = _make_task(task.id, phase, task.title, needs, _WORD_BY_STATUS[status])
    changed: list[StatusChange] = []
    for change in changes:
        record = task_by_id.get(change.id)
        if record is None:
            number = change.id.partition(".")[0]
            phase = phases.get(number) or change.phase or f"Phase {number}"
            record = new.setdefault(change.id, _make_task(change.id, phase, change.title, change.needs))
            record["status"] = ""
        if _is_change(record, change):
            _update_task(record, change)
            changed.append(change)
    if changed and new:
        _insert_tasks(root, list(new.values()))
    return changed


def _make_task(name: str, phase: object, title: str, needs: Sequence[str], status: str = "") -> Record:
    return {"id": name, "phase": phase, "description": title, "status": status, "dependencies": list(needs)}


def _insert_tasks(root: Record, new: list[object]) -> None:
    """Append the tasks; keep the list sorted by number if it was."""
    listed = root["tasks"]
    assert isinstance(listed, list)
    numbers = [_get_task_number(task) for task in listed]
    listed += new
    if numbers == sorted(numbers):
        listed.sort(key=_get_task_number)


def _get_task_number(task: object) -> Number:
    name = task.get("id") if isinstance(task, dict) else None
    return parse_number(name) if isinstance(name, str) and _ID.match(name) else _SORTS_LAST


def _is_change(task: Record, change: StatusChange) -> bool:
    """Whether the update changes the task. An update that comes late does not reopen a completed task."""
    was, word = task.get("status"), _WORD_BY_STATUS[change.status]
    if was != word:
        return not (was == "completed" and word == "in_progress")
    if change.retries and task.get("retryCount") != change.retries:
        return True
    if word == "pending":
        return "startedAt" in task
    started = _find_start(change)
    if started is not None and task.get("startedAt") != format_time(started, "milliseconds"):
        return True
    return word == "failed" and bool(change.reason) and task.get("error") != change.reason


def _find_start(change: StatusChange) -> datetime | None:
    started = change.at if change.status is SourceStatus.DOING and change.started is None else change.started
    return None if started is None else ensure_utc(started)


def _update_task(task: Record, change: StatusChange) -> None:
    """Change only the status keys, and keep the order of all keys."""
    fields = dict(_iter_status_fields(task, change))
    for key in _STATUS_KEYS:
        if key in fields:
            task[key] = fields[key]
        else:
            task.pop(key, None)


def _iter_status_fields(task: Record, change: StatusChange) -> Iterator[tuple[str, object]]:
    """Yield the keys to write with their values. A start time that is already in the file may be from an earlier run,
    so it is not used.
    """
    word, at, started = _WORD_BY_STATUS[change.status], ensure_utc(change.at), _find_start(change)
    yield "status", word
    if started is not None and word != "pending":
        yield "startedAt", format_time(started, "milliseconds")
    if word in _ENDED:
        yield "completedAt", format_time(at, "milliseconds")
        if started is not None and started <= at:
            yield "duration", (at - started) // timedelta(milliseconds=1)
    if word == "failed" and change.reason:
        yield "error", change.reason
    if change.retries or "retryCount" in task:
        yield "retryCount", change.retries or task["retryCount"]


def _update_totals(root: Record, changed: Sequence[StatusChange]) -> None:
    """Update what follows from the tasks: times, the current phase, the runs and the summary."""
    listed = list(iter_task_records(root))
    root["lastUpdatedAt"] = format_time(max(ensure_utc(change.at) for change in changed), "milliseconds")
    root["currentPhase"] = _find_current_task(listed).get("phase")
    runs = root.setdefault("runs", [])
    if isinstance(runs, list):
        for batch in dict.fromkeys(change.batch for change in changed if change.batch):
            own = [change for change in changed if change.batch == batch]
            moments = [ensure_utc(at) for change in own for at in (change.started, change.at) if at is not None]
            _update_run(runs, batch, moments, listed)
    summary = root.setdefault("summary", {})
    if isinstance(summary, dict):
        counts = Counter(map(_get_status_word, listed))
        summary |= {"totalTasks": len(listed), **{word: counts[word] for word in STATUS_JSON_WORDS}}


def _find_current_task(listed: Sequence[Record]) -> Record:
    """Return the first task in progress, else the first that is not finished, else the last."""
    words = [(_get_status_word(task), task) for task in listed]
    busy = (task for word, task in words if word == "in_progress")
    return next(busy, None) or next((task for word, task in words if word in {"pending", "failed"}), listed[-1])


def _update_run(runs: list[object], batch: str, moments: list[datetime], listed: list[Record]) -> None:
    """Update the batch's run: it counts the tasks that ended since it began, and is over while none is in progress."""
    run = next((run for run in runs if isinstance(run, dict) and run.get("runId") == batch), None)
    if run is None:
        run = {"runId": batch, "startedAt": format_time(min(moments), "milliseconds")}
        runs.append(run)
    began = parse_time(run.get("startedAt")) or min(moments)
    ended = ((task, parse_time(task.get("completedAt"))) for task in listed)
    counts = Counter(_get_status_word(task) for task, at in ended if at is not None and at >= began)
    busy = any(_get_status_word(task) == "in_progress" for task in listed)
    run["completedAt"] = None if busy else format_time(max(moments), "milliseconds")
    run["tasksCompleted"], run["tasksFailed"] = counts["completed"], counts["failed"]


def _get_status_word(task: Record) -> str:
    word = task.get("status")
    return word if isinstance(word, str) and word in STATUS_JSON_WORDS else "pending"
