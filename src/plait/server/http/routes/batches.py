"""Batches: preview, create, list and read; their graph and timeline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Annotated, TypedDict

from fastapi import Query
from pydantic import Field

from plait.agents.interface import AgentSpec
from plait.client.api_errors import FieldError, StateError, list_error_problems
from plait.client.api_models import make_problem
from plait.client.batch_json import (
    Batch,
    Batches,
    CreatedBatch,
    Graph,
    TaskRuns,
    describe_batch,
    describe_batches,
    describe_created,
    describe_graph,
    describe_runs,
    list_batch,
)
from plait.client.merged_changes import MergedChanges, MergeOnBranch, list_merges
from plait.client.mirrors import get_mirror_settings
from plait.client.planning.plan_preview import PlanDetails, PlanPreview, build_plan_preview, describe_plan
from plait.client.planning.submission import (
    build_submission,
    check_admission,
    prepare_plan,
    refuse_unconfirmed_folder,
    select_agents,
)
from plait.client.preflight import (
    Preflight,
    check_model_server,
    check_signing,
    plan_preflight,
    require_cluster,
)
from plait.client.preflight_run import run_preflight
from plait.client.project_sources import LoadedSources, SourcesMissingError, load_sources
from plait.client.project_state import PastBatches
from plait.client.session import Session, Submission
from plait.client.timeline import Timeline, describe_timeline
from plait.client.trust import AGENT_KEYS, FORMAT_KEY, require_trust
from plait.config.config import Config
from plait.core.errors import ConfigError, PlaitError, UserError, WorldError
from plait.core.plan import Plan, Problem, Severity
from plait.core.state import BatchState, copy_state
from plait.core.views import find_batch_status
from plait.git.location import RepoLocation
from plait.server.batch_spec import BatchSpec, NewBatchSpec, PlanError, translate_hint, translate_problem
from plait.server.http.routes.routing import (
    BATCH_LINKS,
    BATCH_LIST_LINKS,
    BATCH_PATH,
    CURSOR_HEADERS,
    ERRORS_BUT_CONFLICT,
    BatchId,
    IdempotencyKey,
    Routes,
    SessionDep,
    UpdatedSessionDep,
)
from plait.server.idempotency import KeyedRequest, find_submitted_batch, hold_key
from plait.server.lookup import resolve_batch
from plait.server.project_session import ProjectSession

routes = Routes("batches")

Limit = Annotated[int, Query(ge=1, le=10_000, description="Number of batches, newest first")]
TaskFilter = Annotated[
    list[Annotated[str, Field(max_length=1_000)]],
    Query(
        default_factory=list,
        alias="task",
        max_length=200,
        description="A task's exact id; none: all tasks of the batch",
    ),
]


class _ApiFields(TypedDict):
    eta: float | None
    project_id: str


@routes.add("POST", "/api/plan", PlanDetails)
async def plan(session: UpdatedSessionDep, body: BatchSpec | None = None) -> PlanDetails:
    """Preview a batch of these tasks. Nothing is started; errors in `problems` say why it can't be."""
    history = await session.query(_copy_history)
    try:
        preview, agents = await asyncio.to_thread(_build_preview, session, history, body or BatchSpec())
    except SourcesMissingError as error:
        return describe_plan(None, list_error_problems(error))
    planned = preview.planned.plan
    problems = list(preview.planned.problems)
    if planned is not None:
        problems += await session.query(
            lambda client: _collect_problems(lambda: check_admission(client.preview_state(), preview, planned))
        )

    def finish() -> PlanDetails:
        """Describe the plan. The estimate simulates the batch, which takes a moment."""
        if planned is not None:
            problems.extend(_find_obstacles(session.location, preview, planned, agents))
        shown = [translate_problem(problem) for problem in problems]
        return describe_plan(preview, shown)

    return await asyncio.to_thread(finish)


@routes.add("GET", "/api/batches", Batches, errors=ERRORS_BUT_CONFLICT, links=BATCH_LIST_LINKS, headers=CURSOR_HEADERS)
async def list_batches(
    session: SessionDep,
    limit: Limit = 100,
    tasks: Annotated[bool, Query(description="false: without tasks")] = True,  # noqa: FBT002 - a query parameter
    is_open: Annotated[
        bool | None, Query(alias="open", description="true: only open batches; false: only ended ones")
    ] = None,
    all_open: Annotated[bool, Query(alias="allOpen", description="true: open batches beyond the limit, too")] = False,  # noqa: FBT002
) -> tuple[Batches, str]:
    """Batches, newest first."""

    def read(client: Session) -> Batches:
        state = client.preview_state()
        wanted = (batch for batch in state.batches.values() if is_open is None or (batch.ended is None) is is_open)
        newest = sorted(wanted, key=lambda batch: batch.order, reverse=True)
        older = [batch for batch in newest[limit:] if all_open and batch.ended is None]
        shown = [*newest[:limit], *older]
        items = [list_batch(state, batch, **_api_fields(session, batch), tasks=tasks) for batch in shown]
        return describe_batches(client.find_engine(), state, items)

    return await session.query_with_cursor(read)


@routes.add(
    "POST",
    "/api/batches",
    CreatedBatch,
    status=201,
    accepted=("Durable, but no engine has taken it yet", lambda created: created.accepted),
    links=BATCH_LINKS,
)
async def create_batch(session: UpdatedSessionDep, body: NewBatchSpec, key: IdempotencyKey = "") -> CreatedBatch:
    """Run these tasks; answered when the batch is in the journal. `settings` apply to this batch only. First, setup, verify
    and gate must pass on the base, unless `settings.preflight` is false.
    """
    return await submit_batch(session, body, key=key)


async def submit_batch(session: ProjectSession, spec: BatchSpec, *, key: str = "") -> CreatedBatch:
    """Create a batch and return it once it is in the journal; `accepted`: it is durable, but no engine has answered
    yet.

    With a `key`, return the batch that was created with it before. Raises NotFoundError, FieldError, PlanError,
    UntrustedError or StateError; then nothing was started.
    """
    request = KeyedRequest(key, session.id, ("create", *spec.identity))
    request_id = request.make_id()
    async with hold_key(session, key):
        await session.query(request.require_same_operation)
        earlier = await find_submitted_batch(session, request_id) if key else None
        if earlier is not None:
            return await session.query(lambda client: _describe_created(session, client, earlier, ()))
        history = await session.query(_copy_history)
        preview, submission, warnings = await asyncio.to_thread(_prepare_submission, session, history, spec)
        await _run_preflight(session, preview, submission)
        problems = (*preview.planned.problems, *warnings)
        try:
            return await session.submit(
                submission,
                preview,
                request_id,
                lambda client, batch: _describe_created(session, client, batch, problems),
            )
        except WorldError as error:  # the request may be durable nevertheless
            waiting = await find_submitted_batch(session, request_id)
            if waiting is None:
                raise
            problems = (*preview.planned.problems, Problem(Severity.WARNING, error.message, hint=error.hint))
            return await session.query(lambda client: _describe_created(session, client, waiting, problems))


@routes.add("GET", BATCH_PATH, Batch, links=BATCH_LINKS, headers=CURSOR_HEADERS)
async def get_batch(session: SessionDep, batch_id: BatchId) -> tuple[Batch, str]:
    """A batch with its tasks, at one moment."""

    def read(client: Session) -> Batch:
        batch = resolve_batch(state := client.preview_state(), batch_id)
        return describe_batch(state, batch, **_api_fields(session, batch))

    return await session.query_with_cursor(read)


@routes.add("GET", f"{BATCH_PATH}/standing", TaskRuns, headers=CURSOR_HEADERS)
async def get_standing(session: SessionDep, batch_id: BatchId, task_ids: TaskFilter) -> tuple[TaskRuns, str]:
    """The status of some tasks, as under `batch` in /api/tasks: for updates after an event. Unknown ids are left out, and
    entrants are included only by name.
    """

    def read(client: Session) -> TaskRuns:
        batch = resolve_batch(state := client.preview_state(), batch_id)
        return describe_runs(state, batch, task_ids, **_api_fields(session, batch))

    return await session.query_with_cursor(read)


@routes.add("GET", f"{BATCH_PATH}/graph", Graph)
async def get_graph(session: SessionDep, batch_id: BatchId) -> Graph:
    """The tasks of a batch with their statuses, and the edges between them with reasons."""
    return await session.query(
        lambda client: describe_graph(state := client.preview_state(), resolve_batch(state, batch_id))
    )


@routes.add("GET", f"{BATCH_PATH}/timeline", Timeline)
async def get_timeline(session: SessionDep, batch_id: BatchId) -> Timeline:
    """Attempts, waits and merges with their times, for a chart."""

    def read(client: Session) -> Timeline:
        return describe_timeline(session.follower.history.get_batch(resolve_batch(client.preview_state(), batch_id).id))

    return await session.query(read)


@routes.add("GET", f"{BATCH_PATH}/changes", MergedChanges)
async def get_changes(session: SessionDep, batch_id: BatchId) -> MergedChanges:
    """What a batch's merged tasks changed: how many files, and what a reviewer should know."""

    def read(client: Session) -> tuple[str, str, tuple[MergeOnBranch, ...], str]:
        batch = resolve_batch(client.preview_state(), batch_id)
        return batch.id, batch.base, list_merges(batch), find_batch_status(batch)[0].value

    name, base, merges, status = await session.query(read)
    try:
        return await asyncio.to_thread(session.changed_files.describe, session.location, name, base, merges)
    except WorldError as error:
        raise StateError(error.message, state=status) from error


async def _run_preflight(session: ProjectSession, preview: PlanPreview, submission: Submission) -> None:
    """Run the preflight. Raises PreflightError if setup, verify or gate fails on the base, and UserError if the cluster
    or the model server can't be reached.
    """
    await asyncio.to_thread(require_cluster, preview)
    await asyncio.to_thread(check_model_server, preview, submission)
    await asyncio.to_thread(check_signing, session.location, preview, submission)
    preflight = plan_preflight(session.location, preview, submission)
    if preflight is not None:
        await session.query(lambda client: check_admission(client.preview_state(), preview, submission.plan))
        await check_base(preflight)


async def check_base(preflight: Preflight) -> None:
    """Run the checks on the base; raises PreflightError. They are ended if the request is cancelled."""
    stop = Event()
    thread = ThreadPoolExecutor(1, "preflight")  # it may take minutes: other requests need the common threads
    try:
        await asyncio.get_running_loop().run_in_executor(
            thread, run_preflight, preflight, lambda _: None, lambda _: None, stop.is_set
        )
    finally:
        stop.set()
        thread.shutdown(wait=False)


def _prepare_submission(
    session: ProjectSession, history: PastBatches, spec: BatchSpec
) -> tuple[PlanPreview, Submission, Sequence[Problem]]:
    """Read all files and ask git at once, in a thread, and return the submission with its warnings."""
    preview, agents = _build_preview(session, history, spec)
    require_trust(preview.loaded.config, session.location)
    refuse_unconfirmed_folder(preview.loaded)
    planned = preview.planned
    if planned.plan is None:
        if planned.complete:
            skipped = (f"{note.message}. {note.hint}" for note in planned.problems if "--again" in note.hint)
            raise StateError(planned.describe_complete(), state="completed", hint=translate_hint(" ".join(skipped)))
        raise PlanError(planned.problems)
    return preview, *build_submission(session.location, preview, planned.plan, agents)


def _build_preview(
    session: ProjectSession, history: PastBatches, spec: BatchSpec
) -> tuple[PlanPreview, tuple[AgentSpec, ...]]:
    location = session.location
    flags = {**spec.to_flags(), **get_mirror_settings(location)}

    def check_trust(config: Config) -> None:
        require_trust(config, location, early=(FORMAT_KEY, *AGENT_KEYS))

    try:
        sources = load_sources(
            location.top, flags=flags, location=location, check_config=check_trust, cache=session.source_cache
        )
    except SourcesMissingError:
        spec.select(None)
        raise
    selection = spec.select(sources.source_set)
    agents = _resolve_agents(sources, spec)
    with _map_contest_errors(spec):
        times = None if spec.contest is None else spec.contest.times
        return prepare_plan(build_plan_preview(sources, history, selection), agents, times), agents


def _resolve_agents(sources: LoadedSources, spec: BatchSpec) -> tuple[AgentSpec, ...]:
    try:
        with _map_contest_errors(spec):
            return select_agents(sources, contest=spec.contest is not None)
    except ConfigError as error:
        if "agent" not in (spec.settings or {}):
            raise
        raise FieldError(error.message, field="settings.agent", hint=error.hint) from error


@contextmanager
def _map_contest_errors(spec: BatchSpec) -> Iterator[None]:
    """Attribute errors to the field `contest`, if there is one."""
    try:
        yield
    except (UserError, ConfigError) as error:
        if spec.contest is None or isinstance(error, StateError | FieldError):
            raise
        raise FieldError(error.message, field="contest", hint=error.hint) from error


def _find_obstacles(
    location: RepoLocation, preview: PlanPreview, plan: Plan, agents: tuple[AgentSpec, ...]
) -> list[Problem]:
    """Report what in the repository keeps the plan from being run."""
    warnings = list[Problem]()
    errors = _collect_problems(lambda: require_trust(preview.loaded.config, location))
    errors += _collect_problems(lambda: refuse_unconfirmed_folder(preview.loaded))
    errors += _collect_problems(lambda: warnings.extend(build_submission(location, preview, plan, agents)[1]))
    return [*errors, *warnings]


def _collect_problems(check: Callable[[], object]) -> list[Problem]:
    try:
        check()
    except PlaitError as error:
        return list(list_error_problems(error))
    return []


def _copy_history(client: Session) -> PastBatches:
    """Copy the history, to be read outside of the session's thread."""
    return PastBatches(copy_state(client.state) if client.state.seq else None)


def _describe_created(session: ProjectSession, client: Session, name: str, problems: Sequence[Problem]) -> CreatedBatch:
    batch = (state := client.preview_state()).batches[name]
    described = describe_batch(state, batch, **_api_fields(session, batch))
    shown = [make_problem(translate_problem(problem)) for problem in problems]
    return describe_created(described, shown, accepted=name not in client.state.batches)


def _api_fields(session: ProjectSession, batch: BatchState) -> _ApiFields:
    return {"eta": session.follower.estimate_end(batch.id), "project_id": session.id}
