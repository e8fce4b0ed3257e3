"""One sentence for every task in every state: why is it where it is."""

from __future__ import annotations

from dataclasses import replace

from plait.core.fast_dataclass import dataclass
from plait.core.reducers.task_index import LOCK_SCOPE_SEPARATOR
from plait.core.scheduler.batches import describe_phase_progress
from plait.core.scheduler.merge_queue import is_branch_stable
from plait.core.scheduler.selection import (
    clamp_slots,
    find_fallback_agents,
    has_batch_slots,
    is_affordable,
    is_within_capacity,
    is_within_limit,
    make_choice,
    why_agent_unavailable,
)
from plait.core.settings import Mode
from plait.core.start_queue import TaskRef
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import EndWhy, NextAction, TaskStatus, Waiting
from plait.core.task import NeedKind, Step

_END_REASON_TEXTS = {
    EndWhy.CANCEL: "it was cancelled",
    EndWhy.DROP: "it was dropped",
    EndWhy.BLOCKED: "what it needs was lost",
    EndWhy.STOP: "the batch was stopped",
    EndWhy.TIMEOUT: "its time is up",
    EndWhy.IDLE: "it shows no sign of life",
    EndWhy.FEEDBACK: "feedback arrived for its next attempt",
}
_NAMES_SHOWN = 3

# What a task waits on, in a word and in a sentence.
_WaitText = tuple[Waiting, str]


@dataclass(frozen=True, slots=True)
class TaskExplanation:
    """Where a task stands; `on` says what it waits on where that is what keeps it."""

    status: TaskStatus
    reason: str
    waiting: Waiting | None = None


def explain_in_words(state: State, batch: BatchState, task: TaskState) -> str:
    stands = explain_status(state, batch, task)
    return f"{task.task.id} is {stands.status.value.replace('_', ' ')}: {stands.reason}"


def explain_status(state: State, batch: BatchState, task: TaskState) -> TaskExplanation:
    if task.status is not None:
        return TaskExplanation(task.status, task.reason)
    if task.interrupted is not None:
        reason = f"{task.interrupted}; resume the batch to go on"
        return TaskExplanation(TaskStatus.INTERRUPTED, reason, Waiting.PAUSE)
    if task.alive:
        return _with_predicted_conflicts(task, _explain_running(next(iter(task.alive.values()))))
    if task.merging is None and task.pending_end is not None:
        return TaskExplanation(TaskStatus.WAITING, task.pending_end.reason)
    if task.merging is not None or task.is_merged or task.step is Step.MERGE:
        return _explain_merging(state, batch, task)
    if task.step is Step.VERIFY and not task.undecided_exits:
        on, reason = (
            _why_task_waits(batch, task) or _why_batch_waits(state, batch) or _why_slots_wait(state, batch, task)
        )
        return TaskExplanation(TaskStatus.VERIFYING, reason, on)
    return _explain_waiting(state, batch, task)


def _explain_running(attempt: AttemptState) -> TaskExplanation:
    verifying = attempt.name.step is Step.VERIFY
    status = TaskStatus.VERIFYING if verifying else TaskStatus.RUNNING
    if attempt.ending is not None:
        return TaskExplanation(
            status, f"attempt {attempt.name.n} is being ended, because {_END_REASON_TEXTS[attempt.ending]}"
        )
    if attempt.question is not None:
        return TaskExplanation(status, f"it asks: {attempt.question}", Waiting.ANSWER)
    doing = f" ({attempt.phase})" if attempt.phase else ""
    who = "the check" if verifying else attempt.agent
    return TaskExplanation(status, f"attempt {attempt.name.n} by {who}{doing}")


def _with_predicted_conflicts(task: TaskState, stands: TaskExplanation) -> TaskExplanation:
    """With the conflicts that are foreseen for what it writes now."""
    if not task.predicted_conflicts:
        return stands
    said = [
        f"{other or 'the batch branch'} in {_join_names(list(files))}"
        for other, files in task.predicted_conflicts.items()
    ]
    return replace(stands, reason=f"{stands.reason}; would conflict with {_join_names(said)}")


def _join_names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


def _explain_merging(state: State, batch: BatchState, task: TaskState) -> TaskExplanation:
    if task.merging is not None:
        after = f", and taken out again: {task.pending_end.reason}" if task.pending_end else ""
        return TaskExplanation(TaskStatus.MERGING, f"it is being merged{after}")
    own = _why_task_waits(batch, task)
    if own is not None:
        return TaskExplanation(TaskStatus.MERGING, own[1], own[0])
    if not is_branch_stable(batch):
        gone = ", ".join(batch.tasks[place].task.id for place in batch.merges_to_drop)
        reason = f"the batch branch is being made anew without {gone or 'what was dropped'}"
        return TaskExplanation(TaskStatus.MERGING, reason, Waiting.BRANCH)
    return _explain_gate_turn(state, batch, task) if task.is_merged else _explain_merge_turn(batch)


def _explain_merge_turn(batch: BatchState) -> TaskExplanation:
    if batch.merging is not None:
        reason = f"its turn to be merged comes after {batch.tasks[batch.merging].task.id}"
        return TaskExplanation(TaskStatus.MERGING, reason, Waiting.TURN)
    return TaskExplanation(TaskStatus.MERGING, "its turn to be merged comes next", Waiting.TURN)


def _explain_gate_turn(state: State, batch: BatchState, task: TaskState) -> TaskExplanation:
    if batch.gate is not None and not batch.gate.stale and task.merge_position < batch.gate.size:
        return TaskExplanation(TaskStatus.MERGING, "the gate runs on the merged result")
    held = _why_batch_waits(state, batch) if batch.gate is None else None
    if held is not None:
        return TaskExplanation(TaskStatus.MERGING, f"merged; {held[1]}", held[0])
    return TaskExplanation(TaskStatus.MERGING, "merged; the gate is next", Waiting.TURN)


def _explain_waiting(state: State, batch: BatchState, task: TaskState) -> TaskExplanation:
    own = _why_task_waits(batch, task)
    if own is None and task.next_action is not NextAction.START:
        return TaskExplanation(TaskStatus.QUEUED, "it is about to be judged")
    token = state.start_queue.blocking_lock((batch.id, task.place))
    if own is None and token is not None:
        own = (Waiting.FILES, _describe_lock(state, batch, token))
    why = (
        own
        or _why_batch_waits(state, batch)
        or _why_queue_waits(state, batch, task)
        or _why_agents_wait(state, batch, task)
        or _why_budget_waits(state, batch, task)
    )
    if why is not None:
        return TaskExplanation(TaskStatus.WAITING, why[1], why[0])
    on, reason = _why_slots_wait(state, batch, task)
    return TaskExplanation(TaskStatus.WAITING if on is Waiting.MEMORY else TaskStatus.QUEUED, reason, on)


def _why_task_waits(batch: BatchState, task: TaskState) -> _WaitText | None:
    """What holds this task back and no other."""
    if task.question is not None:
        return Waiting.ANSWER, f"it asked: {task.question} (answer with feedback)"
    if task.not_before is not None and task.retry_reason is not None:
        verbs = {Step.MERGE: "is merged", Step.VERIFY: "is verified", Step.WRITE: "goes"}
        return Waiting.BACKOFF, f"it {verbs[task.step]} again soon, because {task.retry_reason}"
    if task.pending_needs:
        return Waiting.NEEDS, _describe_needs(batch, task)
    return (Waiting.PHASE, _describe_phase(batch, task)) if task.phase_closed else None


def _describe_needs(batch: BatchState, task: TaskState) -> str:
    awaited = [batch.tasks[place] for place in task.entrants]
    going = [other.task.id for other in awaited if other.status is None]
    needed = (batch.tasks[place] for place in batch.plan.needs[task.place] if place not in task.entrants)
    missing = {other.task.id for other in needed if other.status is not TaskStatus.DONE}
    if not missing and going:
        return (
            f"waits for its entrants: {_join_names(going)} ({len(awaited) - len(going)} of {len(awaited)} have ended)"
        )
    said = [need for need in task.task.needs if need.on in missing]
    names = list(dict.fromkeys(need.on for need in said)) or sorted(missing)
    shown = _join_names(names)
    if said and all(need.kind is NeedKind.CHAIN for need in said):
        why = f" ({said[0].reason})" if said[0].reason else ""
        return f"comes after {shown}{why}"
    return f"needs {shown}"


def _describe_phase(batch: BatchState, task: TaskState) -> str:
    phase = batch.phases[task.task.phase or ""].phase
    if phase.opens_with is not None and phase.opens_with in batch.index:
        return f"its phase {phase.key} opens when {phase.opens_with} is done"
    earlier = describe_phase_progress(batch, batch.phases[phase.key])
    return f"its phase {phase.key} is not open yet ({earlier})"


def _describe_lock(state: State, batch: BatchState, token: str) -> str:
    kind, _, name = token.rpartition(LOCK_SCOPE_SEPARATOR)[2].partition(":")
    holder = state.start_queue.holder(token)
    if kind == "pair":
        return f"must not run beside {_task_name(state, batch, holder) if holder is not None else name}"
    held = "which another ready task gets first"
    if holder is not None:
        held = f"held by {_task_name(state, batch, holder)}"
    return f"is in the exclusive group {name}, {held}" if kind == "group" else f"touches {name}, {held}"


def _task_name(state: State, batch: BatchState, ref: TaskRef) -> str:
    name = state.batches[ref[0]].tasks[ref[1]].task.id
    return name if ref[0] == batch.id else f"{name} of batch {ref[0]}"


def _why_batch_waits(state: State, batch: BatchState) -> _WaitText | None:
    """What holds the whole batch back."""
    if batch.paused is not None:
        return Waiting.PAUSE, f"the batch is paused: {batch.paused.why}"
    if state.pressure is not None:
        return Waiting.MEMORY, f"the machine is short of room: {state.pressure}"
    if not is_branch_stable(batch):
        return Waiting.BRANCH, "the batch branch is being made anew"
    return None


def _why_queue_waits(state: State, batch: BatchState, task: TaskState) -> _WaitText | None:
    if batch.settings.mode is not Mode.QUEUE or task.started:
        return None
    for place in batch.active:
        return Waiting.TURN, f"its turn comes after {batch.tasks[place].task.id}"
    head = min(state.start_queue.heads(batch.id), key=lambda entry: entry.key)
    if head.ref[1] != task.place:
        return Waiting.TURN, f"its turn comes after {_task_name(state, batch, head.ref)}"
    approved = task.approved or batch.settings.auto_approve
    return None if approved else (Waiting.APPROVAL, "it waits for approval")


def _why_agents_wait(state: State, batch: BatchState, task: TaskState) -> _WaitText | None:
    """Why none of its agents can take it now; None when one can."""
    reasons = [
        why_agent_unavailable(state, batch, agent)
        for agent in (*task.queue_key[1], *find_fallback_agents(state, batch, task))
    ]
    if None in reasons:
        return None
    return Waiting.LIMIT, "; ".join(dict.fromkeys(reason for reason in reasons if reason))


def _why_budget_waits(state: State, batch: BatchState, task: TaskState) -> _WaitText | None:
    agents = find_fallback_agents(state, batch, task) or task.queue_key[1]
    offers = [make_choice(state, batch, task, agent) for agent in agents]
    if batch.settings.budget is None or any(is_affordable(batch, one) for one in offers):
        return None
    spent = batch.spent + batch.reserved_spend
    reason = f"it may cost {offers[0].reserve}, and {spent} of {batch.settings.budget} is spent or reserved"
    return Waiting.BUDGET, reason


def _why_slots_wait(state: State, batch: BatchState, task: TaskState) -> _WaitText:
    slots = clamp_slots(state, batch, task.task)
    wanted = f" ({slots} wanted)" if slots > 1 else ""
    if not has_batch_slots(batch, slots):
        limit = batch.settings.max_parallel
        return Waiting.SLOT, f"{batch.slots} of the batch's {limit} slots are taken{wanted}"
    if not is_within_limit(state, slots):
        return Waiting.SLOT, f"{state.slots} of all {state.settings.parallel_limit} slots are taken{wanted}"
    if state.capacity is not None and not is_within_capacity(state, slots):
        return state.capacity.on, f"{state.capacity.why}{wanted}"
    return Waiting.TURN, "its turn comes next"
