"""A draft of a task, to create or change it, and its validation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.client.api_errors import FieldError
from plait.core.fast_dataclass import dataclass

MAX_TITLE_LENGTH = 200
MAX_TEXT_LENGTH = 1_000_000
_MAX_WORD_LENGTH = 200
_MAX_COMMAND_LENGTH = 20_000
_MAX_LIST_ITEMS = 500
# Control characters, which some programs interpret; and lone surrogates, which can't be encoded.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_NEWLINES = re.compile(r"\r\n?")


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """None leaves a field unchanged; an empty value removes it. `text` is the whole file and excludes all others."""

    title: str | None = None
    body: str | None = None
    needs: Sequence[str] | None = None
    touches: Sequence[str] | None = None
    phase: str | None = None
    priority: str | int | None = None
    weight: str | float | None = None
    agent: str | None = None
    model: str | None = None
    verify: str | None = None
    run: str | None = None
    text: str | None = None

    @property
    def lists(self) -> dict[str, list[str]]:
        """The lists that are set, by front matter key."""
        fields = {"needs": self.needs, "touches": self.touches}
        return {name: list(dict.fromkeys(value)) for name, value in fields.items() if value is not None}

    @property
    def words(self) -> dict[str, str]:
        """The values that are set, by front matter key."""
        fields = {
            "phase": self.phase,
            "priority": self.priority,
            "weight": self.weight,
            "agent": self.agent,
            "model": self.model,
            "verify": self.verify,
            "run": self.run,
        }
        return {name: str(value).strip() for name, value in fields.items() if value is not None}


def validate_draft(draft: TaskDraft) -> TaskDraft:
    """As it is to be written: titles on one line, texts with plain line ends. Raises FieldError."""
    for name, items in draft.lists.items():
        _check_list(name, items)
    for name, word in draft.words.items():
        command = name in {"verify", "run"}
        _check_value(name, word, _MAX_COMMAND_LENGTH if command else _MAX_WORD_LENGTH, lines=command)
    return TaskDraft(
        _validate_title(draft.title),
        _normalize_text("body", draft.body),
        draft.lists.get("needs"),
        draft.lists.get("touches"),
        **draft.words,
        text=_validate_whole_text(draft),
    )


def _validate_title(value: str | None) -> str | None:
    if value is None:
        return None
    title = " ".join(value.split())
    if not title:
        raise FieldError("a task needs a title", field="title", hint="Describe the task in a few words.")
    _check_value("title", title, MAX_TITLE_LENGTH)
    return title


def _validate_whole_text(draft: TaskDraft) -> str | None:
    if draft.text is None:
        return None
    if draft.title is not None or draft.body is not None or draft.lists or draft.words:
        raise FieldError(
            "text is the whole file: no other field can be set", field="text", hint="Leave the others out."
        )
    if not draft.text.strip():
        raise FieldError("the file is empty", field="text", hint="Describe the task in it.")
    return _normalize_text("text", draft.text)


def _normalize_text(name: str, value: str | None) -> str | None:
    if value is None:
        return None
    _check_value(name, value, MAX_TEXT_LENGTH, lines=True)
    return _NEWLINES.sub("\n", value)


def _check_list(name: str, items: Sequence[str]) -> None:
    if len(items) > _MAX_LIST_ITEMS:
        raise FieldError(f"{name} has {len(items)} items; {_MAX_LIST_ITEMS} are enough for any task", field=name)
    for item in items:
        if not item.strip():
            raise FieldError(f"{name} has an empty item", field=name)
        _check_value(name, item, _MAX_WORD_LENGTH)


def _check_value(name: str, value: str, most: int, *, lines: bool = False) -> None:
    if len(value) > most:
        raise FieldError(f"{name} has {len(value)} characters; {most} are the most", field=name)
    found = _CONTROL.search(value)
    if found is not None:
        line = value.count("\n", 0, found.start()) + 1
        message = f"{name} has a character that no text should have (U+{ord(found[0]):04X}, on line {line})"
        raise FieldError(message, field=name, hint="Take it out.")
    if not lines and len(value.splitlines()) > 1:
        raise FieldError(f"{name} is one line", field=name)
