"""A new task, as a file in the folder of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from plait.client.api_errors__refusals import FieldError
from plait.client.checkout_files import lock_folder_names
from plait.client.project_sources import create_text_file, read_sources
from plait.client.task_drafts import TaskDraft, validate_draft
from plait.client.task_editor import check_written_task
from plait.client.task_editor__saved import SavedTask, make_saved_task
from plait.client.task_file_names import iter_file_names
from plait.client.task_file_names__home import find_task_folder
from plait.client.task_file_text__keys import FOLDER_FORMAT, apply_draft
from plait.client.task_file_text__text import compose_task_file
from plait.client.task_lookup__needs import spell_needs
from plait.config.config import Config
from plait.core.errors import UserError, WorldError
from plait.git.location import RepoLocation
from plait.sources.source_set import SourceSet


def create_task_file(location: RepoLocation, config: Config, draft: TaskDraft) -> SavedTask:
    """The task, once its file is there and reads as what was asked for; else there is no file.

    The settings are trusted as far as they name code. Raises FieldError, StateError or WorldError.
    """
    draft = _require_title(validate_draft(draft))
    before = _read_current_sources(location, config)
    folder = find_task_folder(location, config, before)
    needs = spell_needs(before, location.relative_name(folder), draft.needs or ())
    draft = replace(draft, needs=needs.needs or None)
    text = apply_draft(
        FOLDER_FORMAT,
        "new.md",
        compose_task_file(draft.title or "", draft.body or ""),
        replace(draft, title=None, body=None),
    )
    made = _list_missing_folders(folder)
    with _remove_folders_on_error(made):
        path = _create_file(location, folder, draft, text, before)
        with _remove_on_error(path, text):
            seen = read_sources(location, config)
            told = check_written_task(seen, location.relative_name(path), draft, unknown=needs.unknown)
    return make_saved_task(seen, told, text)


def _require_title(draft: TaskDraft) -> TaskDraft:
    if draft.text is not None:
        raise FieldError("a new task is made of title and body", field="text", hint="Leave it out.")
    if draft.title is None:
        raise FieldError("a task needs a title", field="title", hint="Say in a few words what is to be done.")
    said = {name: word for name, word in draft.words.items() if word}
    return TaskDraft(draft.title, draft.body, draft.needs or None, draft.touches or None, **said)


def _read_current_sources(location: RepoLocation, config: Config) -> SourceSet | None:
    """The first task of all may be the one that is made."""
    try:
        return read_sources(location, config).pile
    except UserError:
        return None


def _create_file(
    location: RepoLocation, folder: Path, draft: TaskDraft, text: str, before: SourceSet | None
) -> Path:
    ids = before.by_id if before is not None else ()
    try:
        with lock_folder_names(location, folder):
            folder.mkdir(parents=True, exist_ok=True)
            there = [each.name for each in folder.iterdir()]
            for name in iter_file_names(there, draft.title or "", ids):
                with suppress(FileExistsError):
                    create_text_file(folder / name, text, replace=False)
                    return folder / name
    except OSError as error:
        raise WorldError(
            f"no task file could be made in {folder}: {error.strerror or error}",
            hint="Look at the folder's owner and mode, and at the room on the disk.",
        ) from error
    raise WorldError(f"no name is left for this task in {folder}", hint="Give it another title.")


@contextmanager
def _remove_on_error(path: Path, text: str) -> Iterator[None]:
    """A file that is not what was asked for goes again, unless somebody has written into it."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            if path.read_bytes() == text.encode():
                path.unlink()
        raise


@contextmanager
def _remove_folders_on_error(folders: Sequence[Path]) -> Iterator[None]:
    """So do folders that were made for it, if nothing else is in them."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for each in folders:
                each.rmdir()
        raise


def _list_missing_folders(folder: Path) -> list[Path]:
    """The folders that are to be made, the inner ones first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]
