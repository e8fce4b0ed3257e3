"""The tasks of the sources as JSON, each with its newest run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from plait.client.api_errors import problem_json
from plait.client.batch_json import TaskRun, task_run_json
from plait.client.planning.submission_checks import TaskKey, iter_task_keys
from plait.client.project_sources import LoadedSources
from plait.client.task_editor import SavedTask, find_running_copies, hash_version, read_task_file
from plait.client.task_file_text import get_editable_body
from plait.client.task_lookup import (
    EditableCheck,
    LocatedTask,
    find_located_task,
    get_own_file,
    iter_located_tasks,
    leads_outside,
)
from plait.core.errors import PlaitError
from plait.core.plan import Problem
from plait.core.state import State
from plait.core.task import Need, Task
from plait.sources.source_model import SourceStatus
from plait.sources.source_set import SourceSet
from plait.sources.text import to_printable

Json = dict[str, object]


def task_list_json(seen: LoadedSources, state: State | None) -> Json:
    """Every task of the sources, selected or not, and the problems of the sources."""
    problems = dict.fromkeys((*seen.problems, *seen.pile.problems))
    return {"tasks": tasks_json(seen, state), "problems": [problem_json(problem) for problem in problems]}


def tasks_json(seen: LoadedSources, state: State | None) -> list[Json]:
    editable, runs = EditableCheck(seen.place), find_newest_runs(seen.pile, state)
    return [
        _task_json(seen.pile, located, editable, state, runs.get(name)) for located, name in _iter_with_keys(seen.pile)
    ]


def task_json(seen: LoadedSources, name: str, state: State | None) -> Json:
    """One task with its texts; `version` is for an edit of its file. Raises NotFoundError or StateError."""
    located = find_located_task(seen.pile, name)
    return _full_task_json(seen, located, state, (*seen.problems, *seen.pile.problems))


def saved_task_json(saved: SavedTask, state: State | None) -> Json:
    """A task that was made or edited, and what a person should know of it."""
    body = _full_task_json(saved.survey, saved.located, state, ())
    problems = (*find_running_copies(saved.survey.pile, saved.located, state), *saved.problems)
    return {**body, "version": saved.version, "problems": [problem_json(problem) for problem in problems]}


def _full_task_json(seen: LoadedSources, told: LocatedTask, state: State | None, problems: Sequence[Problem]) -> Json:
    name = _find_task_key(seen.pile, told.entry.task)
    run = find_newest_runs(seen.pile, state, {name}).get(name)
    text = _read_text(seen, told)
    own = (problem for problem in problems if problem.at is not None and problem.at.file == told.file)
    return {
        **_task_json(seen.pile, told, EditableCheck(seen.place), state, run),
        "body": get_editable_body(told.file, text)
        if text is not None
        else ""
        if leads_outside(seen, told)
        else told.source_entry.task.body,
        "text": None if text is None else to_printable(text),
        "version": None if text is None else hash_version(text),
        "problems": [problem_json(problem) for problem in dict.fromkeys(own)],
    }


def _read_text(seen: LoadedSources, told: LocatedTask) -> str | None:
    """All of its file, where that is one task and can be edited."""
    with suppress(PlaitError):
        return read_task_file(get_own_file(seen.place, told), told.file)
    return None


def _task_json(
    pile: SourceSet, told: LocatedTask, editable: EditableCheck, state: State | None, run: TaskRun | None
) -> Json:
    entry, task = told.entry, told.entry.task
    why_not = editable.why_not(told)
    return {
        "id": task.id,
        "title": task.title,
        "status": _find_source_status(pile, told).value,
        "source": str(task.origin) if task.origin else None,
        "format": told.source.format,
        "needs": [_need_json(need) for need in task.needs],
        "touches": pile.touches(entry),
        "conflictsWith": task.conflicts_with,
        "phase": task.phase,
        "priority": task.priority,
        "weight": task.weight,
        "agent": task.agent,
        "model": task.model,
        "verify": task.verify,
        "run": task.run,
        "parts": entry.parts,
        "editable": why_not is None,
        "notEditable": why_not,
        "batch": None if run is None or state is None else task_run_json(state, run),
    }


def _find_source_status(pile: SourceSet, told: LocatedTask) -> SourceStatus:
    """A group is done when its parts are."""
    done = told.entry.parts and told.entry.task.id in pile.finished_ids
    return SourceStatus.DONE if done and not told.entry.status.is_closed else told.entry.status


def _need_json(need: Need) -> Json:
    at = str(need.at) if need.at else None
    return {"id": need.on, "kind": need.kind.value, "reason": need.reason, "at": at}


def find_newest_runs(
    pile: SourceSet, state: State | None, wanted: set[TaskKey] | None = None
) -> dict[TaskKey, TaskRun]:
    """The newest batch of each task (or of those wanted), by source position."""
    if state is None:
        return {}
    left = {name for _, name in _iter_with_keys(pile)} if wanted is None else set(wanted)
    found: dict[TaskKey, TaskRun] = {}
    for batch in sorted(state.batches.values(), key=lambda batch: -batch.order):
        if not left:
            break
        asked = (task.task for task in batch.tasks if task.task.entrant is None)
        for name, task in iter_task_keys(asked, batch.sources):
            if name in left:
                found[name] = TaskRun(batch, batch.tasks[batch.index[task.id]])
        left -= found.keys()
    return found


def _iter_with_keys(pile: SourceSet) -> Iterator[tuple[LocatedTask, TaskKey]]:
    sources = [str(source) for source in pile.sources]
    names = iter_task_keys((entry.task for entry in pile.entries), sources)
    for located, (name, _) in zip(iter_located_tasks(pile), names, strict=True):
        yield located, name


def _find_task_key(pile: SourceSet, task: Task) -> TaskKey:
    ((name, _),) = iter_task_keys([task], [str(source) for source in pile.sources])
    return name
