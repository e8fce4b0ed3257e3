"""How statuses and people's edits reach the files of a checkout."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.git.location import RepoLocation
from plait.store.project_files import LOCKS_FOLDER, load_batch_inputs

if TYPE_CHECKING:  # reading and writing sources needs a lot, and not every engine has anything to tell
    from plait.core.plan import Problem
    from plait.engine.status_writeback__settle import WriteStatuses
    from plait.sources.source_model import StatusChange, StatusFileWriter


def open_source_writer(place: RepoLocation) -> WriteStatuses:
    """How statuses reach the files of this checkout."""
    from plait.system.status_files import write_statuses  # noqa: PLC0415 - the fronts that only read go without

    def write(writer: StatusFileWriter, changes: Sequence[StatusChange]) -> Sequence[Problem]:
        top = _find_checkout(place, changes[0].batch) if changes else place.top
        if writer.creates and not (top / writer.path).parent.is_dir():
            return ()
        return write_statuses(top, writer, changes, locks=place.state / LOCKS_FOLDER).problems

    return write


def _find_checkout(place: RepoLocation, batch: str) -> Path:
    """The checkout that the batch was submitted from: a repository may have several, and one engine for all."""
    try:
        return Path(load_batch_inputs(place, batch).top)
    except WorldError:
        return place.top


def resolve_checkout_path(place: RepoLocation, path: Path) -> Path | None:
    """Where a path of the checkout really leads; None: out of it, or to what is git's or plait's own."""
    real, top = (Path(os.path.realpath(each)) for each in (path, place.top))
    if not real.is_relative_to(top) or real.is_relative_to(os.path.realpath(place.state)):
        return None
    own = any(part.casefold() == ".git" for part in real.relative_to(top).parts)
    return None if own else real


def read_text_file(path: Path) -> str:
    """Every byte of a regular file, be it UTF-8 or not (`sources.text.encode` has them back). Raises OSError."""
    from plait.system import file_exchange  # noqa: PLC0415

    return file_exchange.read_snapshot(path).text


def replace_text(place: RepoLocation, path: Path, before: str, after: str) -> bool:
    """Edit a file that others may be saving now; `path` is a real one. False: it does not say `before` any more.

    Raises SourceWriteError.
    """
    from plait.system.status_files import replace_file_text  # noqa: PLC0415

    return replace_file_text(path, before, after, locks=place.state / LOCKS_FOLDER)


@contextmanager
def lock_folder_names(place: RepoLocation, folder: Path) -> Iterator[None]:
    """Between the look at a folder's names and the file that gets the next one, no other plait makes one there."""
    from plait.system.status_files__lock import hold_file_lock  # noqa: PLC0415

    with hold_file_lock(place.state / LOCKS_FOLDER / "naming.lock", folder, time.sleep, "no file was made"):
        yield
