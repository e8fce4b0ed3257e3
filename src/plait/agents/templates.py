"""Placeholders of a command: `{title}` and its like, filled in after the words are split.

`{{title}}` stands for the text `{title}`. Braces that do not hold a single word, and those after a `$`, are left alone:
JSON, `{}` and `${HOME}` need no care.

Templates of prompts: a text with placeholders, filled in once. What is filled in is never looked at again.

`{{task}}` stands for the text `{task}`; braces that hold no single word, and those after a `$`, are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from plait.core.errors import ConfigError

COMMAND_PLACEHOLDERS = ("task_file", "prompt_file", "task_id", "title", "workspace", "batch", "attempt")


_PLACEHOLDER = re.compile(r"\{\{(?P<kept>[A-Za-z_]\w*)\}\}|(?<!\$)\{(?P<name>[A-Za-z_]\w*)\}", re.ASCII)


def find_placeholders(words: Iterable[str]) -> frozenset[str]:
    return frozenset(found["name"] for word in words for found in _PLACEHOLDER.finditer(word) if found["name"])


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


PROMPT_PLACEHOLDERS = (
    "task",
    "title",
    "id",
    "rules",
    "files",
    "verify",
    "feedback",
    "check",
    "conflict",
    "workspace",
)


# What an agent must be told, whatever a template says: put at its end where it has no place of its own.
REQUIRED_PLACEHOLDERS = ("task", "feedback", "check", "conflict")


DEFAULT_TEMPLATE = "{task}\n\n{rules}\n\n{feedback}\n\n{check}\n\n{conflict}\n"


def check_template(text: str, file: str) -> None:
    """Raises ConfigError, with the line, for a placeholder that there is not."""

    def look(name: str, place: int) -> str:
        if name not in PROMPT_PLACEHOLDERS:
            raise _unknown_placeholder_error(name, f"{file}:{text.count(chr(10), 0, place) + 1}")
        return ""

    if not text.strip():
        raise ConfigError(f"{file}: the template of prompts is empty", hint="Put {task} into it, at least.")
    substitute(text, look)


def fill_template(text: str, values: Mapping[str, str]) -> str:
    """A paragraph is left out if it has placeholders, and nothing is to be told in any of them."""
    used: set[str] = set()
    paragraphs = [_fill_paragraph(paragraph, values, used) for paragraph in _split_paragraphs(text or DEFAULT_TEMPLATE)]
    paragraphs += [values[name] for name in REQUIRED_PLACEHOLDERS if name not in used]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _fill_paragraph(text: str, values: Mapping[str, str], used: set[str]) -> str:
    names: list[str] = []

    def put(name: str, place: int) -> str:  # noqa: ARG001 - wherever it stands
        names.append(name)
        return values[name]

    whole = substitute(text, put)
    used.update(names)
    return whole if not names or any(values[name] for name in names) else ""


def _split_paragraphs(text: str) -> list[str]:
    """Parted by empty lines; further ones between two of them are not kept."""
    found: list[list[str]] = [[]]
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.strip():
            found[-1].append(line)
        else:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]


def _unknown_placeholder_error(name: str, where: str) -> ConfigError:
    near = get_close_matches(name, PROMPT_PLACEHOLDERS, n=1)
    listed = ", ".join(f"{{{one}}}" for one in PROMPT_PLACEHOLDERS)
    meant = f"Did you mean {{{near[0]}}}?" if near else f"There are {listed}."
    return ConfigError(
        f"{where}: the template of prompts has a placeholder {{{name}}}, and there is no such one",
        hint=f"{meant} A text in braces is written {{{{{name}}}}}.",
    )
