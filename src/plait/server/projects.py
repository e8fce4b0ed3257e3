"""The projects that a server knows: repositories by path or URL, kept in one JSON file per user.

The file is read on every use and replaced under a lock, so several servers of a user can share it. A damaged file is set
aside, and a warning is given.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.client.api_errors import FieldError, NotFoundError, StateError
from plait.client.mirrors import MirroredRepo, open_mirrored_repo
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.location import PROJECT_ID_LENGTH, RepoLocation, compute_project_id, find_repo
from plait.system.atomic_files import open_regular_file, replace_file
from plait.system.flock import hold_lock

MAX_PATH_LENGTH = 4096  # characters of a path or a URL
MAX_PROJECTS = 1000
_MAX_FILE_BYTES = 32 << 20
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ID = re.compile(rf"[0-9a-f]{{{PROJECT_ID_LENGTH}}}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_REMOTE_URL = re.compile(r"[\w+.-]+://|[^/:~.][^/:]*:")


@dataclass(frozen=True, slots=True)
class Project:
    """A project that the server knows. `path` is the top of its checkout. `url` is what its mirror fetches from,
    without secrets; "": not a mirror.
    """

    id: str
    name: str
    path: str
    url: str = ""
    default: bool = False


def create_project(location: RepoLocation, *, default: bool = False) -> Project:
    return Project(compute_project_id(location), location.top.name or "repository", str(location.top), default=default)


def create_mirror_project(mirror: MirroredRepo) -> Project:
    """Create the project of a mirror; a local path becomes a file URL."""
    url = Path(mirror.url).as_uri() if mirror.url.startswith("/") else mirror.url
    return Project(compute_project_id(mirror.location), mirror.name, str(mirror.location.top), url)


def find_own_checkout(path: Path) -> RepoLocation:
    """Return the checkout that contains the path. Raises FieldError unless it is a git checkout owned by this user."""
    try:
        _check_owner(path)
        location = find_repo(path)
    except FieldError:
        raise
    except UserError as error:
        raise FieldError(error.message, field="path", hint=error.hint) from error
    except OSError as error:
        raise FieldError(
            f"can't access {path}: {error.strerror}",
            field="path",
            hint="Name a checkout of a repository.",
        ) from error
    if not location.repository:
        raise FieldError(
            f"{path} is not in a git repository",
            field="path",
            hint="A project is a repository: run git init there, or name another folder.",
        )
    for folder in (location.top, location.state.parent):
        _check_owner(folder)
    return location


def check_url(text: str) -> str:
    """Check the form of the URL, nothing else. Raises FieldError."""
    url = _check_text(text, "url")
    if not _REMOTE_URL.match(url):
        raise FieldError(
            "not the URL of a repository",
            field="url",
            hint="Use https://host/owner/name, ssh://git@host/owner/name, git@host:owner/name or file:///folder; "
            "or give the folder of a checkout as `path`.",
        )
    return url


def _check_text(raw: str, field: str) -> str:
    text = raw.strip()
    if not text or len(text) > MAX_PATH_LENGTH or _CONTROL.search(text):
        raise FieldError(f"the {field} is empty, too long, or has control characters in it", field=field)
    return text


def _resolve_folder(text: str) -> Path:
    path = Path(text)
    if text == "~" or text.startswith("~/"):
        with suppress(RuntimeError):  # a user without a home
            path = path.expanduser()
    if not path.is_absolute():
        raise FieldError(
            f"{text!r} is not an absolute path",
            field="path",
            hint="Use an absolute path: /home/me/repository or ~/repository.",
        )
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise FieldError(f"{text!r} can't be resolved", field="path") from error


def _check_owner(path: Path) -> None:
    if path.stat().st_uid != os.geteuid():
        raise FieldError(
            f"{path} is owned by another user",
            field="path",
            hint="Its settings and hooks would run as you: use a clone of your own.",
        )


class ProjectStore:
    """The file with the projects. `warn` gets messages for a person. All methods may raise WorldError."""

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda _: None) -> None:
        self._path, self._lock_path = path, path.with_name(f"{path.stem}.lock")
        self._warn = warn

    def list_projects(self) -> list[Project]:
        """List the projects in the order in which they were added."""
        with _map_os_errors(self._path):
            projects, is_valid = _read_file(self._path)
            if is_valid:
                return projects
            with hold_lock(self._lock_path):
                return self._read_repaired()

    def save(self, project: Project) -> None:
        """Save a project, which replaces one with the same id. Durable on return."""
        with _map_os_errors(self._path), hold_lock(self._lock_path):
            projects = self._read_repaired()
            updated = [project if known.id == project.id else known for known in projects]
            _write_file(self._path, updated if project in updated else [*updated, project])

    def remove(self, project_id: str) -> bool:
        """Remove a project's entry; return whether it was there. The project itself is not touched."""
        with _map_os_errors(self._path), hold_lock(self._lock_path):
            projects = self._read_repaired()
            remaining = [known for known in projects if known.id != project_id]
            if len(remaining) != len(projects):
                _write_file(self._path, remaining)
            return len(remaining) != len(projects)

    def _read_repaired(self) -> list[Project]:
        """Read the readable projects, with the lock held; a damaged file is set aside."""
        projects, is_valid = _read_file(self._path)
        if not is_valid:
            aside = self._path.with_name(f"{self._path.stem}.damaged-{time.time_ns()}.json")
            shutil.copy2(self._path, aside)
            _write_file(self._path, projects)
            self._warn(
                f"{self._path} was damaged: {len(projects)} projects could be read, and the file was saved as {aside.name}"
            )
        return projects


def find_project_register() -> Path:
    from platformdirs import user_state_path

    return user_state_path("plait") / "projects.json"


def open_project_store(warn: Callable[[str], None]) -> ProjectStore:
    return ProjectStore(find_project_register(), warn)


def _read_file(path: Path) -> tuple[list[Project], bool]:
    """Return the projects that can be read, and whether the whole file was valid."""
    try:
        fd = open_regular_file(path, follow_links=True)
    except FileNotFoundError:
        return [], True
    with os.fdopen(fd, "rb") as file:
        info = os.fstat(fd)
        if info.st_uid != os.geteuid() or info.st_mode & _WRITABLE_BY_OTHERS:
            raise WorldError(
                f"{path} may have been written by another user",
                hint=f"Check its contents, then make it private: chmod 600 {path}.",
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
    projects = {project.id: project for project in read if project is not None}
    return list(projects.values()), len(projects) == len(entries)


def _parse_project(entry: object) -> Project | None:
    if not isinstance(entry, dict):
        return None
    match entry.get("id"), entry.get("name"), entry.get("path"), entry.get("url", ""):
        case str(project_id), str(name), str(path), str(url) if (
            _ID.fullmatch(project_id) and path.startswith("/") and len(path) <= MAX_PATH_LENGTH
        ):
            return Project(project_id, name, path, url)
        case _:
            return None


def _write_file(path: Path, projects: Sequence[Project]) -> None:
    entries = [
        {"id": project.id, "name": project.name, "path": project.path, "url": project.url} for project in projects
    ]
    replace_file(path, f"{json.dumps({'projects': entries}, indent=1)}\n".encode("ascii"), durable=True)


@contextmanager
def _map_os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorldError(
            f"can't save projects to {path}: {error.strerror}", hint="Check permissions and free disk space."
        ) from error


class ProjectCatalog:
    """The projects of a server. `default`: where the server was started, if in a project. All methods may raise
    WorldError.

    Methods that call git or wait for another server are for threads.
    """

    def __init__(self, store: ProjectStore, default: RepoLocation | None = None) -> None:
        self._store, self._default = store, default
        self.default_project = None if default is None else create_project(default, default=True)

    def list_projects(self) -> list[Project]:
        """List the projects, the default one first."""
        if self.default_project is None:
            return self._store.list_projects()
        return [
            self.default_project,
            *(project for project in self._store.list_projects() if project.id != self.default_project.id),
        ]

    def find(self, project: str | None) -> Project:
        """Find a project; None: the default one, or the only one. Raises NotFoundError."""
        if self.default_project is not None and project in {None, self.default_project.id}:
            return self.default_project
        matches = [candidate for candidate in self.list_projects() if project in {None, candidate.id}]
        if len(matches) == 1:
            return matches[0]
        if project is not None:
            raise NotFoundError(f"there is no project {project[:40]!r}", hint="GET /api/projects lists them.")
        raise NotFoundError(
            "the server was not started in a project",
            hint="Name one: ?project=ID. GET /api/projects lists them, POST adds one.",
        )

    def locate(self, project: Project) -> RepoLocation:
        """Return the project's checkout; a mirror without one gets a new one. For a thread."""
        if project.default:
            assert self._default is not None
            return self._default
        if project.url and not _is_folder(project.path):
            return self.fetch_mirror(project.url)
        try:
            location = find_own_checkout(Path(project.path))
        except FieldError as error:
            raise WorldError(f"can't open {project.name}: {error.message}", hint=error.hint) from error
        if compute_project_id(location) != project.id:
            raise WorldError(
                f"{project.path} is a different repository now",
                hint="Add it again, and remove the old project.",
            )
        return location

    def fetch_mirror(self, url: str, in_use: Collection[Path] = ()) -> RepoLocation:
        """Return a checkout of the remote's current state. For a thread; it may take minutes."""
        mirror = open_mirrored_repo(url, in_use=in_use)
        self._store_project(create_mirror_project(mirror))
        return mirror.location

    def add_path(self, path: str) -> Project:
        """Add a checkout. A repository is one project, whichever of its checkouts is named: the first that still exists
        is used.

        For a thread; raises FieldError.
        """
        project = create_project(find_own_checkout(_resolve_folder(_check_text(path, "path"))))
        for known in self.list_projects():
            if known.id == project.id and _is_folder(known.path):
                return known
        self._store_project(project)
        return project

    def add_url(self, url: str, in_use: Collection[Path] = ()) -> tuple[Project, MirroredRepo]:
        """Clone a repository, or fetch it again. For a thread; raises FieldError for an invalid URL."""
        try:
            mirror = open_mirrored_repo(check_url(url), in_use=in_use)
        except FieldError:
            raise
        except UserError as error:
            raise FieldError(error.message, field="url", hint=error.hint) from error
        project = create_mirror_project(mirror)
        self._store_project(project)
        return project, mirror

    def remove(self, project: Project) -> None:
        """Remove a project's entry; the project itself is not touched. For a thread; raises StateError."""
        if project.default:
            raise StateError(
                f"{project.name} is the project that this server was started in",
                state="default",
                hint="It is removed when the server stops.",
            )
        self._store.remove(project.id)

    def _store_project(self, project: Project) -> None:
        if self.default_project is not None and project.id == self.default_project.id:
            return
        projects = self._store.list_projects()
        if project in projects:
            return
        if len(projects) >= MAX_PROJECTS and project.id not in {known.id for known in projects}:
            raise StateError(
                f"there are {MAX_PROJECTS} projects already",
                state="full",
                hint="Remove projects you no longer need.",
            )
        self._store.save(project)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for some errors
