"""Ready tasks start, as many as every limit allows, in order; no wave waits for its last task.

A task that takes several slots is not overtaken while it waits for them, or it might wait for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.contest import list_candidates
from plait.core.decisions import AttemptStarted
from plait.core.decisions__due import Due, due_now
from plait.core.scheduler.merge_queue__rebuild import is_branch_stable
from plait.core.scheduler.selection import Choice, find_choices, is_affordable
from plait.core.scheduler.selection__slots import clamp_slots, has_batch_slots, has_engine_slots, may_start
from plait.core.settings import NO_SPEND
from plait.core.state import BatchState, State
from plait.core.status__owed import NextAction
from plait.core.task import Attempt, Step


def schedule_starts(state: State) -> Iterator[Due]:
    if not has_engine_slots(state, 1):
        return
    for batch in sorted(state.open.values(), key=_batch_order):
        if not may_start(state, batch) or not has_batch_slots(batch, 1) or _is_branch_moving(batch):
            continue
        if batch.tasks_by_action[NextAction.VERIFY]:
            # It did not fit when `verify` was asked, so nothing may take the room it waits for.
            if _is_verification_waiting(state, batch):
                return
            continue
        choice = next((choice for choice in find_choices(state, batch) if is_affordable(batch, choice)), None)
        if choice is None:
            continue
        slots = clamp_slots(state, batch, choice.task.task)
        if not has_engine_slots(state, slots):
            return
        if has_batch_slots(batch, slots):
            yield due_now(_start_attempt(batch, choice, slots))


def _is_branch_moving(batch: BatchState) -> bool:
    """A moment later there is a newer base to start from, with less to conflict with."""
    return (
        not is_branch_stable(batch)
        or batch.merging is not None
        or bool(batch.tasks_by_action[NextAction.MERGE])
    )


def _batch_order(batch: BatchState) -> tuple[int, int]:
    """Batches share the engine: the one with the least at work is served first, the older one of two alike."""
    return (batch.slots, batch.order)


def _is_verification_waiting(state: State, batch: BatchState) -> bool:
    place = batch.tasks_by_action[NextAction.VERIFY].first()
    assert place is not None
    return not has_engine_slots(state, clamp_slots(state, batch, batch.tasks[place].task))


def _start_attempt(batch: BatchState, choice: Choice, slots: int) -> AttemptStarted:
    task, settings = choice.task, batch.settings
    last = task.last_write
    going_on = last if not task.fresh and last is not None and last.agent == choice.agent else None
    session = going_on.session if going_on is not None else None
    return AttemptStarted(
        Attempt(batch.id, task.task.id, Step.WRITE, task.attempt_counts.get(Step.WRITE, 0) + 1),
        choice.agent,
        settings.provider(choice.agent),
        timeout=task.task.timeout or settings.timeout,
        idle_timeout=settings.idle_timeout,
        slots=slots,
        reserve=choice.reserve,
        base=task.base if task.base is not None else batch.head,
        session=session,
        feedback=task.feedback,
        repairs=task.change_to_repair,
        before=going_on.decision.before + going_on.used if going_on and session else NO_SPEND,
        candidates=list_candidates(batch, task),
    )
