"""Folders that only their owner can change, also where other users can create files, such as in /tmp."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.system.atomic_files import make_private_folder

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MAX_LINKS = 40


def require_own_folder(folder: Path, *, hint: str) -> None:
    """Create the folder if it is missing. Raises WorldError if another user owns it, can write to it or can replace it."""
    folder = folder.absolute()
    for checked in (False, True):  # once more after it was created: another user may have been faster
        if why := find_risk(folder):
            raise WorldError(f"{folder} isn't safe to work in: {why}", hint=hint)
        if not checked:
            try:
                make_private_folder(folder)
            except OSError as error:
                raise WorldError(f"{folder} can't be created: {error.strerror}", hint=hint) from error
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise WorldError(f"{folder} isn't safe to work in: it belongs to another user", hint=hint)
    if status.st_mode & _OTHERS_WRITE:
        with suppress(OSError):  # a file system without modes
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS_WRITE)


def find_risk(folder: Path) -> str:
    """Say why another user could replace the folder, or will be able to when it is created; empty if none can."""
    if why := next(_find_risks(folder.absolute(), _MAX_LINKS), ""):
        return why
    with suppress(OSError):  # it is not there yet
        if folder.absolute().parent.stat().st_uid not in {0, os.geteuid()}:
            return f"{folder.absolute().parent}, which it is in, belongs to another user"
    return ""


def _find_risks(path: Path, links_left: int) -> Iterator[str]:
    """Yield reasons why another user could put something else in the place of the path or of a folder above it."""
    if links_left == 0:
        yield "too many links lead to it"
        return
    for child in reversed((path, *path.parents[:-1])):
        try:
            is_shared = child.parent.stat().st_mode & stat.S_IWOTH
            if is_shared and not child.parent.stat().st_mode & stat.S_ISVTX:
                yield f"every user can replace what is in {child.parent}"
            status = child.lstat()
        except OSError:
            return  # it is not there yet
        if is_shared and status.st_uid not in {0, os.geteuid()}:
            yield f"{child} belongs to another user"
        if stat.S_ISLNK(status.st_mode):
            target = Path(os.path.normpath(child.parent / child.readlink()))
            yield from _find_risks(target / path.relative_to(child), links_left - 1)
            return
