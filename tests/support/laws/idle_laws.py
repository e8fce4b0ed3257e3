"""What must hold when the core has nothing more to decide: nothing is due, nothing could start, it wakes in time, and a
batch whose work all waits for a person says so.

A task that needs several slots may hold others back while it waits for them, and so may a budget that runs out: only what
no such reason can excuse is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import AttemptStarted
from plait.core.scheduler.rules import is_engine_needed
from plait.core.settings import Mode, OnConflict, Order
from plait.core.state import State
from plait.core.status import TaskStatus
from plait.core.task import Step
from plait.core.views import waits_for_person
from tests.support.laws.batch_laws import may_open
from tests.support.laws.eligibility import find_available_agents
from tests.support.laws.facts import BatchFacts, Facts, TaskFacts

SECONDS_PER_WEIGHT = 600.0  # seconds that a task of weight 1 is taken to last


def check_no_starvation(facts: Facts) -> None:
    if (
        facts.pressure is not None
        or _is_full(facts, facts.settings.parallel_limit or None)
        or _is_full(facts, facts.capacity)
    ):
        return
    waiting = [found for batch in facts.batches.values() if not batch.ended for found in _find_startable(facts, batch)]
    if facts.alive and any(_slots(facts, batch, task) > 1 for batch, task in waiting):
        return
    for batch, task in waiting:
        if _has_room(batch) and _waits_for_budget(batch) is None:
            raise facts.violation("starved", f"{batch.id}/{task.spec.id} could have its {task.step} now", task)


def _is_full(facts: Facts, limit: int | None) -> bool:
    return limit is not None and facts.slots >= limit


def _find_startable(facts: Facts, batch: BatchFacts) -> Iterator[tuple[BatchFacts, TaskFacts]]:
    """What could start now if only there were slots for it."""
    if batch.is_stopped:
        return
    ready = [task for task in batch.tasks.values() if _is_idle(batch, task) and _has_locks_free(facts, batch, task)]
    yield from ((batch, task) for task in ready if task.step is Step.VERIFY)
    if batch.paused is not None or batch.merging or batch.rebuild is not None or batch.find_unwanted():
        return
    writers = [task for task in ready if task.step is Step.WRITE and _is_phase_open(batch, task)]
    if batch.settings.mode is Mode.QUEUE:
        writers = _next_in_queue(batch, writers)
    yield from ((batch, task) for task in writers if find_available_agents(facts, batch, task))


def check_start_order(facts: Facts, _at: float, event: AttemptStarted) -> None:
    """Of the tasks of a batch that could start, the first one does. (Which of them money allows, only the core knows.)"""
    batch = facts.batch(event.attempt.batch)
    if event.attempt.step is not Step.WRITE or batch.settings.budget is not None:
        return
    mine = rank(batch, batch.tasks[event.attempt.task])
    for _, task in _find_startable(facts, batch):
        if task.step is Step.WRITE and rank(batch, task) < mine:
            message = f"{event.attempt} started before {task.spec.id}, whose turn it was"
            raise facts.violation("order", message, task)


def rank(batch: BatchFacts, task: TaskFacts) -> tuple[int, int, float, int]:
    """What is under way goes first, then what was begun, then what is urgent, then by the batch's order."""
    begun = 2 - task.begun - task.active
    if batch.settings.mode is Mode.QUEUE or batch.settings.order is Order.FIFO:
        return (begun, 0, 0.0, task.place)
    if batch.settings.order is Order.QUICK_FIRST:
        spec = task.spec
        length = spec.estimate if spec.estimate is not None else spec.weight * SECONDS_PER_WEIGHT
    else:
        length = -batch.plan.ranks[task.place]
    return (begun, task.spec.priority, length, task.place)


def _is_idle(batch: BatchFacts, task: TaskFacts) -> bool:
    if task.ended is not None or task.alive is not None or task.merging is not None or task.pending_end:
        return False
    if task.uncommitted is not None:
        return False
    if batch.has_no_candidates(task):
        return False
    if task.retry_at is not None or task.asking or task.interrupted or not batch.has_needs_done(task):
        return False
    return all(link.task != task.spec.id or link.generation != task.generation for link in batch.merges)


def _is_phase_open(batch: BatchFacts, task: TaskFacts) -> bool:
    phase = task.spec.phase
    if phase is None or phase not in batch.phases or phase in batch.opened:
        return True
    return task.ignores_phase(batch.phases[phase])


def _has_locks_free(facts: Facts, batch: BatchFacts, task: TaskFacts) -> bool:
    me = (batch.id, task.spec.id)
    return all(facts.lock_holders.get(token, me) == me for token in task.locks)


def _next_in_queue(batch: BatchFacts, writers: list[TaskFacts]) -> list[TaskFacts]:
    first = min(writers, key=lambda task: rank(batch, task), default=None)
    if first is None or first.active:
        return [first] if first else []
    busy = any(task.active for task in batch.tasks.values())
    return [] if busy or not (first.approved or batch.settings.auto_approve) else [first]


def _slots(facts: Facts, batch: BatchFacts, task: TaskFacts) -> int:
    limits = [limit for limit in (facts.settings.parallel_limit, batch.settings.max_parallel) if limit]
    return min([max(1, batch.slots_wanted(task, task.step)), *limits])


def _has_room(batch: BatchFacts) -> bool:
    return not batch.settings.max_parallel or batch.slots < batch.settings.max_parallel


def _waits_for_budget(batch: BatchFacts) -> str | None:
    """Money may keep a task waiting while others still run; when nothing runs, the batch must say that it waits."""
    return "money" if batch.settings.budget is not None and batch.alive else None


def check_nothing_due(facts: Facts, at: float) -> None:
    if facts.requests:
        raise facts.violation("answered", f"no answer to {sorted(facts.requests)}")
    if facts.clock_jump is not None:
        raise facts.violation("clock", f"the clock jumped by {facts.clock_jump} and no deadline moved")
    for name, provider in facts.providers.items():
        if provider.refuses_until is not None:
            raise facts.violation("breaker", f"{name} refuses until {provider.refuses_until}, and no breaker opened")
        if provider.may_be_restored:
            raise facts.violation("breaker", f"a person may have logged in, and {name} is not tried")
    for batch in facts.batches.values():
        if batch.requested_publish is not None:
            raise facts.violation("publish", f"{batch.id} was to be published by request, and is not", batch)
        if not batch.ended:
            _check_batch(facts, batch, at)


def _check_batch(facts: Facts, batch: BatchFacts, at: float) -> None:
    for task in batch.tasks.values():
        debt = _find_task_debt(batch, task, at)
        if debt is not None:
            law, what = debt
            raise facts.violation(law, f"{batch.id}/{task.spec.id} {what}", task)
    owed = (
        _find_gate_debt(batch)
        or _find_halt_debt(batch)
        or _find_phase_debt(batch)
        or _find_commit_debt(batch)
        or _find_merge_debt(facts, batch)
        or _find_end_debt(batch)
    )
    if owed is not None:
        raise facts.violation("owed", f"batch {batch.id}: {owed}", batch)


def _find_task_debt(batch: BatchFacts, task: TaskFacts, at: float) -> tuple[str, str] | None:
    if task.exit is not None or task.merge_problem is not None:
        return "judged", "has an undecided outcome"
    if task.retry_at is not None and task.retry_at <= at:
        return "backoff", f"waits for {task.retry_at}, which is past"
    lost = (task.ended is None or task.is_done) and bool(batch.find_lost_needs(task))
    if task.alive is not None:
        unwanted = task.pending_end or lost or task.restart_after_exit or batch.stopping
        overdue = task.alive.expires < at
        return ("ending", "runs on though it should not") if (unwanted or overdue) and not task.alive.endings else None
    going = task.retry_at is not None or task.asking or task.interrupted
    lost = lost or (batch.has_no_candidates(task) and not going)
    if task.merging is None and (task.pending_end or lost):
        return "ended", "should have ended"
    return None


def _find_gate_debt(batch: BatchFacts) -> str | None:
    gate = batch.gate
    unwanted = gate is not None and (gate.stale or batch.stopping or batch.cancelled)
    return "its gate runs on though it should not" if unwanted and gate and gate.ending is None else None


def _find_halt_debt(batch: BatchFacts) -> str | None:
    if batch.halted is not None:
        return None
    conflicts = batch.settings.on_conflict is OnConflict.FAIL
    for name in batch.failures:
        conflicted = conflicts and batch.tasks[name].status is TaskStatus.CONFLICTED
        if conflicted or batch.settings.stop_on_fail:
            return f"{name} should have halted it"
    return None


def _find_phase_debt(batch: BatchFacts) -> str | None:
    closed = (key for key in batch.phases if key not in batch.opened)
    ready = [key for key in closed if may_open(batch, key)]
    return f"phase {ready[0]} should have opened" if ready else None


def _find_commit_debt(batch: BatchFacts) -> str | None:
    for task in batch.tasks.values():
        waits = task.retry_at is not None or task.asking or task.interrupted or task.pending_end
        idle = task.ended is None and not task.is_in_progress and not waits
        if task.uncommitted is not None and idle and batch.has_needs_done(task):
            return f"what {task.spec.id} finished could be committed"
    return None


def _find_merge_debt(facts: Facts, batch: BatchFacts) -> str | None:
    if batch.merging is not None or batch.rebuild is not None:
        return None
    if batch.find_unwanted():
        given_up = batch.rebuild_failures >= 3 and batch.paused is not None
        return None if given_up else f"{batch.find_unwanted()} should be taken out of the branch"
    ready = [task.spec.id for task in batch.tasks.values() if _can_merge(batch, task)]
    if ready:
        return f"{ready[0]} could be merged"
    merged = [batch.tasks[link.task] for link in batch.merges]
    unfinished = {task.spec.id for task in merged if task.ended is None and batch.has_needs_done(task)}
    if batch.settings.gate is None:
        return f"{sorted(unfinished)} are merged, and not done" if unfinished else None
    passed = {link.task for link in batch.merges[: batch.gate_passed_size]}
    if unfinished & passed:
        return f"{sorted(unfinished & passed)} passed the gate, and are not done"
    idle = batch.gate is None and not batch.is_stopped and facts.pressure is None
    return "the gate should run" if idle and batch.needs_gate else None


def _can_merge(batch: BatchFacts, task: TaskFacts) -> bool:
    waits = task.retry_at is not None or task.asking or task.interrupted or task.pending_end
    ready = task.ended is None and task.alive is None and batch.has_needs_done(task)
    at_merge = task.step is Step.MERGE and ready and not waits
    return at_merge and all(link.task != task.spec.id for link in batch.merges)


def _find_end_debt(batch: BatchFacts) -> str | None:
    if any(task.ended is None for task in batch.tasks.values()) or batch.find_unwanted():
        return None
    busy = batch.gate or batch.merging or batch.rebuild or batch.publishing
    if busy or batch.needs_gate or (batch.needs_publish and batch.paused is not None):
        return None
    return "its branch should be published" if batch.needs_publish else "every task has ended, and it has not"


def check_wake_time(facts: Facts, at: float, wake: float | None) -> None:
    """The core asks to be woken for the next thing that time alone will bring."""
    soonest = min(_upcoming(facts), default=None)
    if wake is not None and wake <= at:
        raise facts.violation("alarm", f"nothing is due at {at}, and it wants to be woken at {wake}")
    if soonest is not None and (wake is None or wake > soonest[0] + 1e-6):
        raise facts.violation("alarm", f"{soonest[1]} is due at {soonest[0]}, but it sleeps until {wake}")


def _upcoming(facts: Facts) -> Iterator[tuple[float, str]]:
    for name, attempt in facts.alive.items():
        if not attempt.endings:
            yield attempt.expires, f"the end of {name}"
    for called, provider in facts.providers.items():
        if provider.until is not None:
            yield provider.until, f"the breaker of {called}"
    for batch in facts.batches.values():
        if batch.gate is not None and batch.gate.ending is None:
            yield batch.gate.started + batch.gate.order.timeout, f"the end of gate {batch.gate.order.n}"
        for task in () if batch.ended else batch.tasks.values():
            if task.retry_at is not None:
                yield task.retry_at, f"another try of {task.spec.id}"


def check_wait_for_person(facts: Facts, state: State) -> None:
    """When everything left waits for a person, the batch says so, and never before; an engine leaves only then."""
    needed = is_engine_needed(state)
    for batch in facts.batches.values():
        if batch.ended:
            continue
        said = waits_for_person(state, state.batches[batch.id])
        if said and _continues_by_itself(batch):
            raise facts.violation("person", f"batch {batch.id} says that it waits for a person, and continues", batch)
        if not said and (_waits_for_person(batch) or not needed):
            raise facts.violation("person", f"batch {batch.id} waits for a person, and doesn't say so", batch)


def check_work_time(facts: Facts, state: State) -> None:
    """Time counts as work of an open batch while something of it runs, and at no other time."""
    for batch in facts.batches.values():
        runs = not batch.ended and (_is_busy(batch) or bool(batch.alive))
        if runs is (state.batches[batch.id].busy_since is None):
            raise facts.violation("time", f"work time of {batch.id} is {'not ' if runs else ''}counted", batch)


def _continues_by_itself(batch: BatchFacts) -> bool:
    at_work = any(attempt.endings or not attempt.is_asking for attempt in batch.alive)
    return _is_busy(batch) or at_work or _is_merge_due_later(batch)


def _is_busy(batch: BatchFacts) -> bool:
    """Something other than an agent or a check runs."""
    committing = any(task.committing is not None for task in batch.tasks.values())
    return bool(committing or batch.merging or batch.rebuild or batch.gate or batch.publishing)


def _waits_for_person(batch: BatchFacts) -> bool:
    """It is paused, and not because of its budget, which may allow something else later: only merging continues."""
    return batch.is_stopped and not _continues_by_itself(batch)


def _is_merge_due_later(batch: BatchFacts) -> bool:
    unended = (task for task in batch.tasks.values() if task.ended is None)
    return any(task.retry_at is not None and (task.step is Step.MERGE or task.uncommitted) for task in unended)
