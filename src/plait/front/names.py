"""Names: which batch and which tasks are meant. An id, or the beginning of one that no other has; no batch: the newest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.core.errors import UserError
from plait.core.frozen import dataclass
from plait.core.state import BatchState, State, TaskState

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Meant:
    batch: BatchState
    tasks: tuple[TaskState, ...] = ()


def newest(state: State) -> BatchState:
    batch = max(state.batches.values(), key=lambda batch: batch.order, default=None)
    if batch is None:
        raise UserError("there is no batch yet", hint="`plait run` makes one.")
    return batch


def find_batch(state: State, word: str | None) -> BatchState:
    if word is None:
        return newest(state)
    last = newest(state)
    found = _matches(word, state.batches)
    if not found:
        hint = _near(word, state.batches) or "`plait history` lists them all."
        if _matches(word, last.index):
            hint = f"It is a task of batch {last.id}."
        raise UserError(f"there is no batch {word}", hint=hint)
    if len(found) > 1:
        raise UserError(f"{word} could be {_or(f'batch {name}' for name in found)}", hint="Write more of it.")
    return state.batches[found[0]]


def find_task(batch: BatchState, word: str) -> TaskState:
    """An entrant's name begins as its task's does: a beginning means the task."""
    asked = (task.task.id for task in batch.tasks if task.task.entrant is None)
    found = _matches(word, asked) or _matches(word, batch.index)
    if not found:
        hint = _near(word, batch.index) or f"`plait status {batch.id}` lists its tasks."
        raise UserError(f"batch {batch.id} has no task {word}", hint=hint)
    if len(found) > 1:
        message = f"{word} could be {_or(f'task {name}' for name in found)} of batch {batch.id}"
        raise UserError(message, hint="Write more of it.")
    return batch.tasks[batch.index[found[0]]]


def find(state: State, words: Sequence[str]) -> Meant:
    """`[BATCH] [TASK…]`: a first word that is no batch is a task of the newest one."""
    if not words:
        return Meant(newest(state))
    batch = _first(state, words[0])
    rest = words[1:] if batch is not None else words
    batch = batch or newest(state)
    tasks = {task.place: task for task in (find_task(batch, word) for word in rest)}
    return Meant(batch, tuple(tasks.values()))


def find_one(state: State, words: Sequence[str]) -> tuple[BatchState, TaskState]:
    """`[BATCH] TASK`: a single word is a task, unless it can only be a batch; a batch's only task needs no name."""
    meant = find(state, words)
    if not meant.tasks and len(meant.batch.tasks) == 1:
        return meant.batch, meant.batch.tasks[0]
    if len(meant.tasks) != 1:
        names = ", ".join(task.task.id for task in meant.batch.tasks[:_SHOWN])
        more = ", …" if len(meant.batch.tasks) > _SHOWN else ""
        raise UserError(f"name one task of batch {meant.batch.id}", hint=f"It has {names}{more}.")
    return meant.batch, meant.tasks[0]


def _first(state: State, word: str) -> BatchState | None:
    """The batch that the first word names; None: it names a task of the newest batch."""
    last = newest(state)
    if word in state.batches:
        return state.batches[word]
    batches, tasks = _matches(word, state.batches), _matches(word, last.index)
    if word in last.index or (tasks and not batches):
        return None
    if batches and tasks:
        both = _or([*(f"batch {name}" for name in batches), *(f"task {name}" for name in tasks)])
        raise UserError(f"{word} could be {both} of batch {last.id}", hint="Write more of it.")
    if not batches:
        hint = _near(word, [*state.batches, *last.index]) or "`plait status` lists what there is."
        raise UserError(f"there is no batch {word}, and batch {last.id} has no such task", hint=hint)
    return find_batch(state, word)


def _matches(word: str, names: Iterable[str]) -> list[str]:
    """An exact match wins. A part of a source's name may be left out: `63` for `TODO:63`."""
    names = list(names)
    if word in names:
        return [word]
    if not word:
        return []
    own = [name for name in names if name.partition(":")[2] == word]
    return own or [name for name in names if name.startswith(word)]


def _near(word: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for those who mistype

    names = list(names)
    inside = [name for name in names if word and word.lower() in name.lower()]
    near = list(dict.fromkeys([*get_close_matches(word, names, _SHOWN), *inside]))[:_SHOWN]
    return f"Did you mean {_or(near)}?" if near else ""


def _or(names: Iterable[str]) -> str:
    shown = list(names)
    if len(shown) > _SHOWN:
        shown = [*shown[:_SHOWN], f"{len(shown) - _SHOWN} others"]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
