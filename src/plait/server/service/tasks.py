"""Tasks of the sources: listed with where they stand, made and edited as files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from plait.client.api_errors import NotFoundError, StateError, list_error_problems, problem_json
from plait.client.mirrors import is_mirror
from plait.client.project_sources import LoadedSources, SourcesMissingError, load_sources
from plait.client.project_state import load_settings
from plait.client.session import Session
from plait.client.source_cache import SourceCache
from plait.client.task_drafts import TaskDraft
from plait.client.task_editor import SavedTask, create_task_file as create_file, edit_task_file as edit_file
from plait.client.task_listing import saved_task_json, task_json, task_list_json
from plait.client.trust import AGENT_KEYS, FORMAT_KEY, UntrustedError, require_trust
from plait.config.config import Config
from plait.core.errors import PlaitError, UserError
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.server.service.lookup import query_with_cursor

Json = dict[str, object]


async def list_source_tasks(session: ProjectSession) -> Json:
    """`{"tasks", "problems"}`: every task of the sources. Raises UntrustedError or ConfigError."""
    return (await list_source_tasks_with_cursor(session))[0]


async def list_source_tasks_with_cursor(session: ProjectSession) -> tuple[Json, str]:
    """And its mark."""
    try:
        seen = await asyncio.to_thread(_survey_sources, session.place, session.source_cache)
    except UntrustedError:
        raise
    except UserError as error:  # there are no sources yet: that is no mistake
        told = _empty_listing(error)
        return await query_with_cursor(session, lambda _: told)
    return await query_with_cursor(session, lambda desk: task_list_json(seen, desk.state))


async def read_source_task(session: ProjectSession, name: str) -> Json:
    """A task with its texts, and the `version` that an edit goes by. Raises UnknownError or StateError."""
    with _map_missing_sources(name):
        seen = await asyncio.to_thread(_survey_sources, session.place, session.source_cache)
    return await session.query(lambda desk: task_json(seen, name, desk.state))


async def create_source_task(session: ProjectSession, draft: TaskDraft) -> Json:
    """The new task, once its file is there. Raises FieldError, StateError or WorldError."""
    saved = await asyncio.to_thread(_create_in_checkout, session.place, draft)
    return await session.query(lambda desk: _saved_task_json(desk, saved))


async def edit_source_task(session: ProjectSession, name: str, draft: TaskDraft, *, version: str) -> Json:
    """The task as it is then. Raises UnknownError, FieldError, StateError or WorldError; then nothing was written."""
    with _map_missing_sources(name):
        saved = await asyncio.to_thread(_edit_in_checkout, session.place, name, draft, version)
    return await session.query(lambda desk: _saved_task_json(desk, saved))


@contextmanager
def _map_missing_sources(name: str) -> Iterator[None]:
    """Where there are no sources, there is no such task."""
    try:
        yield
    except SourcesMissingError as error:
        raise NotFoundError(f"there is no task {name}", hint=error.message) from None


def _create_in_checkout(place: RepoLocation, draft: TaskDraft) -> SavedTask:
    _refuse_mirror(place)
    return create_file(place, _load_trusted_config(place), draft)


def _refuse_mirror(place: RepoLocation) -> None:
    if is_mirror(place):
        raise StateError(
            "this project is a mirror: what is written there is gone with the next fetch",
            state="mirrored",
            hint="Commit the task to the repository itself.",
        )


def _edit_in_checkout(place: RepoLocation, name: str, draft: TaskDraft, version: str) -> SavedTask:
    _refuse_mirror(place)
    return edit_file(place, _load_trusted_config(place), name, draft, version=version)


def _saved_task_json(desk: Session, saved: SavedTask) -> Json:
    return saved_task_json(saved, desk.state)


def _survey_sources(place: RepoLocation, cache: SourceCache) -> LoadedSources:
    return load_sources(place.top, place=place, vet=lambda config: _check_trust(config, place), cache=cache)


def _load_trusted_config(place: RepoLocation) -> Config:
    config = load_settings(place.top)
    _check_trust(config, place)
    return config


def _check_trust(config: Config, place: RepoLocation) -> None:
    """What runs by being loaded."""
    require_trust(config, place, early=(FORMAT_KEY, *AGENT_KEYS))


def _empty_listing(error: PlaitError) -> Json:
    return {"tasks": [], "problems": [problem_json(problem) for problem in list_error_problems(error)]}
