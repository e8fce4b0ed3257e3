"""Which attempt is meant, and who understands what it printed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from plait.agents.interface import OutputParser
from plait.client.history__past import PastAttempt, find_attempts
from plait.client.logs.activity import load_agent_parsers
from plait.core.errors import UserError, WorldError
from plait.core.explain import explain_in_words
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_inputs import BatchInputsError
from plait.store.interfaces import JournalMissingError


def choose_attempt(
    state: State, batch: BatchState, task: TaskState, step: Step, number: int | None
) -> Attempt:
    """The newest one, or the one of this number. Raises WorldError or UserError if there is none."""
    newest = task.attempt_counts.get(step, 0)
    if not newest:
        raise WorldError(
            f"{task.task.id} has made no attempt to {step.value} yet: there is nothing to read",
            hint=f"{explain_in_words(state, batch, task)}.",
        )
    if number is not None and not 1 <= number <= newest:
        made = "one" if newest == 1 else f"{newest}"
        raise UserError(
            f"{task.task.id} has no attempt {number} to {step.value}", hint=f"It has made {made}."
        )
    return Attempt(batch.id, task.task.id, step, number or newest)


def is_attempt_running(state: State, attempt: Attempt) -> bool:
    if attempt.task:
        return state.find_attempt(attempt) is not None
    batch = state.batches.get(attempt.batch)
    return batch is not None and batch.gate is not None and batch.gate.n == attempt.n


def find_parser(place: RepoLocation, attempt: Attempt) -> OutputParser | None:
    """That of the agent which made the attempt, by what the journal tells."""
    try:
        with closing(project_files.open_project_journal(place)) as reader:
            made = find_attempts(reader.read(), attempt.batch, attempt.task)
    except JournalMissingError:
        return None
    return load_parser(place, attempt, made)


def load_parser(
    place: RepoLocation, attempt: Attempt, attempts: Sequence[PastAttempt]
) -> OutputParser | None:
    """That of the agent which made the attempt; of a check and a gate, nobody's."""
    agent = next((each.agent for each in attempts if each.attempt == attempt), None)
    if agent is None or not attempt.task or attempt.step is Step.VERIFY:
        return None
    try:
        return load_agent_parsers(project_files.load_batch_inputs(place, attempt.batch))(agent)
    except BatchInputsError:
        return None
