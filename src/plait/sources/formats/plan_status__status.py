"""`docs/plan-outputs/<plan>/status.json`: what runs of a plan have told of its tasks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources import vocabulary
from plait.sources.json_text import JsonSyntaxError, parse_json
from plait.sources.source_model import Document, SourceStatus

Record = dict[str, object]

# In the order in which the summary counts them.
STATUS_JSON_WORDS = {
    "completed": SourceStatus.DONE,
    "pending": SourceStatus.TODO,
    "in_progress": SourceStatus.DOING,
    "failed": SourceStatus.FAILED,
    "skipped": SourceStatus.SKIPPED,
}


@dataclass(frozen=True, slots=True)
class RecordedStatus:
    """What status.json tells of one task."""

    status: SourceStatus
    status_text: str
    since: datetime | None
    tries: int


def read_status_json(document: Document) -> tuple[dict[str, RecordedStatus], list[Problem]]:
    """By id; of an id that is there twice the last one counts. A file that can't be read tells nothing."""
    try:
        root = validate_root(document.text, parse_json(document.text).value)
    except JsonSyntaxError as flaw:
        return {}, [report_unreadable(document.path, flaw, "the boxes of the plan count")]
    told: dict[str, RecordedStatus] = {}
    strange: list[str] = []
    for record in iter_task_records(root):
        name, said = str(record["id"]), str(record.get("status", "pending"))
        mark = STATUS_JSON_WORDS.get(said) or vocabulary.parse_status(said)
        if mark is None:
            strange.append(f"{name}: {said[:40]}")
        else:
            told[name] = RecordedStatus(
                mark, _format_status_text(said, record), _find_since(mark, record), _read_retry_count(record)
            )
    return told, [_report_unknown_statuses(document.path, strange)] if strange else []


def validate_root(text: str, root: object) -> Record:
    """The object with its list of tasks; raises MalformedError if it is something else."""
    if not isinstance(root, dict):
        raise JsonSyntaxError(text, 0, "it is not an object")
    if not isinstance(root.setdefault("tasks", []), list):
        raise JsonSyntaxError(text, 0, "its tasks are not a list")
    return root


def iter_task_records(root: Record) -> Iterator[Record]:
    """Those that have an id; whatever else is in the list is not ours."""
    found = root["tasks"]
    assert isinstance(found, list)
    return (task for task in found if isinstance(task, dict) and isinstance(task.get("id"), str))


def parse_time(value: object) -> datetime | None:
    try:
        return ensure_utc(datetime.fromisoformat(value)) if isinstance(value, str) else None
    except ValueError:
        return None


def ensure_utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def report_unreadable(path: str, error: JsonSyntaxError, effect: str) -> Problem:
    return Problem(
        Severity.WARNING,
        f"status.json can't be read: {error.message}; {effect}",
        Origin(path, error.line),
        "Correct it, or take it away: plait makes a new one.",
    )


def _find_since(status: SourceStatus, record: Record) -> datetime | None:
    started, ended = parse_time(record.get("startedAt")), parse_time(record.get("completedAt"))
    return started if status is SourceStatus.DOING else ended or started


def _read_retry_count(record: Record) -> int:
    said = record.get("retryCount")
    return said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else 0


def _format_status_text(value: str, record: Record) -> str:
    """A failed task's status comes with its error."""
    error = record.get("error")
    return (
        f"{value}: {' '.join(error.split())}"
        if value == "failed" and isinstance(error, str) and error
        else value
    )


def _report_unknown_statuses(path: str, said: list[str]) -> Problem:
    count = "a task has a status" if len(said) == 1 else f"{len(said)} tasks have a status"
    return Problem(
        Severity.WARNING,
        f"{count} that is not known ({said[0]}); the boxes of the plan count",
        Origin(path),
        f"The statuses are {', '.join(STATUS_JSON_WORDS)}.",
    )
