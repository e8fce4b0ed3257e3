"""Which tasks start now, and which results are verified.

A task starts when its own facts allow it (`find_next_action` in core/reducers/task_index.py: needs, phase, backoff), its
files and groups are free (core/start_queue.py), it is next and an agent may take it (`find_choices` in selection.py), and
its batch and the engine have room (`find_starts`). core/explain.py gives the reason for each of these, and asks
`find_starts` which task is next.

A task that takes several slots is not overtaken while it waits for them, or it might wait for ever. What an agent wrote
is verified before anything new starts.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.contest import list_candidates
from plait.core.decisions import AttemptStarted, Due, due_now
from plait.core.fast_dataclass import dataclass
from plait.core.retry_policy import find_verify_command
from plait.core.scheduler.outcomes import pass_verification
from plait.core.scheduler.selection import (
    Choice,
    clamp_slots,
    find_choices,
    has_batch_slots,
    has_engine_slots,
    is_affordable,
    may_continue,
    may_start,
)
from plait.core.settings import NO_SPEND
from plait.core.state import BatchState, State, TaskState
from plait.core.status import NextAction
from plait.core.task import Attempt, Step


def schedule_starts(state: State) -> Iterator[Due]:
    for batch, found in find_starts(state):
        if isinstance(found, Start):
            yield due_now(_start_attempt(batch, found.choice, found.slots))


@dataclass(frozen=True, slots=True)
class Start:
    choice: Choice
    slots: int


@dataclass(frozen=True, slots=True)
class StartHold:
    """A batch starts nothing now. `task` goes first: it is merged or verified, or waits for `slots`. None: the batch is paused
    or full, or no agent is available. `holds_engine`: batches that come after this one start nothing either.
    """

    task: TaskState | None = None
    slots: int = 0
    holds_engine: bool = False


def find_starts(state: State) -> Iterator[tuple[BatchState, Start | StartHold]]:
    """What each batch would start now, in the order in which batches are served, as far as the engine has slots.

    Batches share the engine: the one with the least at work is served first, the older one of two alike.
    """
    if not has_engine_slots(state, 1):
        return
    for batch in sorted(state.open.values(), key=lambda batch: (batch.slots, batch.order)):
        found = _find_start(state, batch)
        yield batch, found
        if isinstance(found, StartHold) and found.holds_engine:
            return


def _find_start(state: State, batch: BatchState) -> Start | StartHold:
    if not may_start(state, batch) or not has_batch_slots(batch, 1) or not batch.is_branch_stable:
        return StartHold()
    merging = batch.tasks_by_action[NextAction.MERGE].first() if batch.merging is None else batch.merging
    if merging is not None:
        # A moment later there is a newer base to start from, with less to conflict with.
        return StartHold(batch.tasks[merging])
    verifying = batch.tasks_by_action[NextAction.VERIFY].first()
    if verifying is not None:
        # It did not fit when `schedule_verifications` was asked, so nothing may take the room it waits for.
        slots = clamp_slots(state, batch, batch.tasks[verifying].task)
        return StartHold(batch.tasks[verifying], slots, holds_engine=not has_engine_slots(state, slots))
    choice = next((choice for choice in find_choices(state, batch) if is_affordable(batch, choice)), None)
    if choice is None:
        return StartHold()
    slots = clamp_slots(state, batch, choice.task.task)
    if has_engine_slots(state, slots) and has_batch_slots(batch, slots):
        return Start(choice, slots)
    return StartHold(choice.task, slots, holds_engine=not has_engine_slots(state, slots))


def _start_attempt(batch: BatchState, choice: Choice, slots: int) -> AttemptStarted:
    task, settings = choice.task, batch.settings
    last = task.last_write
    continued = last if not task.fresh and last is not None and last.agent == choice.agent else None
    session = continued.session if continued is not None else None
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
        before=continued.decision.before + continued.used if continued and session else NO_SPEND,
        candidates=list_candidates(batch, task),
    )


VERIFY_AGENT = "verify"  # in the place of an agent's name: no agent is at work


def schedule_verifications(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        place = batch.tasks_by_action[NextAction.VERIFY].first()
        if place is None or not may_continue(state, batch):
            continue
        task = batch.tasks[place]
        command = find_verify_command(batch, task)
        slots = clamp_slots(state, batch, task.task)
        if command is None and task.last is not None:  # it was taken out of the settings meanwhile
            yield due_now(pass_verification(batch, task, task.last.name))
        elif command is not None and has_engine_slots(state, slots) and has_batch_slots(batch, slots):
            yield due_now(_start_verification(batch, task, slots, command))


def _start_verification(batch: BatchState, task: TaskState, slots: int, command: str) -> AttemptStarted:
    name = Attempt(batch.id, task.task.id, Step.VERIFY, task.attempt_counts.get(Step.VERIFY, 0) + 1)
    limit = batch.settings.verify_timeout
    base = task.tip or task.base or ""
    return AttemptStarted(name, VERIFY_AGENT, VERIFY_AGENT, limit, limit, slots, base=base, command=command)
