"""The register: which projects a user's server knows, besides the one that it was started in. One small file of JSON.

It is read anew each time and changed by one at a time, whole or not at all: two servers of a user lose nothing to each
other. What is damaged in it is put aside under another name, and told.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from plait.core.errors import WorldError
from plait.git.location__projects import PROJECT_ID_LENGTH, find_project_register
from plait.server.projects import MAX_PATH_LENGTH, Project

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
            _ID.fullmatch(name)
            and path.startswith("/")
            and len(path) <= MAX_PATH_LENGTH
            and isinstance(url, str)
        ):
            return Project(name, title, path, url)
        case _:
            return None


def _write_file(path: Path, projects: Sequence[Project]) -> None:
    told = [{"id": each.id, "name": each.name, "path": each.path, "url": each.url} for each in projects]
    fresh = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="ascii") as file:  # noqa: PTH123 - a descriptor, for its mode
            json.dump({"projects": told}, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(fd)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    with suppress(OSError):  # some file systems know no such thing
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    """One at a time, in whatever process. The lock dies with its holder."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path.with_name(f"{path.stem}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


@contextmanager
def _map_os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorldError(
            f"the projects in {path} can't be kept: {error.strerror}", hint="See who may write there: ls -ld."
        ) from error
