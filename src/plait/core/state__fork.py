"""A twin of the state, to run ahead in: whatever happens to it does not touch the original."""

from __future__ import annotations

from copy import copy

from plait.core.state import AttemptState, BatchState, State, TaskState


def copy_state(state: State) -> State:
    """Batches that have ended are shared, unless a request is on its way that may open them again."""
    twin = copy(state)
    living = {getattr(request, "batch", "") for request in state.unanswered.values()}
    living |= state.open.keys() | state.publishing_batches.keys()
    own = {name: _copy_batch(batch) for name, batch in state.batches.items() if name in living}
    twin.batches = state.batches | own
    twin.open = {name: own[name] for name in state.open}
    twin.publishing_batches = {name: twin.batches[name] for name in state.publishing_batches}
    twin.seen_requests = set(state.seen_requests)
    twin.unanswered = dict(state.unanswered)
    twin.start_queue = state.start_queue.copy()
    twin.agents, twin.providers = dict(state.agents), dict(state.providers)
    twin.breakers = {name: copy(breaker) for name, breaker in state.breakers.items()}
    twin.agent_stats = {name: copy(known) for name, known in state.agent_stats.items()}
    twin.task_durations, twin.changed_files = dict(state.task_durations), dict(state.changed_files)
    twin.refusals = list(state.refusals)
    twin.deadlines, twin.backoffs = state.deadlines.copy(), state.backoffs.copy()
    twin.breaker_closings, twin.gate_deadlines = state.breaker_closings.copy(), state.gate_deadlines.copy()
    return twin


def _copy_batch(batch: BatchState) -> BatchState:
    twin = copy(batch)
    attempts = {id(attempt): copy(attempt) for attempt in batch.alive.values()}
    twin.alive = {name: attempts[id(attempt)] for name, attempt in batch.alive.items()}
    twin.tasks = [_copy_task(task, attempts) for task in batch.tasks]
    twin.phases = {name: copy(phase) for name, phase in batch.phases.items()}
    twin.openable_phases, twin.unopenable_phases, twin.merges_to_drop = (
        dict(batch.openable_phases),
        dict(batch.unopenable_phases),
        dict(batch.merges_to_drop),
    )
    twin.tasks_by_action = {owed: places.copy() for owed, places in batch.tasks_by_action.items()}
    twin.agents_used, twin.status_counts = dict(batch.agents_used), dict(batch.status_counts)
    twin.merges = list(batch.merges)
    twin.active, twin.failures = dict(batch.active), dict(batch.failures)
    twin.gate, twin.gate_passed_commits = copy(batch.gate), set(batch.gate_passed_commits)
    return twin


def _copy_task(task: TaskState, attempts: dict[int, AttemptState]) -> TaskState:
    """Attempts that are over never change again and are shared; the living ones are this twin's own."""
    twin = copy(task)
    twin.alive = {name: attempts[id(attempt)] for name, attempt in task.alive.items()}
    twin.undecided_exits = list(task.undecided_exits)
    twin.attempt_counts, twin.predicted_conflicts = dict(task.attempt_counts), dict(task.predicted_conflicts)
    twin.last = attempts.get(id(task.last), task.last)
    twin.last_write = attempts.get(id(task.last_write), task.last_write)
    return twin
