"""Laws of batches and their branches.

One merge at a time, onto the head; what is not wanted is removed. Only what was tested is published, on request or at the
end. Phases open, and batches are paused and ended, only for a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.core.decisions import (
    BatchEnded,
    BatchPaused,
    BatchUnpaused,
    GateStarted,
    MergeStarted,
    PhaseOpened,
    PublishStarted,
    RebuildStarted,
)
from plait.core.settings import Publish
from plait.core.status import BatchStatus, PauseCause, TaskStatus
from plait.core.task import Step
from tests.support.laws.facts import RECURRING_REFUSALS, BatchFacts, Facts, TaskFacts


def check_merge_started(facts: Facts, _at: float, event: MergeStarted) -> None:
    batch = facts.batch(event.batch)
    task = facts.task(event.batch, event.task)
    if task.spec.entrant is not None:
        raise facts.violation("contest", f"{event.task} is an entrant, and is merged", task)
    why_not = _merge_blocker(batch) or _merge_not_ready(batch, task) or _merge_mismatch(batch, task, event)
    if why_not is not None:
        raise facts.violation("merge", f"the merge of {event.task} began {why_not}", task)


def _merge_blocker(batch: BatchFacts) -> str | None:
    if batch.merging is not None:
        return f"while {batch.merging} is being merged"
    rebuilding = batch.rebuild is not None or batch.find_unwanted()
    return "while the branch is to be rebuilt" if rebuilding else None


def _merge_not_ready(batch: BatchFacts, task: TaskFacts) -> str | None:
    if task.step is not Step.MERGE or task.is_in_progress or task.retry_at is not None:
        return "before it had come so far"
    if task.ended is not None or task.pending_end or batch.find_lost_needs(task):
        return "though it is over"
    return None if batch.has_needs_done(task) else "before its needs were done again"


def _merge_mismatch(batch: BatchFacts, task: TaskFacts, event: MergeStarted) -> str | None:
    if event.onto != batch.head:
        return f"onto {event.onto}, but the branch is at {batch.head}"
    if event.n != task.numbers.get(Step.MERGE, 0) + 1:
        return "for the second time under that number"
    if event.tip != task.tip or event.base != task.tip_base:
        return f"with {event.base}..{event.tip}, which is not what it wrote last"
    merged = any(link.task == event.task for link in batch.merges)
    return "though its change is in the branch" if merged else None


def check_rebuild_started(facts: Facts, _at: float, event: RebuildStarted) -> None:
    batch = facts.batch(event.batch)
    if batch.merging is not None or batch.rebuild is not None:
        raise facts.violation("rebuild", f"rebuild {event.n} began while the branch is busy", batch)
    if event.n != batch.rebuilds + 1:
        raise facts.violation("twice", f"rebuild {event.n} began after {batch.rebuilds}", batch)
    if set(event.without) != set(batch.find_unwanted()):
        message = f"rebuild {event.n} leaves out {event.without}, not {batch.find_unwanted()}"
        raise facts.violation("rebuild", message, batch)
    if event.line != tuple(link.change for link in batch.merges if link.task not in event.without):
        raise facts.violation("rebuild", f"rebuild {event.n} keeps {event.line}", batch)


def check_gate_started(facts: Facts, _at: float, event: GateStarted) -> None:
    batch = facts.batch(event.batch)
    why_not = None
    if batch.settings.gate is None or event.command != batch.settings.gate:
        why_not = f"{event.command!r} is not the gate"
    elif batch.gate is not None:
        why_not = f"gate {batch.gate.order.n} runs"
    elif batch.rebuild is not None or batch.find_unwanted():
        why_not = "the branch is to be rebuilt"
    elif event.n != batch.gates + 1:
        why_not = f"the last one was {batch.gates}"
    elif event.size > len(batch.merges):
        why_not = f"only {len(batch.merges)} are merged"
    elif event.commit != (batch.merges[event.size - 1].commit if event.size else batch.base):
        why_not = f"{event.commit} is not what {event.size} merges made"
    elif batch.is_stopped or facts.pressure is not None:
        why_not = "nothing new may start"
    if why_not is not None:
        raise facts.violation("gate", f"gate {event.n} of {event.batch} began: {why_not}", batch)


def check_publish_started(facts: Facts, _at: float, event: PublishStarted) -> None:
    batch = facts.batch(event.batch)
    why_not = (
        _publish_blocker(batch, event) or _publish_mismatch(facts, batch, event) or _publish_unrequested(batch, event)
    )
    if why_not is not None:
        raise facts.violation("publish", f"{event.batch} is published: {why_not}", batch)


def _publish_blocker(batch: BatchFacts, event: PublishStarted) -> str | None:
    if batch.publishing is not None:
        return "it is being published"
    if event.n != batch.publishes + 1:
        return f"the last time was {batch.publishes}"
    rebuilding = batch.rebuild is not None or batch.find_unwanted()
    return "the branch is to be rebuilt" if rebuilding else None


def _publish_mismatch(facts: Facts, batch: BatchFacts, event: PublishStarted) -> str | None:
    """A commit of the line, with the merges up to it in it and no other, and nothing that the gate did not pass."""
    place = next((n for n, link in enumerate(batch.merges) if link.commit == event.commit), None)
    if place is None:
        return f"{event.commit} is no commit of its branch"
    if facts.contents(event.commit) != {link.task for link in batch.merges[: place + 1]}:
        return f"{event.commit} holds {sorted(facts.contents(event.commit))}"
    if batch.settings.gate is not None and event.commit not in batch.passed:
        return f"the gate has not passed {event.commit}"
    if event.expected != batch.pushed:
        return f"{event.expected!r} is not what was pushed last ({batch.pushed!r})"
    if event.publish is Publish.OFF or batch.in_place:
        return "nothing is to be done"
    return _title_mismatch(batch, event)


def _title_mismatch(batch: BatchFacts, event: PublishStarted) -> str | None:
    """A person's own title and body are used until a person changes them."""
    if (event.title, event.body) != batch.pull_request_text:
        return f"{(event.title, event.body)} is not what was said last: {batch.pull_request_text}"
    return None if event.renamed is batch.title_changed else f"a title was said: {batch.title_changed}"


def _publish_unrequested(batch: BatchFacts, event: PublishStarted) -> str | None:
    if batch.requested_publish is not None:
        return None if event.publish is batch.requested_publish else f"{batch.requested_publish} was asked for"
    if batch.ended or batch.cancelled or batch.paused is not None:
        return "nobody asked for it, and the batch does not go on"
    busy = batch.merging or batch.gate or any(task.ended is None or task.pending_end for task in batch.tasks.values())
    if busy or batch.needs_gate:
        return "not everything else is over"
    if event.publish is not batch.settings.publish or event.commit != batch.head:
        return f"{event.publish} of {event.commit} is not what its settings say"
    return None if batch.needs_publish else "it was published before"


def check_phase_opened(facts: Facts, _at: float, event: PhaseOpened) -> None:
    batch = facts.batch(event.batch)
    if event.phase in batch.opened:
        raise facts.violation("twice", f"phase {event.phase} was opened twice", batch)
    if not may_open(batch, event.phase):
        raise facts.violation("phase", f"phase {event.phase} opened too soon", batch)


def may_open(batch: BatchFacts, key: str) -> bool:
    """Its opener is done; or enough of each earlier phase is, or, unless the gate is strict, nothing else can be."""
    phase = batch.phases[key]
    opener = batch.tasks.get(phase.opens_with or "")
    if opener is not None and not opener.ended_without_success:
        return opener.is_done
    gate = batch.phase_threshold(key)
    late = [earlier for earlier in phase.after if not _is_phase_reached(batch, earlier, gate)]
    if gate >= 1.0:
        return opener is None and not late
    # All of them or none: one phase that can still run keeps the gate shut for those that fell short.
    return not late or not any(_can_phase_run(batch, earlier) for earlier in phase.after)


def _is_phase_reached(batch: BatchFacts, key: str, gate: float) -> bool:
    phase = batch.phases[key]
    settled = phase.settled + sum(
        task.status in {TaskStatus.DONE, TaskStatus.SKIPPED}
        for task in batch.tasks.values()
        if task.spec.phase == key and task.spec.gating
    )
    return settled >= phase.total * gate - 1e-9


def _can_phase_run(batch: BatchFacts, key: str) -> bool:
    gating = (task for task in batch.tasks.values() if task.spec.phase == key and task.spec.gating)
    return any(task.ended is None for task in gating)


def check_batch_paused(facts: Facts, _at: float, event: BatchPaused) -> None:
    batch = facts.batch(event.batch)
    if batch.is_stopped or batch.paused is event.cause or batch.ended:
        raise facts.violation("twice", f"{event.batch} was paused ({event.cause}) once more", batch)
    if event.cause is PauseCause.BUDGET and (batch.settings.budget is None or batch.alive):
        raise facts.violation("budget", f"{event.batch} was paused for money without need", batch)
    recurring = any(each.until and each.streak >= RECURRING_REFUSALS for each in facts.providers.values())
    if event.cause is PauseCause.PROVIDER and recurring and not batch.alive:
        return
    if event.cause in _PAUSE_CONDITIONS and not _PAUSE_CONDITIONS[event.cause](batch):
        raise facts.violation("paused", f"{event.batch} was paused for its {event.cause} without need", batch)


_PAUSE_CONDITIONS: Mapping[PauseCause, Callable[[BatchFacts], bool]] = {
    PauseCause.GATE: lambda batch: batch.base_failed or batch.gate_losses >= 3,
    PauseCause.BRANCH: lambda batch: batch.rebuild_failures >= 3,
    PauseCause.PROVIDER: lambda batch: batch.rejections >= 2,
}


def check_batch_unpaused(facts: Facts, _at: float, event: BatchUnpaused) -> None:
    batch = facts.batch(event.batch)
    gateless = batch.paused is PauseCause.GATE and batch.settings.gate is None
    if batch.paused is not PauseCause.BUDGET and not gateless:
        raise facts.violation("paused", f"{event.batch} was unpaused for no reason ({batch.paused})", batch)


def check_batch_ended(facts: Facts, _at: float, event: BatchEnded) -> None:
    batch = facts.batch(event.batch)
    if batch.ended:
        raise facts.violation("twice", f"{event.batch} ended twice", batch)
    left = [task.spec.id for task in batch.tasks.values() if task.ended is None or task.alive or task.pending_end]
    if left or batch.merging or batch.rebuild or batch.gate or batch.find_unwanted():
        raise facts.violation("batch-ended", f"{event.batch} ended with {left or 'its branch'} unfinished", batch)
    merged = {link.task for link in batch.merges}
    if not batch.in_place and facts.contents(batch.head) != merged:
        message = f"{event.batch} ended with {sorted(facts.contents(batch.head))} in its branch"
        raise facts.violation("batch-ended", message, batch)
    if batch.publishing is not None or batch.needs_publish:
        raise facts.violation("batch-ended", f"{event.batch} ended, and its branch is not published", batch)
    if batch.needs_gate:
        raise facts.violation("batch-ended", f"{event.batch} ended, and its gate has not passed", batch)
    asked = [task for task in batch.tasks.values() if task.spec.entrant is None]
    whole = all(task.is_done or (task.was_dropped and task.status is TaskStatus.SKIPPED) for task in asked)
    right = BatchStatus.CANCELLED if batch.cancelled else BatchStatus.COMPLETED if whole else BatchStatus.FAILED
    if event.status is not right:
        raise facts.violation("batch-ended", f"{event.batch} ended {event.status}, not {right}", batch)
    undermined = [task.spec.id for task in batch.tasks.values() if task.is_done and batch.find_lost_needs(task)]
    if undermined:
        raise facts.violation("batch-ended", f"{event.batch} ended with {undermined} done without its needs", batch)
