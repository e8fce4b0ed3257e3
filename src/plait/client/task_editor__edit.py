"""A task that is a file of its own, changed: what the draft does not name stays, to the byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plait.client.api_errors__refusals import FieldError, StateError
from plait.client.checkout_files import read_text_file, replace_text
from plait.client.project_sources import read_sources
from plait.client.task_drafts import TaskDraft, validate_draft
from plait.client.task_editor import check_written_task
from plait.client.task_editor__saved import SavedTask, hash_version, make_saved_task
from plait.client.task_file_text__keys import apply_draft
from plait.client.task_lookup import LocatedTask, find_located_task, get_own_file
from plait.client.task_lookup__needs import spell_needs
from plait.config.config import Config
from plait.core.errors import WorldError
from plait.git.location import RepoLocation
from plait.sources.text import BOM, TextLines, find_invalid_utf8_line

CHANGED_STATE = "changed"


def edit_task_file(
    location: RepoLocation, config: Config, name: str, draft: TaskDraft, *, version: str
) -> SavedTask:
    """The task as it is then. Nothing is written unless the file is of this version, and reads as what was asked for.

    The settings are trusted as far as they name code. Raises UnknownError, StateError, FieldError or WorldError.
    """
    draft = validate_draft(draft)
    seen = read_sources(location, config)
    told = find_located_task(seen.pile, name)
    path = get_own_file(location, told)
    text = read_task_file(path, told.file)
    if hash_version(text) != version:
        raise _changed_error(told)
    needs = spell_needs(seen.pile, told.source.path, draft.needs or ())
    draft = draft if draft.needs is None else replace(draft, needs=needs.needs)
    new = _make_new_text(told, text, draft)
    after = read_sources(location, config, overrides={told.file: new})
    then = check_written_task(after, told.file, draft, before=told, unknown=needs.unknown)
    if new != text and not replace_text(location, path, text, new):
        raise _changed_error(told)
    return make_saved_task(after, then, new)


def read_task_file(path: Path, file: str) -> str:
    """Raises WorldError."""
    try:
        return read_text_file(path)
    except OSError as error:
        hint = "It may have been moved or removed just now."
        raise WorldError(f"{file} can't be read: {error.strerror or error}", hint=hint) from error


def _make_new_text(located: LocatedTask, text: str, draft: TaskDraft) -> str:
    if find_invalid_utf8_line(text) is not None and (draft.text is not None or draft.body is not None):
        # What is shown of such bytes is not what they are: saving it would lose them.
        field = "body" if draft.text is None else "text"
        raise FieldError(
            f"{located.file} has bytes that are not UTF-8", field=field, hint="Save it as UTF-8 first."
        )
    if draft.text is None:
        return apply_draft(located.source.format, located.file, text, draft)
    bom = BOM if text.startswith(BOM) and not draft.text.startswith(BOM) else ""
    return bom + draft.text.replace("\n", TextLines(text).eol)


def _changed_error(located: LocatedTask) -> StateError:
    return StateError(
        f"{located.file} was changed meanwhile, and nothing was written",
        state=CHANGED_STATE,
        hint="Look at what it says now, and put your change into that.",
    )
