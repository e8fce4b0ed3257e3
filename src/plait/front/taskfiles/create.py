"""A new task, as a file in the folder of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from plait.config.model import Config
from plait.core.errors import UserError, WorldError
from plait.front.refusals import FieldError
from plait.front.taskfiles.check import check
from plait.front.taskfiles.draft import Draft, checked
from plait.front.taskfiles.home import home
from plait.front.taskfiles.keys import FOLDER, written
from plait.front.taskfiles.naming import file_names
from plait.front.taskfiles.needs import spelt
from plait.front.taskfiles.saved import Saved, saved
from plait.front.taskfiles.text import composed
from plait.sources.pile import Pile
from plait.wiring import Place
from plait.wiring.sources import make_file, read_sources
from plait.wiring.writing import naming


def create(place: Place, config: Config, draft: Draft) -> Saved:
    """The task, once its file is there and reads as what was asked for; else there is no file.

    The settings are trusted as far as they name code. Raises FieldError, StateError or WorldError.
    """
    draft = _complete(checked(draft))
    before = _before(place, config)
    folder = home(place, config, before)
    needs = spelt(before, place.spell(folder), draft.needs or ())
    draft = replace(draft, needs=needs.needs or None)
    text = written(
        FOLDER,
        "new.md",
        composed(draft.title or "", draft.body or ""),
        replace(draft, title=None, body=None),
    )
    made = _missing(folder)
    with _taken_back(made):
        path = _put(place, folder, draft, text, before)
        with _removed(path, text):
            seen = read_sources(place, config)
            told = check(seen, place.spell(path), draft, unknown=needs.unknown)
    return saved(seen, told, text)


def _complete(draft: Draft) -> Draft:
    if draft.text is not None:
        raise FieldError("a new task is made of title and body", field="text", hint="Leave it out.")
    if draft.title is None:
        raise FieldError("a task needs a title", field="title", hint="Say in a few words what is to be done.")
    said = {name: word for name, word in draft.words.items() if word}
    return Draft(draft.title, draft.body, draft.needs or None, draft.touches or None, **said)


def _before(place: Place, config: Config) -> Pile | None:
    """The first task of all may be the one that is made."""
    try:
        return read_sources(place, config).pile
    except UserError:
        return None


def _put(place: Place, folder: Path, draft: Draft, text: str, before: Pile | None) -> Path:
    ids = before.by_id if before is not None else ()
    try:
        with naming(place, folder):
            folder.mkdir(parents=True, exist_ok=True)
            there = [each.name for each in folder.iterdir()]
            for name in file_names(there, draft.title or "", ids):
                with suppress(FileExistsError):
                    make_file(folder / name, text, replace=False)
                    return folder / name
    except OSError as error:
        raise WorldError(
            f"no task file could be made in {folder}: {error.strerror or error}",
            hint="Look at the folder's owner and mode, and at the room on the disk.",
        ) from error
    raise WorldError(f"no name is left for this task in {folder}", hint="Give it another title.")


@contextmanager
def _removed(path: Path, text: str) -> Iterator[None]:
    """A file that is not what was asked for goes again, unless somebody has written into it."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            if path.read_bytes() == text.encode():
                path.unlink()
        raise


@contextmanager
def _taken_back(folders: Sequence[Path]) -> Iterator[None]:
    """So do folders that were made for it, if nothing else is in them."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for each in folders:
                each.rmdir()
        raise


def _missing(folder: Path) -> list[Path]:
    """The folders that are to be made, the inner ones first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]
