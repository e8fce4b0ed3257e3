"""When an attempt may start, and limits: slots, agents, locks, providers and budgets are never exceeded."""

from __future__ import annotations

from plait.core.decisions import AttemptStarted, BreakerClosed, BreakerOpened, CommitStarted, LimitRaised
from plait.core.settings import NO_SPEND, Mode, Spend
from plait.core.task import Step
from tests.support.laws.eligibility import expected_cost, fallback_agents, fits_task_budget, own_agents
from tests.support.laws.facts import BatchFacts, Facts, TaskFacts


def check_attempt_start(facts: Facts, _at: float, event: AttemptStarted) -> None:
    name = event.attempt
    batch = facts.batch(name.batch)
    task = facts.task(name.batch, name.task)
    broken = (
        _check_task_free(batch, task)
        or _check_number(task, event)
        or _check_allowed(facts, batch, task)
        or _check_needs(batch, task)
    )
    if broken is None and name.step is Step.WRITE:
        broken = (
            _check_recheck(task)
            or _check_uncommitted(task)
            or _check_phase_and_branch(batch, task)
            or _check_queue_turn(batch, task)
            or _check_base(facts, batch, task, event)
        )
        broken = broken or _check_candidates(batch, task, event) or _check_votes(task, event)
        broken = broken or _check_session(task, event)
    if broken is not None:
        law, why = broken
        raise facts.violation(law, f"{name} started {why}", task)


def _check_number(task: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """Every attempt has a number of its own, and it is at the step the task has come to."""
    if event.attempt.n != task.numbers.get(event.attempt.step, 0) + 1:
        return "twice", f"after number {task.numbers.get(event.attempt.step, 0)} of that step"
    if event.attempt.step is not task.step:
        return "step", f"while the task is at {task.step}"
    return None


def _check_recheck(task: TaskFacts) -> tuple[str, str] | None:
    return ("recheck", "though only its finished work is to be verified") if task.rechecking else None


def _check_uncommitted(task: TaskFacts) -> tuple[str, str] | None:
    """What an agent has finished is committed, and never paid for again."""
    if task.uncommitted is None:
        return None
    return "uncommitted", f"though what {task.uncommitted.attempt.order.attempt} finished is not committed"


def check_commit_started(facts: Facts, _at: float, event: CommitStarted) -> None:
    task = facts.task(event.attempt.batch, event.attempt.task)
    found = task.uncommitted
    if found is None or found.attempt.order.attempt != event.attempt or task.ended is not None:
        raise facts.violation("commit", f"{event.attempt} left nothing to commit", task)
    if task.alive is not None or task.committing is not None or task.merge_problem is not None:
        raise facts.violation("workspace", f"{event.attempt} is committed beside something else", task)
    if event.n != task.commits + 1:
        raise facts.violation("twice", f"{event.attempt} is committed for the {event.n}th time", task)
    if task.retry_at is not None or task.pending_end or task.restart_after_exit:
        raise facts.violation("waits", f"{event.attempt} is committed while its task waits or ends", task)


def _check_task_free(batch: BatchFacts, task: TaskFacts) -> tuple[str, str] | None:
    """Nothing of the task is running or undecided, and it has not ended."""
    if task.alive is not None:
        return "workspace", f"beside {task.alive.order.attempt}"
    if task.ended is not None:
        return "ended", f"though the task is {task.ended.status}"
    if task.exit is not None or task.merge_problem is not None:
        return "judged", "before the last exit was judged"
    if task.merging is not None or task.committing is not None:
        return "workspace", "while it is being committed or merged"
    if task.pending_end == "cancel":
        return "cancelled", "though it was cancelled"
    if task.pending_end or batch.find_lost_needs(task):
        return "blocked", "though it will end"
    if task.retry_at is not None or task.asking or task.interrupted:
        return (
            "waits",
            f"while it waits (until {task.retry_at}, question {task.asking}, stopped {task.interrupted})",
        )
    if batch.ended:
        return "ended", "though its batch has ended"
    return None


def _check_allowed(facts: Facts, batch: BatchFacts, task: TaskFacts) -> tuple[str, str] | None:
    new = task.step is Step.WRITE
    if batch.is_stopped or (new and batch.paused is not None):
        return "paused", f"though the batch is paused ({batch.paused})"
    if facts.pressure is not None:
        return "pressure", f"though {facts.pressure}"
    if new and batch.rejections >= 2:
        return "rejected", f"though {batch.rejections} tasks in a row were rejected and the batch is not paused"
    if batch.halted and not batch.has_begun(task) and task.generation == 1:
        return "halted", "though a failure has halted the batch"
    return None


def _check_needs(batch: BatchFacts, task: TaskFacts) -> tuple[str, str] | None:
    missing = [need for need in task.needs if not batch.tasks[need].is_done]
    if missing:
        return "needs", f"before {', '.join(missing)} was done"
    going = [entrant for entrant in task.entrants if batch.tasks[entrant].ended is None]
    return ("contest", f"before {', '.join(going)} had ended") if going else None


def _check_candidates(batch: BatchFacts, task: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """A referee gets every entrant that passed with a change, and no other."""
    passed = batch.find_candidates(task) if task.has_referee else []
    if passed == [] and task.has_referee:
        return "contest", "though no entrant passed"
    told = [(each.task, each.tip) for each in event.candidates]
    found = [(entrant.spec.id, entrant.tip) for entrant in passed if entrant.tip is not None]
    return None if told == found else ("contest", f"with {told} to choose from, not {found}")


def _check_votes(task: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """No judge is asked twice about the same changes, and none is taken to have voted on others."""
    known = task.begun and {(each.task, each.tip) for each in event.candidates} <= task.voted_on
    votes = task.votes if known else ()
    return None if event.votes == votes else ("votes", f"with the votes {event.votes}, not {votes}")


def _check_session(task: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """A session belongs to its agent; what it had spent before is reported once."""
    last = task.last_write
    if event.session is None:
        return ("spend", f"with {event.before} before, in no session") if event.before else None
    if last is None or last.agent != event.agent:
        return "session", f"in the session of {last.agent if last else 'no agent'}"
    told = last.before + task.last_used
    return None if event.before == told else ("spend", f"with {event.before} before, not {told}")


def _check_phase_and_branch(batch: BatchFacts, task: TaskFacts) -> tuple[str, str] | None:
    phase = task.spec.phase
    shut = phase in batch.phases and phase not in batch.opened
    if phase is not None and shut and not task.ignores_phase(batch.phases[phase]):
        return "phase", f"before phase {phase} opened"
    if batch.rebuild is not None or batch.find_unwanted():
        return "rebuild", "while the branch holds what is to be taken out"
    if batch.merging is not None:
        return "merge", "while the branch it would start from is about to move"
    return None


def _check_queue_turn(batch: BatchFacts, task: TaskFacts) -> tuple[str, str] | None:
    if batch.settings.mode is not Mode.QUEUE or task.active:
        return None
    if any(other.active for other in batch.tasks.values()):
        return "queue", "while another task of the queue is under way"
    if not task.approved and not batch.settings.auto_approve:
        return "approval", "without approval"
    return None


def _check_base(facts: Facts, batch: BatchFacts, task: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """Its workspace is made from a commit that contains what its needs have merged."""
    if batch.in_place:
        return None
    merged = {link.task for link in batch.merges}
    absent = (set(task.needs) & merged) - facts.contents(event.base)
    if absent:
        return "base", f"from {event.base}, which lacks {sorted(absent)}"
    if event.repairs != task.repairing:
        return "repair", f"to repair {event.repairs}, not {task.repairing}"
    unsaid = [words for words in task.pending_feedback if words not in event.feedback]
    return ("feedback", f"without the words {unsaid[0]!r}") if unsaid else None


def check_slots(facts: Facts, _at: float, event: AttemptStarted) -> None:
    batch = facts.batch(event.attempt.batch)
    task = batch.tasks[event.attempt.task]
    limits = [limit for limit in (facts.settings.parallel_limit, batch.settings.max_parallel) if limit]
    if event.slots != min([max(1, batch.slots_wanted(task, event.attempt.step)), *limits]):
        raise facts.violation("slots", f"{event.attempt} counts as {event.slots} slots", task)
    for used, limit in (
        (facts.slots, facts.settings.parallel_limit),
        (batch.slots, batch.settings.max_parallel),
    ):
        if limit and used + event.slots > limit:
            message = f"{event.attempt} took {event.slots} slots with {used} of {limit} in use"
            raise facts.violation("slots", message, task)


def check_capacity(facts: Facts, _at: float, event: AttemptStarted) -> None:
    """A capacity of at least one slot allows any attempt that runs alone."""
    if (
        facts.capacity is None
        or facts.slots + event.slots <= facts.capacity
        or (facts.capacity >= 1 and not facts.alive)
    ):
        return
    message = f"{event.attempt} took {event.slots} slots with {facts.slots} in use and room for {facts.capacity}"
    raise facts.violation("room", message, facts.task(event.attempt.batch, event.attempt.task))


def check_agent_limit(facts: Facts, _at: float, event: AttemptStarted) -> None:
    if event.attempt.step is not Step.WRITE:
        return
    batch = facts.batch(event.attempt.batch)
    task = batch.tasks[event.attempt.task]
    chosen = (*own_agents(batch, task), *fallback_agents(facts, batch, task))
    if event.agent not in chosen or event.provider != batch.settings.provider(event.agent):
        raise facts.violation("agent", f"{event.attempt} was given to {event.agent}, not to one of {chosen}", task)
    limit = facts.settings.agent_limit(event.agent)
    if limit and facts.agents.get(event.agent, 0) >= limit:
        raise facts.violation("agent-limit", f"{event.attempt} is one too many for {event.agent} ({limit})", task)


def check_timeouts(facts: Facts, _at: float, event: AttemptStarted) -> None:
    """The time it is given is the time that was set."""
    batch = facts.batch(event.attempt.batch)
    task = batch.tasks[event.attempt.task]
    settings = batch.settings
    if event.attempt.step is Step.WRITE:
        given = (task.spec.timeout or settings.timeout, settings.idle_timeout)
    else:
        given = (settings.verify_timeout, settings.verify_timeout)
        if event.command != batch.verify_command(task):
            raise facts.violation(
                "step", f"{event.attempt} runs {event.command}, not {batch.verify_command(task)}", task
            )
    if (event.timeout, event.idle_timeout) != given:
        raise facts.violation("timeout", f"{event.attempt} got {event.timeout}s, {given[0]}s was set", task)


def check_locks(facts: Facts, _at: float, event: AttemptStarted) -> None:
    task = facts.task(event.attempt.batch, event.attempt.task)
    me = (event.attempt.batch, event.attempt.task)
    for token in task.locks:
        holder = facts.lock_holders.get(token, me)
        if holder != me:
            raise facts.violation("holds", f"{event.attempt} started while {holder} holds {token}", task)


def check_provider_limit(facts: Facts, _at: float, event: AttemptStarted) -> None:
    provider = facts.providers.get(event.provider)
    if event.attempt.step is not Step.WRITE or provider is None:
        return
    task = facts.task(event.attempt.batch, event.attempt.task)
    if provider.until is not None or provider.refuses_until is not None:
        raise facts.violation("breaker", f"{event.attempt} started while {event.provider} refuses", task)
    if provider.limit is not None and facts.provider_load.get(event.provider, 0) >= provider.limit:
        raise facts.violation("provider-limit", f"{event.attempt} is one too many for {event.provider}", task)


def check_budget(facts: Facts, _at: float, event: AttemptStarted) -> None:
    batch = facts.batch(event.attempt.batch)
    if event.attempt.step is not Step.WRITE:
        return
    total = batch.spent + sum_claims(batch) + event.reserve
    task = batch.tasks[event.attempt.task]
    if batch.settings.budget is not None and not batch.settings.budget.allows(total):
        raise facts.violation("budget", f"{event.attempt} may bring {total} out of {batch.settings.budget}", task)
    if not fits_task_budget(batch, task, event.reserve):
        message = f"{event.attempt} may cost {event.reserve} after {task.spent - task.uncounted_spend}"
        raise facts.violation("task-budget", f"{message}, of {batch.settings.task_budget}", task)
    wanted = expected_cost(facts, batch, event.agent)
    if event.reserve != wanted:
        raise facts.violation("budget", f"{event.attempt} reserves {event.reserve}, not {wanted}", task)


def sum_claims(batch: BatchFacts) -> Spend:
    return sum((alive.claim for alive in batch.alive if alive.order.attempt.step is Step.WRITE), NO_SPEND)


# A provider that refuses repeatedly is not tried again at once, whatever reset time it gives.
REPEAT_SECONDS, MAX_REPEAT_SECONDS = 5.0, 600.0

# If a person has to log in or pay, it is not tried again within the hour.
MIN_REJECTED_SECONDS = 0.9 * 3600.0 - 1e-6


def check_breaker_opened(facts: Facts, _at: float, event: BreakerOpened) -> None:
    provider = facts.providers.get(event.provider)
    if provider is None or provider.refuses_until is None:
        raise facts.violation("breaker", f"{event.provider} was shut out, but did not refuse")
    least = 0.9 * min(MAX_REPEAT_SECONDS, REPEAT_SECONDS * 2 ** (provider.streak - 1)) if provider.streak else 0.0
    if event.until < (provider.refused_at or 0.0) + least - 1e-6:
        raise facts.violation("breaker", f"{event.provider} refused again and again and is asked too soon")
    if event.rejected is not provider.rejecting:
        raise facts.violation("breaker", f"{event.provider} was shut out for what it did not do")
    if event.rejected and event.until < (provider.refused_at or 0.0) + MIN_REJECTED_SECONDS:
        raise facts.violation("breaker", f"{event.provider} rejected somebody and is asked too soon")
    if provider.limit is not None and event.limit < provider.limit and not provider.refused_since_opening:
        raise facts.violation("breaker", f"one refusal of {event.provider} lowered its limit twice")
    if event.limit < 1:
        raise facts.violation("breaker", f"{event.provider} would never be called again")


def check_breaker_closed(facts: Facts, at: float, event: BreakerClosed) -> None:
    provider = facts.providers.get(event.provider)
    asked = provider is not None and (provider.may_be_restored or provider.may_be_tried)
    if provider is None or provider.until is None or (at < provider.until and not asked):
        raise facts.violation("breaker", f"the breaker of {event.provider} closed at {at}")


def check_limit_raised(facts: Facts, _at: float, event: LimitRaised) -> None:
    provider = facts.providers.get(event.provider)
    if provider is None or provider.limit is None or provider.until is not None:
        raise facts.violation("provider-limit", f"nothing limits {event.provider}")
    if event.limit is not None and event.limit > provider.limit + 1:
        raise facts.violation("provider-limit", f"{event.provider} went from {provider.limit} to {event.limit}")
