"""One sentence for every task in every state: why is it where it is."""

from __future__ import annotations

from dataclasses import replace

from plait.core.agenda.choose import affordable, fallback, offer, why_busy
from plait.core.agenda.phase import progress
from plait.core.agenda.rebuild import line_stands
from plait.core.agenda.slots import clamped, room_in_batch, within_limit, within_room
from plait.core.evolve.index import LOCAL
from plait.core.frozen import dataclass
from plait.core.owed import Owed
from plait.core.ready import Ref
from plait.core.settings import Mode
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import EndWhy, TaskStatus, Waiting
from plait.core.task import NeedKind, Step

_ENDINGS = {
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
Why = tuple[Waiting, str]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a task stands; `on` says what it waits on where that is what keeps it."""

    status: TaskStatus
    reason: str
    on: Waiting | None = None


def explain(state: State, batch: BatchState, task: TaskState) -> str:
    stands = standing(state, batch, task)
    return f"{task.task.id} is {stands.status.value.replace('_', ' ')}: {stands.reason}"


def standing(state: State, batch: BatchState, task: TaskState) -> Standing:
    if task.status is not None:
        return Standing(task.status, task.reason)
    if task.interrupted is not None:
        reason = f"{task.interrupted}; resume the batch to go on"
        return Standing(TaskStatus.INTERRUPTED, reason, Waiting.PAUSE)
    if task.alive:
        return _warned(task, _at_work(next(iter(task.alive.values()))))
    if task.merging is None and task.doom is not None:
        return Standing(TaskStatus.WAITING, task.doom.reason)
    if task.merging is not None or task.merged or task.step is Step.MERGE:
        return _merging(state, batch, task)
    if task.step is Step.VERIFY and not task.unjudged:
        on, reason = _own(batch, task) or _shared(state, batch) or _slots(state, batch, task)
        return Standing(TaskStatus.VERIFYING, reason, on)
    return _waiting(state, batch, task)


def _at_work(attempt: AttemptState) -> Standing:
    verifying = attempt.name.step is Step.VERIFY
    status = TaskStatus.VERIFYING if verifying else TaskStatus.RUNNING
    if attempt.ending is not None:
        return Standing(
            status, f"attempt {attempt.name.n} is being ended, because {_ENDINGS[attempt.ending]}"
        )
    if attempt.question is not None:
        return Standing(status, f"it asks: {attempt.question}", Waiting.ANSWER)
    doing = f" ({attempt.phase})" if attempt.phase else ""
    who = "the check" if verifying else attempt.agent
    return Standing(status, f"attempt {attempt.name.n} by {who}{doing}")


def _warned(task: TaskState, stands: Standing) -> Standing:
    """With the conflicts that are foreseen for what it writes now."""
    if not task.foreseen:
        return stands
    said = [
        f"{other or 'the batch branch'} in {_some(list(files))}" for other, files in task.foreseen.items()
    ]
    return replace(stands, reason=f"{stands.reason}; would conflict with {_some(said)}")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


def _merging(state: State, batch: BatchState, task: TaskState) -> Standing:
    if task.merging is not None:
        after = f", and taken out again: {task.doom.reason}" if task.doom else ""
        return Standing(TaskStatus.MERGING, f"it is being merged{after}")
    own = _own(batch, task)
    if own is not None:
        return Standing(TaskStatus.MERGING, own[1], own[0])
    if not line_stands(batch):
        gone = ", ".join(batch.tasks[place].task.id for place in batch.unwanted)
        reason = f"the batch branch is being made anew without {gone or 'what was dropped'}"
        return Standing(TaskStatus.MERGING, reason, Waiting.BRANCH)
    return _before_gate(state, batch, task) if task.merged else _before_merge(batch)


def _before_merge(batch: BatchState) -> Standing:
    if batch.merging is not None:
        reason = f"its turn to be merged comes after {batch.tasks[batch.merging].task.id}"
        return Standing(TaskStatus.MERGING, reason, Waiting.TURN)
    return Standing(TaskStatus.MERGING, "its turn to be merged comes next", Waiting.TURN)


def _before_gate(state: State, batch: BatchState, task: TaskState) -> Standing:
    if batch.gate is not None and not batch.gate.stale and task.line_place < batch.gate.size:
        return Standing(TaskStatus.MERGING, "the gate runs on the merged result")
    held = _shared(state, batch) if batch.gate is None else None
    if held is not None:
        return Standing(TaskStatus.MERGING, f"merged; {held[1]}", held[0])
    return Standing(TaskStatus.MERGING, "merged; the gate is next", Waiting.TURN)


def _waiting(state: State, batch: BatchState, task: TaskState) -> Standing:
    own = _own(batch, task)
    if own is None and task.owed is not Owed.START:
        return Standing(TaskStatus.QUEUED, "it is about to be judged")
    token = state.ready.waits_for((batch.id, task.place))
    if own is None and token is not None:
        own = (Waiting.FILES, _token(state, batch, token))
    why = (
        own
        or _shared(state, batch)
        or _queue(state, batch, task)
        or _agents(state, batch, task)
        or _money(state, batch, task)
    )
    if why is not None:
        return Standing(TaskStatus.WAITING, why[1], why[0])
    on, reason = _slots(state, batch, task)
    return Standing(TaskStatus.WAITING if on is Waiting.MEMORY else TaskStatus.QUEUED, reason, on)


def _own(batch: BatchState, task: TaskState) -> Why | None:
    """What holds this task back and no other."""
    if task.question is not None:
        return Waiting.ANSWER, f"it asked: {task.question} (answer with feedback)"
    if task.not_before is not None and task.retry is not None:
        verbs = {Step.MERGE: "is merged", Step.VERIFY: "is verified", Step.WRITE: "goes"}
        return Waiting.BACKOFF, f"it {verbs[task.step]} again soon, because {task.retry}"
    if task.pending:
        return Waiting.NEEDS, _needs(batch, task)
    return (Waiting.PHASE, _phase(batch, task)) if task.closed else None


def _needs(batch: BatchState, task: TaskState) -> str:
    awaited = [batch.tasks[place] for place in task.entrants]
    going = [other.task.id for other in awaited if other.status is None]
    needed = (batch.tasks[place] for place in batch.plan.needs[task.place] if place not in task.entrants)
    missing = {other.task.id for other in needed if other.status is not TaskStatus.DONE}
    if not missing and going:
        return f"waits for its entrants: {_some(going)} ({len(awaited) - len(going)} of {len(awaited)} have ended)"
    said = [need for need in task.task.needs if need.on in missing]
    names = list(dict.fromkeys(need.on for need in said)) or sorted(missing)
    shown = _some(names)
    if said and all(need.kind is NeedKind.CHAIN for need in said):
        why = f" ({said[0].reason})" if said[0].reason else ""
        return f"comes after {shown}{why}"
    return f"needs {shown}"


def _phase(batch: BatchState, task: TaskState) -> str:
    phase = batch.phases[task.task.phase or ""].phase
    if phase.opens_with is not None and phase.opens_with in batch.index:
        return f"its phase {phase.key} opens when {phase.opens_with} is done"
    earlier = progress(batch, batch.phases[phase.key])
    return f"its phase {phase.key} is not open yet ({earlier})"


def _token(state: State, batch: BatchState, token: str) -> str:
    kind, _, name = token.rpartition(LOCAL)[2].partition(":")
    holder = state.ready.holder(token)
    if kind == "pair":
        return f"must not run beside {_name(state, batch, holder) if holder is not None else name}"
    held = "which another ready task gets first"
    if holder is not None:
        held = f"held by {_name(state, batch, holder)}"
    return f"is in the exclusive group {name}, {held}" if kind == "group" else f"touches {name}, {held}"


def _name(state: State, batch: BatchState, ref: Ref) -> str:
    name = state.batches[ref[0]].tasks[ref[1]].task.id
    return name if ref[0] == batch.id else f"{name} of batch {ref[0]}"


def _shared(state: State, batch: BatchState) -> Why | None:
    """What holds the whole batch back."""
    if batch.paused is not None:
        return Waiting.PAUSE, f"the batch is paused: {batch.paused.why}"
    if state.pressure is not None:
        return Waiting.MEMORY, f"the machine is short of room: {state.pressure}"
    if not line_stands(batch):
        return Waiting.BRANCH, "the batch branch is being made anew"
    return None


def _queue(state: State, batch: BatchState, task: TaskState) -> Why | None:
    if batch.settings.mode is not Mode.QUEUE or task.started:
        return None
    for place in batch.active:
        return Waiting.TURN, f"its turn comes after {batch.tasks[place].task.id}"
    head = min(state.ready.heads(batch.id), key=lambda entry: entry.key)
    if head.ref[1] != task.place:
        return Waiting.TURN, f"its turn comes after {_name(state, batch, head.ref)}"
    approved = task.approved or batch.settings.auto_approve
    return None if approved else (Waiting.APPROVAL, "it waits for approval")


def _agents(state: State, batch: BatchState, task: TaskState) -> Why | None:
    """Why none of its agents can take it now; None when one can."""
    reasons = [why_busy(state, batch, agent) for agent in (*task.lane[1], *fallback(state, batch, task))]
    if None in reasons:
        return None
    return Waiting.LIMIT, "; ".join(dict.fromkeys(reason for reason in reasons if reason))


def _money(state: State, batch: BatchState, task: TaskState) -> Why | None:
    agents = fallback(state, batch, task) or task.lane[1]
    offers = [offer(state, batch, task, agent) for agent in agents]
    if batch.settings.budget is None or any(affordable(batch, one) for one in offers):
        return None
    spent = batch.spent + batch.claims
    reason = f"it may cost {offers[0].reserve}, and {spent} of {batch.settings.budget} is spent or reserved"
    return Waiting.BUDGET, reason


def _slots(state: State, batch: BatchState, task: TaskState) -> Why:
    slots = clamped(state, batch, task.task)
    wanted = f" ({slots} wanted)" if slots > 1 else ""
    if not room_in_batch(batch, slots):
        limit = batch.settings.max_parallel
        return Waiting.SLOT, f"{batch.slots} of the batch's {limit} slots are taken{wanted}"
    if not within_limit(state, slots):
        return Waiting.SLOT, f"{state.slots} of all {state.settings.parallel_limit} slots are taken{wanted}"
    if state.room is not None and not within_room(state, slots):
        return state.room.on, f"{state.room.why}{wanted}"
    return Waiting.TURN, "its turn comes next"
