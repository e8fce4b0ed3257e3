"""Placeholders of a command: `{title}` and its like, filled in after the words are split.

`{{title}}` stands for the text `{title}`. Braces that do not hold a single word, and those after a `$`, are left alone:
JSON, `{}` and `${HOME}` need no care.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from plait.core.errors import ConfigError

COMMAND_PLACEHOLDERS = ("task_file", "prompt_file", "task_id", "title", "workspace", "batch", "attempt")

_PLACEHOLDER = re.compile(r"\{\{(?P<kept>[A-Za-z_]\w*)\}\}|(?<!\$)\{(?P<name>[A-Za-z_]\w*)\}", re.ASCII)


def find_placeholders(words: Iterable[str]) -> frozenset[str]:
    return frozenset(
        found["name"] for word in words for found in _PLACEHOLDER.finditer(word) if found["name"]
    )


def check_command_placeholders(words: Iterable[str]) -> None:
    """Raises ConfigError for a placeholder that there is not."""
    for name in sorted(find_placeholders(words) - set(COMMAND_PLACEHOLDERS)):
        near = get_close_matches(name, COMMAND_PLACEHOLDERS, n=1)
        meant = (
            f"Did you mean {{{near[0]}}}? "
            if near
            else f"There are {', '.join(f'{{{one}}}' for one in COMMAND_PLACEHOLDERS)}. "
        )
        raise ConfigError(
            f"the agent's command has a placeholder {{{name}}}, and there is no such one",
            hint=f"{meant}A text in braces is written {{{{{name}}}}}.",
        )


def substitute(text: str, replacement: Callable[[str, int], str]) -> str:
    """`put` gives what stands for a name, which begins at a place of the text."""

    def one(found: re.Match[str]) -> str:
        return f"{{{found['kept']}}}" if found["kept"] else replacement(found["name"], found.start())

    return _PLACEHOLDER.sub(one, text)


def fill_word(word: str, values: Mapping[str, str]) -> str:
    """One word in, one word out; a value is no option, whatever it begins with."""
    return substitute(word, lambda name, place: values[name] if place else escape_option(values[name]))


def escape_option(value: str) -> str:
    """A title that begins with a dash is a title: the space before it keeps a tool from obeying it."""
    return f" {value}" if value.startswith("-") else value
