"""Which keys of the front matter say a task's fields, in each format whose files hold one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.front.refusals import FieldError
from plait.front.taskfiles.draft import Draft
from plait.front.taskfiles.matter import keys_of, put
from plait.front.taskfiles.text import parts, with_body, with_heading
from plait.sources.formats.folder.task import NEEDS, TOUCHES
from plait.sources.model import Document
from plait.sources.taskfiles.text import title as heading_of
from plait.sources.text import printable

FOLDER = "folder"  # the format of files that are made here

Names = Mapping[str, tuple[str, ...]]

# The first key of each is the one that is written where there is none.
_FOLDER: Names = {
    "title": ("title",),
    "needs": NEEDS,
    "touches": TOUCHES,
    "phase": ("phase",),
    "priority": ("priority",),
    "weight": ("weight", "complexity"),
    "agent": ("agent",),
    "model": ("model",),
    "verify": ("verify",),
    "run": ("run",),
}
KEYS: Mapping[str, Names] = {
    FOLDER: _FOLDER,
    "jobs": {"needs": ("depends_on",)},
    "backlog": {"title": ("title",), "needs": ("dependencies",), "priority": ("priority",)},
    "ccpm": {"title": ("name",), "needs": ("depends_on",)},
}


def written(format_name: str, path: str, text: str, draft: Draft) -> str:
    """The text with all that the draft says of it; needs are spelt as this source spells them. Raises FieldError."""
    if draft.body is not None:
        text = with_body(path, text, draft.body)
    if draft.title is not None:
        text = _titled(format_name, path, text, draft.title)
    for name, value in (*draft.lists.items(), *draft.words.items()):
        names = KEYS[format_name].get(name)
        if names is None:
            hint = "Say it in its text."
            raise FieldError(
                f"files of the format {format_name} have no key for {name}", field=name, hint=hint
            )
        text = put(path, text, names, value)
        _check(path, text, name, value)
    return text


def _check(path: str, text: str, name: str, value: str | Sequence[str]) -> None:
    """What is in the file is what was said, whatever characters are in it."""
    found = [
        said for said in keys_of(path, text).values.values() if value in (said.text.strip(), list(said.items))
    ]
    if value and not found:
        raise FieldError(
            f"{name} would be read as something else", field=name, hint="Say it in plain letters."
        )


def _titled(format_name: str, path: str, text: str, title: str) -> str:
    """In the heading, if that alone says it; by a key where there is one, or it must be."""
    names = KEYS[format_name].get("title")
    said = keys_of(path, text).text(names[0]) if names else None
    if said is None and format_name in {FOLDER, "jobs"}:
        text = with_heading(path, text, title)
        if not names or heading_of(Document(path, printable(text))) == title:
            return text
    elif said is not None and parts(path, text).head and heading_of(Document(path, printable(text))) == said:
        text = with_heading(path, text, title)
    return put(path, text, names or (), title)
