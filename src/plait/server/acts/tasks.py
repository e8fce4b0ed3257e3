"""Tasks of the sources: listed with where they stand, made and edited as files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from plait.config.model import Config
from plait.core.errors import PlaitError, UserError
from plait.front.desk import Desk
from plait.front.mirroring import is_mirror
from plait.front.problems import problem_json, problems_of
from plait.front.refusals import StateError, UnknownError
from plait.front.taskfiles import Draft, Saved, create as create_file, edit as edit_file
from plait.front.tasks_shape import listing_json, saved_json, task_json
from plait.front.trust import AGENTS, FORMAT, UntrustedError, require_trust
from plait.server.acts.marked import marked
from plait.server.office import Office
from plait.wiring import Place
from plait.wiring.sources import Kept, SourcesMissingError, Survey, settings, survey

Json = dict[str, object]


async def listed(office: Office) -> Json:
    """`{"tasks", "problems"}`: every task of the sources. Raises UntrustedError or ConfigError."""
    return (await listed_at(office))[0]


async def listed_at(office: Office) -> tuple[Json, str]:
    """And its mark."""
    try:
        seen = await asyncio.to_thread(_seen, office.place, office.kept)
    except UntrustedError:
        raise
    except UserError as error:  # there are no sources yet: that is no mistake
        told = _none(error)
        return await marked(office, lambda _: told)
    return await marked(office, lambda desk: listing_json(seen, desk.state))


async def one(office: Office, name: str) -> Json:
    """A task with its texts, and the `version` that an edit goes by. Raises UnknownError or StateError."""
    with _named(name):
        seen = await asyncio.to_thread(_seen, office.place, office.kept)
    return await office.look(lambda desk: task_json(seen, name, desk.state))


async def create(office: Office, draft: Draft) -> Json:
    """The new task, once its file is there. Raises FieldError, StateError or WorldError."""
    saved = await asyncio.to_thread(_created, office.place, draft)
    return await office.look(lambda desk: _saved(desk, saved))


async def edit(office: Office, name: str, draft: Draft, *, version: str) -> Json:
    """The task as it is then. Raises UnknownError, FieldError, StateError or WorldError; then nothing was written."""
    with _named(name):
        saved = await asyncio.to_thread(_edited, office.place, name, draft, version)
    return await office.look(lambda desk: _saved(desk, saved))


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Where there are no sources, there is no such task."""
    try:
        yield
    except SourcesMissingError as error:
        raise UnknownError(f"there is no task {name}", hint=error.message) from None


def _created(place: Place, draft: Draft) -> Saved:
    _refuse_mirror(place)
    return create_file(place, _config(place), draft)


def _refuse_mirror(place: Place) -> None:
    if is_mirror(place):
        raise StateError(
            "this project is a mirror: what is written there is gone with the next fetch",
            state="mirrored",
            hint="Commit the task to the repository itself.",
        )


def _edited(place: Place, name: str, draft: Draft, version: str) -> Saved:
    _refuse_mirror(place)
    return edit_file(place, _config(place), name, draft, version=version)


def _saved(desk: Desk, saved: Saved) -> Json:
    return saved_json(saved, desk.state)


def _seen(place: Place, kept: Kept) -> Survey:
    return survey(place.top, place=place, vet=lambda config: _vet(config, place), kept=kept)


def _config(place: Place) -> Config:
    config = settings(place.top)
    _vet(config, place)
    return config


def _vet(config: Config, place: Place) -> None:
    """What runs by being loaded."""
    require_trust(config, place, early=(FORMAT, *AGENTS))


def _none(error: PlaitError) -> Json:
    return {"tasks": [], "problems": [problem_json(problem) for problem in problems_of(error)]}
