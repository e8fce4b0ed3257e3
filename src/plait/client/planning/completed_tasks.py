"""Tasks across batches: what identifies them, and which of them an earlier batch has completed with the same text.

A source that has statuses decides itself, as long as plait writes them there; otherwise only the journal knows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from plait.client.project_sources import LoadedSources
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan, Problem, Severity
from plait.core.settings import WriteBack
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Phase, Task
from plait.core.text import join_names
from plait.git.location import RepoLocation
from plait.sources.formats import load_format
from plait.sources.planning import PlanOptions
from plait.sources.selectors import select_ids, select_tasks
from plait.sources.source_model import SourceStatus
from plait.sources.source_set import SourceAddress, SourceSet, make_source_names

_MAX_NAMES = 4

# Identifies a task across batches: the file that declares it, and its id there.
TaskKey = tuple[str, str]


def iter_task_keys(tasks: Iterable[Task], sources: Sequence[str]) -> Iterator[tuple[TaskKey, Task]]:
    """Yield each task with its key. Ids have their source's name only where they clash, so a task may have two ids."""
    source_names = make_source_names([SourceAddress.parse(source).path for source in sources])
    for task in tasks:
        source, _, own_id = task.id.partition(":")
        file = task.origin.file if task.origin else ""
        yield (file, own_id if source in source_names else task.id), task


def list_source_addresses(source_set: SourceSet) -> tuple[str, ...]:
    return tuple(str(source) for source in source_set.sources)


@dataclass(frozen=True, slots=True)
class CompletedTask:
    """Where a task of the sources was completed."""

    batch: BatchState
    task: TaskState


def mark_completed(
    loaded: LoadedSources, state: State | None, options: PlanOptions
) -> tuple[LoadedSources, Mapping[str, CompletedTask], tuple[Problem, ...]]:
    """Mark what earlier batches completed as done; return the sources, those tasks by id, and notes on selected ones."""
    if state is None or options.again:
        return loaded, {}, ()
    source_set = loaded.source_set
    found = _find_completed(loaded, state)
    named = options.ids if options.again is None else ()
    notes = tuple(_describe_completed(source_set, options, found, runs_again=bool(named)))
    completed = {name: each for name, each in found.items() if name not in named}
    if not completed:
        return loaded, {}, notes
    entries = tuple(
        replace(entry, status=SourceStatus.DONE) if entry.task.id in completed else entry
        for entry in source_set.entries
    )
    gating = [entry.task.phase for entry in source_set.entries if entry.task.id in completed and entry.task.gating]
    phases = tuple(_add_settled(phase, gating.count(phase.key)) for phase in source_set.phases)
    marked = replace(loaded, source_set=replace(source_set, entries=entries, phases=phases))
    return marked, completed, notes


def _add_settled(phase: Phase, count: int) -> Phase:
    return replace(phase, settled=phase.settled + count) if count else phase


def _find_completed(loaded: LoadedSources, state: State) -> dict[str, CompletedTask]:
    """Return the tasks, by id, whose newest run is done, with the same text, in a batch that was not forgotten."""
    source_set = loaded.source_set
    keys = iter_task_keys((entry.task for entry in source_set.entries), list_source_addresses(source_set))
    wanted = {
        key: entry.task
        for entry, (key, _) in zip(source_set.entries, keys, strict=True)
        if not entry.status.is_closed and not entry.parts and entry.status is not SourceStatus.UNREADABLE
    }
    is_forgotten = _make_forgotten_check(loaded.location)
    writes_status = _find_status_files(source_set)
    completed: dict[str, CompletedTask] = {}
    for batch in sorted(state.batches.values(), key=lambda batch: -batch.order):
        if not wanted:
            break
        own_tasks = (task.task for task in batch.tasks if task.task.entrant is None)
        for key, past in iter_task_keys(own_tasks, batch.sources):
            task = wanted.pop(key, None)
            run = batch.tasks[batch.index[past.id]]
            if task is None or run.status is not TaskStatus.DONE or past.digest != task.text_digest:
                continue
            written = batch.settings.write_back in {WriteBack.CHECKOUT, WriteBack.BOTH}
            if not is_forgotten(batch.id) and not (written and key[0] in writes_status):
                completed[task.id] = CompletedTask(batch, run)
    return completed


def _find_status_files(source_set: SourceSet) -> set[str]:
    """Return the files of sources that have statuses: where plait has written there, a status is a person's decision."""
    return {
        entry.task.origin.file
        for source in source_set.sources
        if load_format(source.format).has_statuses
        for entry in source.reading.entries
        if entry.task.origin is not None
    }


def _make_forgotten_check(location: RepoLocation) -> Callable[[str], bool]:
    from plait.store.project_files import open_state_paths

    paths = open_state_paths(location)
    return lambda batch: os.path.lexists(paths.forgotten_marker(batch))


def _describe_completed(
    source_set: SourceSet, options: PlanOptions, completed: Mapping[str, CompletedTask], *, runs_again: bool
) -> Iterator[Problem]:
    selection = select_ids(source_set, options.ids) if options.ids else select_tasks(source_set, options.select)
    by_batch: dict[str, list[str]] = {}
    for name in selection.ids:
        if name in completed:
            by_batch.setdefault(completed[name].batch.id, []).append(name)
    for batch, names in by_batch.items():
        verb, them = ("is skipped", "it") if len(names) == 1 else ("are skipped", "them")
        if runs_again:
            verb = "runs again" if len(names) == 1 else "run again"
        message = f"{join_names(names, _MAX_NAMES)} {verb}: batch {batch} completed {them} with the same text"
        yield Problem(Severity.INFO, message, None, "" if runs_again else f"--again runs {them} again.")


def find_missing_work(
    plan: Plan, completed: Mapping[str, CompletedTask], is_in_base: Callable[[BatchState], bool]
) -> Iterator[Problem]:
    """Report tasks that need what an earlier batch completed, but whose base doesn't contain it."""
    needed: dict[str, tuple[BatchState, list[str], list[str]]] = {}
    for task in plan.tasks:
        for need in task.needs:
            found = completed.get(need.on)
            if found is not None and found.task.commit:
                batch, tasks, needs = needed.setdefault(found.batch.id, (found.batch, [], []))
                tasks.append(task.id)
                needs.append(need.on)
    for batch, tasks, needs in needed.values():
        if not is_in_base(batch):
            names, missing = (join_names(list(dict.fromkeys(each)), _MAX_NAMES) for each in (tasks, needs))
            message = f"{names}: the base doesn't contain {missing}, which batch {batch.id} completed on {batch.branch}"
            hint = f"Merge that branch first, or start from it: --base {batch.branch}. Or run everything: --again."
            yield Problem(Severity.WARNING, message, None, hint)
