"""What is decided about a task: again, ask, over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.decisions import (
    AboutTask,
    AnswerAwaited,
    BackoffEnded,
    RetryGranted,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus
from plait.front.event import Event, EventType
from plait.front.instant import iso
from plait.front.moment import Moment

_ENDS = {
    TaskStatus.DONE: EventType.TASK_COMPLETED,
    TaskStatus.FAILED: EventType.TASK_FAILED,
    TaskStatus.TIMED_OUT: EventType.TASK_TIMED_OUT,
    TaskStatus.BLOCKED: EventType.TASK_BLOCKED,
    TaskStatus.SKIPPED: EventType.TASK_SKIPPED,
    TaskStatus.CONFLICTED: EventType.TASK_CONFLICTED,
    TaskStatus.CANCELLED: EventType.TASK_CANCELLED,
}


def judged(moment: Moment, decision: AboutTask) -> Iterator[Event]:
    batch, task = moment.batch, moment.task
    if batch is None or task is None:
        return
    match decision:
        case RetryGranted():
            moment.note(task)
            # `at` is when this was decided, as in every event.
            again = {"retryAt": iso(decision.at), "why": decision.why, "category": decision.category.value}
            yield moment.tell(EventType.TASK_RETRY, task, **again, counted=decision.counted)
        case BackoffEnded():
            yield from moment.stand([task.place])
        case AnswerAwaited():
            moment.note(task)
            yield moment.tell(EventType.TASK_NEEDS_INPUT, task, question=decision.question)
        case TaskInterrupted():
            moment.note(task)
            yield moment.tell(EventType.TASK_INTERRUPTED, task, reason=decision.reason)
        case TaskEnded():
            # What was done can still be dropped, or be found guilty by the gate.
            if task.status is not None and task.status is not moment.before.status:
                yield from _ended(moment, batch, task, decision)
        case _:
            assert_never(decision)


def _ended(moment: Moment, batch: BatchState, task: TaskState, decision: TaskEnded) -> Iterator[Event]:
    moment.note(task)
    yield moment.tell(_ENDS[decision.status], task, **_how(moment, decision))
    yield from moment.stand(place for place in task.dependents if not batch.tasks[place].pending)
    yield from moment.next_in_queue()
    if moment.book is not None:
        yield moment.tell(EventType.BATCH_PROGRESS, **moment.book.progress())


def _how(moment: Moment, decision: TaskEnded) -> dict[str, object]:
    how: dict[str, object] = {"reason": decision.reason}
    match decision.status:
        case TaskStatus.FAILED | TaskStatus.TIMED_OUT:
            category = decision.category.value if decision.category else None
            how |= {"error": decision.reason, "category": category}
        case TaskStatus.CONFLICTED:
            how |= {"files": moment.before.clash}
        case TaskStatus.BLOCKED | TaskStatus.SKIPPED:
            how |= {"by": decision.by}
        case _:
            pass
    return how
