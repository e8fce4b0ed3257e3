"""Control: actions on a batch or its tasks, as requests to the engine, and the result for each task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import field
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import Field

from plait.client import pull_request_preview
from plait.client.api_errors import FieldError, StateError
from plait.client.batch_lookup import find_named_task
from plait.client.batch_refresh import plan_refresh
from plait.client.json_encoding import api_model
from plait.client.mirrors import get_mirror_settings
from plait.client.preflight import plan_batch_preflight
from plait.client.session import Session, new_request_id
from plait.client.task_actions import (
    RECHECK_KEYS,
    RETRY_KEYS,
    ActionResults,
    Outcome,
    Overrides,
    check_agent,
    check_answer,
    describe_answer,
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
from plait.core.errors import ConfigError, PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.requests import MAX_OVERRIDE_BODY_CHARS, MAX_OVERRIDE_TITLE_CHARS, Request
from plait.core.settings import Mode, Publish
from plait.core.state import BatchState, State, TaskState
from plait.core.status import BatchStatus, TaskStatus
from plait.core.views import find_batch_status, make_batch_view
from plait.server.batch_spec import RecheckFields, RetryFields, TaskId
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
MAX_BULK_TASKS = 1_000  # tasks


class ApproveBody(ApiBody):
    """`all`: approve all later tasks of this batch too."""

    all: bool = False


class RecheckBody(ApiBody, RecheckFields):
    """Settings for the batch from now on; omitted: as they are today."""


class RetryBody(ApiBody, RetryFields):
    """`agent` and `model` are for these tasks alone, the settings for the batch from now on; omitted: as they are today."""


class FeedbackBody(ApiBody):
    text: FeedbackText


class ShipBody(ApiBody):
    """A pull request, a draft, or only a push. `title` and `body` apply to this and later updates; omitted, the last ones
    are kept. plait's own title and an empty body mean that plait writes them.
    """

    publish: Literal["pr", "draft", "push"] = "pr"
    title: Annotated[str, Field(min_length=1, max_length=MAX_OVERRIDE_TITLE_CHARS)] | None = Field(
        default=None, description="One line of text"
    )
    body: Annotated[str, Field(max_length=MAX_OVERRIDE_BODY_CHARS)] | None = Field(default=None, description="Markdown")


class BulkBody(ApiBody, RetryFields):
    """Without `batchId`: in the newest batch of each task. `text` is for feedback, the rest for a retry or a recheck."""

    action: TaskAction = Field(strict=False)
    task_ids: Annotated[list[TaskId], Field(min_length=1, max_length=MAX_BULK_TASKS)]
    batch_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    text: FeedbackText | None = None


@dataclass(frozen=True, slots=True)
class ActionOptions:
    """`agent` and `model` are for a retry, `flags` (settings by key) for that or a recheck, `text` for feedback, `approve_all`
    for approving a batch; `key` makes it idempotent.
    """

    agent: str | None = None
    model: str | None = None
    flags: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    approve_all: bool = False
    key: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells requests with one key apart, beside the rest: nothing without these options."""
        return (repr((self.model, sorted(self.flags.items()))),) if self.model or self.flags else ()


def _options(key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(key=key)


def _approve_options(body: ApproveBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(approve_all=body is not None and body.all, key=key)


def _retry_options(body: RetryBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    return make_action_options(body, key)


def _recheck_options(body: RecheckBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    return make_action_options(body, key)


def make_action_options(given: RecheckFields | None, key: str = "", text: str = "") -> ActionOptions:
    """Raises FieldError for an invalid setting."""
    if given is None:
        return ActionOptions(text=text, key=key)
    retry = given if isinstance(given, RetryFields) else RetryFields()
    return ActionOptions(retry.agent, retry.model, given.to_flags(), text, key=key)


def _feedback_options(body: FeedbackBody, key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(text=body.text, key=key)


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """An action's descriptions: of its MCP tool, and of its routes for a batch and for a task ("": there is none).

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
    ActionSpec("unpause", "Continue a paused batch.", "Continue.", batch_request=requests.Unpause, idempotent=True),
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


@api_model
class PublishResults(ActionResults):
    """`underWay`: the batch has `prUrl` when it is done."""

    under_way: bool
    branch: str | None
    commit: str | None
    pr_url: str | None
    unshipped: str | None


class BulkOutcome(StrEnum):
    GRANTED = "granted"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    UNKNOWN = "unknown"


@api_model
class BulkResult:
    """`batchId` null: no batch has this task."""

    task_id: str
    batch_id: str | None
    result: BulkOutcome
    reason: str | None
    status: TaskStatus | BatchStatus | None
    tasks: list[str]


@api_model
class BulkResults:
    """In the order of `taskIds`."""

    action: TaskAction
    results: list[BulkResult]


async def run_batch_action(
    session: ProjectSession, batch: str | None, action: ActionSpec, options: ActionOptions
) -> ActionResults:
    """A retry is for all tasks that ended without being done, a recheck for those with finished work.

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
        return batch_state.id, [(None, build(make_id(), batch_state.id))]

    return await ask_and_report(session, choose, options)


async def run_task_action(
    session: ProjectSession,
    batch: str | None,
    task: str,
    action: TaskAction,
    options: ActionOptions,
) -> ActionResults:
    """With one result. Raises NotFoundError, and StateError if it was refused."""

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


@routes.add(
    "POST",
    f"{BATCH_PATH}/pr",
    PublishResults,
    accepted=(
        "In progress, or durable but not answered yet",
        lambda answered: answered.under_way or is_accepted(answered),
    ),
    summary="Publish",
)
async def publish_batch(
    session: SessionDep, batch_id: BatchId, body: ShipBody | None = None, key: IdempotencyKey = ""
) -> PublishResults:
    """Push the batch branch, and open or update its pull request. The batch has `prUrl` when that is done."""
    options = body or ShipBody()
    publish = Publish(options.publish)
    view = await session.query(lambda client: make_batch_view(s := client.preview_state(), resolve_batch(s, batch_id)))
    texts = await asyncio.to_thread(
        pull_request_preview.check_pull_request_text, session.location, view, options.title, options.body
    )

    def choose(client: Session) -> tuple[str, TaskRequests]:
        operation = ("pr", view.id, publish, repr((options.title, options.body)))
        request_id = identify(client, KeyedRequest(key, session.id, operation))()
        return view.id, [(None, requests.Ship(request_id, view.id, publish, *texts))]

    answered = await ask_and_report(session, choose, ActionOptions(key=key))
    return await session.query(lambda client: describe_publishing(client.preview_state(), answered))


def identify(client: Session, request: KeyedRequest) -> Callable[..., str]:
    """Makes the ids of its requests. Raises FieldError if its key was used for something else."""
    request.require_same_operation(client)
    return request.make_id


def build_task_request(
    batch: BatchState, task: TaskState, action: TaskAction, request_id: str, options: ActionOptions
) -> Request:
    """Raises UserError for what is known to be refused."""
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
    """If some of these requests were made before (`stored`), the same ones again."""
    again = [task for task in batch.tasks if stored and make_id(task.task.id) in stored]
    chosen = list_recheckable(batch) if action is TaskAction.RECHECK else list_retryable(batch)
    tasks = sort_by_needs(batch, again or chosen)
    if not tasks:
        what = "has finished work that isn't merged"
        if action is TaskAction.RETRY:
            what = "failed, timed out, conflicted or was cancelled"
        raise StateError(f"no task of batch {batch.id} {what}", state=find_batch_status(batch)[0].value)
    return [(task.task.id, build_task_request(batch, task, action, make_id(task.task.id), options)) for task in tasks]


async def _refresh_batch(session: ProjectSession, batch: str, sent: Sequence[Request], options: ActionOptions) -> None:
    """Before tasks run again or are verified again, their batch gets the settings of today, and new commands are checked
    on the base. Raises UntrustedError, PreflightError, and StateError if the settings can't be changed.
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
        await _refresh_batch(session, batch, sent, options)
        answers = await (ask_once(session, sent) if options.key else ask_or_queue(session, sent))
    results = [(task, answer) for (task, _), answer in zip(task_requests, answers, strict=True)]
    described = await session.query(lambda client: describe_answers(client.preview_state(), batch, results))
    if all(answer.granted is False for answer in answers):
        refused = described.results[0]
        raise StateError(refused.reason or "", state=refused.status or "")
    return described


def describe_publishing(state: State, answered: ActionResults) -> PublishResults:
    batch = state.batches[answered.batch_id]
    view = make_batch_view(state, batch)
    return PublishResults(
        batch_id=answered.batch_id,
        results=answered.results,
        under_way=batch.requested_publish is not None or batch.publishing is not None,
        branch=view.branch or None,
        commit=view.shipped or None,
        pr_url=view.pr_url or None,
        unshipped=view.unshipped,
    )


@routes.add("POST", "/api/bulk", BulkResults, operation_id="bulk")
async def run_bulk(session: SessionDep, body: BulkBody) -> BulkResults:
    """The same action for many tasks, with a result for each."""
    options = make_action_options(body, text=body.text or "")
    return await run_bulk_action(session, body.action, body.task_ids, body.batch_id, options)


# Of one batch: the requests by task, and the results that need no request.
_BatchPart = tuple[str, dict[str, Request], dict[str, BulkResult]]


async def run_bulk_action(
    session: ProjectSession,
    action: TaskAction,
    task_ids: Sequence[str],
    batch: str | None,
    options: ActionOptions,
) -> BulkResults:
    """In the order of `task_ids`. Without a `batch`, each task's newest batch is meant.

    An unknown task is a result of its own; only an unknown batch raises NotFoundError. Raises FieldError.
    """
    _check_bulk_fields(action, options)
    task_names = tuple(dict.fromkeys(task_ids))

    def choose(client: Session) -> tuple[list[_BatchPart], dict[str, str]]:
        state = client.preview_state()
        only = None if batch is None else resolve_batch(state, batch)
        grouped, ids = _group_by_batch(state, task_names, only)
        return [_build_part(batch_state, names, action, options) for batch_state, names in grouped], ids

    parts, ids = await session.query(choose)
    for name, chosen, _ in parts:
        await _refresh_batch(session, name, [*chosen.values()], options)
    answered = await asyncio.gather(*(_ask_part(session, part) for part in parts))
    results = {name: result for part in answered for name, result in part.items()}
    return BulkResults(
        action,
        [
            results.get(ids.get(name, name))
            or _make_result(name, None, BulkOutcome.UNKNOWN, f"no batch has a task {name}")
            for name in task_names
        ],
    )


def _check_bulk_fields(action: TaskAction, options: ActionOptions) -> None:
    """A field that would be ignored is refused."""
    if action is TaskAction.FEEDBACK and not options.text:
        raise FieldError("feedback needs a text", field="text")
    if options.text and action is not TaskAction.FEEDBACK:
        raise FieldError(f"a text is for feedback, not for {action.value}", field="text")
    for name in ("agent", "model"):
        if getattr(options, name) is not None and action is not TaskAction.RETRY:
            raise FieldError(f"{name} is for a retry, not for {action.value}", field=name)
    allowed = {TaskAction.RETRY: RETRY_KEYS, TaskAction.RECHECK: RECHECK_KEYS}.get(action, ())
    for key in options.flags:
        if key not in allowed:
            name = KEYS_BY_NAME[key].field
            raise FieldError(f"{name} can't be given for {action.value}", field=name)


def _group_by_batch(
    state: State, task_names: Sequence[str], only_batch: BatchState | None
) -> tuple[list[tuple[BatchState, list[str]]], dict[str, str]]:
    """The ids of the tasks of each batch, and the id that each name stands for."""
    newest = sorted(state.batches.values(), key=lambda batch: batch.order, reverse=True)
    candidates = newest if only_batch is None else [only_batch]
    ids_by_batch: dict[str, dict[str, None]] = {}
    ids: dict[str, str] = {}
    for name in task_names:
        exact = next((batch for batch in candidates if name in batch.index), None)
        batches = candidates if exact is None else [exact]
        found = next(((batch, task) for batch in batches if (task := find_named_task(batch, name)) is not None), None)
        if found is not None:
            batch, task = found
            ids[name] = task.task.id
            ids_by_batch.setdefault(batch.id, {})[task.task.id] = None
    return [(state.batches[name], list(tasks)) for name, tasks in ids_by_batch.items()], ids


def _build_part(batch: BatchState, names: Sequence[str], action: TaskAction, options: ActionOptions) -> _BatchPart:
    tasks = [batch.tasks[batch.index[name]] for name in names]
    requests_by_task, refused = dict[str, Request](), dict[str, BulkResult]()
    for task in sort_by_needs(batch, tasks) if action in {TaskAction.RETRY, TaskAction.RECHECK} else tasks:
        name = task.task.id
        try:
            requests_by_task[name] = build_task_request(batch, task, action, new_request_id(), options)
        except PlaitError as error:
            refused[name] = _make_result(name, batch.id, BulkOutcome.REFUSED, error.message)
    return batch.id, requests_by_task, refused


async def _ask_part(session: ProjectSession, part: _BatchPart) -> dict[str, BulkResult]:
    batch, requests_by_task, refused = part
    if not requests_by_task:
        return refused
    try:
        answers = await ask_or_queue(session, list(requests_by_task.values()))
    except PlaitError as error:  # the batch's files are gone
        return refused | {
            name: _make_result(name, batch, BulkOutcome.REFUSED, error.message) for name in requests_by_task
        }
    results = list(zip(requests_by_task, answers, strict=True))
    answered = await session.query(
        lambda client: [describe_answer(client.preview_state(), batch, (name, answer)) for name, answer in results]
    )
    return refused | {
        name: BulkResult(
            name, batch, BulkOutcome(described.result), described.reason, described.status, described.tasks
        )
        for (name, _), described in zip(results, answered, strict=True)
    }


def _make_result(name: str, batch: str | None, result: BulkOutcome, reason: str) -> BulkResult:
    return BulkResult(name, batch, result, reason, None, [])


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
