"""Tasks of the sources as programs see them, each with where it stands in the newest batch that has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from plait.core.errors import PlaitError
from plait.core.plan import Problem
from plait.core.state import State
from plait.core.task import Need, Task
from plait.front.planning.checks import Name, named
from plait.front.problems import problem_json
from plait.front.run_shape import Run, run_json
from plait.front.taskfiles.edit import read
from plait.front.taskfiles.saved import Saved, copies, version_of
from plait.front.taskfiles.text import shown
from plait.front.taskfiles.told import Editable, Told, all_told, find, led_out, own_file
from plait.sources.model import Mark
from plait.sources.pile import Pile
from plait.sources.text import printable
from plait.wiring.sources import Survey

Json = dict[str, object]


def listing_json(seen: Survey, state: State | None) -> Json:
    """Every task of the sources, selected or not, and what is wrong with the sources."""
    problems = dict.fromkeys((*seen.problems, *seen.pile.problems))
    return {"tasks": tasks_json(seen, state), "problems": [problem_json(problem) for problem in problems]}


def tasks_json(seen: Survey, state: State | None) -> list[Json]:
    editable, runs = Editable(seen.place), newest_runs(seen.pile, state)
    return [
        _task_json(seen.pile, told, editable, state, runs.get(name)) for told, name in _with_names(seen.pile)
    ]


def task_json(seen: Survey, name: str, state: State | None) -> Json:
    """One task with its texts. `version` is the one that an edit of its file goes by. Raises UnknownError or StateError."""
    told = find(seen.pile, name)
    return _whole_json(seen, told, state, (*seen.problems, *seen.pile.problems))


def saved_json(saved: Saved, state: State | None) -> Json:
    """A task that was made or edited, and what a person should know of it."""
    told = _whole_json(saved.seen, saved.told, state, ())
    problems = (*copies(saved.seen.pile, saved.told, state), *saved.problems)
    return {
        **told,
        "version": saved.version,
        "problems": [problem_json(problem) for problem in problems],
    }


def _whole_json(seen: Survey, told: Told, state: State | None, problems: Sequence[Problem]) -> Json:
    name = _name(seen.pile, told.entry.task)
    run = newest_runs(seen.pile, state, {name}).get(name)
    text = _text(seen, told)
    own = (problem for problem in problems if problem.at is not None and problem.at.file == told.file)
    return {
        **_task_json(seen.pile, told, Editable(seen.place), state, run),
        "body": _body(seen, told) if text is None else shown(told.file, text),
        "text": None if text is None else printable(text),
        "version": None if text is None else version_of(text),
        "problems": [problem_json(problem) for problem in dict.fromkeys(own)],
    }


def _body(seen: Survey, told: Told) -> str:
    return "" if led_out(seen, told) else told.own.task.body


def _text(seen: Survey, told: Told) -> str | None:
    """All of its file, where that is one task and can be edited."""
    with suppress(PlaitError):
        return read(own_file(seen.place, told), told.file)
    return None


def _task_json(pile: Pile, told: Told, editable: Editable, state: State | None, run: Run | None) -> Json:
    entry, task = told.entry, told.entry.task
    why_not = editable.why_not(told)
    return {
        "id": task.id,
        "title": task.title,
        "status": _mark(pile, told).value,
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
        "batch": None if run is None or state is None else run_json(state, run),
    }


def _mark(pile: Pile, told: Told) -> Mark:
    """A group is done when its parts are."""
    done = told.entry.parts and told.entry.task.id in pile.finished
    return Mark.DONE if done and not told.entry.mark.closed else told.entry.mark


def _need_json(need: Need) -> Json:
    at = str(need.at) if need.at else None
    return {"id": need.on, "kind": need.kind.value, "reason": need.reason, "at": at}


def newest_runs(pile: Pile, state: State | None, wanted: set[Name] | None = None) -> dict[Name, Run]:
    """Of each task (or of those wanted), by where it was said: the newest batch that has it."""
    if state is None:
        return {}
    left = {name for _, name in _with_names(pile)} if wanted is None else set(wanted)
    found: dict[Name, Run] = {}
    for batch in sorted(state.batches.values(), key=lambda batch: -batch.order):
        if not left:
            break
        asked = (task.task for task in batch.tasks if task.task.entrant is None)
        for name, task in named(asked, batch.sources):
            if name in left:
                found[name] = Run(batch, batch.tasks[batch.index[task.id]])
        left -= found.keys()
    return found


def _with_names(pile: Pile) -> Iterator[tuple[Told, Name]]:
    sources = [str(source) for source in pile.sources]
    names = named((entry.task for entry in pile.entries), sources)
    for told, (name, _) in zip(all_told(pile), names, strict=True):
        yield told, name


def _name(pile: Pile, task: Task) -> Name:
    ((name, _),) = named([task], [str(source) for source in pile.sources])
    return name
