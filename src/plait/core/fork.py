"""A twin of the state, to run ahead in: whatever happens to it does not touch the original."""

from __future__ import annotations

from copy import copy

from plait.core.state import AttemptState, BatchState, State, TaskState


def fork(state: State) -> State:
    """Batches that have ended are shared, unless a request is on its way that may open them again."""
    twin = copy(state)
    living = {getattr(request, "batch", "") for request in state.unanswered.values()}
    living |= state.open.keys() | state.shipping.keys()
    own = {name: _fork_batch(batch) for name, batch in state.batches.items() if name in living}
    twin.batches = state.batches | own
    twin.open = {name: own[name] for name in state.open}
    twin.shipping = {name: twin.batches[name] for name in state.shipping}
    twin.seen = set(state.seen)
    twin.unanswered = dict(state.unanswered)
    twin.ready = state.ready.copy()
    twin.agents, twin.providers = dict(state.agents), dict(state.providers)
    twin.breakers = {name: copy(breaker) for name, breaker in state.breakers.items()}
    twin.experience = {name: copy(known) for name, known in state.experience.items()}
    twin.lengths, twin.touched = dict(state.lengths), dict(state.touched)
    twin.refusals = list(state.refusals)
    twin.deadlines, twin.backoffs = state.deadlines.copy(), state.backoffs.copy()
    twin.closings, twin.gate_deadlines = state.closings.copy(), state.gate_deadlines.copy()
    return twin


def _fork_batch(batch: BatchState) -> BatchState:
    twin = copy(batch)
    attempts = {id(attempt): copy(attempt) for attempt in batch.alive.values()}
    twin.alive = {name: attempts[id(attempt)] for name, attempt in batch.alive.items()}
    twin.tasks = [_fork_task(task, attempts) for task in batch.tasks]
    twin.phases = {name: copy(phase) for name, phase in batch.phases.items()}
    twin.openable, twin.hopeless, twin.unwanted = (
        dict(batch.openable),
        dict(batch.hopeless),
        dict(batch.unwanted),
    )
    twin.owed = {owed: places.copy() for owed, places in batch.owed.items()}
    twin.agents_used, twin.tally = dict(batch.agents_used), dict(batch.tally)
    twin.line = list(batch.line)
    twin.active, twin.failures = dict(batch.active), dict(batch.failures)
    twin.gate, twin.passed = copy(batch.gate), set(batch.passed)
    return twin


def _fork_task(task: TaskState, attempts: dict[int, AttemptState]) -> TaskState:
    """Attempts that are over never change again and are shared; the living ones are this twin's own."""
    twin = copy(task)
    twin.alive = {name: attempts[id(attempt)] for name, attempt in task.alive.items()}
    twin.unjudged = list(task.unjudged)
    twin.numbers, twin.foreseen = dict(task.numbers), dict(task.foreseen)
    twin.last = attempts.get(id(task.last), task.last)
    twin.last_write = attempts.get(id(task.last_write), task.last_write)
    return twin
