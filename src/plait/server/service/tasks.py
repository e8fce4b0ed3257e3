"""Tasks of the sources: list, read, create and edit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from plait.client.api_errors import NotFoundError, StateError, list_error_problems
from plait.client.api_models import make_problem
from plait.client.mirrors import is_mirror
from plait.client.project_sources import LoadedSources, SourcesMissingError, load_sources
from plait.client.project_state import load_settings
from plait.client.source_reader import SourceCache
from plait.client.task_editor import create_task_file, edit_task_file
from plait.client.task_file_text import TaskDraft
from plait.client.task_listing import (
    SourceTasks,
    SourceTaskWithText,
    describe_saved_task,
    describe_source_task,
    describe_source_tasks,
)
from plait.client.trust import AGENT_KEYS, FORMAT_KEY, UntrustedError, require_trust
from plait.config.config import Config
from plait.core.errors import UserError
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.server.service.lookup import query_with_cursor


async def list_source_tasks(session: ProjectSession) -> tuple[SourceTasks, str]:
    """Every task of the sources, and a cursor. Raises UntrustedError or ConfigError."""
    try:
        seen = await asyncio.to_thread(_load_sources, session.place, session.source_cache)
    except UntrustedError:
        raise
    except UserError as error:  # there are no sources yet, which is not an error
        empty = SourceTasks([], [make_problem(problem) for problem in list_error_problems(error)])
        return await query_with_cursor(session, lambda _: empty)
    return await query_with_cursor(session, lambda client: describe_source_tasks(seen, client.state))


async def read_source_task(session: ProjectSession, name: str) -> SourceTaskWithText:
    """A task with its texts, and the `version` that an edit has to name. Raises NotFoundError or StateError."""
    with _map_missing_sources(name):
        seen = await asyncio.to_thread(_load_sources, session.place, session.source_cache)
    return await session.query(lambda client: describe_source_task(seen, name, client.state))


async def create_source_task(session: ProjectSession, draft: TaskDraft) -> SourceTaskWithText:
    """The new task, once its file is written. Raises FieldError, StateError or WorldError."""
    place = session.place
    saved = await asyncio.to_thread(lambda: create_task_file(place, _load_writable_config(place), draft))
    return await session.query(lambda client: describe_saved_task(saved, client.state))


async def edit_source_task(session: ProjectSession, name: str, draft: TaskDraft, *, version: str) -> SourceTaskWithText:
    """The edited task. Raises NotFoundError, FieldError, StateError or WorldError; then nothing was written."""
    place = session.place
    with _map_missing_sources(name):
        saved = await asyncio.to_thread(
            lambda: edit_task_file(place, _load_writable_config(place), name, draft, version=version)
        )
    return await session.query(lambda client: describe_saved_task(saved, client.state))


@contextmanager
def _map_missing_sources(name: str) -> Iterator[None]:
    """Without sources, no task is found."""
    try:
        yield
    except SourcesMissingError as error:
        raise NotFoundError(f"there is no task {name}", hint=error.message) from None


def _load_writable_config(place: RepoLocation) -> Config:
    if is_mirror(place):
        raise StateError(
            "this project is a mirror: changes would be lost with the next fetch",
            state="mirrored",
            hint="Commit the task to the repository itself.",
        )
    config = load_settings(place.top)
    _check_trust(config, place)
    return config


def _load_sources(place: RepoLocation, cache: SourceCache) -> LoadedSources:
    return load_sources(place.top, place=place, vet=lambda config: _check_trust(config, place), cache=cache)


def _check_trust(config: Config, place: RepoLocation) -> None:
    """Loading sources runs custom formats and agents."""
    require_trust(config, place, early=(FORMAT_KEY, *AGENT_KEYS))
