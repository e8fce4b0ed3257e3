"""The register: which projects a user's server knows, besides the one that it was started in. One small file of JSON.

It is read anew each time and changed by one at a time, whole or not at all: two servers of a user lose nothing to each
other. What is damaged in it is put aside under another name, and told.

The catalogue: all projects that the server knows, and where each of them is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from plait.client.api_errors import FieldError, NotFoundError, StateError
from plait.client.mirrors import MirroredRepo, open_mirrored_repo
from plait.core.errors import UserError, WorldError
from plait.git.location import PROJECT_ID_LENGTH, RepoLocation, compute_project_id
from plait.server.projects import (
    MAX_PATH_LENGTH,
    Project,
    check_url,
    create_default_project,
    create_mirror_project,
    create_path_project,
    find_own_checkout,
)
from plait.system.atomic_files import replace_file
from plait.system.locks import hold_lock

_ID = re.compile(rf"[0-9a-f]{{{PROJECT_ID_LENGTH}}}", re.ASCII)


_MAX_FILE_BYTES = 32 << 20  # bytes


_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class ProjectStore:
    """`tell` hears what a person should know. Everything may raise WorldError."""

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda _: None) -> None:
        self._path = path
        self._warn = warn

    def list_projects(self) -> list[Project]:
        """In the order in which they came."""
        with _map_os_errors(self._path):
            found, sound = _read_file(self._path)
            if sound:
                return found
            with _hold_lock(self._path):
                return self._read_repaired()

    def save(self, project: Project) -> None:
        """Durable on return. One that has the same id is replaced."""
        with _map_os_errors(self._path), _hold_lock(self._path):
            known = self._read_repaired()
            kept = [project if each.id == project.id else each for each in known]
            _write_file(self._path, kept if project in kept else [*kept, project])

    def remove(self, project_id: str) -> bool:
        """Whether it was there. Nothing of the project itself is touched."""
        with _map_os_errors(self._path), _hold_lock(self._path):
            known = self._read_repaired()
            kept = [each for each in known if each.id != project_id]
            if len(kept) != len(known):
                _write_file(self._path, kept)
            return len(kept) != len(known)

    def _read_repaired(self) -> list[Project]:
        """With the lock held: what is sound, and the rest put aside."""
        found, sound = _read_file(self._path)
        if not sound:
            aside = self._path.with_name(f"{self._path.stem}.damaged-{time.time_ns()}.json")
            shutil.copy2(self._path, aside)
            _write_file(self._path, found)
            self._warn(
                f"{self._path} was damaged: {len(found)} projects could be read, and the file is kept as {aside.name}"
            )
        return found


def open_project_store(warn: Callable[[str], None]) -> ProjectStore:
    return ProjectStore(find_project_register(), warn)


def _read_file(path: Path) -> tuple[list[Project], bool]:
    """The projects that can be read, and whether that is all there is."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return [], True
    with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor, so that what is looked at is what is read
        seen = os.fstat(fd)
        if seen.st_uid != os.geteuid() or seen.st_mode & _WRITABLE_BY_OTHERS:
            raise WorldError(
                f"{path} could have been written by somebody else",
                hint=f"Look into it, and make it yours alone: chmod 600 {path}.",
            )
        return _parse_projects(file.read(_MAX_FILE_BYTES + 1))


def _parse_projects(data: bytes) -> tuple[list[Project], bool]:
    try:
        entries = json.loads(data)["projects"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return [], False
    if not isinstance(entries, list):
        return [], False
    read = [_parse_project(entry) for entry in entries]
    found = {each.id: each for each in read if each is not None}
    return list(found.values()), len(found) == len(entries)


def _parse_project(entry: object) -> Project | None:
    if not isinstance(entry, dict):
        return None
    words = [entry.get(name) for name in ("id", "name", "path")]
    url = entry.get("url", "")
    match words:
        case [str(name), str(title), str(path)] if (
            _ID.fullmatch(name) and path.startswith("/") and len(path) <= MAX_PATH_LENGTH and isinstance(url, str)
        ):
            return Project(name, title, path, url)
        case _:
            return None


def _write_file(path: Path, projects: Sequence[Project]) -> None:
    told = [{"id": each.id, "name": each.name, "path": each.path, "url": each.url} for each in projects]
    text = json.dumps({"projects": told}, indent=1)
    replace_file(path, f"{text}\n".encode("ascii"), durable=True)


def _hold_lock(path: Path) -> AbstractContextManager[None]:
    return hold_lock(path.with_name(f"{path.stem}.lock"))


@contextmanager
def _map_os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorldError(
            f"the projects in {path} can't be kept: {error.strerror}", hint="See who may write there: ls -ld."
        ) from error


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
            return self.fetch_mirror(project.url)
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

    def fetch_mirror(self, url: str, in_use: Collection[Path] = ()) -> RepoLocation:
        """Its mirror's checkout, as the remote is now. In a thread, and as long as it takes."""
        found = open_mirrored_repo(url, in_use=in_use)
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


def find_project_register() -> Path:
    from platformdirs import user_state_path

    return user_state_path("plait") / "projects.json"
