"""Control: actions on a batch or its tasks, as requests to the engine, and the result for each task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

from fastapi import Depends
from pydantic import Field

from plait.client.api_errors import FieldError, StateError
from plait.client.batch_refresh import plan_refresh
from plait.client.budget_change import make_budget_change
from plait.client.mirrors import get_mirror_settings
from plait.client.preflight import plan_batch_preflight
from plait.client.session import Session
from plait.client.task_actions import (
    ActionResults,
    Outcome,
    Overrides,
    check_agent,
    check_answer,
    describe_answers,
    is_grantable,
    list_recheckable,
    list_retryable,
    make_auto_approve_factory,
    sort_by_needs,
)
from plait.client.trust import require_trust
from plait.config.keys import KEYS_BY_NAME
from plait.core import requests
from plait.core.errors import ConfigError, UserError
from plait.core.fast_dataclass import dataclass
from plait.core.requests import Request
from plait.core.settings import Mode
from plait.core.state import BatchState, TaskState
from plait.core.views import find_batch_status
from plait.server.batch_spec import RecheckFields, RetryFields, check_value
from plait.server.http.routes.batches import check_base
from plait.server.http.routes.routing import (
    BATCH_PATH,
    DURABLE,
    TASK_PATH,
    BatchId,
    Handler,
    IdempotencyKey,
    Routes,
    SessionDep,
    TaskName,
)
from plait.server.http.schema import ApiBody
from plait.server.idempotency import KeyedRequest, ask_once, ask_or_queue, find_stored_requests, hold_key
from plait.server.lookup import resolve_batch, resolve_batch_and_task
from plait.server.project_session import ProjectSession

routes = Routes("steering")

_BUDGET = KEYS_BY_NAME["run.budget"]

# The requests, and the task of each one; None: it is about the batch.
TaskRequests = Sequence[tuple[str | None, Request]]


class TaskAction(StrEnum):
    CANCEL = "cancel"
    RETRY = "retry"
    RECHECK = "recheck"
    DROP = "drop"
    APPROVE = "approve"
    FEEDBACK = "feedback"


FeedbackText = Annotated[str, Field(min_length=1, max_length=100_000)]


class ApproveBody(ApiBody):
    """Options of an approval. `all`: approve all later tasks of this batch too."""

    all: bool = False


class UnpauseBody(ApiBody):
    budget: Annotated[str, Field(max_length=200)] | None = Field(
        default=None,
        description="The new budget of a batch that its budget paused: 40usd; empty: none. Omitted: as before",
    )


class RecheckBody(ApiBody, RecheckFields):
    """Settings for the batch from now on; omitted: the current settings."""


class RetryBody(ApiBody, RetryFields):
    """Options of a retry. `agent` and `model` are for these tasks alone, the settings for the batch from now on;
    omitted: the current settings.
    """


class FeedbackBody(ApiBody):
    text: FeedbackText


@dataclass(frozen=True, slots=True)
class ActionOptions:
    """Options of an action. `agent` and `model` are for a retry, `flags` (settings by key) for that or a recheck or to
    unpause, `text` for feedback, `approve_all` for approving a batch; `key` makes it idempotent.
    """

    agent: str | None = None
    model: str | None = None
    flags: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    approve_all: bool = False
    key: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """What else distinguishes requests with the same key; empty without these options."""
        return (repr((self.model, sorted(self.flags.items()))),) if self.model or self.flags else ()


def _options(key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(key=key)


def _approve_options(body: ApproveBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(approve_all=body is not None and body.all, key=key)


def _unpause_options(body: UnpauseBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    """Return the options for unpausing; raises FieldError for an invalid budget."""
    if body is None or body.budget is None:
        return ActionOptions(key=key)
    return ActionOptions(flags={_BUDGET.name: check_value(_BUDGET, body.budget, _BUDGET.json_name)}, key=key)


def _retry_options(body: RetryBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    return make_action_options(body, key)


def _recheck_options(body: RecheckBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    return make_action_options(body, key)


def make_action_options(given: RecheckFields | None, key: str = "", text: str = "") -> ActionOptions:
    """Return the options for an action; raises FieldError for an invalid setting."""
    if given is None:
        return ActionOptions(text=text, key=key)
    retry = given if isinstance(given, RetryFields) else RetryFields()
    return ActionOptions(retry.agent, retry.model, given.to_flags(), text, key=key)


def _feedback_options(body: FeedbackBody, key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(text=body.text, key=key)


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """An action. Its descriptions are for its MCP tool, and for its routes for a batch and for a task ("": there is
    none).

    The requests are given if they need no options; the options are read from the body and the headers of a request.
    """

    name: str
    tool: str
    batch: str = ""
    task: str = ""
    batch_request: Callable[[str, str], Request] | None = None
    task_request: Callable[[str, str, str], Request] | None = None
    batch_options: Callable[..., ActionOptions] = _options
    task_options: Callable[..., ActionOptions] = _options
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


# Routes and MCP tools are made from this table.
ACTIONS = (
    ActionSpec(
        "cancel",
        "Cancel the named tasks, or without names the whole batch. Running attempts are stopped.",
        "Stop running attempts and cancel all unfinished tasks.",
        "Stop its attempt and cancel it.",
        requests.CancelBatch,
        requests.CancelTask,
        destructive=True,
        idempotent=True,
    ),
    ActionSpec(
        "pause",
        "Start nothing new in a batch; running attempts continue.",
        "Start nothing new; running attempts continue.",
        batch_request=requests.Pause,
        idempotent=True,
    ),
    ActionSpec(
        "unpause",
        "Continue a paused batch.",
        "Continue; `budget`: with a higher budget, after the old one was used up.",
        batch_request=requests.Unpause,
        batch_options=_unpause_options,
        idempotent=True,
    ),
    ActionSpec(
        "resume",
        "Continue the interrupted tasks of a batch; done tasks stay done.",
        "Continue what was stopped: interrupted steps run again, done tasks don't.",
        batch_request=requests.Resume,
        idempotent=True,
    ),
    ActionSpec(
        "approve",
        "Let the next task of a queue start, or the named ones. Ask a person before you approve.",
        "Let the next task of a queue start; `all`: approve all later ones too.",
        "Let it start when its turn comes.",
        requests.Approve,
        requests.Approve,
        batch_options=_approve_options,
    ),
    ActionSpec(
        "retry",
        "Retry tasks that ended without being done, and the ones they blocked.",
        "Retry all tasks that failed, timed out, conflicted or were cancelled.",
        "Retry it, and the tasks that it blocked.",
        batch_options=_retry_options,
        task_options=_retry_options,
        open_world=True,
    ),
    ActionSpec(
        "recheck",
        "Verify finished work again and merge it, without running an agent: after a failed check was not its fault.",
        "Verify all finished work that isn't done again, and merge it. No agent runs.",
        "Verify its finished work again, and merge it. No agent runs.",
        task_request=requests.Recheck,
        batch_options=_recheck_options,
        task_options=_recheck_options,
    ),
    ActionSpec(
        "feedback",
        "Retry a task with feedback, or answer its question. Answering a question about a budget spends money.",
        task="Retry it with feedback, or answer its question.",
        task_options=_feedback_options,
        open_world=True,
    ),
    ActionSpec(
        "drop",
        "Drop these tasks; what they merged is removed from the batch branch.",
        task="Drop it; what it merged is removed from the batch branch.",
        task_request=requests.Drop,
        destructive=True,
        idempotent=True,
    ),
)
_TASK_REQUESTS = {spec.name: spec.task_request for spec in ACTIONS}


async def run_batch_action(
    session: ProjectSession, batch: str | None, action: ActionSpec, options: ActionOptions
) -> ActionResults:
    """Run an action on a batch. A retry is for all tasks that ended without being done, a recheck for those with
    finished work.

    Raises NotFoundError, and StateError if everything was refused.
    """

    def choose(client: Session) -> tuple[str, TaskRequests]:
        batch_state = resolve_batch(client.preview_state(), batch)
        operation = (action.name, batch_state.id, options.agent or "", str(options.approve_all), *options.identity)
        make_id = identify(client, KeyedRequest(options.key, session.id, operation))
        build = action.batch_request
        if build is None:  # a retry or a recheck
            stored = find_stored_requests(client) if options.key else set()
            return batch_state.id, _build_for_tasks(
                batch_state, TaskAction(action.name), make_id, options, stored=stored
            )
        if options.approve_all and batch_state.settings.mode is Mode.QUEUE:
            build = make_auto_approve_factory(batch_state)
        if _BUDGET.name in options.flags:
            build = partial(_build_budget_change, client, options)
        return batch_state.id, [(None, build(make_id(), batch_state.id))]

    return await ask_and_report(session, choose, options)


def _build_budget_change(client: Session, options: ActionOptions, name: str, batch: str) -> Request:
    """Build the request for a new budget; the same again if it was made before. Raises FieldError."""
    budget = _BUDGET.value_type.read(options.flags[_BUDGET.name])
    state = client.preview_state()
    found = state.batches[batch]
    if options.key and name in find_stored_requests(client):
        return requests.ChangeSettings(name, batch, replace(found.settings, budget=budget), ("budget",))
    try:
        return make_budget_change(client.location, state, found, name, budget)
    except UserError as error:
        raise FieldError(error.message, field=_BUDGET.json_name, hint=error.hint) from error


async def run_task_action(
    session: ProjectSession,
    batch: str | None,
    task: str,
    action: TaskAction,
    options: ActionOptions,
) -> ActionResults:
    """Run an action on a task; there is one result. Raises NotFoundError, and StateError if it was refused."""

    def choose(client: Session) -> tuple[str, TaskRequests]:
        batch_state, task_state = resolve_batch_and_task(client.preview_state(), batch, task)
        own = (options.agent or "", options.text, *options.identity)
        operation = (action, batch_state.id, task_state.task.id, *own)
        request_id = identify(client, KeyedRequest(options.key, session.id, operation))()
        return batch_state.id, [
            (task_state.task.id, build_task_request(batch_state, task_state, action, request_id, options))
        ]

    return await ask_and_report(session, choose, options)


def is_accepted(answered: ActionResults) -> bool:
    """Whether a request is durable but not answered yet."""
    return any(result.result is Outcome.ACCEPTED for result in answered.results)


def identify(client: Session, request: KeyedRequest) -> Callable[..., str]:
    """Return a function that makes request ids. Raises FieldError if the key was used for something else."""
    request.require_same_operation(client)
    return request.make_id


def build_task_request(
    batch: BatchState, task: TaskState, action: TaskAction, request_id: str, options: ActionOptions
) -> Request:
    """Build the request for a task. Raises UserError for what is known to be refused."""
    if build := _TASK_REQUESTS[action]:
        return build(request_id, batch.id, task.task.id)
    if action is TaskAction.FEEDBACK:
        check_answer(batch, task, options.text)
        return requests.Feedback(request_id, batch.id, task.task.id, options.text)
    try:
        if options.agent is not None:
            check_agent(batch, options.agent)
    except ConfigError as error:
        raise FieldError(error.message, field="agent", hint=error.hint) from error
    return requests.Retry(request_id, batch.id, task.task.id, options.agent)


def _build_for_tasks(
    batch: BatchState,
    action: TaskAction,
    make_id: Callable[[str], str],
    options: ActionOptions,
    *,
    stored: Collection[str],
) -> TaskRequests:
    """Build the requests for tasks. If some of these were made before (`stored`), the same ones again."""
    again = [task for task in batch.tasks if stored and make_id(task.task.id) in stored]
    chosen = list_recheckable(batch) if action is TaskAction.RECHECK else list_retryable(batch)
    tasks = sort_by_needs(batch, again or chosen)
    if not tasks:
        what = "has finished work that isn't merged"
        if action is TaskAction.RETRY:
            what = "failed, timed out, conflicted or was cancelled"
        raise StateError(f"no task of batch {batch.id} {what}", state=find_batch_status(batch)[0].value)
    return [(task.task.id, build_task_request(batch, task, action, make_id(task.task.id), options)) for task in tasks]


async def refresh_batch(session: ProjectSession, batch: str, sent: Sequence[Request], options: ActionOptions) -> None:
    """Apply the current settings to a batch before its tasks run or are verified again, and check new commands on the
    base. Raises UntrustedError, PreflightError, and StateError if the settings can't be changed.
    """
    again = [request for request in sent if isinstance(request, requests.Retry | requests.Recheck)]
    state = await session.query(lambda client: copy(client.preview_state().batches[batch])) if again else None
    if state is None or not is_grantable(state, again):
        return
    flags = {**get_mirror_settings(session.location), **options.flags}
    overrides = Overrides(flags, [request.task for request in again], options.model)
    trust = partial(require_trust, location=session.location)
    refresh = await asyncio.to_thread(plan_refresh, session.location, state, overrides, trust)
    if refresh is None:
        return
    if refresh.changes_checks and any(isinstance(request, requests.Retry) for request in again):
        preflight = plan_batch_preflight(session.location, refresh.config, refresh.settings, state, refresh.inputs)
        if preflight is not None:
            await check_base(preflight)
    await asyncio.to_thread(refresh.save)
    if refresh.change is not None:
        answer, *_ = await ask_or_queue(session, [refresh.change])
        if answer.granted is False:
            message = f"the settings of batch {batch} can't be changed: {answer.why}"
            raise StateError(message, state=find_batch_status(state)[0].value)


async def ask_and_report(
    session: ProjectSession, choose: Callable[[Session], tuple[str, TaskRequests]], options: ActionOptions
) -> ActionResults:
    async with hold_key(session, options.key):
        batch, task_requests = await session.query(choose)
        sent = [request for _, request in task_requests]
        await refresh_batch(session, batch, sent, options)
        answers = await (ask_once(session, sent) if options.key else ask_or_queue(session, sent))
    results = [(task, answer) for (task, _), answer in zip(task_requests, answers, strict=True)]
    described = await session.query(lambda client: describe_answers(client.preview_state(), batch, results))
    if all(answer.granted is False for answer in answers):
        refused = described.results[0]
        raise StateError(refused.reason or "", state=refused.status or "")
    return described


def _add_routes(spec: ActionSpec) -> None:
    batch_options: Any = Depends(spec.batch_options)  # Any: FastAPI puts its result in the place
    task_options: Any = Depends(spec.task_options)

    async def run_on_batch(
        session: SessionDep, batch_id: BatchId, options: ActionOptions = batch_options
    ) -> ActionResults:
        return await run_batch_action(session, batch_id, spec, options)

    async def run_on_task(
        session: SessionDep, batch_id: BatchId, task_id: TaskName, options: ActionOptions = task_options
    ) -> ActionResults:
        return await run_task_action(session, batch_id, task_id, TaskAction(spec.name), options)

    def add(path: str, operation_id: str, summary: str, description: str) -> Callable[[Handler], Handler]:
        return routes.add(
            "POST",
            f"{path}/{spec.name}",
            ActionResults,
            accepted=(DURABLE, is_accepted),
            operation_id=operation_id,
            summary=summary,
            description=description,
        )

    title = spec.name.title()
    if spec.batch:
        add(BATCH_PATH, f"{spec.name}Batch", title, spec.batch)(run_on_batch)
    if spec.task:
        feedback = spec.name == "feedback"
        operation, summary = ("giveFeedback", title) if feedback else (f"{spec.name}Task", f"{title} Task")
        add(TASK_PATH, operation, summary, spec.task)(run_on_task)


for _spec in ACTIONS:
    _add_routes(_spec)
