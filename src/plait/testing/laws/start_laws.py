"""When an attempt may start: its needs, its phase, its turn, and everything that holds it back by request."""

from __future__ import annotations

from plait.core.decisions import AttemptStarted
from plait.core.settings import Mode
from plait.core.task import Step
from plait.testing.laws.facts import BatchFacts, TaskFacts
from plait.testing.laws.facts__book import Facts


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


def _check_base(
    book: Facts, batch: BatchFacts, page: TaskFacts, event: AttemptStarted
) -> tuple[str, str] | None:
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
