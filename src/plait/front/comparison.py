"""What is compared when somebody asks for the change of a task, of one of its attempts, or of a whole batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plait.core.errors import UserError, WorldError
from plait.core.explain import explain
from plait.core.frozen import dataclass
from plait.core.settings import Isolation
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step
from plait.front.past import Try
from plait.site.refs import attempt_ref


@dataclass(frozen=True, slots=True)
class Comparison:
    """`tip` against `base`, both names that git knows; with a `workspace`, what lies in that folder now against `base`.

    `about` says in words what it is the change of.
    """

    about: str
    base: str
    tip: str = ""
    workspace: str = ""
    attempt: Attempt | None = None


def of_batch(batch: BatchState) -> Comparison:
    """Everything that the batch branch has and its base has not."""
    _refuse_in_place(batch)
    if not batch.line:
        raise WorldError(
            f"nothing has been merged into the branch of batch {batch.id}: there is nothing to compare",
            hint=f"`plait status {batch.id}` shows how far it is; name a task to see its change.",
        )
    return Comparison(f"batch {batch.id}", batch.base, batch.head)


def of_task(state: State, batch: BatchState, task: TaskState) -> Comparison:
    """What was merged of it, else what its newest attempt makes or has made."""
    _refuse_in_place(batch)
    if task.merged:
        change = batch.line[task.line_place].change
        return Comparison(task.task.id, change.base, change.tip, attempt=_newest(task))
    last = task.last_write
    if last is None:
        raise _nothing(state, batch, task)
    if last.name in task.alive:
        return _running(task, last.name)
    made = last.outcome.tip if last.outcome else None
    return Comparison(_called(last.name), last.decision.base, made or attempt_ref(last.name), "", last.name)


def of_attempt(
    state: State, batch: BatchState, task: TaskState, n: int, past: Callable[[], Iterable[Try]]
) -> Comparison:
    """What one attempt made; the state has forgotten where older ones began, their `past` has not."""
    _refuse_in_place(batch)
    newest = task.numbers.get(Step.WRITE, 0)
    if not newest:
        raise _nothing(state, batch, task)
    if not 1 <= n <= newest:
        made = "one" if newest == 1 else f"{newest}"
        raise UserError(f"{task.task.id} has no attempt {n} to write", hint=f"It has made {made}.")
    attempt = Attempt(batch.id, task.task.id, Step.WRITE, n)
    if attempt in task.alive:
        return _running(task, attempt)
    known = next((each for each in past() if each.attempt == attempt), None)
    tip = known.outcome.tip if known is not None and known.outcome is not None else None
    base = known.base if known is not None else ""
    return Comparison(_called(attempt), base, tip or attempt_ref(attempt), "", attempt)


def _running(task: TaskState, attempt: Attempt) -> Comparison:
    at_work = task.alive[attempt]
    if not at_work.workspace:
        raise WorldError(f"{_called(attempt)} is being prepared: there is nothing to compare yet")
    return Comparison(_called(attempt), at_work.decision.base, "", at_work.workspace, attempt)


def _newest(task: TaskState) -> Attempt | None:
    return task.last_write.name if task.last_write is not None else None


def _called(attempt: Attempt) -> str:
    return f"{attempt.task} {attempt.step.value}-{attempt.n}"


def _nothing(state: State, batch: BatchState, task: TaskState) -> WorldError:
    return WorldError(
        f"{task.task.id} has made no attempt to write yet: there is nothing to compare",
        hint=f"{explain(state, batch, task)}.",
    )


def _refuse_in_place(batch: BatchState) -> None:
    if batch.settings.isolation is Isolation.IN_PLACE:
        raise WorldError(
            f"the tasks of batch {batch.id} work in the checkout itself: there is nothing to compare",
            hint="`git diff` shows what has changed there since the last commit, whoever did it.",
        )
