"""What a task changed. Its files are its own until they are merged, whatever it said that it touches.

Nobody waits for a file while holding another one: what an exit shows is taken only where it is free, and the task waits
for all of it the next time it takes its tokens as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.evolve.index import tokens
from plait.core.overlap import FILE, enclosing
from plait.core.settings import FileConflicts
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import Category

MOST = 64  # of a task that changes more files, these must do


def note_change(state: State, batch: BatchState, task: TaskState, attempt: AttemptState) -> None:
    """A good exit, or an empty one, says all there is to merge; after any other, the last good one's may still stand."""
    outcome = attempt.outcome
    if outcome is None:
        return
    if outcome.category is Category.OK:
        task.tip = outcome.tip if outcome.tip != attempt.decision.base else None
    elif outcome.category is Category.EMPTY:
        task.tip = None
    else:
        task.tip = outcome.tip or task.tip
    task.diffstat = outcome.diffstat or task.diffstat
    if outcome.files and _counts(batch) and task.task.entrant is None:
        _note_files(state, batch, task, outcome.files)


def _note_files(state: State, batch: BatchState, task: TaskState, files: tuple[str, ...]) -> None:
    files = files[:MOST]
    state.touched[task.task.key] = files
    seen = tokens(batch, tuple(FILE + file for file in files))
    known = tokens(batch, batch.plan.holds[task.place])
    task.learnt = tuple(sorted(set(seen).difference(known)))
    if task.started:
        wanted = dict.fromkeys((*task.learnt, *_folders(batch, files)))
        free = tuple(token for token in wanted if state.ready.holder(token) is None)
        state.ready.take((batch.id, task.place), free)
        task.tokens += free


def recall(state: State, batch: BatchState, task: TaskState) -> None:
    """What it changed in another batch, without being done there, it will change again."""
    files = state.touched.get(task.task.key) if _counts(batch) else None
    if files:
        seen = tokens(batch, tuple(FILE + file for file in files))
        task.learnt = tuple(sorted(set(seen).difference(task.tokens)))
        task.tokens += task.learnt


def _counts(batch: BatchState) -> bool:
    return batch.settings.file_conflicts is FileConflicts.INFERRED


def _folders(batch: BatchState, files: tuple[str, ...]) -> Iterator[str]:
    """The tokens of folders that the plan names and these files lie in: who wants such a folder waits as well."""
    folders = {folder: None for file in files for folder in enclosing(file.rpartition("/")[0])}
    held = tokens(batch, tuple(FILE + folder for folder in folders))
    return (token for token in held if token in batch.named)
