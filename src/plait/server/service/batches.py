"""Batches: all of them, one of them, a new one, and what a new one would be.

A batch as a graph, and as a timeline.

A batch's pull request: what it would say if it were opened or brought up to date now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from plait.agents.interface import AgentSpec
from plait.client.api_errors import FieldError, StateError, list_error_problems, problem_json
from plait.client.batch_json import batch_json, batch_summary_json, graph_json, status_json, task_runs_json
from plait.client.mirrors import get_mirror_settings
from plait.client.planning.plan_preview import PlanPreview, build_plan_preview, plan_json
from plait.client.planning.submission import build_submission, check_admission, prepare_plan, select_agents
from plait.client.project_sources import LoadedSources, SourcesMissingError, load_sources
from plait.client.project_state import PastBatches
from plait.client.pull_request_preview import PullRequestPreview, build_pull_request_preview
from plait.client.session import Session
from plait.client.timeline import timeline_json
from plait.client.trust import AGENT_KEYS, FORMAT_KEY, require_trust
from plait.config.config import Config
from plait.core.errors import ConfigError, PlaitError, UserError, WorldError
from plait.core.plan import Plan, Problem, Severity
from plait.core.requests import PullRequestOverride
from plait.core.scheduler.batches import why_not_publish
from plait.core.state import BatchState, State, copy_state
from plait.core.views import BatchView, make_batch_view
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.server.service.batch_spec import BatchSpec, PlanError, translate_problem
from plait.server.service.idempotency import derive_request_id, find_submitted_batch, hold_key
from plait.server.service.lookup import query_with_cursor, resolve_batch

Json = dict[str, object]


COMPLETED_STATE = "completed"


async def list_batches(session: ProjectSession, *, tasks: bool = True, limit: int | None = None) -> Json:
    """`{"engine", "batches"}` as `status --json`, the newest first; without `tasks`, batches have none."""
    return (await list_batches_with_cursor(session, tasks=tasks, limit=limit))[0]


async def list_batches_with_cursor(
    session: ProjectSession, *, tasks: bool = True, limit: int | None = None, unended: bool = False
) -> tuple[Json, str]:
    """And its mark. `unended`: whatever is open is among them, however old it is."""
    return await query_with_cursor(
        session, lambda desk: _batches_json(session, desk, tasks=tasks, limit=limit, unended=unended)
    )


async def read_batch(session: ProjectSession, batch: str | None) -> Json:
    """BATCH; None: the newest. Raises UnknownError or, where several begin like it, StateError."""
    return (await read_batch_with_cursor(session, batch))[0]


async def read_batch_with_cursor(session: ProjectSession, batch: str | None) -> tuple[Json, str]:
    """And its mark."""
    return await query_with_cursor(session, lambda desk: _find_batch_json(session, desk, batch))


async def read_standing_with_cursor(
    session: ProjectSession, batch: str | None, tasks: Sequence[str]
) -> tuple[Json, str]:
    """Where these tasks of it stand (none named: all of them), and its mark. Who is not there is left out."""
    return await query_with_cursor(session, lambda desk: _standing_json(session, desk, batch, tasks))


async def create_batch(session: ProjectSession, spec: BatchSpec, *, key: str = "") -> Json:
    """`{id, status, mode, tasks, createdAt, problems, accepted}`, once it is in the journal; `accepted`: it is safe, and no
    engine has taken it yet. With a `key`, the one that was made with it before.

    Raises UnknownError, FieldError, PlanError, UntrustedError or StateError; then nothing was started.
    """
    request_id = derive_request_id(key, session.id, *spec.identity)
    async with hold_key(session, key and request_id):
        earlier = await find_submitted_batch(session, request_id) if key else None
        if earlier is not None:
            return await _created_json(session, earlier, ())
        preview, agents = await _prepare_preview(session, spec)
        require_trust(preview.survey.config, session.place)
        plan = _require_plan(preview)
        try:
            batch, warnings = await session.submit(preview, plan, agents, request_id)
        except WorldError as error:  # it may be safe all the same
            waiting = await find_submitted_batch(session, request_id)
            if waiting is None:
                raise
            batch, warnings = waiting, [Problem(Severity.WARNING, error.message, hint=error.hint)]
        return await _created_json(session, batch, (*preview.planned.problems, *warnings))


async def preview_batch(session: ProjectSession, spec: BatchSpec) -> Json:
    """As `plan --json`; where there can be no plan, its problems say why, and they say what would keep it from being run now."""
    try:
        preview, agents = await _prepare_preview(session, spec)
    except SourcesMissingError as error:
        return plan_json(None, {}, list_error_problems(error))
    plan = preview.planned.plan
    problems = list(preview.planned.problems)
    if plan is not None:
        problems += await session.query(
            lambda desk: _collect_problems(lambda: check_admission(desk.preview_state(), preview, plan))
        )
        problems += await asyncio.to_thread(_find_obstacles, session.place, preview, plan, agents)
    return await asyncio.to_thread(_preview_json, preview) | {"problems": _problems_json(problems)}


def _preview_json(preview: PlanPreview) -> Json:
    """How long it would take is found out by running through it, which takes a moment."""
    return plan_json(preview.planned.plan, preview.survey.pile.by_id, (), preview.eta, preview.cost)


def _find_obstacles(
    place: RepoLocation, preview: PlanPreview, plan: Plan, agents: tuple[AgentSpec, ...]
) -> list[Problem]:
    """What the repository has against it."""
    warnings = list[Problem]()
    errors = _collect_problems(lambda: require_trust(preview.survey.config, place))
    errors += _collect_problems(lambda: warnings.extend(build_submission(place, preview, plan, agents)[1]))
    return [*errors, *warnings]


def _collect_problems(check: Callable[[], object]) -> list[Problem]:
    try:
        check()
    except PlaitError as error:
        return list(list_error_problems(error))
    return []


async def _prepare_preview(session: ProjectSession, spec: BatchSpec) -> tuple[PlanPreview, tuple[AgentSpec, ...]]:
    sources, agents = await _survey_sources(session, spec)
    history = await session.query(_copy_history)
    return await asyncio.to_thread(_build_preview, history, sources, agents, spec), agents


def _build_preview(
    history: PastBatches, sources: LoadedSources, agents: tuple[AgentSpec, ...], spec: BatchSpec
) -> PlanPreview:
    with _map_contest_errors(spec):
        times = None if spec.contest is None else spec.contest.times
        return prepare_plan(build_plan_preview(sources, history, spec.selection), agents, times)


@contextmanager
def _map_contest_errors(spec: BatchSpec) -> Iterator[None]:
    """Why there can be none is told as what is wrong with it."""
    try:
        yield
    except (UserError, ConfigError) as error:
        if spec.contest is None or isinstance(error, StateError | FieldError):
            raise
        raise FieldError(error.message, field="contest", hint=error.hint) from error


async def _survey_sources(session: ProjectSession, spec: BatchSpec) -> tuple[LoadedSources, tuple[AgentSpec, ...]]:
    """What the sources say and who may be called: read off the desk's thread, which has others to answer."""
    flags = {**spec.to_flags(), **get_mirror_settings(session.place)}

    def vet(config: Config) -> None:
        require_trust(config, session.place, early=(FORMAT_KEY, *AGENT_KEYS))

    def read() -> tuple[LoadedSources, tuple[AgentSpec, ...]]:
        try:
            seen = load_sources(
                session.place.top, flags=flags, place=session.place, vet=vet, cache=session.source_cache
            )
        except SourcesMissingError:
            spec.check_task_ids(None)
            raise
        spec.check_task_ids(seen.pile)
        return seen, _resolve_agents(seen, spec)

    return await asyncio.to_thread(read)


def _resolve_agents(sources: LoadedSources, spec: BatchSpec) -> tuple[AgentSpec, ...]:
    try:
        with _map_contest_errors(spec):
            return select_agents(sources, contest=spec.contest is not None)
    except ConfigError as error:
        if "agent" not in spec.settings:
            raise
        raise FieldError(error.message, field="settings.agent", hint=error.hint) from error


def _copy_history(desk: Session) -> PastBatches:
    """As a twin, to be read off the desk's thread."""
    return PastBatches(copy_state(desk.state) if desk.state.seq else None)


def _require_plan(preview: PlanPreview) -> Plan:
    planned = preview.planned
    if planned.plan is not None:
        return planned.plan
    if planned.complete:
        raise StateError("everything selected is complete: there is nothing to do", state=COMPLETED_STATE)
    raise PlanError(planned.problems)


def _batches_json(session: ProjectSession, desk: Session, *, tasks: bool, limit: int | None, unended: bool) -> Json:
    state = desk.preview_state()
    newest = sorted(state.batches.values(), key=lambda batch: batch.order, reverse=True)
    older = [] if limit is None else [batch for batch in newest[limit:] if unended and batch.ended is None]
    shape = batch_json if tasks else batch_summary_json
    named = [*newest[:limit], *older]
    items = [shape(state, batch, eta=session.estimate_end(batch.id), project_id=session.id) for batch in named]
    return status_json(desk.find_engine(), items)


def _find_batch_json(session: ProjectSession, desk: Session, word: str | None) -> Json:
    state = desk.preview_state()
    return _batch_json(session, state, resolve_batch(state, word))


def _standing_json(session: ProjectSession, desk: Session, word: str | None, tasks: Sequence[str]) -> Json:
    state = desk.preview_state()
    batch = resolve_batch(state, word)
    return task_runs_json(state, batch, tasks, eta=session.estimate_end(batch.id), project_id=session.id)


def _batch_json(session: ProjectSession, state: State, batch: BatchState) -> Json:
    return batch_json(state, batch, eta=session.estimate_end(batch.id), project_id=session.id)


async def _created_json(session: ProjectSession, name: str, problems: Sequence[Problem]) -> Json:
    batch_fields, taken = await session.query(
        lambda desk: (_batch_json_by_id(session, desk, name), name in desk.state.batches)
    )
    tasks = batch_fields["tasks"]
    assert isinstance(tasks, list)
    return {
        **{key: batch_fields[key] for key in ("id", "status", "mode", "branch", "createdAt")},
        "tasks": [{key: task[key] for key in ("taskId", "title", "status", "branch")} for task in tasks],
        "problems": _problems_json(problems),
        "accepted": not taken,
    }


def _problems_json(problems: Sequence[Problem]) -> list[Json]:
    return [problem_json(translate_problem(problem)) for problem in problems]


def _batch_json_by_id(session: ProjectSession, desk: Session, name: str) -> Json:
    state = desk.preview_state()
    return _batch_json(session, state, state.batches[name])


async def read_graph(session: ProjectSession, batch: str | None) -> Json:
    """Its tasks with their statuses, the edges between them with kind and reason, waves, the longest path."""

    def read(state: State) -> Json:
        return graph_json(state, resolve_batch(state, batch))

    return await session.query(lambda desk: read(desk.preview_state()))


async def read_timeline(session: ProjectSession, batch: str | None) -> Json:
    """Attempts, waits, retries and merges with their times."""

    def read(desk: Session) -> Json:
        return timeline_json(session.history.get_batch(resolve_batch(desk.preview_state(), batch).id).timeline)

    return await session.query(read)


async def read_pull_request_preview(session: ProjectSession, batch: str | None) -> Json:
    """Git is asked off the desk's thread, and nobody over a network."""

    def read(state: State) -> tuple[BatchView, PullRequestOverride, str | None, bool]:
        found = resolve_batch(state, batch)
        under_way = found.requested_publish is not None or found.publishing is not None
        return make_batch_view(state, found), found.pull_request_override, why_not_publish(found), under_way

    view, wording, why_not, under_way = await session.query(lambda desk: read(desk.preview_state()))
    found = await asyncio.to_thread(build_pull_request_preview, session.place, view, wording, why_not)
    return _pull_request_json(view, found, under_way=under_way)


def _pull_request_json(view: BatchView, found: PullRequestPreview, *, under_way: bool) -> Json:
    return {
        "batchId": view.id,
        "title": found.text.title,
        "body": found.text.body,
        "own": {"title": found.default_text.title, "body": found.default_text.body},
        "branch": view.branch or None,
        "target": found.target or None,
        "url": view.pr_url or None,
        "shipped": bool(view.shipped) and not view.is_outdated,
        "underWay": under_way,
        "canPublish": not found.pull_request_problem,
        "canPush": not found.push_problem,
        "why": found.pull_request_problem or None,
        "hint": found.hint or None,
    }
