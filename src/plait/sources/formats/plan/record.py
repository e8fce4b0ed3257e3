"""How statuses get into status.json: each task's own record, then the runs and the summary that follow from them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from plait.core.plan import Problem
from plait.sources.formats.plan.numbers import ID, Number, number
from plait.sources.formats.plan.status import STATUSES, Record, aware, check, moment, tasks, unreadable
from plait.sources.found import own
from plait.sources.jsonstyle import Style
from plait.sources.jsontext import MalformedError, parse
from plait.sources.model import Change, Document, Mark, Rewrite
from plait.sources.text import BOM, broken

_SAID = {
    Mark.TODO: "pending",
    Mark.BLOCKED: "pending",
    Mark.DOING: "in_progress",
    Mark.STUCK: "in_progress",
    Mark.DONE: "completed",
    Mark.SKIPPED: "skipped",
    Mark.FAILED: "failed",
    Mark.PARTIAL: "failed",
}
_ENDED = ("completed", "failed", "skipped")
_OWN = ("status", "startedAt", "completedAt", "duration", "error", "retryCount")
_ID = re.compile(rf"{ID}\Z")
_LAST: Number = (10**9,)


def apply(plan: str, path: str, text: str, changes: Sequence[Change]) -> Rewrite:
    """Put in the changes of a plan's tasks; keys that are not plait's stay. A file that can't be read is left alone."""
    wanted = [change for change in own(plan, changes) if change.mark in _SAID]
    if not wanted:
        return Rewrite(text)
    try:
        root = _load(text) if text.strip(f" \t\r\n{BOM}") else _new(plan)
        changed = _put(root, wanted)
        if not changed:
            return Rewrite(text)
        _account(root, changed)
        return Rewrite(Style.of(text).dump(root))
    except MalformedError as flaw:
        return Rewrite(text, (_left_alone(path, flaw),))
    except ValueError:
        return Rewrite(
            text, (_left_alone(path, MalformedError(text, 0, "it holds a number that is too big")),)
        )


def _left_alone(path: str, flaw: MalformedError) -> Problem:
    return unreadable(path, flaw, "no status was written to it")


def _load(text: str) -> Record:
    parse(text)  # it says best what is wrong
    if broken(text) is not None:
        raise MalformedError(text, 0, "it holds bytes that are not UTF-8")
    return check(text, json.loads(text.removeprefix(BOM)))


def _new(plan: str) -> Record:
    name = Document(plan, "").stem
    told: Record = {"planPath": plan, "planName": name, "lastUpdatedAt": "", "currentPhase": ""}
    return told | {"tasks": [], "runs": [], "summary": {}}


def _put(root: Record, changes: Iterable[Change]) -> list[Change]:
    """Those of the changes that really change something."""
    known = {str(task["id"]): task for task in tasks(root)}
    phases = {name.partition(".")[0]: task.get("phase") for name, task in reversed(known.items())}
    changed: list[Change] = []
    new: list[object] = []
    for change in changes:
        task = known.get(change.id)
        if task is None:
            phase = change.id.partition(".")[0]
            task = {
                "id": change.id,
                "phase": phases.get(phase) or change.phase or f"Phase {phase}",
                "description": change.title,
                "status": "",
                "dependencies": list(change.needs),
            }
            new.append(task)
        if _news(task, change):
            _tell(task, change)
            changed.append(change)
    if new:
        _add(root, new)
    return changed


def _add(root: Record, new: list[object]) -> None:
    """At the end; by number if all the others are in that order."""
    listed = root["tasks"]
    assert isinstance(listed, list)
    numbers = [_number(task) for task in listed]
    listed += new
    if numbers == sorted(numbers):
        listed.sort(key=_number)


def _number(task: object) -> Number:
    name = task.get("id") if isinstance(task, dict) else None
    return number(name) if isinstance(name, str) and _ID.match(name) else _LAST


def _news(task: Record, change: Change) -> bool:
    """A task that is completed is not begun again by a change that comes late."""
    was, said = task.get("status"), _SAID[change.mark]
    if was != said:
        return not (was == "completed" and said == "in_progress")
    if change.tries and task.get("retryCount") != change.tries:
        return True
    return said == "failed" and bool(change.reason) and task.get("error") != change.reason


def _tell(task: Record, change: Change) -> None:
    """Only the keys that tell a status change, each in its place."""
    told = dict(_told(task, change))
    for key in _OWN:
        if key in told:
            task[key] = told[key]
        else:
            task.pop(key, None)


def _told(task: Record, change: Change) -> Iterator[tuple[str, object]]:
    said, at = _SAID[change.mark], aware(change.at)
    yield "status", said
    if said == "in_progress":
        yield "startedAt", stamp(at)
    elif said in _ENDED:
        if "startedAt" in task:
            yield "startedAt", task["startedAt"]
        yield "completedAt", stamp(at)
        started = moment(task.get("startedAt"))
        if started is not None and started <= at:
            yield "duration", (at - started) // timedelta(milliseconds=1)
    if said == "failed" and change.reason:
        yield "error", change.reason
    if change.tries or "retryCount" in task:
        yield "retryCount", change.tries or task["retryCount"]


def _account(root: Record, changed: Sequence[Change]) -> None:
    """What follows from the tasks: when, where, how many, and by which runs."""
    listed = list(tasks(root))
    root["lastUpdatedAt"] = stamp(max(aware(change.at) for change in changed))
    unfinished = [
        task for said in ("in_progress", "pending") for task in listed if task.get("status") == said
    ]
    if unfinished:
        root["currentPhase"] = unfinished[0].get("phase")
    runs = root.setdefault("runs", [])
    if isinstance(runs, list):
        for batch in dict.fromkeys(change.batch for change in changed if change.batch):
            moments = [aware(change.at) for change in changed if change.batch == batch]
            _run(runs, batch, moments, listed)
    summary = root.setdefault("summary", {})
    if isinstance(summary, dict):
        counts = Counter(map(_status, listed))
        summary |= {"totalTasks": len(listed), **{said: counts[said] for said in STATUSES}}


def _run(runs: list[object], batch: str, moments: list[datetime], listed: list[Record]) -> None:
    """A run counts the tasks that ended since it began; it is over for as long as no task is in progress."""
    run = next((run for run in runs if isinstance(run, dict) and run.get("runId") == batch), None)
    if run is None:
        run = {"runId": batch, "startedAt": stamp(min(moments))}
        runs.append(run)
    began = moment(run.get("startedAt")) or min(moments)
    ended = ((task, moment(task.get("completedAt"))) for task in listed)
    counts = Counter(_status(task) for task, at in ended if at is not None and at >= began)
    busy = any(_status(task) == "in_progress" for task in listed)
    run["completedAt"] = None if busy else stamp(max(moments))
    run["tasksCompleted"], run["tasksFailed"] = counts["completed"], counts["failed"]


def _status(task: Record) -> str:
    said = task.get("status")
    return said if isinstance(said, str) and said in STATUSES else "pending"


def stamp(at: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, as JavaScript writes it."""
    return aware(at).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
