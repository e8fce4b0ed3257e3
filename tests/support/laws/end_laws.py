"""How attempts and tasks end.

An attempt or gate is asked to end only for a reason. Every exit is decided on once, by what it was, and retried only as
often and as soon as allowed. A task ends once, when nothing of it runs, with a status that its history supports.
"""

from __future__ import annotations

from plait.core.decisions import (
    AnswerAwaited,
    AttemptEnding,
    BackoffEnded,
    BatchHalted,
    DeadlinesMoved,
    GateEnding,
    RetryGranted,
    StepPassed,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.settings import Isolation, OnConflict, Spend
from plait.core.status import Category, EndWhy, TaskStatus
from plait.core.task import Step
from tests.support.laws.batch_folds import prefix_key
from tests.support.laws.eligibility import (
    REJECTION_CATEGORIES,
    expected_cost,
    find_available_agents,
    fits_task_budget,
    has_other_provider,
)
from tests.support.laws.facts import AttemptFacts, BatchFacts, Facts, TaskFacts, UnjudgedExit

TOLERANCE_SECONDS = 1e-6


def check_attempt_ending(facts: Facts, at: float, event: AttemptEnding) -> None:
    batch = facts.batch(event.attempt.batch)
    task = facts.task(event.attempt.batch, event.attempt.task)
    alive = facts.alive.get(event.attempt)
    if alive is None:
        raise facts.violation("ending", f"{event.attempt} is asked to end, but is not alive", task)
    if alive.endings and (not event.now or alive.endings[-1].now):
        raise facts.violation("twice", f"{event.attempt} is asked to end once more", task)
    if not _has_reason(batch, task, alive, event, at):
        raise facts.violation("ending", f"{event.attempt} is asked to end for no reason ({event.why})", task)


def _has_reason(batch: BatchFacts, task: TaskFacts, alive: AttemptFacts, event: AttemptEnding, at: float) -> bool:
    match event.why:
        case EndWhy.CANCEL:
            return task.pending_end == "cancel"
        case EndWhy.DROP:
            return task.pending_end in {"drop", "halt"}
        case EndWhy.BLOCKED:
            return bool(batch.find_lost_needs(task))
        case EndWhy.STOP:
            return batch.stopping
        case EndWhy.FEEDBACK:
            return task.restart_after_exit
        case EndWhy.TIMEOUT:
            return at >= alive.started + alive.order.timeout - TOLERANCE_SECONDS
        case EndWhy.IDLE:
            return at >= alive.last_active + alive.order.idle_timeout - TOLERANCE_SECONDS


def check_gate_ending(facts: Facts, at: float, event: GateEnding) -> None:
    batch = facts.batch(event.batch)
    gate = batch.gate
    if gate is None or gate.order.n != event.n or gate.ending is not None:
        raise facts.violation("ending", f"gate {event.n} of {event.batch} is asked to end for nothing", batch)
    reasons = {
        EndWhy.DROP: gate.stale,
        EndWhy.STOP: batch.stopping,
        EndWhy.CANCEL: batch.cancelled,
        EndWhy.TIMEOUT: at >= gate.started + gate.order.timeout - TOLERANCE_SECONDS,
    }
    if not reasons.get(event.why, False):
        raise facts.violation("ending", f"gate {event.n} of {event.batch} is ended without {event.why}", batch)


def check_deadlines_moved(facts: Facts, _at: float, event: DeadlinesMoved) -> None:
    if facts.clock_jump is None or abs(facts.clock_jump - event.by) > TOLERANCE_SECONDS:
        raise facts.violation("clock", f"deadlines moved by {event.by}, the clock jumped by {facts.clock_jump}")


PERMANENT = frozenset({Category.AUTH, Category.QUOTA, Category.USAGE, Category.CONTEXT, Category.REJECTED})
IMMEDIATE = frozenset({Category.VERIFY, Category.EMPTY})
MAX_LOSSES = 3
MAX_UNEXPLAINED_REFUSALS = 8
MAX_MERGE_FAILURES = 8


def check_step_passed(facts: Facts, _at: float, event: StepPassed) -> None:
    batch = facts.batch(event.attempt.batch)
    task = facts.task(event.attempt.batch, event.attempt.task)
    if task.exit is None:
        _check_skipped_verify(facts, batch, task, event)
    elif task.exit.attempt.order.attempt != event.attempt:
        raise facts.violation("judged", f"{event.attempt} passed, but another one ended", task)
    elif not has_succeeded(batch, task, task.exit):
        raise facts.violation("judged", f"{event.attempt} passed with {task.exit.outcome.category}", task)
    if task.exit is not None and batch.winner_was_dropped(task, task.exit):
        raise facts.violation("contest", f"{event.attempt} chose a dropped entrant", task)
    verify = event.attempt.step is Step.WRITE and batch.verify_command(task)
    if task.spec.entrant is not None and event.then is Step.MERGE:
        raise facts.violation("contest", f"{event.attempt} of a contest is to be merged", task)
    if event.then is not (Step.VERIFY if verify else Step.MERGE):
        raise facts.violation("step", f"{event.attempt} goes on to {event.then}", task)
    if task.pending_end:
        raise facts.violation("cancelled", f"{event.attempt} passed though its task is over", task)


def _check_skipped_verify(facts: Facts, batch: BatchFacts, task: TaskFacts, event: StepPassed) -> None:
    """Without an exit only a step that is no longer asked for can pass: verification, taken out of the settings."""
    last = task.last.attempt if task.last is not None else None
    if task.step is not Step.VERIFY or batch.verify_command(task) is not None or event.attempt != last or task.alive:
        raise facts.violation("judged", f"{event.attempt} passed, but no exit of it waits for judgement", task)


def has_succeeded(batch: BatchFacts, task: TaskFacts, found: UnjudgedExit) -> bool:
    category = found.outcome.category
    if found.outcome.uncommitted:
        return False
    if found.attempt.order.attempt.step is Step.WRITE and batch.settings.isolation is Isolation.WORKTREE:
        empty = category is Category.OK and found.outcome.tip is None
        category = Category.EMPTY if empty else category
    return category is Category.OK or (category is Category.EMPTY and task.spec.allow_empty)


def check_retry_granted(facts: Facts, at: float, event: RetryGranted) -> None:
    batch = facts.batch(event.batch)
    task = facts.task(event.batch, event.task)
    if task.pending_end or batch.find_lost_needs(task):
        raise facts.violation("cancelled", f"{event.task} is retried though it has ended", task)
    if task.rechecking and event.then is Step.WRITE and not task.restart_after_exit:
        raise facts.violation("recheck", f"{event.task} is written again, but is only to be verified", task)
    if event.elsewhere:
        broken = _check_other_provider(facts, batch, task, event)
    elif task.merge_problem is not None:
        broken = _after_trouble(batch, task, event, task.merge_problem)
    elif task.exit is not None and task.exit.outcome.uncommitted and not task.restart_after_exit:
        broken = "what it finished is to be committed"
    elif task.exit is not None:
        broken = _after_exit(batch, task, event, task.exit)
    else:
        broken = "nothing of it waits for judgement"
    if broken is not None:
        raise facts.violation("retry", f"{event.task} is retried at {event.at} ({at}): {broken}", task)


def _check_other_provider(facts: Facts, batch: BatchFacts, task: TaskFacts, event: RetryGranted) -> str | None:
    found = task.exit
    if found is None or found.attempt.endings or not has_other_provider(facts, batch, task, found):
        return "no other agent could take it"
    return "a rejection uses up no retry" if event.counted or event.then is not Step.WRITE else None


def _after_trouble(batch: BatchFacts, task: TaskFacts, event: RetryGranted, trouble: Category) -> str | None:
    if event.counted:
        return "neither a commit nor a merge uses up a retry"
    if trouble is Category.CONFLICT:
        if batch.settings.on_conflict is not OnConflict.REPAIR or task.repairs >= batch.settings.repairs:
            return "no repair is left"
        return None if event.then is Step.WRITE and event.feedback else "a repair is written anew, with a reason"
    if trouble is Category.COMMIT and task.uncommitted is not None:
        return _check_commit_again(batch, task, event)
    if task.tip is None or trouble is Category.COMMIT:
        again = event.then is Step.WRITE and event.category is Category.LOST and task.losses < MAX_LOSSES
        return None if again else "there is nothing to merge, and it is to be written again"
    if task.merge_failures >= MAX_MERGE_FAILURES:
        return f"merging has failed {task.merge_failures} times"
    if event.at < task.merge_problem_at + _shortest_delay(batch, task.merge_failures + 1):
        return "too soon after the failed merge"
    return None if event.then is Step.MERGE else "only the merge is to be made again"


def _check_commit_again(batch: BatchFacts, task: TaskFacts, event: RetryGranted) -> str | None:
    if task.commit_failures >= MAX_MERGE_FAILURES:
        return f"committing has failed {task.commit_failures} times"
    if event.at < task.merge_problem_at + _shortest_delay(batch, task.commit_failures + 1):
        return "too soon after the failed commit"
    return None if event.category is Category.COMMIT else "only the commit is to be made again"


def _after_exit(batch: BatchFacts, task: TaskFacts, event: RetryGranted, found: UnjudgedExit) -> str | None:
    category = found.outcome.category
    if task.restart_after_exit:
        return None if event.then is Step.WRITE and not event.counted else "feedback uses up no retry"
    if has_succeeded(batch, task, found) and not (batch.winner_was_dropped(task, found) and not event.counted):
        return "it had succeeded"
    if has_succeeded(batch, task, found):
        return None if event.then is Step.WRITE else "it is to be chosen again"
    if was_ended_by_engine(found):
        return "it was ended through no fault of its own" if event.counted else None
    if waits_for_answer(found):
        return "it waits for an answer"
    if category in PERMANENT and not has_timed_out(found) and found.attempt.order.attempt.step is Step.WRITE:
        return f"{category} can't be helped by trying again"
    if not event.counted:
        return _check_uncounted(task, found, event)
    if (is_rate_limited(task, found) or category is Category.OUTAGE) and not has_timed_out(found):
        return f"{category} uses up no retry"
    allowed = task.spec.retries if task.spec.retries is not None else batch.settings.retries
    if task.counted_retries >= allowed:
        return f"{task.counted_retries} of {allowed} retries are used up"
    return _check_delay(batch, task, event, found)


def is_rate_limited(task: TaskFacts, found: UnjudgedExit) -> bool:
    """A rate limit, and not one that meets this task alone and says nothing of when it ends."""
    limited = found.outcome.category is Category.RATE_LIMIT
    return limited and (task.unexplained_refusals < MAX_UNEXPLAINED_REFUSALS or found.outcome.has_retry_time)


def has_timed_out(found: UnjudgedExit) -> bool:
    first = next((ending.why for ending in found.attempt.endings), None)
    return first in {EndWhy.TIMEOUT, EndWhy.IDLE}


def was_ended_by_engine(found: UnjudgedExit) -> bool:
    """It was asked to end for a reason that had nothing to do with it: whatever it then said is not its fault."""
    return bool(found.attempt.endings) and not has_timed_out(found)


def waits_for_answer(found: UnjudgedExit) -> bool:
    """It asked, and its time was up before an answer came."""
    return found.attempt.is_asking and has_timed_out(found)


def _check_uncounted(task: TaskFacts, found: UnjudgedExit, event: RetryGranted) -> str | None:
    if found.outcome.category is Category.LOST and task.losses < MAX_LOSSES:
        return None
    if found.outcome.category is Category.OUTAGE:
        return None if event.category is Category.OUTAGE else "an outage is not counted as a loss"
    if is_rate_limited(task, found):
        return None if event.then is Step.WRITE else "a limited attempt is made again as a whole"
    return f"{found.outcome.category} must use up a retry"


def _check_delay(batch: BatchFacts, task: TaskFacts, event: RetryGranted, found: UnjudgedExit) -> str | None:
    if event.category in IMMEDIATE:
        return None if event.feedback and event.then is Step.WRITE else "it needs words about what was wrong"
    said = max(found.at + (found.outcome.retry_after or 0.0), found.outcome.retry_at or found.at)
    earliest = max(found.at + _shortest_delay(batch, task.counted_retries + 1), said)
    return None if event.at >= earliest - 1e-6 else f"not before {earliest}"


def _shortest_delay(batch: BatchFacts, tries: int) -> float:
    backoff = batch.settings.backoff
    return min(backoff.cap, backoff.base * backoff.factor ** (tries - 1)) * (1 - backoff.jitter) - 1e-6


def check_backoff_ended(facts: Facts, at: float, event: BackoffEnded) -> None:
    task = facts.task(event.batch, event.task)
    if task.retry_at is None or at < task.retry_at:
        raise facts.violation("backoff", f"{event.task} was let go at {at}, {task.retry_at} was said", task)


def check_answer_awaited(facts: Facts, _at: float, event: AnswerAwaited) -> None:
    task = facts.task(event.batch, event.task)
    found = task.exit
    if event.wants is not None:
        _check_budget_question(facts, facts.batch(event.batch), task, event.wants)
    elif found is None or not (waits_for_answer(found) or found.outcome.category is Category.QUESTION):
        raise facts.violation("judged", f"{event.task} waits for an answer, but asked nothing", task)


def _check_budget_question(facts: Facts, batch: BatchFacts, task: TaskFacts, wants: Spend) -> None:
    """It may ask for budget if nothing else holds it back and no available agent is within its budget."""
    costs = [expected_cost(facts, batch, agent) for agent in find_available_agents(facts, batch, task)]
    within = any(fits_task_budget(batch, task, cost) for cost in costs)
    if task.is_in_progress or wants not in costs or within:
        raise facts.violation("task-budget", f"{task.spec.id} asks for money that it has", task)


def check_task_interrupted(facts: Facts, _at: float, event: TaskInterrupted) -> None:
    batch = facts.batch(event.batch)
    task = facts.task(event.batch, event.task)
    found = task.exit
    if found is None or not batch.stopping or has_succeeded(batch, task, found):
        raise facts.violation("judged", f"{event.task} was interrupted, but no stop ended its attempt", task)


def check_task_ended(facts: Facts, _at: float, event: TaskEnded) -> None:
    batch = facts.batch(event.batch)
    task = facts.task(event.batch, event.task)
    if task.alive is not None or task.merging is not None:
        raise facts.violation("ended", f"{event.task} ended {event.status} while something of it runs", task)
    if task.ended is not None and not _may_end_again(batch, task, event):
        raise facts.violation("twice", f"{event.task} ended {event.status} after {task.ended.status}", task)
    if task.exit is not None and task.exit.outcome.uncommitted and event.status in {TaskStatus.DONE, TaskStatus.FAILED}:
        raise facts.violation(
            "uncommitted", f"{event.task} ended {event.status}, and its result is not committed", task
        )
    if not event.status.is_terminal or not event.reason:
        raise facts.violation("ended", f"{event.task} ended {event.status} without a reason", task)
    if (
        event.category in REJECTION_CATEGORIES
        and task.exit is not None
        and has_other_provider(facts, batch, task, task.exit)
    ):
        raise facts.violation("fallback", f"{event.task} ended though another agent could take it", task)
    why_not = _CHECKS[event.status](batch, task, event)
    if why_not is not None:
        raise facts.violation(f"ended-{event.status}", f"{event.task} ended {event.status}: {why_not}", task)


def _may_end_again(batch: BatchFacts, task: TaskFacts, event: TaskEnded) -> bool:
    """Dropping changes how a task ended; a done task is no longer done when a task it was built on is removed."""
    dropped = task.pending_end == "drop" and event.status is TaskStatus.SKIPPED
    undermined = task.is_done and bool(batch.find_lost_needs(task)) and event.status is TaskStatus.BLOCKED
    return dropped or undermined or (task.is_done and event.category is Category.GATE)


def _check_done(batch: BatchFacts, task: TaskFacts, _event: TaskEnded) -> str | None:
    if task.pending_end:
        return f"it was to end by a {task.pending_end}"
    given = task.last_write.feedback if task.last_write is not None else ""
    unsaid = [words for words in task.pending_feedback if words not in given]
    if unsaid:
        return f"no attempt was given the words {unsaid[0]!r}"
    if any(link.task == task.spec.id and link.generation == task.generation for link in batch.merges):
        return _check_gate_passed(batch, task) if batch.has_needs_done(task) else "what it needs is to be done again"
    found = task.exit
    unchecked = task.step is Step.VERIFY and batch.verify_command(task) is None
    if not unchecked and (found is None or not has_succeeded(batch, task, found)):
        return "nothing of it was merged and no attempt succeeded"
    if found is not None and found.attempt.order.attempt.step is Step.WRITE and batch.verify_command(task):
        return "nothing verified it"
    merges = not batch.in_place and task.spec.entrant is None
    return "what it wrote was not merged" if merges and task.tip is not None else None


def _check_gate_passed(batch: BatchFacts, task: TaskFacts) -> str | None:
    if batch.settings.gate is None:
        return None
    passed = {link.task for link in batch.merges[: batch.gate_passed_size]}
    return None if task.spec.id in passed else "no gate that passed has covered its merge"


def _check_failed(batch: BatchFacts, task: TaskFacts, event: TaskEnded) -> str | None:
    if event.category is Category.GATE:
        return _check_gate_culprit(batch, task)
    if task.rechecking and (task.step is Step.WRITE or (task.merge_problem is Category.MERGE and task.tip is None)):
        return None  # what it was built on changed, or its work is gone: only an agent could make it again
    if task.exit is None and task.merge_problem is None and batch.has_no_candidates(task):
        unsaid = [entrant for entrant in task.entrants if entrant not in event.reason]
        return f"it does not say what became of {unsaid[0]}" if unsaid else None
    if task.merge_problem is Category.COMMIT and task.uncommitted is not None:
        return None if task.commit_failures >= MAX_MERGE_FAILURES else "committing was to be tried again"
    if task.merge_problem is Category.COMMIT or (task.merge_problem is Category.MERGE and task.tip is None):
        return None if task.losses >= MAX_LOSSES else "what is gone was to be written again"
    if task.merge_problem is Category.MERGE:
        return None if task.merge_failures >= MAX_MERGE_FAILURES else "merging was to be tried again"
    return _check_retries_used(batch, task, task.exit)


def _check_gate_culprit(batch: BatchFacts, task: TaskFacts) -> str | None:
    """The line up to and including it fails, the line before it passes."""
    place = next((n for n, link in enumerate(batch.merges) if link.task == task.spec.id), None)
    if place is None:
        return "its merge is not in the line"
    if prefix_key(tuple(batch.merges[: place + 1])) not in batch.failed:
        return "the gate was not seen to fail with it"
    if place > batch.gate_passed_size or (place == 0 and not batch.base_proved):
        return "the gate was not seen to pass without it"
    return None


def _check_retries_used(batch: BatchFacts, task: TaskFacts, found: UnjudgedExit | None) -> str | None:
    """An exit ends the task only when trying again is pointless or used up."""
    if found is None:
        return "nothing of it waits for judgement"
    if has_succeeded(batch, task, found):
        return "its attempt succeeded"
    category = found.outcome.category
    if was_ended_by_engine(found) or waits_for_answer(found):
        return "it was ended through no fault of its own"
    if is_rate_limited(task, found) and not found.attempt.endings:
        return "a rate limit is not a failure"
    if category is Category.LOST and task.losses < MAX_LOSSES and not found.attempt.endings:
        return "it was lost through no fault of its own"
    if category is Category.OUTAGE and not found.attempt.endings:
        return "it was cut off through no fault of its own"
    allowed = task.spec.retries if task.spec.retries is not None else batch.settings.retries
    verified = category not in {Category.LOST, Category.KILLED} or bool(found.attempt.endings)
    if category in PERMANENT or task.counted_retries >= allowed or (task.rechecking and verified):
        return None
    return f"only {task.counted_retries} of {allowed} retries are used up"


def _check_timed_out(batch: BatchFacts, task: TaskFacts, _event: TaskEnded) -> str | None:
    if task.exit is None or not task.exit.attempt.endings:
        return "its attempt was not ended"
    return _check_retries_used(batch, task, task.exit)


def _check_blocked(batch: BatchFacts, task: TaskFacts, event: TaskEnded) -> str | None:
    if batch.find_lost_needs(task):
        causes = {other.ended.by or other.spec.id for other in batch.find_lost_needs(task) if other.ended}
        causes |= {other.spec.id for other in batch.find_lost_needs(task)}
        return None if event.by in causes else f"{event.by} is not what it waits for"
    phase = task.spec.phase
    if phase in batch.phases and phase not in batch.opened and batch.phase_threshold(phase) >= 1.0:
        return None
    return "all its needs can still be met"


def _check_skipped(_batch: BatchFacts, task: TaskFacts, event: TaskEnded) -> str | None:
    if task.pending_end == "halt":
        return None if event.by is not None and not task.active else "it does not say what halted it"
    return None if task.pending_end == "drop" else "it was not dropped and nothing halted its batch"


def _check_conflicted(batch: BatchFacts, task: TaskFacts, _event: TaskEnded) -> str | None:
    if task.merge_problem is not Category.CONFLICT:
        return "its merge did not conflict"
    repairs = batch.settings.on_conflict is OnConflict.REPAIR and task.repairs < batch.settings.repairs
    return "it was to be repaired" if repairs and not batch.cancelled and not task.rechecking else None


def _check_cancelled(_batch: BatchFacts, task: TaskFacts, _event: TaskEnded) -> str | None:
    return None if task.pending_end == "cancel" else "it was not cancelled"


def _reject_status(_batch: BatchFacts, _page: TaskFacts, _event: TaskEnded) -> str | None:
    return "that is no end"


_CHECKS = dict.fromkeys(TaskStatus, _reject_status) | {
    TaskStatus.DONE: _check_done,
    TaskStatus.FAILED: _check_failed,
    TaskStatus.TIMED_OUT: _check_timed_out,
    TaskStatus.BLOCKED: _check_blocked,
    TaskStatus.SKIPPED: _check_skipped,
    TaskStatus.CONFLICTED: _check_conflicted,
    TaskStatus.CANCELLED: _check_cancelled,
}


def check_batch_halted(facts: Facts, _at: float, event: BatchHalted) -> None:
    batch = facts.batch(event.batch)
    failed = batch.tasks[event.by]
    if batch.halted is not None:
        raise facts.violation("twice", f"{event.batch} was halted once more", batch)
    conflict = failed.status is TaskStatus.CONFLICTED and batch.settings.on_conflict is OnConflict.FAIL
    if event.by not in batch.failures or not (batch.settings.stop_on_fail or conflict):
        raise facts.violation("halted", f"{event.batch} was halted by {event.by}, which is {failed.status}", failed)
