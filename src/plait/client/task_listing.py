"""The tasks of the sources as programs see them, each with its newest run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from plait.client.api_models import Dependency, ProblemDetails, make_dependency, make_problem
from plait.client.batch_json import TaskRun, describe_run
from plait.client.json_encoding import api_model, fill_model
from plait.client.planning.completed_tasks import TaskKey, iter_task_keys, list_source_addresses
from plait.client.project_sources import LoadedSources
from plait.client.task_editor import SavedTask, find_running_copies, hash_version, read_task_file
from plait.client.task_file_text import get_editable_body
from plait.client.task_lookup import (
    EditableCheck,
    LocatedTask,
    find_located_task,
    get_own_file,
    iter_located_tasks,
)
from plait.core.errors import PlaitError
from plait.core.plan import Problem
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Task
from plait.sources.source_model import SourceStatus
from plait.sources.source_set import SourceSet
from plait.sources.text import to_printable


@api_model
class SourceTask:
    """A task of the sources. `parts`: the tasks of a group. `notEditable`: why it can't be edited."""

    id: str
    title: str
    status: SourceStatus
    source: str | None
    format: str
    needs: list[Dependency]
    touches: list[str]
    conflicts_with: list[str]
    phase: str | None
    phase_title: str | None
    priority: int
    weight: float
    agent: str | None
    model: str | None
    verify: str | None
    run: str | None
    parts: list[str]
    editable: bool
    not_editable: str | None
    batch: TaskRun | None


@api_model
class SourceTasks:
    tasks: list[SourceTask]
    problems: list[ProblemDetails]


@api_model
class SourceTaskWithText(SourceTask):
    """A task with its texts. `text` is its whole file, `version` what an edit has to name; null: not editable."""

    body: str
    text: str | None
    version: str | None
    problems: list[ProblemDetails]


TaskT = TypeVar("TaskT", bound=SourceTask)


def describe_source_tasks(loaded: LoadedSources, state: State | None) -> SourceTasks:
    """Describe every task of the sources, selected or not, and the problems of the sources."""
    problems = dict.fromkeys((*loaded.problems, *loaded.source_set.problems))
    editable, runs = EditableCheck(loaded.location), find_newest_runs(loaded.source_set, state)
    tasks = [
        _describe_task(SourceTask, loaded.source_set, located, editable.why_not(located), runs.get(key))
        for located, key in _iter_with_keys(loaded.source_set)
    ]
    return SourceTasks(tasks, [make_problem(problem) for problem in problems])


def describe_source_task(loaded: LoadedSources, name: str, state: State | None) -> SourceTaskWithText:
    """Describe one task with its texts; `version` is for an edit of its file. Raises NotFoundError or StateError."""
    located = find_located_task(loaded.source_set, name)
    problems = (*loaded.problems, *loaded.source_set.problems)
    own = (problem for problem in problems if problem.at is not None and problem.at.file == located.file)
    return _describe_with_text(loaded, located, state, tuple(dict.fromkeys(own)))


def describe_saved_task(saved: SavedTask, state: State | None) -> SourceTaskWithText:
    """Describe a task that was made or edited, with notes for the person."""
    problems = (*find_running_copies(saved.loaded.source_set, saved.located, state), *saved.problems)
    return replace(_describe_with_text(saved.loaded, saved.located, state, problems), version=saved.version)


def _describe_with_text(
    loaded: LoadedSources, located: LocatedTask, state: State | None, problems: Sequence[Problem]
) -> SourceTaskWithText:
    key = _find_task_key(loaded.source_set, located.entry.task)
    run = find_newest_runs(loaded.source_set, state, {key}).get(key)
    text = _read_text(loaded, located)
    body = located.source_entry.task.body if text is None else get_editable_body(located.file, text)
    return _describe_task(
        SourceTaskWithText,
        loaded.source_set,
        located,
        EditableCheck(loaded.location).why_not(located),
        run,
        body=body,
        text=None if text is None else to_printable(text),
        version=None if text is None else hash_version(text),
        problems=[make_problem(problem) for problem in problems],
    )


def _read_text(loaded: LoadedSources, located: LocatedTask) -> str | None:
    """Return the whole file, where that is one task and can be edited; else None."""
    with suppress(PlaitError):
        return read_task_file(get_own_file(loaded.location, located), located.file)
    return None


def _find_phase_title(source_set: SourceSet, key: str | None) -> str | None:
    return next((phase.title or phase.key for phase in source_set.phases if phase.key == key), key)


def _describe_task(
    model: type[TaskT],
    source_set: SourceSet,
    located: LocatedTask,
    why_not_editable: str | None,
    run: TaskRun | None,
    **values: object,
) -> TaskT:
    entry, task = located.entry, located.entry.task
    return fill_model(
        model,
        task,
        status=_find_source_status(source_set, located),
        source=str(task.origin) if task.origin else None,
        format=located.source.format,
        needs=[make_dependency(need) for need in task.needs],
        touches=list(source_set.touches(entry)),
        phase_title=_find_phase_title(source_set, task.phase),
        parts=list(entry.parts),
        editable=why_not_editable is None,
        not_editable=why_not_editable,
        batch=run,
        **values,
    )


def _find_source_status(source_set: SourceSet, located: LocatedTask) -> SourceStatus:
    """Return the status in the source; a group is done when its parts are."""
    done = located.entry.parts and located.entry.task.id in source_set.finished_ids
    return SourceStatus.DONE if done and not located.entry.status.is_closed else located.entry.status


def find_newest_runs(
    source_set: SourceSet, state: State | None, wanted: set[TaskKey] | None = None
) -> dict[TaskKey, TaskRun]:
    """Return the run of each task (or of those wanted) in the newest batch that has it, by source position."""
    if state is None:
        return {}
    missing = {key for _, key in _iter_with_keys(source_set)} if wanted is None else set(wanted)
    newest: dict[TaskKey, tuple[BatchState, TaskState]] = {}
    for batch in sorted(state.batches.values(), key=lambda batch: -batch.order):
        if not missing:
            break
        own_tasks = (task.task for task in batch.tasks if task.task.entrant is None)
        for key, task in iter_task_keys(own_tasks, batch.sources):
            if key in missing:
                newest[key] = (batch, batch.tasks[batch.index[task.id]])
        missing -= newest.keys()
    return {key: describe_run(state, batch, task) for key, (batch, task) in newest.items()}


def _iter_with_keys(source_set: SourceSet) -> Iterator[tuple[LocatedTask, TaskKey]]:
    keys = iter_task_keys((entry.task for entry in source_set.entries), list_source_addresses(source_set))
    for located, (key, _) in zip(iter_located_tasks(source_set), keys, strict=True):
        yield located, key


def _find_task_key(source_set: SourceSet, task: Task) -> TaskKey:
    ((key, _),) = iter_task_keys([task], list_source_addresses(source_set))
    return key
