"""How statuses and people's edits reach the files of a checkout."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plait.git.location import RepoLocation
from plait.store.project_files import LOCKS_FOLDER


def resolve_checkout_path(place: RepoLocation, path: Path) -> Path | None:
    """Where a path of the checkout really leads; None: out of it, or to what is git's or plait's own."""
    real, top = (Path(os.path.realpath(each)) for each in (path, place.top))
    if not real.is_relative_to(top) or real.is_relative_to(os.path.realpath(place.state)):
        return None
    own = any(part.casefold() == ".git" for part in real.relative_to(top).parts)
    return None if own else real


def read_text_file(path: Path) -> str:
    """Every byte of a regular file, be it UTF-8 or not (`sources.text.encode` has them back). Raises OSError."""
    from plait.system import file_exchange

    return file_exchange.read_snapshot(path).text


def replace_text(place: RepoLocation, path: Path, before: str, after: str) -> bool:
    """Edit a file that others may be saving now; `path` is a real one. False: it does not say `before` any more.

    Raises SourceWriteError.
    """
    from plait.system.status_files import replace_file_text

    return replace_file_text(path, before, after, locks=place.state / LOCKS_FOLDER)


@contextmanager
def lock_folder_names(place: RepoLocation, folder: Path) -> Iterator[None]:
    """Between the look at a folder's names and the file that gets the next one, no other plait makes one there."""
    from plait.system.status_files import hold_file_lock

    with hold_file_lock(place.state / LOCKS_FOLDER / "naming.lock", folder, time.sleep, "no file was made"):
        yield


def create_text_file(path: Path, text: str, *, replace: bool) -> None:
    """Raises OSError; FileExistsError if there is one already, and it is not to be replaced."""
    from plait.system.atomic_write import write_new_file

    write_new_file(path, text, replace=replace)
