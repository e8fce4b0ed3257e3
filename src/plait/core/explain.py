"""One sentence for every task in every state: why is it where it is."""

from __future__ import annotations

from plait.core.agenda.breaker import allows
from plait.core.agenda.choose import Choice, affordable, reserve
from plait.core.agenda.phase import progress
from plait.core.agenda.rebuild import line_stands
from plait.core.agenda.slots import clamped, room_in_batch, room_in_engine
from plait.core.evolve.index import LOCAL
from plait.core.owed import Owed
from plait.core.settings import Mode
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import EndWhy, TaskStatus
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


def explain(state: State, batch: BatchState, task: TaskState) -> str:
    status, reason = standing(state, batch, task)
    return f"{task.task.id} is {status.value.replace('_', ' ')}: {reason}"


def standing(state: State, batch: BatchState, task: TaskState) -> tuple[TaskStatus, str]:
    """The task's status, and the reason for it in words."""
    if task.status is not None:
        return task.status, task.reason
    if task.interrupted is not None:
        return TaskStatus.INTERRUPTED, f"{task.interrupted}; resume the batch to go on"
    if task.alive:
        return _at_work(next(iter(task.alive.values())))
    if task.merging is None and task.doom is not None:
        return TaskStatus.WAITING, task.doom.reason
    if task.merging is not None or task.merged or task.step is Step.MERGE:
        return TaskStatus.MERGING, _merging(batch, task)
    if task.step is Step.VERIFY and task.unjudged is None:
        return TaskStatus.VERIFYING, _before_verify(state, batch, task)
    return _waiting(state, batch, task)


def _at_work(attempt: AttemptState) -> tuple[TaskStatus, str]:
    verifying = attempt.name.step is Step.VERIFY
    status = TaskStatus.VERIFYING if verifying else TaskStatus.RUNNING
    if attempt.ending is not None:
        return status, f"attempt {attempt.name.n} is being ended, because {_ENDINGS[attempt.ending]}"
    if attempt.question is not None:
        return status, f"it asks: {attempt.question}"
    doing = f" ({attempt.phase})" if attempt.phase else ""
    who = "the check" if verifying else attempt.agent
    return status, f"attempt {attempt.name.n} by {who}{doing}"


def _merging(batch: BatchState, task: TaskState) -> str:
    if task.merging is not None:
        return "it is being merged" + (f", and taken out again: {task.doom.reason}" if task.doom else "")
    if task.not_before is not None and task.retry is not None:
        return f"it is merged again soon, because {task.retry[1]}"
    if not line_stands(batch):
        gone = ", ".join(batch.tasks[place].task.id for place in batch.unwanted)
        return f"the batch branch is being made anew without {gone or 'what was dropped'}"
    if task.merged:
        running = batch.gate is not None and not batch.gate.stale and task.line_place < batch.gate.size
        return "the gate runs on the merged result" if running else "merged; the gate is next"
    if batch.merging is not None:
        return f"its turn to be merged comes after {batch.tasks[batch.merging].task.id}"
    return "its turn to be merged comes next"


def _before_verify(state: State, batch: BatchState, task: TaskState) -> str:
    if task.not_before is not None and task.retry is not None:
        return f"it is verified again soon, because {task.retry[1]}"
    return _shared(state, batch) or _slots(state, batch, task)


def _waiting(state: State, batch: BatchState, task: TaskState) -> tuple[TaskStatus, str]:
    own = _own(batch, task)
    if own is not None:
        return TaskStatus.WAITING, own
    if task.owed is not Owed.START:
        return TaskStatus.QUEUED, "it is about to be judged"
    token = state.ready.waits_for((batch.id, task.place))
    if token is not None:
        return TaskStatus.WAITING, _token(state, token)
    reason = (
        _shared(state, batch)
        or _queue(state, batch, task)
        or _agents(state, batch, task)
        or _money(state, batch, task)
    )
    if reason is not None:
        return TaskStatus.WAITING, reason
    return TaskStatus.QUEUED, _slots(state, batch, task)


def _own(batch: BatchState, task: TaskState) -> str | None:
    """What holds this task back and no other."""
    if task.question is not None:
        return f"it asked: {task.question} (answer with feedback)"
    if task.not_before is not None and task.retry is not None:
        return f"it goes again soon, because {task.retry[1]}"
    if task.pending:
        return _needs(batch, task)
    if task.closed:
        return _phase(batch, task)
    return None


def _needs(batch: BatchState, task: TaskState) -> str:
    waiting = {
        batch.tasks[place].task.id
        for place in batch.plan.needs[task.place]
        if batch.tasks[place].status is not TaskStatus.DONE
    }
    said = [need for need in task.task.needs if need.on in waiting]
    chained = [need for need in said if need.kind is NeedKind.CHAIN]
    names = [need.on for need in said] or sorted(waiting)
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    if chained and len(chained) == len(said):
        why = f" ({chained[0].reason})" if chained[0].reason else ""
        return f"comes after {shown}{more}{why}"
    return f"needs {shown}{more}"


def _phase(batch: BatchState, task: TaskState) -> str:
    phase = batch.phases[task.task.phase or ""].phase
    if phase.opens_with is not None and phase.opens_with in batch.index:
        return f"its phase {phase.key} opens when {phase.opens_with} is done"
    earlier = "; ".join(progress(batch, name) for name in phase.after if name in batch.phases)
    return f"its phase {phase.key} is not open yet ({earlier})"


def _token(state: State, token: str) -> str:
    kind, _, name = token.rpartition(LOCAL)[2].partition(":")
    holder = state.ready.holder(token)
    held = f"held by {_name(state, holder)}" if holder is not None else "which another ready task gets first"
    if kind == "group":
        return f"is in the exclusive group {name}, {held}"
    if kind == "pair":
        other = _name(state, holder) if holder is not None else name
        return f"must not run beside {other}"
    return f"touches {name}, {held}"


def _name(state: State, ref: tuple[str, int]) -> str:
    return state.batches[ref[0]].tasks[ref[1]].task.id


def _shared(state: State, batch: BatchState) -> str | None:
    """What holds the whole batch back."""
    if batch.paused is not None:
        return f"the batch is paused: {batch.paused.why}"
    if state.pressure is not None:
        return f"the machine is short of room: {state.pressure}"
    if not line_stands(batch):
        return "the batch branch is being made anew"
    return None


def _queue(state: State, batch: BatchState, task: TaskState) -> str | None:
    if batch.settings.mode is not Mode.QUEUE or task.started:
        return None
    at_work = next((other.task.id for other in batch.tasks if other.started), None) if batch.active else None
    if at_work is not None:
        return f"its turn comes after {at_work}"
    head = min(state.ready.heads(batch.id), key=lambda entry: entry.key)
    if head.ref[1] != task.place:
        return f"its turn comes after {_name(state, head.ref)}"
    approved = task.approved or batch.settings.auto_approve
    return None if approved else "it waits for approval"


def _agents(state: State, batch: BatchState, task: TaskState) -> str | None:
    """Why none of its agents can take it now; None when one can."""
    reasons = [_agent(state, batch, agent) for agent in task.lane[1]]
    return None if None in reasons else "; ".join(reason for reason in reasons if reason)


def _agent(state: State, batch: BatchState, agent: str) -> str | None:
    provider = batch.settings.provider(agent)
    breaker = state.breakers.get(provider)
    if breaker is not None and breaker.until is not None:
        return f"{provider} takes no more work for now ({breaker.why})"
    if breaker is not None and not allows(state, provider):
        return f"{provider} is given {breaker.limit} at once since its last refusal"
    limit = state.settings.agent_limit(agent)
    if limit and state.agents.get(agent, 0) >= limit:
        return f"{agent} is busy ({limit} of {limit} at work)"
    return None


def _money(state: State, batch: BatchState, task: TaskState) -> str | None:
    agent = task.lane[1][0]
    choice = Choice(task, agent, reserve(state, batch, agent))
    if affordable(batch, choice):
        return None
    return f"it may cost {choice.reserve}, and {batch.spent + batch.claims} of {batch.settings.budget} is spent or reserved"


def _slots(state: State, batch: BatchState, task: TaskState) -> str:
    slots = clamped(state, batch, task.task)
    wanted = f" ({slots} wanted)" if slots > 1 else ""
    if not room_in_batch(batch, slots):
        return f"{batch.slots} of the batch's {batch.settings.max_parallel} slots are taken{wanted}"
    if not room_in_engine(state, slots):
        return f"{state.slots} of all {state.settings.parallel_limit} slots are taken{wanted}"
    return "its turn comes next"
