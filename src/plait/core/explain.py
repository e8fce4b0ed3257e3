"""Why a task has the status it has, in one sentence."""

from __future__ import annotations

import re
from dataclasses import replace

from plait.core.fast_dataclass import dataclass
from plait.core.file_locks import FILE_PREFIX, GROUP_PREFIX, PAIR_PREFIX
from plait.core.lazy_pattern import pattern
from plait.core.reducers.batches import required_share
from plait.core.reducers.task_index import LOCK_SCOPE_SEPARATOR
from plait.core.retry_policy import describe_failure, describe_time_limit
from plait.core.scheduler import starts
from plait.core.scheduler.batches import describe_phase_progress
from plait.core.scheduler.merge_queue import is_rebuild_abandoned, why_cluster_waits
from plait.core.settings import Mode
from plait.core.start_queue import TaskRef
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import Category, EndWhy, NextAction, PauseCause, TaskStatus, WaitReason
from plait.core.task import NeedKind, Step
from plait.core.text import join_names

_END_REASON_TEXTS = {
    EndWhy.CANCEL: "it was cancelled",
    EndWhy.DROP: "it was dropped",
    EndWhy.BLOCKED: "a task it needs did not succeed",
    EndWhy.STOP: "the batch was stopped",
    EndWhy.FEEDBACK: "feedback arrived for its next attempt",
}
_RETRY_VERBS = {Step.WRITE: "retrying", Step.VERIFY: "verifying again", Step.MERGE: "merging again"}
_NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class TaskExplanation:
    """Status and reason of a task; `waiting` is what it waits on, if anything.

    `short` is the reason for a table cell, where it differs: without what the status, the retry time or a predicted conflict
    beside it say.
    """

    status: TaskStatus
    reason: str
    waiting: WaitReason | None = None
    short: str = ""


@dataclass(frozen=True, slots=True)
class _Wait:
    """What a task waits on: for programs, in a sentence, and (if different) for a table cell."""

    on: WaitReason
    reason: str
    short: str = ""

    def explain(self, status: TaskStatus) -> TaskExplanation:
        return TaskExplanation(status, self.reason, self.on, self.short)


# Prefixes that repeat the status beside the reason, or say nothing new if a message follows.
_SAID_BY_STATUS = tuple(f"{describe_failure(category)}: " for category in (Category.TASK, Category.CONFLICT))
_EXIT_STATUS = pattern(r"(?:^|(?<=: ))exit status \d+: ")
_OWN_SCRIPT = pattern(r"(?:^|(?<=: ))/[^:]*/script\.sh: (?:line )?(?=\d+: )")
_ERROR_WORD = pattern(r"(?:^|(?<=: ))(?:fatal )?error: (?=.)", re.IGNORECASE)


def shorten_failure(reason: str) -> str:
    """Shorten a failure's reason to what matters: `PAYMENT_KEY is not set` for `the agent failed: exit status 3: error:
    PAYMENT_KEY is not set`.
    """
    for prefix in _SAID_BY_STATUS:
        reason = reason.removeprefix(prefix)
    reason = _OWN_SCRIPT.sub("line ", _EXIT_STATUS.sub("", reason, count=1), count=1)
    return _ERROR_WORD.sub("", reason, count=1)


def explain_in_words(state: State, batch: BatchState, task: TaskState) -> str:
    explanation = explain_status(state, batch, task)
    return f"{task.task.id} is {explanation.status.label}: {explanation.reason}"


def explain_status(state: State, batch: BatchState, task: TaskState) -> TaskExplanation:
    """Explain a task's status. `views.count_statuses` only counts, faster and by the same rules: change both."""
    if task.status is not None:
        return TaskExplanation(task.status, task.reason, short=shorten_failure(task.reason))
    if task.interrupted is not None:
        return _Wait(WaitReason.PAUSE, f"{task.interrupted}; resume the batch to continue", task.interrupted).explain(
            TaskStatus.INTERRUPTED
        )
    if task.alive:
        return _with_predicted_conflicts(task, _explain_running(next(iter(task.alive.values()))))
    if task.merging is None and task.pending_end is not None:
        return TaskExplanation(TaskStatus.WAITING, task.pending_end.reason)
    if task.committing is not None:
        return _explain_committing(task)
    if task.merging is not None or task.is_merged or task.step is Step.MERGE:
        return _explain_merging(state, batch, task)
    if task.step is Step.VERIFY and not task.undecided_exits:
        wait = (
            _why_task_waits(batch, task)
            or _why_batch_waits(batch, started=True)
            or _why_slots_wait(state, batch, task)
            or _why_machine_waits(state)
            or _wait_for_verification_turn(batch, task)
        )
        return wait.explain(TaskStatus.VERIFYING)
    return _explain_waiting(state, batch, task)


def _explain_running(attempt: AttemptState) -> TaskExplanation:
    verifying = attempt.name.step is Step.VERIFY
    status = TaskStatus.VERIFYING if verifying else TaskStatus.RUNNING
    if attempt.ending is not None:
        why = _END_REASON_TEXTS.get(attempt.ending) or describe_time_limit(attempt)
        return TaskExplanation(status, f"ending attempt {attempt.name.n}: {why}", short=f"ending: {why}")
    if attempt.question is not None:
        return _wait_for_answer(attempt.question).explain(status)
    activity = f" ({attempt.phase})" if attempt.phase else ""
    reason = f"attempt {attempt.name.n} by {'the check' if verifying else attempt.agent}{activity}"
    return TaskExplanation(status, reason)


def _explain_committing(task: TaskState) -> TaskExplanation:
    if not task.awaited_program:
        return TaskExplanation(TaskStatus.RUNNING, "committing the result")
    return _wait_for_signer(task, "committing the result").explain(TaskStatus.WAITING)


def _wait_for_signer(task: TaskState, verb: str) -> _Wait:
    reason = f"{verb}: waiting for {task.awaited_program}, which signs the commit and may ask for a passphrase"
    return _Wait(WaitReason.PROGRAM, reason, f"waiting for {task.awaited_program} to sign the commit")


def _wait_for_answer(question: str) -> _Wait:
    return _Wait(WaitReason.ANSWER, f"needs an answer: {question}", f"asks: {question}")


def _wait_for_unpause(batch: BatchState) -> _Wait:
    why = f": {batch.paused.why}" if batch.paused is not None else ""
    return _Wait(WaitReason.PAUSE, f"the batch is paused{why}", "the batch is paused")


def _with_predicted_conflicts(task: TaskState, explanation: TaskExplanation) -> TaskExplanation:
    """Add to an explanation the conflicts that are predicted for what the task writes now."""
    if not task.predicted_conflicts:
        return explanation
    conflicts = [
        f"{other or 'the batch branch'} in {join_names(files, _NAMES_SHOWN)}"
        for other, files in task.predicted_conflicts.items()
    ]
    reason = f"{explanation.reason}; would conflict with {join_names(conflicts, _NAMES_SHOWN)}"
    return replace(explanation, reason=reason, short=explanation.short or explanation.reason)


def _explain_merging(state: State, batch: BatchState, task: TaskState) -> TaskExplanation:
    if task.merging is not None:
        if task.awaited_program:
            return _wait_for_signer(task, "being merged").explain(TaskStatus.MERGING)
        after = f", then removed again: {task.pending_end.reason}" if task.pending_end else ""
        return TaskExplanation(TaskStatus.MERGING, f"being merged{after}")
    wait = _why_task_waits(batch, task)
    if wait is None and batch.paused is not None and is_rebuild_abandoned(batch):
        wait = _wait_for_unpause(batch)
    if wait is None and not batch.is_branch_stable:
        dropped = ", ".join(batch.tasks[index].task.id for index in batch.merges_to_drop)
        wait = _Wait(WaitReason.BRANCH, f"rebuilding the batch branch without {dropped or 'what was dropped'}")
    if wait is not None:
        return wait.explain(TaskStatus.MERGING)
    if task.is_merged:
        return _explain_gate_turn(state, batch, task)
    if batch.merging is not None:
        wait = _Wait(WaitReason.TURN, f"merges after {batch.tasks[batch.merging].task.id}")
    else:
        wait = _Wait(WaitReason.TURN, "merges next")
    return wait.explain(TaskStatus.MERGING)


def _explain_gate_turn(state: State, batch: BatchState, task: TaskState) -> TaskExplanation:
    if batch.gate is not None and not batch.gate.stale and task.merge_position < batch.gate.size:
        return TaskExplanation(TaskStatus.MERGING, "the gate runs on the merged result", short="the gate runs")
    batch_wait = _why_batch_waits(batch, started=True) or _why_machine_waits(state) if batch.gate is None else None
    cluster = why_cluster_waits(state, batch) if batch.gate is None else None
    wait = batch_wait or (_Wait(WaitReason.SLOT, cluster) if cluster else _Wait(WaitReason.TURN, "the gate is next"))
    return _Wait(wait.on, f"merged; {wait.reason}", wait.short or wait.reason).explain(TaskStatus.MERGING)


def _explain_waiting(state: State, batch: BatchState, task: TaskState) -> TaskExplanation:
    wait = _why_task_waits(batch, task)
    if wait is None and task.next_action is not NextAction.START:
        return TaskExplanation(TaskStatus.QUEUED, "its last attempt is being evaluated")
    lock = state.start_queue.blocking_lock((batch.id, task.index))
    if wait is None and lock is not None:
        wait = _Wait(WaitReason.FILES, _describe_lock(state, batch, lock))
    wait = wait or _why_batch_waits(batch) or _why_queue_waits(state, batch, task) or _why_no_agent(state, batch, task)
    if wait is not None:
        return wait.explain(TaskStatus.WAITING)
    wait = _why_slots_wait(state, batch, task) or _why_machine_waits(state) or _wait_for_turn(state, batch, task)
    return wait.explain(TaskStatus.WAITING if wait.on is WaitReason.MEMORY else TaskStatus.QUEUED)


def _why_task_waits(batch: BatchState, task: TaskState) -> _Wait | None:
    """Return what holds back this task alone."""
    if task.question is not None:
        wait = _wait_for_answer(task.question)
        return replace(wait, reason=f"{wait.reason} (answer with feedback)")
    if task.not_before is not None and starts.is_held_by_pause(batch, task):
        return _wait_for_unpause(batch)
    if task.not_before is not None:
        why = task.retry_reason or ""  # a retry sets both
        verb = _RETRY_VERBS[task.step] if task.uncommitted is None else "committing again"
        return _Wait(WaitReason.BACKOFF, f"{verb} soon: {why}", shorten_failure(why))
    if task.pending_needs:
        return _Wait(WaitReason.NEEDS, _describe_needs(batch, task))
    return _wait_for_phase(batch, task) if task.phase_closed else None


def _describe_needs(batch: BatchState, task: TaskState) -> str:
    entrants = batch.find_entrants(task)
    unended = [other.task.id for other in entrants if other.status is None]
    missing = {other.task.id for other in batch.find_needs(task) if other.status is not TaskStatus.DONE}
    if not missing and unended:
        ended = len(entrants) - len(unended)
        return f"waits for its entrants: {join_names(unended, _NAMES_SHOWN)} ({ended} of {len(entrants)} have ended)"
    needs = [need for need in task.task.needs if need.on in missing]
    names = join_names(list(dict.fromkeys(need.on for need in needs)) or sorted(missing), _NAMES_SHOWN)
    if needs and all(need.kind is NeedKind.CHAIN for need in needs):
        why = f" ({needs[0].reason})" if needs[0].reason else ""
        return f"comes after {names}{why}"
    return f"needs {names}"


def _wait_for_phase(batch: BatchState, task: TaskState) -> _Wait:
    waiting = batch.phases[task.task.phase or ""]
    name, opener = f"its phase {waiting.phase.label}", waiting.phase.opens_with
    if opener is not None and opener in batch.index:
        return _Wait(WaitReason.PHASE, f"{name} opens when {opener} is done", f"after {opener}")
    share = required_share(batch, waiting)
    unfinished = [
        f"{earlier.phase.label} ({earlier.settled} of {earlier.phase.total} done)"
        for earlier in batch.find_earlier_phases(waiting)
        if earlier.settled < share * earlier.phase.total
    ]
    reason = f"{name} is not open yet ({describe_phase_progress(batch, waiting)})"
    return _Wait(WaitReason.PHASE, reason, f"after {join_names(unfinished, 1)}" if unfinished else "")


def _describe_lock(state: State, batch: BatchState, lock: str) -> str:
    name = lock.rpartition(LOCK_SCOPE_SEPARATOR)[2]
    holder = state.start_queue.holder(lock)
    if name.startswith(PAIR_PREFIX):
        other = _task_name(state, batch, holder) if holder is not None else name.removeprefix(PAIR_PREFIX)
        return f"must not run at the same time as {other}"
    held = "reserved for another ready task" if holder is None else f"held by {_task_name(state, batch, holder)}"
    if name.startswith(GROUP_PREFIX):
        return f"is in the exclusive group {name.removeprefix(GROUP_PREFIX)}, {held}"
    return f"touches {name.removeprefix(FILE_PREFIX)}, {held}"


def _task_name(state: State, batch: BatchState, ref: TaskRef) -> str:
    owner, index = ref
    name = state.batches[owner].tasks[index].task.id
    return name if owner == batch.id else f"{name} of batch {owner}"


def _why_batch_waits(batch: BatchState, *, started: bool = False) -> _Wait | None:
    """Return what holds back the whole batch; a budget and the branch hold back only tasks that have not `started`."""
    if batch.paused is not None and not (started and batch.paused.cause is PauseCause.BUDGET):
        return _wait_for_unpause(batch)
    return None if started or batch.is_branch_stable else _Wait(WaitReason.BRANCH, "rebuilding the batch branch")


def _why_machine_waits(state: State) -> _Wait | None:
    """Say what the machine is short of. Ask last: other reasons would hold on a larger machine, too."""
    if state.pressure is None:
        return None
    return _Wait(
        WaitReason.MEMORY, f"the machine is short of resources ({state.pressure})", f"machine busy ({state.pressure})"
    )


def _why_queue_waits(state: State, batch: BatchState, task: TaskState) -> _Wait | None:
    if batch.settings.mode is not Mode.QUEUE or task.holds_locks:
        return None
    for index in batch.active:
        return _Wait(WaitReason.TURN, f"starts after {batch.tasks[index].task.id}")
    head = starts.find_queue_head(state, batch)
    if head is not None and head is not task:
        return _Wait(WaitReason.TURN, f"starts after {head.task.id}")
    approved = task.approved or batch.settings.auto_approve
    return None if approved else _Wait(WaitReason.APPROVAL, "needs approval")


def _why_no_agent(state: State, batch: BatchState, task: TaskState) -> _Wait | None:
    """Say why none of the task's agents can take it now; None when one can."""
    choice = starts.choose_agent(state, batch, task)
    if choice is None:
        agents = (*task.queue_key.agents, *starts.find_fallback_agents(state, batch, task))
        reasons = (starts.why_agent_unavailable(state, batch, agent) for agent in agents)
        return _Wait(WaitReason.LIMIT, "; ".join(dict.fromkeys(reason for reason in reasons if reason)))
    if batch.settings.budget is None or starts.is_affordable(batch, choice):
        return None  # over its own budget, it asks when its turn comes
    spent = batch.spent + batch.reserved_spend
    reason = f"may cost {choice.reserve}, and {spent} of {batch.settings.budget} is spent or reserved"
    return _Wait(WaitReason.BUDGET, reason)


def _why_slots_wait(state: State, batch: BatchState, task: TaskState) -> _Wait | None:
    is_verified = task.step is Step.VERIFY
    slots = (
        starts.count_verification_slots(state, batch, task)
        if is_verified
        else starts.clamp_slots(state, batch, task.task)
    )
    wanted = f" ({slots} wanted)" if slots > 1 else ""
    if not starts.has_batch_slots(batch, slots):
        limit = batch.settings.max_parallel
        return _Wait(WaitReason.SLOT, f"{batch.slots} of the batch's {limit} slots are taken{wanted}")
    if not starts.is_within_limit(state, slots):
        return _Wait(WaitReason.SLOT, f"{state.slots} of {state.settings.parallel_limit} slots are taken{wanted}")
    if state.capacity is not None and not starts.is_within_capacity(state, slots):
        return _Wait(state.capacity.on, f"{state.capacity.why}{wanted}")
    return None


def _wait_for_verification_turn(batch: BatchState, task: TaskState) -> _Wait:
    first = batch.tasks_by_action[NextAction.VERIFY].first()
    if first is None or first == task.index:
        return _Wait(WaitReason.TURN, "verified next")
    return _Wait(WaitReason.TURN, f"verified after {batch.tasks[first].task.id}")


def _wait_for_turn(state: State, batch: BatchState, task: TaskState) -> _Wait:
    """Explain a task that nothing holds back: the scheduler starts something else first."""
    for other, start in starts.find_starts(state):
        if isinstance(start, starts.Start):
            first = start.choice.task
            name = _task_name(state, batch, (other.id, first.index))
            return _Wait(WaitReason.TURN, "starts next" if first is task else f"starts after {name}")
        if start.task is not None and (other is batch or start.holds_engine):
            name = _task_name(state, batch, (other.id, start.task.index))
            return _Wait(WaitReason.TURN, f"starts after {name}{_describe_hold(start.task, start.slots)}")
    return _Wait(WaitReason.TURN, "starts after the tasks before it")


def _describe_hold(task: TaskState, slots: int) -> str:
    """Describe what the task that goes first is waiting for."""
    if task.merging is not None or task.next_action is NextAction.MERGE:
        return " is merged"
    return " is verified" if task.next_action is NextAction.VERIFY else f", which waits for {slots} slots"
