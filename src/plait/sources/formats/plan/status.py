"""`docs/plan-outputs/<plan>/status.json`: what runs of a plan have told of its tasks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from plait.core.frozen import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources import words
from plait.sources.jsontext import MalformedError, parse
from plait.sources.model import Document, Mark

Record = dict[str, object]

# In the order in which the summary counts them.
STATUSES = {
    "completed": Mark.DONE,
    "pending": Mark.TODO,
    "in_progress": Mark.DOING,
    "failed": Mark.FAILED,
    "skipped": Mark.SKIPPED,
}


@dataclass(frozen=True, slots=True)
class Told:
    """What status.json tells of one task."""

    mark: Mark
    said: str
    since: datetime | None
    tries: int


def read(document: Document) -> tuple[dict[str, Told], list[Problem]]:
    """By id; of an id that is there twice the last one counts. A file that can't be read tells nothing."""
    try:
        root = check(document.text, parse(document.text).value)
    except MalformedError as flaw:
        return {}, [unreadable(document.path, flaw, "the boxes of the plan count")]
    told: dict[str, Told] = {}
    strange: list[str] = []
    for record in tasks(root):
        name, said = str(record["id"]), str(record.get("status", "pending"))
        mark = STATUSES.get(said) or words.mark(said)
        if mark is None:
            strange.append(f"{name}: {said[:40]}")
        else:
            told[name] = Told(mark, _words(said, record), _since(mark, record), _count(record))
    return told, [_strange(document.path, strange)] if strange else []


def check(text: str, root: object) -> Record:
    """The object with its list of tasks; raises MalformedError if it is something else."""
    if not isinstance(root, dict):
        raise MalformedError(text, 0, "it is not an object")
    if not isinstance(root.setdefault("tasks", []), list):
        raise MalformedError(text, 0, "its tasks are not a list")
    return root


def tasks(root: Record) -> Iterator[Record]:
    """Those that have an id; whatever else is in the list is not ours."""
    found = root["tasks"]
    assert isinstance(found, list)
    return (task for task in found if isinstance(task, dict) and isinstance(task.get("id"), str))


def moment(said: object) -> datetime | None:
    try:
        return aware(datetime.fromisoformat(said)) if isinstance(said, str) else None
    except ValueError:
        return None


def aware(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def unreadable(path: str, flaw: MalformedError, effect: str) -> Problem:
    return Problem(
        Severity.WARNING,
        f"status.json can't be read: {flaw.message}; {effect}",
        Origin(path, flaw.line),
        "Correct it, or take it away: plait makes a new one.",
    )


def _since(mark: Mark, record: Record) -> datetime | None:
    started, ended = moment(record.get("startedAt")), moment(record.get("completedAt"))
    return started if mark is Mark.DOING else ended or started


def _count(record: Record) -> int:
    said = record.get("retryCount")
    return said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else 0


def _words(said: str, record: Record) -> str:
    """A failed task's status comes with its error."""
    error = record.get("error")
    return (
        f"{said}: {' '.join(error.split())}"
        if said == "failed" and isinstance(error, str) and error
        else said
    )


def _strange(path: str, said: list[str]) -> Problem:
    count = "a task has a status" if len(said) == 1 else f"{len(said)} tasks have a status"
    return Problem(
        Severity.WARNING,
        f"{count} that is not known ({said[0]}); the boxes of the plan count",
        Origin(path),
        f"The statuses are {', '.join(STATUSES)}.",
    )
