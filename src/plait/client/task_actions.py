"""Checks before a request to the engine, the order of several requests, and their results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from graphlib import TopologicalSorter

from plait.client.json_encoding import api_model
from plait.client.session import RequestAnswer
from plait.core.errors import UserError
from plait.core.explain import explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.requests import ChangeSettings, Request, TaskRequest
from plait.core.scheduler.request_answers import why_not_task
from plait.core.state import BatchState, State, TaskState
from plait.core.status import BatchStatus, TaskStatus
from plait.core.views import find_batch_status

# What a retry without names retries; the tasks they blocked follow by themselves.
RETRIED_STATUSES = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED, TaskStatus.CANCELLED)
_NEGATIVE_ANSWERS = frozenset({"n", "no", "nope", "stop", "cancel", "don't", "never"})
TaskRequestFactory = Callable[[str, str, str], Request]  # a request's id, its batch, its task
BatchRequestFactory = Callable[[str, str], Request]


# The settings that can be given with a recheck and with a retry, by key. They count for the batch from then on.
RECHECK_KEYS = ("run.verify", "run.gate", "workspace.setup")
RETRY_KEYS = (*RECHECK_KEYS, "run.timeout", "run.preflight")


@dataclass(frozen=True, slots=True)
class Overrides:
    """Changes for the tasks that run again: `flags` by key, for their batch from now on; `model` for these tasks alone."""

    flags: Mapping[str, object]
    tasks: Collection[str] = ()
    model: str | None = None


def is_grantable(batch: BatchState, requests: Iterable[Request]) -> bool:
    """Whether one of these requests would be granted; otherwise, the settings of the batch should not change either."""
    return any(
        isinstance(request, TaskRequest)
        and (task := batch.find_task(request.task)) is not None
        and why_not_task(batch, task, request) is None
        for request in requests
    )


def list_retryable(batch: BatchState) -> tuple[TaskState, ...]:
    """List the tasks that a retry without names is about. A contest retries its entrants itself."""
    tasks = (task for task in batch.tasks if task.task.entrant is None)
    return tuple(
        task for task in tasks if task.status in RETRIED_STATUSES or _is_unblocked(task) or task.waits_to_commit
    )


def _is_unblocked(task: TaskState) -> bool:
    """Whether the task that blocked this one is done by now, because its finished work was verified again."""
    return task.status is TaskStatus.BLOCKED and task.by is not None and not task.pending_needs


def list_recheckable(batch: BatchState) -> tuple[TaskState, ...]:
    """List the tasks that a recheck without names is about: their agents had finished."""
    return tuple(task for task in list_retryable(batch) if task.finished is not None)


def check_answer(batch: BatchState, task: TaskState, text: str) -> None:
    """Reject a "no" to the question whether a task may spend more, because any feedback means yes."""
    if task.requested_spend is not None and text.strip(" .!\n").lower() in _NEGATIVE_ANSWERS:
        target = f"{batch.id} {task.task.id}"
        raise UserError(
            f"any feedback lets {task.task.id} spend more: nothing was answered",
            hint=f"plait cancel {target} gives it up; plait feedback {target} 'continue' pays for one more attempt.",
        )


def make_auto_approve_factory(batch: BatchState) -> BatchRequestFactory:
    settings = replace(batch.settings, auto_approve=True)
    return lambda name, batch: ChangeSettings(name, batch, settings, ("auto_approve",))


def sort_by_needs(batch: BatchState, tasks: Sequence[TaskState]) -> tuple[TaskState, ...]:
    """Sort dependencies first, because others can't be retried before them; otherwise in plan order."""
    sorter = TopologicalSorter(dict(enumerate(batch.plan.needs)))
    sorter.prepare()
    waves: dict[int, int] = {}
    while sorter.is_active():
        ready = sorter.get_ready()
        waves.update(dict.fromkeys(ready, len(waves)))
        sorter.done(*ready)
    return tuple(sorted(tasks, key=lambda task: (waves[task.index], task.index)))


def check_agent(batch: BatchState, agent: str) -> None:
    """Raise ConfigError for an unknown agent, before an attempt fails with it."""
    used = {*batch.settings.agents, *(task.task.agent for task in batch.tasks)}
    if agent not in used:
        from plait.agents.interface import AgentSpec  # only needed if another agent is chosen
        from plait.agents.table import load_agent

        load_agent(AgentSpec(agent))


# The task that a request names (None: it is about the batch), and the answer.
TaskAnswer = tuple[str | None, RequestAnswer]


class Outcome(StrEnum):
    """The outcome of a request. `accepted`: durable, but no engine has answered yet."""

    GRANTED = "granted"
    REFUSED = "refused"
    ACCEPTED = "accepted"


_OUTCOMES = {True: Outcome.GRANTED, False: Outcome.REFUSED, None: Outcome.ACCEPTED}


@api_model
class ActionResult:
    """An action's result: current `status` and `reason`, or why it was refused. `tasks` are all that were retried."""

    task_id: str | None
    result: Outcome
    reason: str | None
    status: TaskStatus | BatchStatus | None
    tasks: list[str]


@api_model
class ActionResults:
    batch_id: str
    results: list[ActionResult]


def describe_answers(state: State, batch_id: str, results: Sequence[TaskAnswer]) -> ActionResults:
    return ActionResults(batch_id, [describe_answer(state, batch_id, result) for result in results])


def describe_answer(state: State, batch_id: str, result: TaskAnswer) -> ActionResult:
    """Describe an answer; the `reason` of a refusal, or of a missing answer, explains it."""
    name, answer = result
    status, reason = _find_status(state, batch_id, name or next(iter(answer.tasks), None))
    return ActionResult(name, _OUTCOMES[answer.granted], answer.why or reason, status, list(answer.tasks))


def _find_status(state: State, batch_id: str, name: str | None) -> tuple[TaskStatus | BatchStatus | None, str | None]:
    batch = state.batches.get(batch_id)
    task = batch.find_task(name) if batch is not None and name is not None else None
    if batch is None:
        return None, None
    if task is None:
        return find_batch_status(batch)
    explanation = explain_status(state, batch, task)
    return explanation.status, explanation.reason
