"""The conflict that a task is in, with both sides of it, as people and programs see it."""

from __future__ import annotations

from plait.core.decisions import Change
from plait.core.frozen import dataclass
from plait.core.state import BatchState, TaskState
from plait.front.clashes import Met, before, in_conflict
from plait.ports import Clashing
from plait.wiring import Place
from plait.wiring.conflicts import conflict_sides


@dataclass(frozen=True, slots=True)
class Conflict:
    """What met what: `onto` is a commit of the batch branch, `merged` are the changes that it had, by task."""

    batch: str
    change: Change
    onto: str
    files: tuple[str, ...]
    merged: dict[str, Change]


def conflict_of(batch: BatchState, task: TaskState, met: Met | None) -> Conflict | None:
    if met is None or not in_conflict(task):
        return None
    return Conflict(batch.id, met.change, met.onto or batch.base, met.files, before(batch, met))


def conflict_json(found: Conflict | None) -> dict[str, object] | None:
    """In few words: which files, and with what."""
    return None if found is None else {"with": found.onto, "files": list(found.files)}


def sides_json(place: Place, found: Conflict) -> dict[str, object]:
    """Raises WorldError where git has not the commits any more."""
    files, more = conflict_sides(place, found.batch, found.change, found.onto, found.merged)
    return {
        "batchId": found.batch,
        "taskId": found.change.task,
        "with": found.onto,
        "base": found.change.base,
        "tip": found.change.tip,
        "files": [_file_json(each) for each in files],
        "more": more,
    }


def _file_json(each: Clashing) -> dict[str, object]:
    return {
        "path": each.path,
        "kind": each.kind.value,
        "said": each.said,
        "binary": each.binary,
        "base": each.base,
        "ours": each.ours,
        "theirs": each.theirs,
        "merged": each.merged,
        "cut": list(each.cut),
        "touchedBy": list(each.touched_by),
    }
