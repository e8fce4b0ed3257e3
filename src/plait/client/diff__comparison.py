"""What is compared when somebody asks for the change of a task, of one of its attempts, or of a whole batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plait.client.history__past import PastAttempt
from plait.core.errors import UserError, WorldError
from plait.core.explain import explain_in_words
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Isolation
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step
from plait.git.refs import attempt_ref


@dataclass(frozen=True, slots=True)
class DiffRange:
    """`tip` against `base`, both names that git knows; with a `workspace`, what lies in that folder now against `base`.

    `about` says in words what it is the change of.
    """

    label: str
    base: str
    tip: str = ""
    workspace: str = ""
    attempt: Attempt | None = None


def find_batch_range(batch: BatchState) -> DiffRange:
    """Everything that the batch branch has and its base has not."""
    _refuse_in_place(batch)
    if not batch.merges:
        raise WorldError(
            f"nothing has been merged into the branch of batch {batch.id}: there is nothing to compare",
            hint=f"`plait status {batch.id}` shows how far it is; name a task to see its change.",
        )
    return DiffRange(f"batch {batch.id}", batch.base, batch.head)


def find_task_range(state: State, batch: BatchState, task: TaskState) -> DiffRange:
    """What was merged of it, else what its newest attempt makes or has made."""
    _refuse_in_place(batch)
    if task.is_merged:
        change = batch.merges[task.merge_position].change
        return DiffRange(task.task.id, change.base, change.tip, attempt=_find_newest_attempt(task))
    last = task.last_write
    if last is None:
        raise _no_attempt_error(state, batch, task)
    if last.name in task.alive:
        return _find_running_range(task, last.name)
    made = last.outcome.tip if last.outcome else None
    return DiffRange(
        _format_label(last.name), last.decision.base, made or attempt_ref(last.name), "", last.name
    )


def find_attempt_range(
    state: State, batch: BatchState, task: TaskState, n: int, past: Callable[[], Iterable[PastAttempt]]
) -> DiffRange:
    """What one attempt made; the state has forgotten where older ones began, their `past` has not."""
    _refuse_in_place(batch)
    newest = task.attempt_counts.get(Step.WRITE, 0)
    if not newest:
        raise _no_attempt_error(state, batch, task)
    if not 1 <= n <= newest:
        made = "one" if newest == 1 else f"{newest}"
        raise UserError(f"{task.task.id} has no attempt {n} to write", hint=f"It has made {made}.")
    attempt = Attempt(batch.id, task.task.id, Step.WRITE, n)
    if attempt in task.alive:
        return _find_running_range(task, attempt)
    known = next((each for each in past() if each.attempt == attempt), None)
    tip = known.outcome.tip if known is not None and known.outcome is not None else None
    base = known.base if known is not None else ""
    return DiffRange(_format_label(attempt), base, tip or attempt_ref(attempt), "", attempt)


def _find_running_range(task: TaskState, attempt: Attempt) -> DiffRange:
    at_work = task.alive[attempt]
    if not at_work.workspace:
        raise WorldError(f"{_format_label(attempt)} is being prepared: there is nothing to compare yet")
    return DiffRange(_format_label(attempt), at_work.decision.base, "", at_work.workspace, attempt)


def _find_newest_attempt(task: TaskState) -> Attempt | None:
    return task.last_write.name if task.last_write is not None else None


def _format_label(attempt: Attempt) -> str:
    return f"{attempt.task} {attempt.step.value}-{attempt.n}"


def _no_attempt_error(state: State, batch: BatchState, task: TaskState) -> WorldError:
    return WorldError(
        f"{task.task.id} has made no attempt to write yet: there is nothing to compare",
        hint=f"{explain_in_words(state, batch, task)}.",
    )


def _refuse_in_place(batch: BatchState) -> None:
    if batch.settings.isolation is Isolation.IN_PLACE:
        raise WorldError(
            f"the tasks of batch {batch.id} work in the checkout itself: there is nothing to compare",
            hint="`git diff` shows what has changed there since the last commit, whoever did it.",
        )
