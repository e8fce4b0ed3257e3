"""How a conflict is read, by fronts: in folders of its own, so that nothing in the repository is touched.

The conflict that a task is in, with both sides of it, as people and programs see it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from plait.client.history import MergeConflict, find_earlier_changes, has_conflict
from plait.core.decisions import Change
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, TaskState
from plait.git.interfaces import ConflictedFile, MergeRules
from plait.git.location import RepoLocation
from plait.git.merge.conflict_view import ConflictingMerge, read_conflict_sides
from plait.git.worktrees.paths import find_git_dir
from plait.store import project_files
from plait.store.batch_inputs import BatchInputsError


def read_batch_conflict(
    place: RepoLocation, batch: str, change: Change, onto: str, merged: Mapping[str, Change]
) -> tuple[list[ConflictedFile], int]:
    """The files in conflict, and how many more there are. `merged` are the changes that `onto` has, by task."""
    try:
        blending = project_files.load_batch_inputs(place, batch).gear.blending
    except BatchInputsError:  # it was forgotten; the conflict is not
        blending = MergeRules()
    return read_conflict_sides(
        find_git_dir(place).absolute(), ConflictingMerge(change, onto, merged), blending, os.environ
    )


@dataclass(frozen=True, slots=True)
class ConflictView:
    """What met what: `onto` is a commit of the batch branch, `merged` are the changes that it had, by task."""

    batch: str
    change: Change
    onto: str
    files: tuple[str, ...]
    merged: dict[str, Change]


def view_conflict(batch: BatchState, task: TaskState, conflict: MergeConflict | None) -> ConflictView | None:
    if conflict is None or not has_conflict(task):
        return None
    return ConflictView(
        batch.id,
        conflict.change,
        conflict.onto or batch.base,
        conflict.files,
        find_earlier_changes(batch, conflict),
    )


def conflict_json(found: ConflictView | None) -> dict[str, object] | None:
    """In few words: which files, and with what."""
    return None if found is None else {"with": found.onto, "files": list(found.files)}


def conflict_sides_json(place: RepoLocation, found: ConflictView) -> dict[str, object]:
    """Raises WorldError where git has not the commits any more."""
    files, more = read_batch_conflict(place, found.batch, found.change, found.onto, found.merged)
    return {
        "batchId": found.batch,
        "taskId": found.change.task,
        "with": found.onto,
        "base": found.change.base,
        "tip": found.change.tip,
        "files": [_conflicted_file_json(each) for each in files],
        "more": more,
    }


def _conflicted_file_json(each: ConflictedFile) -> dict[str, object]:
    return {
        "path": each.path,
        "kind": each.kind.value,
        "said": each.message,
        "binary": each.binary,
        "base": each.base,
        "ours": each.ours,
        "theirs": each.theirs,
        "merged": each.merged,
        "cut": list(each.truncated),
        "touchedBy": list(each.changed_by),
    }
