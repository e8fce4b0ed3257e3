"""Recounts the indexes of a State from the tasks' own facts: what `evolve` maintains must be the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from plait.core.reducers.batches import can_never_open, can_open
from plait.core.reducers.task_index import find_next_action, start_order
from plait.core.settings import NO_SPEND
from plait.core.start_queue import SortedSet
from plait.core.state import BatchState, PhaseState, State
from plait.core.status import NextAction, TaskStatus
from plait.core.task import Step


def find_index_errors(state: State) -> list[str]:
    """Differences between the indexes and a recount; empty when there are none."""
    found = [*_check_engine(state)]
    for batch in state.batches.values():
        found += [f"{batch.id}: {difference}" for difference in _check_batch(state, batch)]
    return found


def _compare(name: str, kept: object, counted: object) -> Iterator[str]:
    if kept != counted:
        yield f"{name} is {kept!r}, counted {counted!r}"


def _check_engine(state: State) -> Iterator[str]:
    alive = [attempt for batch in state.batches.values() for attempt in batch.alive.values()]
    writing = [attempt for attempt in alive if attempt.name.step is Step.WRITE]
    yield from _compare("slots", state.slots, sum(attempt.decision.slots for attempt in alive))
    agents = Counter(attempt.agent for attempt in writing)
    yield from _compare("agents", {name: n for name, n in state.agents.items() if n}, dict(agents))
    providers = Counter(attempt.provider for attempt in writing)
    yield from _compare("providers", {name: n for name, n in state.providers.items() if n}, dict(providers))
    running = SortedSet((attempt.expires, attempt.name) for attempt in alive if attempt.ending is None)
    yield from _compare("deadlines", state.deadlines, running)
    waits = SortedSet(
        (task.not_before, batch.id, task.index)
        for batch in state.batches.values()
        for task in batch.tasks
        if task.not_before is not None
    )
    yield from _compare("backoffs", state.backoffs, waits)
    opens = SortedSet((breaker.until, name) for name, breaker in state.breakers.items() if breaker.until is not None)
    yield from _compare("closings", state.breaker_closings, opens)
    gates = SortedSet(
        (batch.gate.deadline, batch.id, batch.gate.n)
        for batch in state.batches.values()
        if batch.gate is not None and batch.gate.ending is None
    )
    yield from _compare("gate deadlines", state.gate_deadlines, gates)
    open_ids = {batch.id for batch in state.batches.values() if batch.ended is None}
    yield from _compare("open", set(state.open), open_ids)
    shipping = {
        name
        for name, batch in state.batches.items()
        if batch.publishing is not None or batch.requested_publish is not None
    }
    yield from _compare("shipping", set(state.publishing_batches), shipping)
    yield from _check_start_queue(state)


def _check_start_queue(state: State) -> Iterator[str]:
    """Free is exactly: no token held by another, none wanted by a better free one of the same lane."""
    entries, held = {}, {}
    for batch in state.batches.values():
        for task in batch.tasks:
            ref = (batch.id, task.index)
            if task.next_action is NextAction.START:
                entries[ref] = (task.queue_key, start_order(batch, task), task.locks)
            if task.holds_locks:
                held.update(dict.fromkeys(task.locks, ref))
    for token, ref in held.items():
        yield from _compare(f"the holder of {token!r}", state.start_queue.holder(token), ref)
    heads: dict[object, object] = {}
    wanted: set[tuple[object, str]] = set()
    for ref, (lane, _, tokens) in sorted(entries.items(), key=lambda item: item[1][1]):
        blocked = any(held.get(token, ref) != ref or (lane, token) in wanted for token in tokens)
        yield from _compare(f"{ref} is parked", state.start_queue.blocking_lock(ref) is not None, blocked)
        if not blocked:
            heads.setdefault(lane, ref)
            wanted.update((lane, token) for token in tokens)
    kept = {entry.queue_key: entry.ref for batch in state.batches for entry in state.start_queue.heads(batch)}
    yield from _compare("heads", kept, heads)
    yield from _compare("the ready", len(state.start_queue), len(entries))


def _check_batch(state: State, batch: BatchState) -> Iterator[str]:
    yield from _check_tasks(batch)
    alive = {name: attempt for task in batch.tasks for name, attempt in task.alive.items()}
    yield from _compare("alive", batch.alive, alive)
    yield from _compare("slots", batch.slots, sum(attempt.decision.slots for attempt in alive.values()))
    claims = (attempt.reserved_spend for attempt in alive.values() if attempt.name.step is Step.WRITE)
    yield from _compare("claims", batch.reserved_spend, sum(claims, NO_SPEND))
    yield from _compare("spent", batch.spent, sum((task.spent for task in batch.tasks), NO_SPEND))
    yield from _compare("active", set(batch.active), {task.index for task in batch.tasks if task.holds_locks})
    yield from _compare(
        "committing", set(batch.committing), {task.index for task in batch.tasks if task.committing is not None}
    )
    failed = {
        task.index for task in batch.tasks if task.status and task.status.is_failure and task.task.entrant is None
    }
    yield from _compare("failures", set(batch.failures), failed)
    yield from _compare("unsettled", batch.unfinished_count, sum(task.status is None for task in batch.tasks))
    tally = Counter(task.status for task in batch.tasks if task.status is not None)
    yield from _compare("tally", {status: n for status, n in batch.status_counts.items() if n}, dict(tally))
    yield from _check_merge_order(batch)
    for name, phase in batch.phases.items():
        yield from _check_phase(batch, phase)
        openable = not phase.open and can_open(batch, phase)
        yield from _compare(f"phase {name} can be opened", name in batch.openable_phases, openable)
        hopeless = not phase.open and not openable and can_never_open(batch, phase)
        yield from _compare(f"phase {name} is hopeless", name in batch.unopenable_phases, hopeless)
    if batch.id in state.open:
        for kind in (
            NextAction.END_ATTEMPT,
            NextAction.END_TASK,
            NextAction.DECIDE_OUTCOME,
            NextAction.COMMIT,
            NextAction.VERIFY,
            NextAction.MERGE,
            NextAction.FINISH,
        ):
            places = SortedSet(task.index for task in batch.tasks if find_next_action(batch, task) is kind)
            yield from _compare(kind.name, batch.tasks_by_action[kind], places)


def _check_phase(batch: BatchState, phase: PhaseState) -> Iterator[str]:
    name = phase.phase.key
    members = [task for task in batch.tasks if task.task.phase == name]
    gating = [task.status for task in members if task.task.gating]
    passed = sum(status in {TaskStatus.DONE, TaskStatus.SKIPPED} for status in gating)
    yield from _compare(f"phase {name}: settled", phase.settled, phase.phase.settled + passed)
    yield from _compare(f"phase {name}: live", phase.live, sum(status is None for status in gating))
    yield from _compare(f"phase {name}: members", phase.members, [task.index for task in members])


def _check_tasks(batch: BatchState) -> Iterator[str]:
    for task in batch.tasks:
        needed = [batch.tasks[need] for need in batch.plan.needs[task.index]]
        name = task.task.id
        entrants = [other for other in needed if other.task.entrant == name]
        yield from _compare(f"{name}: entrants", list(task.entrants), [other.index for other in entrants])
        statuses = [other.status for other in needed if other.task.entrant != name]
        missing = sum(s is not TaskStatus.DONE for s in statuses)
        missing += sum(entrant.status is None for entrant in entrants)
        yield from _compare(f"{name}: pending", task.pending_needs, missing)
        lost = sum(s is not None and s is not TaskStatus.DONE for s in statuses)
        yield from _compare(f"{name}: lost", task.lost_needs, lost)
        yield from _compare(f"{name}: owed", task.next_action, find_next_action(batch, task))


def _check_merge_order(batch: BatchState) -> Iterator[str]:
    for position, entry in enumerate(batch.merges):
        task = batch.tasks[entry.task_index]
        yield from _compare(f"{task.task.id}: its place in the line", task.merge_position, position)
        wanted = task.generation == entry.generation and task.status in {None, TaskStatus.DONE}
        yield from _compare(f"{task.task.id} is unwanted", entry.task_index in batch.merges_to_drop, not wanted)
    head = batch.merges[-1].commit if batch.merges else batch.base
    yield from _compare("head", batch.head, head)
