"""The catalogue: all projects that the server knows, and where each of them is."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from plait.client.api_errors__refusals import FieldError, NotFoundError, StateError
from plait.client.mirrors import MirroredRepo, open_mirrored_repo
from plait.core.errors import UserError, WorldError
from plait.git.location import RepoLocation
from plait.git.location__projects import compute_project_id
from plait.server.project_store import ProjectStore
from plait.server.projects import (
    Project,
    check_url,
    create_default_project,
    create_mirror_project,
    create_path_project,
    find_own_checkout,
)

MAX_PROJECTS = 1000  # projects


class ProjectCatalog:
    """`default` is where the server was started; None: in no project. Everything may raise WorldError.

    What asks git or waits for another server says so: it is called in a thread.
    """

    def __init__(self, store: ProjectStore, default: RepoLocation | None = None) -> None:
        self._store, self._default = store, default
        self.default_project = None if default is None else create_default_project(default)

    def list_projects(self) -> list[Project]:
        """The one served first."""
        if self.default_project is None:
            return self._store.list_projects()
        return [
            self.default_project,
            *(each for each in self._store.list_projects() if each.id != self.default_project.id),
        ]

    def find(self, project: str | None) -> Project:
        """None: the one served, or the only one. Raises UnknownError."""
        if self.default_project is not None and project in {None, self.default_project.id}:
            return self.default_project
        known = self.list_projects()
        if project is not None:
            return _find_by_id(project, known)
        if len(known) == 1:
            return known[0]
        raise NotFoundError(
            "the server was not started in a project",
            hint="Say which one is meant: ?project=ID. GET /api/projects lists them, POST adds one.",
        )

    def locate(self, project: Project) -> RepoLocation:
        """Where it is, as long as it is still there; a mirror whose checkout is gone gets another one. In a thread."""
        if project.default:
            assert self._default is not None
            return self._default
        if project.url and not os.path.isdir(project.path):  # noqa: PTH112 - it never raises
            return self.fetch_mirror(project)
        try:
            place = find_own_checkout(Path(project.path))
        except FieldError as error:
            raise WorldError(f"{project.name} can't be opened: {error.message}", hint=error.hint) from error
        if compute_project_id(place) != project.id:
            raise WorldError(
                f"{project.path} is not the repository that it was",
                hint="Add it again, and remove the one that is gone.",
            )
        return place

    def fetch_mirror(self, project: Project, in_use: Collection[Path] = ()) -> RepoLocation:
        """Its mirror's checkout, as the remote is now. In a thread, and as long as it takes."""
        found = open_mirrored_repo(project.url, in_use=in_use)
        self._store_project(create_mirror_project(found))
        return found.place

    def add_path(self, path: str) -> Project:
        """One repository is one project, whichever of its checkouts is named: the first that is still there holds. In a
        thread; raises FieldError.
        """
        found = create_path_project(path)
        for each in self.list_projects():
            if each.id == found.id and os.path.isdir(each.path):  # noqa: PTH112
                return each
        self._store_project(found)
        return found

    def add_url(self, url: str, in_use: Collection[Path] = ()) -> tuple[Project, MirroredRepo]:
        """Cloned, or fetched again. In a thread; raises FieldError for what is no address of a repository."""
        try:
            found = open_mirrored_repo(check_url(url), in_use=in_use)
        except FieldError:
            raise
        except UserError as error:
            raise FieldError(error.message, field="url", hint=error.hint) from error
        project = create_mirror_project(found)
        self._store_project(project)
        return project, found

    def remove(self, project: Project) -> None:
        """Nothing of the project itself is touched. In a thread; raises StateError."""
        if project.default:
            raise StateError(
                f"{project.name} is the project that this server was started in",
                state="default",
                hint="It goes when the server ends.",
            )
        self._store.remove(project.id)

    def _store_project(self, project: Project) -> None:
        if self.default_project is not None and project.id == self.default_project.id:
            return
        known = self._store.list_projects()
        if project in known:
            return
        if len(known) >= MAX_PROJECTS and project.id not in {each.id for each in known}:
            raise StateError(
                f"there are {MAX_PROJECTS} projects already",
                state="full",
                hint="Remove some that nobody needs.",
            )
        self._store.save(project)


def _find_by_id(name: str, known: Collection[Project]) -> Project:
    for each in known:
        if each.id == name:
            return each
    raise NotFoundError(f"there is no project {name[:40]!r}", hint="GET /api/projects lists them.")
