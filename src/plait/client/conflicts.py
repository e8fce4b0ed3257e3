"""The conflict of a task, with both sides of each file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

from plait.client.history import MergeConflict, find_earlier_changes, has_conflict
from plait.client.json_encoding import api_model, fill_model
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, TaskState
from plait.git.interfaces import ConflictKind, MergeRules
from plait.git.location import RepoLocation
from plait.git.merge.conflict_view import ConflictingMerge, read_conflict_sides
from plait.store import project_files
from plait.store.batch_files import BatchInputsError
from plait.store.batch_secrets import load_content_redactor

_SIDES: tuple[Literal["base", "ours", "theirs", "merged"], ...] = ("base", "ours", "theirs", "merged")


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A merge that failed in these files."""

    batch: str
    merge: ConflictingMerge
    files: tuple[str, ...]


def view_conflict(batch: BatchState, task: TaskState, conflict: MergeConflict | None) -> ConflictView | None:
    if conflict is None or not has_conflict(task):
        return None
    onto, earlier = conflict.onto or batch.base, find_earlier_changes(batch, conflict)
    return ConflictView(batch.id, ConflictingMerge(conflict.change, onto, earlier), conflict.files)


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


def describe_conflict(location: RepoLocation, conflict: ConflictView) -> TaskConflict:
    """The conflict with both sides of each file, without secrets. Raises WorldError if git no longer has the commits."""
    try:
        rules = project_files.load_batch_inputs(location, conflict.batch).options.merge_rules
    except BatchInputsError:  # gc removed them; the conflict can be shown without
        rules = MergeRules()
    merge = conflict.merge
    # In folders of its own: the repository isn't touched.
    files, more = read_conflict_sides(location.git_dir.absolute(), merge, rules, os.environ)
    redact = load_content_redactor(project_files.open_state_paths(location), conflict.batch)
    return TaskConflict(
        batch_id=conflict.batch,
        task_id=merge.change.task,
        with_=merge.onto,
        base=merge.change.base,
        tip=merge.change.tip,
        files=[
            fill_model(
                ConflictFile,
                file,
                said=redact(file.message),
                base=_redact_side(file.base, redact),
                ours=_redact_side(file.ours, redact),
                theirs=_redact_side(file.theirs, redact),
                merged=_redact_side(file.merged, redact),
                cut=[side for side in _SIDES if side in file.truncated],
                touched_by=list(file.changed_by),
            )
            for file in files
        ],
        more=more,
    )


def _redact_side(text: str | None, redact: Callable[[str], str]) -> str | None:
    return None if text is None else redact(text)
