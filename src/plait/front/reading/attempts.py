"""Which attempt is meant, and who understands what it printed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from plait import wiring
from plait.agents.model import Listener
from plait.core.errors import UserError, WorldError
from plait.core.explain import explain
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step
from plait.front.activity import listeners
from plait.front.past import Try, tries
from plait.kit import KitError
from plait.ports import JournalMissingError
from plait.wiring import Place


def choose(state: State, batch: BatchState, task: TaskState, step: Step, number: int | None) -> Attempt:
    """The newest one, or the one of this number. Raises WorldError or UserError if there is none."""
    newest = task.numbers.get(step, 0)
    if not newest:
        raise WorldError(
            f"{task.task.id} has made no attempt to {step.value} yet: there is nothing to read",
            hint=f"{explain(state, batch, task)}.",
        )
    if number is not None and not 1 <= number <= newest:
        made = "one" if newest == 1 else f"{newest}"
        raise UserError(
            f"{task.task.id} has no attempt {number} to {step.value}", hint=f"It has made {made}."
        )
    return Attempt(batch.id, task.task.id, step, number or newest)


def at_work(state: State, attempt: Attempt) -> bool:
    if attempt.task:
        return state.find(attempt) is not None
    batch = state.batches.get(attempt.batch)
    return batch is not None and batch.gate is not None and batch.gate.n == attempt.n


def listener_of(place: Place, attempt: Attempt) -> Listener | None:
    """That of the agent which made the attempt, by what the journal tells."""
    try:
        with closing(wiring.journal_reader(place)) as reader:
            made = tries(reader.read(), attempt.batch, attempt.task)
    except JournalMissingError:
        return None
    return listener_by(place, attempt, made)


def listener_by(place: Place, attempt: Attempt, past: Sequence[Try]) -> Listener | None:
    """That of the agent which made the attempt; of a check and a gate, nobody's."""
    agent = next((each.agent for each in past if each.attempt == attempt), None)
    if agent is None or not attempt.task or attempt.step is Step.VERIFY:
        return None
    try:
        return listeners(wiring.load_kit(place, attempt.batch))(agent)
    except KitError:
        return None
