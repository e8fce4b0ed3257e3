"""Find batches and tasks by id or unique prefix (without a batch, the newest one), and their attempts and gates by number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from plait.core.errors import UserError, WorldError
from plait.core.explain import explain_in_words
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, State, TaskState
from plait.core.status import Category
from plait.core.task import Attempt, Step, Task, make_gate_attempt
from plait.core.text import strip_task_prefix

_MAX_SHOWN = 5


class AmbiguousNameError(UserError):
    """Several batches or tasks have this prefix."""


@dataclass(frozen=True, slots=True)
class BatchSelection:
    batch: BatchState
    tasks: tuple[TaskState, ...] = ()


def find_newest_batch(state: State) -> BatchState:
    batch = max(state.batches.values(), key=lambda batch: batch.order, default=None)
    if batch is None:
        raise UserError("there is no batch yet", hint="Start one with `plait run`.")
    return batch


def find_batch(state: State, word: str | None) -> BatchState:
    if word is None:
        return find_newest_batch(state)
    last = find_newest_batch(state)
    matches = _match_names(word, state.batches)
    if not matches:
        hint = _suggest_names(word, state.batches) or "`plait history` lists them all."
        if _match_tasks(last, word):
            hint = f"It is a task of batch {last.id}."
        raise UserError(f"there is no batch {word}", hint=hint)
    if len(matches) > 1:
        raise AmbiguousNameError(
            f"{word} is ambiguous: {_join_with_or(f'batch {name}' for name in matches)}", hint="Use more characters."
        )
    return state.batches[matches[0]]


def find_task(batch: BatchState, word: str) -> TaskState:
    """Find a task by its id or a unique prefix. A prefix that fits an entrant also fits its task, and means the task."""
    matches = _match_tasks(batch, word)
    if not matches:
        hint = _suggest_names(word, batch.index) or f"`plait status {batch.id}` lists its tasks."
        raise UserError(f"batch {batch.id} has no task {word}", hint=hint)
    if len(matches) > 1:
        message = f"{word} is ambiguous: {_join_with_or(f'task {name}' for name in matches)} of batch {batch.id}"
        raise AmbiguousNameError(message, hint="Use more characters.")
    return batch.tasks[batch.index[matches[0]]]


def find_named_task(batch: BatchState, name: str) -> TaskState | None:
    """Find a task by its id, or by its only name in the source: `task-1` for `1`, and the other way round."""
    if name in batch.index:
        return batch.tasks[batch.index[name]]
    named = [task for task in batch.tasks if task.task.entrant is None and name in _list_aliases(task.task)]
    return named[0] if len(named) == 1 else None


def find_batch_and_tasks(state: State, words: Sequence[str]) -> BatchSelection:
    """Parse `[BATCH] [TASK…]`: a first word that isn't a batch is a task of the newest one."""
    if not words:
        return BatchSelection(find_newest_batch(state))
    batch = _find_named_batch(state, words[0])
    rest = words[1:] if batch is not None else words
    batch = batch or find_newest_batch(state)
    tasks = {task.index: task for task in (find_task(batch, word) for word in rest)}
    return BatchSelection(batch, tuple(tasks.values()))


def find_one_task(state: State, words: Sequence[str]) -> tuple[BatchState, TaskState]:
    """Parse `[BATCH] TASK`: a single word is a task, unless it can only be a batch; a batch's only task needs no name."""
    selection = find_batch_and_tasks(state, words)
    if not selection.tasks and len(selection.batch.tasks) == 1:
        return selection.batch, selection.batch.tasks[0]
    if len(selection.tasks) != 1:
        names = ", ".join(task.task.id for task in selection.batch.tasks[:_MAX_SHOWN])
        rest = ", …" if len(selection.batch.tasks) > _MAX_SHOWN else ""
        raise UserError(f"name one task of batch {selection.batch.id}", hint=f"It has {names}{rest}.")
    return selection.batch, selection.tasks[0]


def choose_attempt(state: State, batch: BatchState, task: TaskState, step: Step, number: int | None) -> Attempt:
    """Return the newest attempt, or the one with this number. Raises WorldError or UserError if there is none."""
    newest = task.attempt_counts.get(step, 0)
    if not newest:
        raise WorldError(
            f"{task.task.id} has no {step.value} attempt yet",
            hint=f"{explain_in_words(state, batch, task)}.",
        )
    if number is not None and not 1 <= number <= newest:
        raise UserError(f"{task.task.id} has no {step.value} attempt {number}", hint=f"It has {newest}.")
    return Attempt(batch.id, task.task.id, step, number or newest)


def find_failed_check(
    batch: BatchState, task: TaskState, find_gate: Callable[[TaskState], int | None]
) -> Attempt | None:
    """Return the verification or gate that failed the task; None if it did not fail, or if its agent did.

    `find_gate` returns the number of the gate that decided about the task.
    """
    if task.category is Category.GATE:
        gate = find_gate(task)
        return None if gate is None else make_gate_attempt(batch.id, gate)
    failed = task.status is not None and task.status.is_failure
    return task.last.name if failed and task.last is not None and task.last.name.step is Step.VERIFY else None


def choose_gate(batch: BatchState, number: int | None) -> int:
    """Return the newest gate's number, or this one if it exists. Raises WorldError or UserError if there is none."""
    if not batch.gates:
        why = "no gate is set" if batch.settings.gate is None else "its gate hasn't run yet"
        raise WorldError(f"batch {batch.id}: {why}, so there is nothing to read")
    if number is not None and not 1 <= number <= batch.gates:
        ran = "once" if batch.gates == 1 else f"{batch.gates} times"
        raise UserError(f"batch {batch.id} has no gate {number}", hint=f"Its gate ran {ran}.")
    return number or batch.gates


def format_attempt_label(attempt: Attempt) -> str:
    """Return the name of the attempt's folder: `write-2`."""
    return f"{attempt.step.value}-{attempt.n}"


def _find_named_batch(state: State, word: str) -> BatchState | None:
    """Return the batch that the first word names; None if it names a task of the newest batch."""
    last = find_newest_batch(state)
    if word in state.batches:
        return state.batches[word]
    batches, tasks = _match_names(word, state.batches), _match_tasks(last, word)
    if word in last.index or (tasks and not batches):
        return None
    if batches and tasks:
        both = _join_with_or([*(f"batch {name}" for name in batches), *(f"task {name}" for name in tasks)])
        raise AmbiguousNameError(f"{word} is ambiguous: {both} of batch {last.id}", hint="Use more characters.")
    if not batches:
        hint = _suggest_names(word, [*state.batches, *last.index]) or "`plait status` lists what there is."
        raise UserError(f"there is no batch {word}, and batch {last.id} has no such task", hint=hint)
    return find_batch(state, word)


def _match_tasks(batch: BatchState, word: str) -> list[str]:
    named = find_named_task(batch, word)
    if named is not None:
        return [named.task.id]
    ids = (task.task.id for task in batch.tasks if task.task.entrant is None)
    return _match_names(word, ids) or _match_names(word, batch.index)


def _list_aliases(task: Task) -> set[str]:
    """Return the stem of the task's file, if that holds nothing else, and id and stem without a word like `task-`."""
    is_file = task.origin is not None and task.origin.line <= 1
    stem = task.origin.file.rpartition("/")[2].rpartition(".")[0] if task.origin is not None and is_file else ""
    return {stem, strip_task_prefix(stem), strip_task_prefix(task.id)} - {""}


def _match_names(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that a word matches. An exact match wins. A source's name may be left out: `63` for `TODO:63`."""
    names = list(names)
    if word in names:
        return [word]
    if not word:
        return []
    own = [name for name in names if name.partition(":")[2] == word]
    return own or [name for name in names if name.startswith(word)]


def _suggest_names(word: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    names = list(names)
    inside = [name for name in names if word and word.lower() in name.lower()]
    similar = list(dict.fromkeys([*get_close_matches(word, names, _MAX_SHOWN), *inside]))[:_MAX_SHOWN]
    return f"Did you mean {_join_with_or(similar)}?" if similar else ""


def _join_with_or(names: Iterable[str]) -> str:
    shown = list(names)
    if len(shown) > _MAX_SHOWN:
        shown = [*shown[:_MAX_SHOWN], f"{len(shown) - _MAX_SHOWN} others"]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
