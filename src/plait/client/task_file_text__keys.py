"""Which keys of the front matter say a task's fields, in each format whose files hold one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.client.api_errors__refusals import FieldError
from plait.client.task_drafts import TaskDraft
from plait.client.task_file_text import read_front_matter_keys, set_key
from plait.client.task_file_text__text import replace_body, replace_heading, split_parts
from plait.sources.formats.folder_task import NEEDS_KEYS, TOUCHES_KEYS
from plait.sources.source_model import Document
from plait.sources.task_files__text import read_task_title as heading_of
from plait.sources.text import to_printable

FOLDER_FORMAT = "folder"  # the format of files that are made here

KeyNames = Mapping[str, tuple[str, ...]]

# The first key of each is the one that is written where there is none.
_FOLDER_KEYS: KeyNames = {
    "title": ("title",),
    "needs": NEEDS_KEYS,
    "touches": TOUCHES_KEYS,
    "phase": ("phase",),
    "priority": ("priority",),
    "weight": ("weight", "complexity"),
    "agent": ("agent",),
    "model": ("model",),
    "verify": ("verify",),
    "run": ("run",),
}
KEYS_BY_FORMAT: Mapping[str, KeyNames] = {
    FOLDER_FORMAT: _FOLDER_KEYS,
    "jobs": {"needs": ("depends_on",)},
    "backlog": {"title": ("title",), "needs": ("dependencies",), "priority": ("priority",)},
    "ccpm": {"title": ("name",), "needs": ("depends_on",)},
}


def apply_draft(format_name: str, path: str, text: str, draft: TaskDraft) -> str:
    """The text with all that the draft says of it; needs are spelt as this source spells them. Raises FieldError."""
    if draft.body is not None:
        text = replace_body(path, text, draft.body)
    if draft.title is not None:
        text = _replace_title(format_name, path, text, draft.title)
    for name, value in (*draft.lists.items(), *draft.words.items()):
        names = KEYS_BY_FORMAT[format_name].get(name)
        if names is None:
            hint = "Say it in its text."
            raise FieldError(
                f"files of the format {format_name} have no key for {name}", field=name, hint=hint
            )
        text = set_key(path, text, names, value)
        _check_written(path, text, name, value)
    return text


def _check_written(path: str, text: str, name: str, value: str | Sequence[str]) -> None:
    """What is in the file is what was said, whatever characters are in it."""
    found = [
        said
        for said in read_front_matter_keys(path, text).values.values()
        if value in (said.text.strip(), list(said.items))
    ]
    if value and not found:
        raise FieldError(
            f"{name} would be read as something else", field=name, hint="Say it in plain letters."
        )


def _replace_title(format_name: str, path: str, text: str, title: str) -> str:
    """In the heading, if that alone says it; by a key where there is one, or it must be."""
    names = KEYS_BY_FORMAT[format_name].get("title")
    said = read_front_matter_keys(path, text).text(names[0]) if names else None
    if said is None and format_name in {FOLDER_FORMAT, "jobs"}:
        text = replace_heading(path, text, title)
        if not names or heading_of(Document(path, to_printable(text))) == title:
            return text
    elif (
        said is not None
        and split_parts(path, text).head
        and heading_of(Document(path, to_printable(text))) == said
    ):
        text = replace_heading(path, text, title)
    return set_key(path, text, names or (), title)
