"""Folds of what is known about attempts and tasks."""

from __future__ import annotations

from plait.core.decisions import (
    AnswerAwaited,
    AttemptDecision,
    AttemptEnding,
    AttemptStarted,
    BackoffEnded,
    Change,
    CommitStarted,
    RetryGranted,
    StepPassed,
    TaskDecision,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.reports import (
    AttemptActive,
    AttemptAsked,
    AttemptEnd,
    AttemptExited,
    AttemptLost,
    AttemptProgress,
    AttemptUsed,
    CommitDone,
    CommitFailed,
    CommitReport,
    CommitWaiting,
    Outcome,
)
from plait.core.settings import FileConflicts
from plait.core.status import Category, TaskStatus
from plait.core.task import Attempt, Step
from tests.support.laws.facts import (
    AttemptFacts,
    BatchFacts,
    Facts,
    ProviderFacts,
    TaskFacts,
    UnjudgedExit,
    lock_name,
)


def fold_attempt_decision(facts: Facts, at: float, event: AttemptDecision) -> None:
    match event:
        case AttemptStarted():
            _start_attempt(facts, at, event)
        case AttemptEnding():
            attempt = facts.alive.get(event.attempt)
            if attempt is not None:
                attempt.endings.append(event)
        case CommitStarted():
            task = facts.task(event.attempt.batch, event.attempt.task)
            _clear_exit(task)
            task.commits = task.committing = event.n
        case StepPassed():
            task = facts.task(event.attempt.batch, event.attempt.task)
            _clear_exit(task)
            task.step = event.then
            if event.attempt.step is Step.WRITE:
                task.pending_feedback.clear()
                task.repairing = None


def fold_task_decision(facts: Facts, _at: float, event: TaskDecision) -> None:
    batch = facts.batch(event.batch)
    task = facts.task(event.batch, event.task)
    match event:
        case RetryGranted():
            _grant_retry(facts, task, event)
        case BackoffEnded():
            task.retry_at = None
        case AnswerAwaited():
            _clear_exit(task)
            task.asking, task.requested_budget = True, event.wants
        case TaskInterrupted():
            _clear_exit(task)
            task.interrupted = True
            if task.step is Step.WRITE:
                release_locks(facts, batch, task)  # what is written and not yet merged keeps its files
        case TaskEnded():
            _end_task(facts, batch, task, event)


def _start_attempt(facts: Facts, at: float, event: AttemptStarted) -> None:
    name = event.attempt
    batch = facts.batch(name.batch)
    task = batch.tasks[name.task]
    task.alive = facts.alive[name] = AttemptFacts(event, at, at)
    task.last = event
    task.numbers[name.step] = name.n
    batch.slots += event.slots
    facts.slots += event.slots
    if name.step is Step.WRITE:
        facts.agents[event.agent] = facts.agents.get(event.agent, 0) + 1
        facts.provider_load[event.provider] = facts.provider_load.get(event.provider, 0) + 1
        task.begun = True
        task.last_write = event
    task.active = True
    for token in task.locks:
        facts.lock_holders[token] = (name.batch, name.task)


def fold_attempt_progress(facts: Facts, at: float, report: AttemptProgress) -> None:
    attempt = facts.alive.get(report.attempt)
    if attempt is None:
        return
    attempt.last_active = at
    match report:
        case AttemptUsed():
            attempt.used = attempt.used.at_least(report.spend)
        case AttemptAsked():
            attempt.is_asking = True
        case AttemptActive():
            attempt.is_asking = False
        case _:
            pass


def _describe_loss(report: AttemptLost) -> Outcome:
    return Outcome(Category.OUTAGE if report.outage else Category.LOST)


def fold_attempt_end(facts: Facts, at: float, report: AttemptEnd) -> None:
    """The end of an attempt that isn't running changes nothing."""
    if isinstance(report, AttemptLost) and report.attempt.step is Step.MERGE:
        _forget_tip(facts, report.attempt)
    attempt = facts.alive.pop(report.attempt, None)
    if attempt is None:
        return
    outcome = report.outcome if isinstance(report, AttemptExited) else _describe_loss(report)
    batch = facts.batches[report.attempt.batch]
    task = batch.tasks[report.attempt.task]
    task.alive = None
    task.exit = UnjudgedExit(attempt, at, outcome)
    task.uncommitted = task.exit if outcome.uncommitted else None
    batch.slots -= attempt.order.slots
    facts.slots -= attempt.order.slots
    used = attempt.used.at_least(outcome.spend)
    batch.spent += used
    task.spent += used
    if report.attempt.step is Step.WRITE:
        task.last_used = used
        if outcome.category not in {Category.RATE_LIMIT, Category.LOST, Category.OUTAGE}:
            facts.agent_spends.setdefault(attempt.order.agent, []).append(used)
        _note_change(facts, batch, task, outcome)
        task.winner = outcome.winner
        ballot = outcome.ballot
        task.votes = attempt.order.votes if ballot is None else tuple(each for each in ballot.votes if not each.failure)
        task.voted_on = frozenset((each.task, each.tip) for each in attempt.order.candidates)
        if outcome.category is Category.RATE_LIMIT and not outcome.has_retry_time:
            _note_unexplained_refusal(facts, task, attempt.order.provider)
        _release_agent(facts, batch, attempt, outcome, at)


def fold_commit_report(facts: Facts, at: float, report: CommitReport) -> None:
    """Only the commit that runs counts."""
    batch = facts.batches.get(report.attempt.batch)
    task = batch.tasks.get(report.attempt.task) if batch is not None else None
    if batch is None or task is None or task.uncommitted is None or task.committing != report.n:
        return
    found = task.uncommitted
    match report:
        case CommitDone():
            task.committing = task.uncommitted = None
            task.exit = UnjudgedExit(found.attempt, found.at, report.outcome)
            _note_change(facts, batch, task, report.outcome)
            task.winner = report.outcome.winner
        case CommitFailed():
            task.committing = None
            task.merge_problem, task.merge_problem_at = Category.COMMIT, at
            task.uncommitted = None if report.gone else found
        case CommitWaiting():
            pass


def _forget_tip(facts: Facts, name: Attempt) -> None:
    """The merge that failed just now had nothing to merge."""
    batch = facts.batches.get(name.batch)
    task = batch.tasks.get(name.task) if batch else None
    if task is not None and task.merge_problem is Category.MERGE and task.numbers.get(Step.MERGE) == name.n:
        task.tip = None


def _note_change(facts: Facts, batch: BatchFacts, task: TaskFacts, outcome: Outcome) -> None:
    """Its result is what will be merged; it locks the files in it that are free."""
    said_all = outcome.category in {Category.OK, Category.EMPTY}
    task.tip = outcome.tip if said_all else outcome.tip or task.tip
    if task.spec.entrant is not None:
        return  # it is never merged, so it locks no files
    if not outcome.files or batch.settings.file_conflicts is not FileConflicts.INFERRED:
        return
    facts.changed_files[task.spec.key] = outcome.files
    seen = {lock_name(batch.id, f"file:{file}", shared=batch.in_place) for file in outcome.files}
    task.learned_locks = tuple(seen.difference(task.plan_locks))
    folders = {"."} | {file[:n] for file in outcome.files for n, sign in enumerate(file) if sign == "/"}
    wide = {lock_name(batch.id, f"file:{folder}", shared=batch.in_place) for folder in folders}
    known = {token for other in batch.tasks.values() for token in other.plan_locks}
    for token in seen.difference(task.plan_locks) | (wide & known):
        if task.active and token not in facts.lock_holders:
            facts.lock_holders[token] = (batch.id, task.spec.id)
            task.locks += (token,)


def _release_agent(facts: Facts, batch: BatchFacts, attempt: AttemptFacts, outcome: Outcome, at: float) -> None:
    order = attempt.order
    facts.agents[order.agent] -= 1
    facts.known_agents.add(order.agent)
    facts.provider_load[order.provider] -= 1
    if outcome.category is Category.RATE_LIMIT:
        said = max(at + (outcome.retry_after or 0.0), outcome.retry_at or at)
        note_refusal(facts, at, order.provider, said, began=attempt.started)
    elif outcome.category is Category.OK:
        batch.rejections = 0
        provider = facts.providers.get(order.provider)
        if provider is not None and attempt.started >= provider.opened_at:
            provider.streak = 0
            provider.served += 1


def _note_unexplained_refusal(facts: Facts, task: TaskFacts, name: str) -> None:
    """While others were served."""
    provider = facts.providers.get(name)
    served = provider.served if provider is not None else 0
    task.unexplained_refusals += task.last_refusal[0] == name and served > task.last_refusal[1]
    task.last_refusal = (name, served)


def note_refusal(facts: Facts, at: float, name: str, until: float, *, began: float) -> None:
    """A breaker that is open at that time and long enough has answered already."""
    provider = facts.providers.setdefault(name, ProviderFacts())
    if provider.until is None or provider.until < until or provider.until <= at:
        provider.refused_since_opening = (
            provider.refused_since_opening or not provider.streak or began >= provider.opened_at
        )
        provider.refuses_until = max(until, provider.refuses_until or until)
        provider.refused_at = min(at, provider.refused_at or at)


def _grant_retry(facts: Facts, task: TaskFacts, event: RetryGranted) -> None:
    if event.elsewhere and task.exit is not None:
        order, ended = task.exit.attempt.order, task.exit.at
        note_refusal(facts, ended, order.provider, ended, began=task.exit.attempt.started)
        provider = facts.providers[order.provider]
        provider.rejecting = provider.refuses_until is not None
    _clear_exit(task)
    if event.category is not Category.COMMIT:
        task.uncommitted = None
    task.step, task.retry_at = event.then, event.at
    if event.feedback:
        task.pending_feedback.append(event.feedback)
    if event.category is Category.VERIFY and task.winner:
        task.failed_winners += (task.winner,)
    if event.category is Category.CONFLICT:
        if task.tip is not None and task.tip_base is not None:
            task.repairing = Change(event.task, task.tip_base, task.tip)
        task.tip = None
        _retake_locks(facts, facts.batch(event.batch), task)
    _count_retry(task, event)


def _count_retry(task: TaskFacts, event: RetryGranted) -> None:
    if event.counted:
        task.counted_retries += 1
    elif event.category is Category.LOST:
        task.losses += 1
    elif event.category is Category.CONFLICT:
        task.repairs += 1
    elif event.category is Category.COMMIT:
        task.commit_failures += 1
    elif event.category is Category.MERGE:
        task.merge_failures += 1


def _retake_locks(facts: Facts, batch: BatchFacts, task: TaskFacts) -> None:
    """A repair holds all files that its task is known to change, or waits until it can."""
    me = (batch.id, task.spec.id)
    wanted = dict.fromkeys((*task.locks, *task.plan_locks, *task.learned_locks))
    if not task.active or any(facts.lock_holders.get(token, me) != me for token in wanted):
        release_locks(facts, batch, task)
    else:
        task.locks = tuple(wanted)
        facts.lock_holders |= dict.fromkeys(wanted, me)


def _end_task(facts: Facts, batch: BatchFacts, task: TaskFacts, event: TaskEnded) -> None:
    _clear_exit(task)
    task.ended = event
    task.committing = None
    if event.category is not Category.COMMIT and event.status is not TaskStatus.CANCELLED:
        task.uncommitted = None
    task.unmerged_tip = task.tip if event.category is Category.MERGE else None
    is_gone = task.step is Step.MERGE and task.tip is None  # a merge found nothing to merge
    task.is_finished = event.status is not TaskStatus.DONE and task.step is not Step.WRITE and not is_gone
    task.finished_tip, task.rechecking = task.tip, False
    contested = batch.tasks.get(task.spec.entrant or "")
    if contested is not None and contested.winner == event.task:
        contested.unmerged_tip, contested.is_finished = None, False
    task.pending_end, task.retry_at, task.requested_budget = "", None, None
    task.asking = task.interrupted = False
    task.pending_feedback.clear()
    task.repairing = None
    if event.status is TaskStatus.DONE:
        facts.changed_files.pop(task.spec.key, None)
    if event.category in {Category.AUTH, Category.QUOTA}:
        batch.rejections += 1
    note_failure(batch, event.task, event.status)
    release_locks(facts, batch, task)


def note_failure(batch: BatchFacts, task: str, status: TaskStatus | None) -> None:
    """What a failure stopped continues when the task is no longer failed."""
    if status is not None and status.is_failure and batch.tasks[task].spec.entrant is None:
        batch.failures[task] = None
        return
    batch.failures.pop(task, None)
    if batch.halted == task:
        batch.halted = None


def release_locks(facts: Facts, batch: BatchFacts, task: TaskFacts) -> None:
    task.active = False
    for token in task.locks:
        if facts.lock_holders.get(token) == (batch.id, task.spec.id):
            del facts.lock_holders[token]
    task.locks = task.plan_locks + task.learned_locks


def restart_unmet(facts: Facts, batch: BatchFacts) -> None:
    """A task whose need is done again starts over after it, and holds nothing meanwhile."""
    merged = {link.task for link in batch.merges}
    for name, task in batch.tasks.items():
        if not batch.has_needs_done(task):
            task.unmerged_tip, task.is_finished = None, False
            task.uncommitted = task.uncommitted if task.ended is None else None
        written = task.step is not Step.WRITE or task.uncommitted is not None
        begun = task.active or (task.ended is None and written)
        if begun and not task.is_in_progress and not batch.has_needs_done(task):
            if name not in merged:
                task.step, task.tip, task.uncommitted = Step.WRITE, None, None
            release_locks(facts, batch, task)


def _clear_exit(task: TaskFacts) -> None:
    task.exit = task.merge_problem = None
    task.restart_after_exit = False
