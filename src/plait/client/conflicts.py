"""The conflict of a task, with both sides of each file."""

from __future__ import annotations

import os
from typing import Literal

from plait.client.history import MergeConflict, find_earlier_changes, has_conflict
from plait.client.json_encoding import api_model, fill_model
from plait.core.decisions import Change
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, TaskState
from plait.git.interfaces import ConflictedFile, ConflictKind, MergeRules
from plait.git.location import RepoLocation
from plait.git.merge.conflict_view import ConflictingMerge, read_conflict_sides
from plait.store import project_files
from plait.store.batch_files import BatchInputsError

_SIDES: tuple[Literal["base", "ours", "theirs", "merged"], ...] = ("base", "ours", "theirs", "merged")


@dataclass(frozen=True, slots=True)
class ConflictView:
    """`change` didn't merge onto `onto`, a commit of the batch branch that had the changes `merged`, by task."""

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


@api_model
class ConflictFile:
    """`ours` is the batch branch's, `theirs` the task's, `merged` has both between markers. Null: it doesn't exist on that
    side, or it is `binary`, or its name is in `cut`, since it is too long. `touchedBy` are the tasks whose change of it is
    on the branch, the newest first; `said` is git's message about it.
    """

    path: str
    kind: ConflictKind
    said: str
    binary: bool
    base: str | None
    ours: str | None
    theirs: str | None
    merged: str | None
    cut: list[Literal["base", "ours", "theirs", "merged"]]
    touched_by: list[str]


@api_model
class TaskConflict:
    """`with` is the commit of the batch branch that the change from `base` to `tip` was merged onto. `more`: number of
    files that are left out.
    """

    batch_id: str
    task_id: str
    with_: str
    base: str
    tip: str
    files: list[ConflictFile]
    more: int


def describe_conflict(place: RepoLocation, conflict: ConflictView) -> TaskConflict:
    """The conflict with both sides of each file. Raises WorldError if git no longer has the commits."""
    files, more = _read_sides(place, conflict)
    return TaskConflict(
        batch_id=conflict.batch,
        task_id=conflict.change.task,
        with_=conflict.onto,
        base=conflict.change.base,
        tip=conflict.change.tip,
        files=[
            fill_model(
                ConflictFile,
                file,
                said=file.message,
                cut=[side for side in _SIDES if side in file.truncated],
                touched_by=list(file.changed_by),
            )
            for file in files
        ],
        more=more,
    )


def _read_sides(place: RepoLocation, conflict: ConflictView) -> tuple[list[ConflictedFile], int]:
    """The conflicting files, and the number of those left out. Uses folders of its own: the repository isn't touched."""
    try:
        rules = project_files.load_batch_inputs(place, conflict.batch).options.merge_rules
    except BatchInputsError:  # gc removed them; the conflict can be shown without
        rules = MergeRules()
    merge = ConflictingMerge(conflict.change, conflict.onto, conflict.merged)
    return read_conflict_sides(place.git_dir.absolute(), merge, rules, os.environ)
