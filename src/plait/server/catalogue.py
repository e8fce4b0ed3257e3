"""The catalogue: all projects that the server knows, and where each of them is."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from plait.core.errors import UserError, WorldError
from plait.front.mirroring import Mirrored, mirrored
from plait.front.refusals import FieldError, StateError, UnknownError
from plait.server.projects import Project, checkout_at, of_mirror, of_path, served, url_of
from plait.server.register import Register
from plait.wiring import Place
from plait.wiring.projects import project_id

MOST = 1000  # projects


class Catalogue:
    """`default` is where the server was started; None: in no project. Everything may raise WorldError.

    What asks git or waits for another server says so: it is called in a thread.
    """

    def __init__(self, register: Register, default: Place | None = None) -> None:
        self._register, self._default = register, default
        self.own = None if default is None else served(default)

    def projects(self) -> list[Project]:
        """The one served first."""
        if self.own is None:
            return self._register.projects()
        return [self.own, *(each for each in self._register.projects() if each.id != self.own.id)]

    def find(self, project: str | None) -> Project:
        """None: the one served, or the only one. Raises UnknownError."""
        if self.own is not None and project in {None, self.own.id}:
            return self.own
        known = self.projects()
        if project is not None:
            return _named(project, known)
        if len(known) == 1:
            return known[0]
        raise UnknownError(
            "the server was not started in a project",
            hint="Say which one is meant: ?project=ID. GET /api/projects lists them, POST adds one.",
        )

    def place(self, project: Project) -> Place:
        """Where it is, as long as it is still there; a mirror whose checkout is gone gets another one. In a thread."""
        if project.default:
            assert self._default is not None
            return self._default
        if project.url and not os.path.isdir(project.path):  # noqa: PTH112 - it never raises
            return self.fetched(project)
        try:
            place = checkout_at(Path(project.path))
        except FieldError as error:
            raise WorldError(f"{project.name} can't be opened: {error.message}", hint=error.hint) from error
        if project_id(place) != project.id:
            raise WorldError(
                f"{project.path} is not the repository that it was",
                hint="Add it again, and remove the one that is gone.",
            )
        return place

    def fetched(self, project: Project, in_use: Collection[Path] = ()) -> Place:
        """Its mirror's checkout, as the remote is now. In a thread, and as long as it takes."""
        found = mirrored(project.url, in_use=in_use)
        self._keep(of_mirror(found))
        return found.place

    def add_path(self, path: str) -> Project:
        """One repository is one project, whichever of its checkouts is named: the first that is still there holds. In a
        thread; raises FieldError.
        """
        found = of_path(path)
        for each in self.projects():
            if each.id == found.id and os.path.isdir(each.path):  # noqa: PTH112
                return each
        self._keep(found)
        return found

    def add_url(self, url: str, in_use: Collection[Path] = ()) -> tuple[Project, Mirrored]:
        """Cloned, or fetched again. In a thread; raises FieldError for what is no address of a repository."""
        try:
            found = mirrored(url_of(url), in_use=in_use)
        except FieldError:
            raise
        except UserError as error:
            raise FieldError(error.message, field="url", hint=error.hint) from error
        project = of_mirror(found)
        self._keep(project)
        return project, found

    def remove(self, project: Project) -> None:
        """Nothing of the project itself is touched. In a thread; raises StateError."""
        if project.default:
            raise StateError(
                f"{project.name} is the project that this server was started in",
                state="default",
                hint="It goes when the server ends.",
            )
        self._register.remove(project.id)

    def _keep(self, project: Project) -> None:
        if self.own is not None and project.id == self.own.id:
            return
        known = self._register.projects()
        if project in known:
            return
        if len(known) >= MOST and project.id not in {each.id for each in known}:
            raise StateError(
                f"there are {MOST} projects already", state="full", hint="Remove some that nobody needs."
            )
        self._register.put(project)


def _named(name: str, known: Collection[Project]) -> Project:
    for each in known:
        if each.id == name:
            return each
    raise UnknownError(f"there is no project {name[:40]!r}", hint="GET /api/projects lists them.")
