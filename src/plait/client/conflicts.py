"""The conflict of a task, with both sides of each file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Literal

from plait.client.history import MergeConflict, find_earlier_changes, has_conflict
from plait.client.json_encoding import api_model, fill_model
from plait.core import decisions as d
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.scheduler.request_answers import why_unresolvable
from plait.core.state import BatchState, TaskState
from plait.git.interfaces import ConflictKind, MergeRules
from plait.git.location import RepoLocation
from plait.git.merge.conflict_view import ConflictingMerge, read_conflict_sides
from plait.git.merge.resolution import (
    MAX_EDITED_BYTES,
    Resolution,
    ResolvedConflict,
    Side,
    find_conflict_marker,
    resolve_conflict,
)
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
    if why_unresolvable(batch, task) is None:
        return view_resolvable(batch, task, conflict.files)
    onto, earlier = conflict.onto or batch.base, find_earlier_changes(batch, conflict)
    return ConflictView(batch.id, ConflictingMerge(conflict.change, onto, earlier), conflict.files)


def view_resolvable(batch: BatchState, task: TaskState, files: tuple[str, ...] = ()) -> ConflictView:
    """Return the conflict with the current branch. Raises UserError if there is none that can be resolved."""
    if why := why_unresolvable(batch, task):
        raise UserError(why)
    assert task.finished is not None
    change = d.Change(task.task.id, task.finished.base, task.finished.tip)
    earlier = find_earlier_changes(batch, MergeConflict(change, batch.head, files))
    return ConflictView(batch.id, ConflictingMerge(change, batch.head, earlier), files)


@api_model
class ConflictFile:
    """A file in conflict. `ours` is the batch branch's, `theirs` the task's, `merged` has both between markers. Null:
    it doesn't exist on that side, or it is `binary`, or its name is in `cut`, since it is too long. `touchedBy` are the
    tasks whose change of it is on the branch, the newest first; `said` is git's message about it. `sides`: either side
    can be taken; `editable`: `merged` can be edited and sent back.
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
    sides: bool
    editable: bool


@api_model
class TaskConflict:
    """The conflict of a task. `with` is the commit of the batch branch that the change from `base` to `tip` was merged
    onto. `more`: number of files that are left out.
    """

    batch_id: str
    task_id: str
    with_: str
    base: str
    tip: str
    files: list[ConflictFile]
    more: int


def describe_conflict(location: RepoLocation, conflict: ConflictView) -> TaskConflict:
    """Describe both sides of each file, without secrets. Raises WorldError if git no longer has the commits."""
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
                sides=file.has_sides,
                editable=file.editable and _redact_side(file.merged, redact) == file.merged,
            )
            for file in files
        ],
        more=more,
    )


def _redact_side(text: str | None, redact: Callable[[str], str]) -> str | None:
    return None if text is None else redact(text)


@dataclass(frozen=True, slots=True)
class ConflictChoices:
    """How to resolve a conflict: a side, or a text, for each file; `rest` is for all that aren't named.
    `allow_markers`: leave them in texts.
    """

    files: Mapping[str, Side | str]
    rest: Side | None = None
    allow_markers: bool = False


def make_resolution(location: RepoLocation, conflict: ConflictView, choices: ConflictChoices) -> Resolution:
    """Make the commit that resolves a conflict with these choices. Raises UserError if they don't fit it."""
    from plait.engine.merge_queue import build_resolution_message  # loads the engine's parts

    texts = {path: text for path, text in choices.files.items() if not isinstance(text, Side)}
    if texts:
        shown = {file.path: file for file in describe_conflict(location, conflict).files}
        for path, text in texts.items():
            _check_text(path, text, allow_markers=choices.allow_markers)
            if path in shown and not shown[path].editable:
                raise UserError(
                    f"{path} can't be edited here", hint="Take one of its sides, or let an agent repair it."
                )
    inputs = project_files.load_batch_inputs(location, conflict.batch)
    resolved = ResolvedConflict(
        conflict.batch,
        conflict.merge.change,
        conflict.merge.onto,
        {path: choice if isinstance(choice, Side) else choice.encode() for path, choice in choices.files.items()},
        build_resolution_message(inputs, conflict.merge.change.task),
        choices.rest,
    )
    return resolve_conflict(location.git_dir.absolute(), resolved, inputs.options.merge_rules, os.environ)


def _check_text(path: str, text: str, *, allow_markers: bool) -> None:
    try:
        content = text.encode()
    except UnicodeEncodeError:
        raise UserError(f"the text of {path} is not valid text") from None
    if len(content) > MAX_EDITED_BYTES:
        raise UserError(
            f"the text of {path} is longer than {MAX_EDITED_BYTES >> 10} KiB", hint="Take one of its sides."
        )
    if b"\0" in content:
        raise UserError(f"the text of {path} is binary", hint="Take one of its sides.")
    line = 0 if allow_markers else find_conflict_marker(content)
    if line:
        raise UserError(
            f"{path}:{line} is still a conflict marker", hint="Edit it out, or confirm that it belongs there."
        )
