"""When an attempt may start: its needs, its phase, its turn, and everything that holds it back by request.

Never more than the limits: slots, agents, files and groups, providers, money.

Providers that refuse are left alone as long as they said, and trusted again step by step.
"""

from __future__ import annotations

from plait.core.decisions import AttemptStarted, BreakerClosed, BreakerOpened, LimitRaised
from plait.core.settings import NO_SPEND, Mode, Spend
from plait.core.task import Step
from plait.testing.laws.eligibility import expected_cost, fallback_agents, fits_task_budget, own_agents
from plait.testing.laws.facts import BatchFacts, Facts, TaskFacts


def check_attempt_start(book: Facts, _at: float, event: AttemptStarted) -> None:
    name = event.attempt
    batch = book.batch(name.batch)
    page = book.task(name.batch, name.task)
    broken = (
        _check_task_free(batch, page)
        or _check_number(page, event)
        or _check_allowed(book, batch, page)
        or _check_needs(batch, page)
    )
    if broken is None and name.step is Step.WRITE:
        broken = (
            _check_phase_and_branch(batch, page)
            or _check_queue_turn(batch, page)
            or _check_base(book, batch, page, event)
        )
        broken = broken or _check_candidates(batch, page, event) or _check_session(page, event)
    if broken is not None:
        law, why = broken
        raise book.violation(law, f"{name} started {why}", page)


def _check_number(page: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """Every attempt has a number of its own, and it is at the step the task has come to."""
    if event.attempt.n != page.numbers.get(event.attempt.step, 0) + 1:
        return "twice", f"after number {page.numbers.get(event.attempt.step, 0)} of that step"
    if event.attempt.step is not page.step:
        return "step", f"while the task is at {page.step}"
    return None


def _check_task_free(batch: BatchFacts, page: TaskFacts) -> tuple[str, str] | None:
    """Nothing of the task is under way or undecided, and nobody has ended it."""
    if page.alive is not None:
        return "workspace", f"beside {page.alive.order.attempt}"
    if page.ended is not None:
        return "ended", f"though the task is {page.ended.status}"
    if page.exit is not None or page.merge_problem is not None:
        return "judged", "before the last exit was judged"
    if page.merging is not None:
        return "workspace", "while it is being merged"
    if page.pending_end == "cancel":
        return "cancelled", "though it was cancelled"
    if page.pending_end or batch.find_lost_needs(page):
        return "blocked", "though it will not go on"
    if page.retry_at is not None or page.asking or page.interrupted:
        return (
            "waits",
            f"while it waits (until {page.retry_at}, question {page.asking}, stopped {page.interrupted})",
        )
    if batch.ended:
        return "ended", "though its batch has ended"
    return None


def _check_allowed(book: Facts, batch: BatchFacts, page: TaskFacts) -> tuple[str, str] | None:
    new = page.step is Step.WRITE
    if batch.is_stopped or (new and batch.paused is not None):
        return "paused", f"though the batch is paused ({batch.paused})"
    if book.pressure is not None:
        return "pressure", f"though {book.pressure}"
    if new and batch.rejections >= 2:
        return "rejected", f"though {batch.rejections} tasks in a row were rejected and nobody was asked"
    if batch.halted and not batch.has_begun(page) and page.generation == 1:
        return "halted", "though a failure has halted the batch"
    return None


def _check_needs(batch: BatchFacts, page: TaskFacts) -> tuple[str, str] | None:
    missing = [need for need in page.needs if not batch.tasks[need].is_done]
    if missing:
        return "needs", f"before {', '.join(missing)} was done"
    going = [entrant for entrant in page.entrants if batch.tasks[entrant].ended is None]
    return ("contest", f"before {', '.join(going)} had ended") if going else None


def _check_candidates(batch: BatchFacts, page: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """A referee is told of every entrant that passed with a change, and of no other."""
    passed = batch.find_candidates(page) if page.has_referee else []
    if passed == [] and page.has_referee:
        return "contest", "though none of its entrants is left"
    told = [(each.task, each.tip) for each in event.candidates]
    found = [(entrant.spec.id, entrant.tip) for entrant in passed if entrant.tip is not None]
    return None if told == found else ("contest", f"with {told} to choose from, not {found}")


def _check_session(page: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """A session is its agent's own; what it had spent before is told once."""
    last = page.last_write
    if event.session is None:
        return ("spend", f"with {event.before} before, in no session") if event.before else None
    if last is None or last.agent != event.agent:
        return "session", f"in the session of {last.agent if last else 'nobody'}"
    told = last.before + page.last_used
    return None if event.before == told else ("spend", f"with {event.before} before, not {told}")


def _check_phase_and_branch(batch: BatchFacts, page: TaskFacts) -> tuple[str, str] | None:
    phase = page.spec.phase
    shut = phase in batch.phases and phase not in batch.opened
    if phase is not None and shut and not page.ignores_phase(batch.phases[phase]):
        return "phase", f"before phase {phase} opened"
    if batch.rebuild is not None or batch.find_unwanted():
        return "rebuild", "while the branch holds what is to be taken out"
    if batch.merging is not None:
        return "merge", "while the branch it would start from is about to move"
    return None


def _check_queue_turn(batch: BatchFacts, page: TaskFacts) -> tuple[str, str] | None:
    if batch.settings.mode is not Mode.QUEUE or page.active:
        return None
    if any(other.active for other in batch.tasks.values()):
        return "queue", "while another task of the queue is under way"
    if not page.approved and not batch.settings.auto_approve:
        return "approval", "without approval"
    return None


def _check_base(book: Facts, batch: BatchFacts, page: TaskFacts, event: AttemptStarted) -> tuple[str, str] | None:
    """Its workspace is made from a commit that contains what its needs have merged."""
    if batch.in_place:
        return None
    merged = {link.task for link in batch.merges}
    absent = (set(page.needs) & merged) - book.contents(event.base)
    if absent:
        return "base", f"from {event.base}, which lacks {sorted(absent)}"
    if event.repairs != page.repairing:
        return "repair", f"to repair {event.repairs}, not {page.repairing}"
    unsaid = [words for words in page.pending_feedback if words not in event.feedback]
    return ("feedback", f"without the words {unsaid[0]!r}") if unsaid else None


def check_slots(book: Facts, _at: float, event: AttemptStarted) -> None:
    batch = book.batch(event.attempt.batch)
    page = batch.tasks[event.attempt.task]
    limits = [limit for limit in (book.settings.parallel_limit, batch.settings.max_parallel) if limit]
    if event.slots != min([max(1, page.spec.slots), *limits]):
        raise book.violation("slots", f"{event.attempt} counts as {event.slots} slots", page)
    for used, limit in (
        (book.slots, book.settings.parallel_limit),
        (batch.slots, batch.settings.max_parallel),
    ):
        if limit and used + event.slots > limit:
            message = f"{event.attempt} took {event.slots} slots with {used} of {limit} in use"
            raise book.violation("slots", message, page)


def check_capacity(book: Facts, _at: float, event: AttemptStarted) -> None:
    """A room of at least one slot takes anybody who is alone in it."""
    if book.capacity is None or book.slots + event.slots <= book.capacity or (book.capacity >= 1 and not book.alive):
        return
    message = f"{event.attempt} took {event.slots} slots with {book.slots} in use and room for {book.capacity}"
    raise book.violation("room", message, book.task(event.attempt.batch, event.attempt.task))


def check_agent_limit(book: Facts, _at: float, event: AttemptStarted) -> None:
    if event.attempt.step is not Step.WRITE:
        return
    batch = book.batch(event.attempt.batch)
    page = batch.tasks[event.attempt.task]
    chosen = (*own_agents(batch, page), *fallback_agents(book, batch, page))
    if event.agent not in chosen or event.provider != batch.settings.provider(event.agent):
        raise book.violation("agent", f"{event.attempt} was given to {event.agent}, not to one of {chosen}", page)
    limit = book.settings.agent_limit(event.agent)
    if limit and book.agents.get(event.agent, 0) >= limit:
        raise book.violation("agent-limit", f"{event.attempt} is one too many for {event.agent} ({limit})", page)


def check_timeouts(book: Facts, _at: float, event: AttemptStarted) -> None:
    """The time it is given is the time that was set."""
    batch = book.batch(event.attempt.batch)
    page = batch.tasks[event.attempt.task]
    settings = batch.settings
    if event.attempt.step is Step.WRITE:
        given = (page.spec.timeout or settings.timeout, settings.idle_timeout)
    else:
        given = (settings.verify_timeout, settings.verify_timeout)
        if event.command != batch.verify_command(page):
            raise book.violation(
                "step", f"{event.attempt} runs {event.command}, not {batch.verify_command(page)}", page
            )
    if (event.timeout, event.idle_timeout) != given:
        raise book.violation("timeout", f"{event.attempt} got {event.timeout}s, {given[0]}s was set", page)


def check_locks(book: Facts, _at: float, event: AttemptStarted) -> None:
    page = book.task(event.attempt.batch, event.attempt.task)
    me = (event.attempt.batch, event.attempt.task)
    for token in page.locks:
        holder = book.lock_holders.get(token, me)
        if holder != me:
            raise book.violation("holds", f"{event.attempt} started while {holder} holds {token}", page)


def check_provider_limit(book: Facts, _at: float, event: AttemptStarted) -> None:
    page = book.providers.get(event.provider)
    if event.attempt.step is not Step.WRITE or page is None:
        return
    task = book.task(event.attempt.batch, event.attempt.task)
    if page.until is not None or page.refuses_until is not None:
        raise book.violation("breaker", f"{event.attempt} started while {event.provider} refuses", task)
    if page.limit is not None and book.provider_load.get(event.provider, 0) >= page.limit:
        raise book.violation("provider-limit", f"{event.attempt} is one too many for {event.provider}", task)


def check_budget(book: Facts, _at: float, event: AttemptStarted) -> None:
    batch = book.batch(event.attempt.batch)
    if event.attempt.step is not Step.WRITE:
        return
    total = batch.spent + sum_claims(batch) + event.reserve
    page = batch.tasks[event.attempt.task]
    if batch.settings.budget is not None and not batch.settings.budget.allows(total):
        raise book.violation("budget", f"{event.attempt} may bring {total} out of {batch.settings.budget}", page)
    if not fits_task_budget(batch, page, event.reserve):
        message = f"{event.attempt} may cost {event.reserve} after {page.spent - page.uncounted_spend}"
        raise book.violation("task-budget", f"{message}, of {batch.settings.task_budget}", page)
    wanted = expected_cost(book, batch, event.agent)
    if event.reserve != wanted:
        raise book.violation("budget", f"{event.attempt} reserves {event.reserve}, not {wanted}", page)


def sum_claims(batch: BatchFacts) -> Spend:
    return sum((alive.claim for alive in batch.alive if alive.order.attempt.step is Step.WRITE), NO_SPEND)


# Who refuses again and again is not asked again at once, whatever it says.
REPEAT_SECONDS, MAX_REPEAT_SECONDS = 5.0, 600.0

# Where somebody has to log in or to pay, nothing changes within the hour.
MIN_REJECTED_SECONDS = 0.9 * 3600.0 - 1e-6


def check_breaker_opened(book: Facts, _at: float, event: BreakerOpened) -> None:
    page = book.providers.get(event.provider)
    if page is None or page.refuses_until is None:
        raise book.violation("breaker", f"{event.provider} was shut out, but did not refuse")
    least = 0.9 * min(MAX_REPEAT_SECONDS, REPEAT_SECONDS * 2 ** (page.streak - 1)) if page.streak else 0.0
    if event.until < (page.refused_at or 0.0) + least - 1e-6:
        raise book.violation("breaker", f"{event.provider} refused again and again and is asked too soon")
    if event.rejected is not page.rejecting:
        raise book.violation("breaker", f"{event.provider} was shut out for what it did not do")
    if event.rejected and event.until < (page.refused_at or 0.0) + MIN_REJECTED_SECONDS:
        raise book.violation("breaker", f"{event.provider} rejected somebody and is asked too soon")
    if page.limit is not None and event.limit < page.limit and not page.refused_since_opening:
        raise book.violation("breaker", f"one refusal of {event.provider} lowered its limit twice")
    if event.limit < 1:
        raise book.violation("breaker", f"{event.provider} would never be called again")


def check_breaker_closed(book: Facts, at: float, event: BreakerClosed) -> None:
    page = book.providers.get(event.provider)
    if page is None or page.until is None or (at < page.until and not page.may_be_restored):
        raise book.violation("breaker", f"the breaker of {event.provider} closed at {at}")


def check_limit_raised(book: Facts, _at: float, event: LimitRaised) -> None:
    page = book.providers.get(event.provider)
    if page is None or page.limit is None or page.until is not None:
        raise book.violation("provider-limit", f"nothing limits {event.provider}")
    if event.limit is not None and event.limit > page.limit + 1:
        raise book.violation("provider-limit", f"{event.provider} went from {page.limit} to {event.limit}")
