"""A task that is a file of its own, changed: what the draft does not name stays, to the byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plait.config.model import Config
from plait.core.errors import WorldError
from plait.front.refusals import FieldError, StateError
from plait.front.taskfiles.check import check
from plait.front.taskfiles.draft import Draft, checked
from plait.front.taskfiles.keys import written
from plait.front.taskfiles.needs import spelt
from plait.front.taskfiles.saved import Saved, saved, version_of
from plait.front.taskfiles.told import Told, find, own_file
from plait.sources.text import BOM, Lines, broken
from plait.wiring import Place
from plait.wiring.sources import read_sources
from plait.wiring.writing import replace_text, text_of

CHANGED = "changed"


def edit(place: Place, config: Config, name: str, draft: Draft, *, version: str) -> Saved:
    """The task as it is then. Nothing is written unless the file is of this version, and reads as what was asked for.

    The settings are trusted as far as they name code. Raises UnknownError, StateError, FieldError or WorldError.
    """
    draft = checked(draft)
    seen = read_sources(place, config)
    told = find(seen.pile, name)
    path = own_file(place, told)
    text = read(path, told.file)
    if version_of(text) != version:
        raise _changed(told)
    needs = spelt(seen.pile, told.source.path, draft.needs or ())
    draft = draft if draft.needs is None else replace(draft, needs=needs.needs)
    new = _new(told, text, draft)
    after = read_sources(place, config, instead={told.file: new})
    then = check(after, told.file, draft, before=told, unknown=needs.unknown)
    if new != text and not replace_text(place, path, text, new):
        raise _changed(told)
    return saved(after, then, new)


def read(path: Path, file: str) -> str:
    """Raises WorldError."""
    try:
        return text_of(path)
    except OSError as error:
        hint = "It may have been moved or removed just now."
        raise WorldError(f"{file} can't be read: {error.strerror or error}", hint=hint) from error


def _new(told: Told, text: str, draft: Draft) -> str:
    if broken(text) is not None and (draft.text is not None or draft.body is not None):
        # What is shown of such bytes is not what they are: saving it would lose them.
        field = "body" if draft.text is None else "text"
        raise FieldError(
            f"{told.file} has bytes that are not UTF-8", field=field, hint="Save it as UTF-8 first."
        )
    if draft.text is None:
        return written(told.source.format, told.file, text, draft)
    bom = BOM if text.startswith(BOM) and not draft.text.startswith(BOM) else ""
    return bom + draft.text.replace("\n", Lines(text).eol)


def _changed(told: Told) -> StateError:
    return StateError(
        f"{told.file} was changed meanwhile, and nothing was written",
        state=CHANGED,
        hint="Look at what it says now, and put your change into that.",
    )
