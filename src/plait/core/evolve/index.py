"""The index of what is owed: each task stands in exactly one place of it, by its own facts."""

from __future__ import annotations

from plait.core.contest import unwinnable
from plait.core.owed import Owed
from plait.core.ready import Entry, Key
from plait.core.settings import Isolation, Mode, Order
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Step

LOCAL = "\0"  # between a batch and its token: neither an id nor a file name can hold it


def owed(batch: BatchState, task: TaskState) -> Owed:
    if condemned(batch, task):
        return _owed_to_condemned(task)
    if task.status is not None or task.interrupted is not None:
        return Owed.NOTHING
    if awaits_judgement(task):
        return Owed.JUDGE
    if task.alive:
        must_end = task.redo and any(attempt.ending is None for attempt in task.alive.values())
        return Owed.END if must_end else Owed.NOTHING
    if task.merging is not None or task.not_before is not None or task.question is not None or task.pending:
        return Owed.NOTHING
    if task.merged:
        ungated = batch.settings.gate is not None and task.line_place >= batch.gated
        return Owed.NOTHING if ungated else Owed.FINISH
    if task.step is not Step.WRITE:
        return Owed.VERIFY if task.step is Step.VERIFY else Owed.MERGE
    if task.entrants and unwinnable(batch, task):
        return Owed.SETTLE
    return Owed.NOTHING if task.closed else Owed.START


def condemned(batch: BatchState, task: TaskState) -> bool:
    """It will end, whatever its attempts say: by request, or because something it waits for will not come."""
    if task.doom is not None:
        return True
    if task.status is not None and task.status is not TaskStatus.DONE:
        return False
    return task.lost > 0 or (task.status is None and task.closed and task.task.phase in batch.hopeless)


def awaits_judgement(task: TaskState) -> bool:
    return bool(task.unjudged) or task.clash is not None or task.merge_error is not None


def _owed_to_condemned(task: TaskState) -> Owed:
    if any(attempt.ending is None for attempt in task.alive.values()):
        return Owed.END
    return Owed.NOTHING if task.alive or task.merging is not None else Owed.SETTLE


def place(state: State, batch: BatchState, task: TaskState) -> None:
    """Put the task where its facts say; to be called after every change of them."""
    if task.pending and task.under_way:
        _step_back(state, batch, task)
    now = owed(batch, task)
    if now is task.owed:
        return
    if task.owed is Owed.START:
        state.ready.discard((batch.id, task.place))
    elif task.owed is not Owed.NOTHING:
        batch.owed[task.owed].discard(task.place)
    if now is Owed.START:
        state.ready.add(Entry((batch.id, task.place), task.lane, key(batch, task), task.tokens))
    elif now is not Owed.NOTHING:
        batch.owed[now].add(task.place)
    task.owed = now


def _step_back(state: State, batch: BatchState, task: TaskState) -> None:
    """What it needs is to be done again: it holds nothing meanwhile, or the need might wait for a file it holds."""
    if task.alive or task.merging is not None or awaits_judgement(task):
        return
    if not task.merged:
        task.step, task.base, task.tip = Step.WRITE, None, None
    put_down(state, batch, task)


def take(state: State, batch: BatchState, task: TaskState) -> None:
    """Its tokens and its workspace are its own until it is merged."""
    if not task.started:
        task.started = True
        batch.active[task.place] = None
    state.ready.take((batch.id, task.place), task.tokens)


def take_anew(state: State, batch: BatchState, task: TaskState) -> None:
    """Of what is known by now that it changes it holds all, or it holds nothing and waits for all: so two never repair one
    file at the same time, and nobody waits for a file while holding another one.
    """
    wanted = {**dict.fromkeys(task.tokens), **dict.fromkeys(_wanted(batch, task))}
    others = (state.ready.holder(token) not in {None, (batch.id, task.place)} for token in wanted)
    if not task.started or any(others):
        put_down(state, batch, task)
    else:
        task.tokens = tuple(wanted)
        take(state, batch, task)


def put_down(state: State, batch: BatchState, task: TaskState) -> None:
    """Its tokens and its workspace are free."""
    if task.started:
        task.started = False
        del batch.active[task.place]
        state.ready.release((batch.id, task.place), task.tokens)
        task.tokens = _wanted(batch, task)


def _wanted(batch: BatchState, task: TaskState) -> tuple[str, ...]:
    return (*tokens(batch, batch.plan.holds[task.place]), *task.learnt)


def key(batch: BatchState, task: TaskState) -> Key:
    """The order among the ready: who holds its files first, then what was begun, then what people call urgent, then the batch's order."""
    begun = 0 if task.started else 1 + task.fresh
    if batch.settings.mode is Mode.QUEUE or batch.settings.order is Order.FIFO:
        return (begun, 0, 0.0, task.place)
    if batch.settings.order is Order.QUICK_FIRST:
        return (begun, task.task.priority, task.task.expected, task.place)
    return (begun, task.task.priority, -batch.plan.ranks[task.place], task.place)


def tokens(batch: BatchState, holds: tuple[str, ...]) -> tuple[str, ...]:
    """A group is one for the engine; a file is one for each target branch, which in-place batches share."""
    shared = batch.settings.isolation is Isolation.IN_PLACE
    return tuple(
        token
        if token.startswith("group:") or (shared and token.startswith("file:"))
        else f"{batch.id}{LOCAL}{token}"
        for token in holds
    )


def relane(state: State, batch: BatchState, task: TaskState, agents: tuple[str, ...]) -> None:
    """Give the task's choice of agents and its place in the order anew, after settings changed."""
    waiting = task.owed is Owed.START
    if waiting:
        state.ready.discard((batch.id, task.place))
        task.owed = Owed.NOTHING
    task.lane = (batch.id, agents, task.lane[2])
    if waiting:
        place(state, batch, task)
