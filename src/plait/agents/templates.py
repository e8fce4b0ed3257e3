"""Placeholders of agent commands and of prompt templates.

`{{title}}` is the literal text `{title}`. Braces around anything but one word, and those after a `$`, are left alone: JSON,
`{}` and `${HOME}` need no escaping. Values are never expanded again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby

from plait.core.errors import ConfigError

COMMAND_PLACEHOLDERS = ("task_file", "prompt_file", "task_id", "title", "workspace", "batch", "attempt")
_PLACEHOLDER = re.compile(r"\{\{(?P<kept>[A-Za-z_]\w*)\}\}|(?<!\$)\{(?P<name>[A-Za-z_]\w*)\}", re.ASCII)


def find_placeholders(words: Iterable[str]) -> frozenset[str]:
    return frozenset(match["name"] for word in words for match in _PLACEHOLDER.finditer(word) if match["name"])


def check_command_placeholders(words: Iterable[str]) -> None:
    """Raise ConfigError for an unknown placeholder."""
    for name in sorted(find_placeholders(words) - set(COMMAND_PLACEHOLDERS)):
        raise _unknown_placeholder("the agent's command", name, COMMAND_PLACEHOLDERS)


def _unknown_placeholder(where: str, name: str, known: Sequence[str]) -> ConfigError:
    near = get_close_matches(name, known, n=1)
    listed = ", ".join(f"{{{one}}}" for one in known)
    hint = f"Did you mean {{{near[0]}}}?" if near else f"There are {listed}."
    return ConfigError(
        f"{where} has an unknown placeholder {{{name}}}", hint=f"{hint} A text in braces is written {{{{{name}}}}}."
    )


def substitute(text: str, replacement: Callable[[str, int], str]) -> str:
    """Replace placeholders; `replacement` returns the text for a placeholder's name and position."""

    def replace_one(match: re.Match[str]) -> str:
        return f"{{{match['kept']}}}" if match["kept"] else replacement(match["name"], match.start())

    return _PLACEHOLDER.sub(replace_one, text)


def fill_word(word: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of one word: it stays one word, and a value never becomes an option."""
    return substitute(word, lambda name, position: values[name] if position else escape_option(values[name]))


def escape_option(value: str) -> str:
    """Put a space before a leading dash, so that a tool does not take the value for an option."""
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

# Appended to a template that lacks them: an agent needs to know them.
REQUIRED_PLACEHOLDERS = ("task", "feedback", "check", "conflict")
DEFAULT_TEMPLATE = "{task}\n\n{rules}\n\n{feedback}\n\n{check}\n\n{conflict}\n"


def check_template(text: str, file: str) -> None:
    """Raise ConfigError, with the line, for an unknown placeholder."""

    def check(name: str, position: int) -> str:
        if name not in PROMPT_PLACEHOLDERS:
            line = text.count("\n", 0, position) + 1
            raise _unknown_placeholder(f"{file}:{line}: the prompt template", name, PROMPT_PLACEHOLDERS)
        return ""

    if not text.strip():
        raise ConfigError(f"{file}: the prompt template is empty", hint="Put {task} into it, at least.")
    substitute(text, check)


def fill_template(text: str, values: Mapping[str, str]) -> str:
    """Fill a template; a paragraph whose placeholders are all empty is left out."""
    used: set[str] = set()
    paragraphs = [_fill_paragraph(paragraph, values, used) for paragraph in _split_paragraphs(text or DEFAULT_TEMPLATE)]
    paragraphs += [values[name] for name in REQUIRED_PLACEHOLDERS if name not in used]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _fill_paragraph(text: str, values: Mapping[str, str], used: set[str]) -> str:
    names: list[str] = []

    def fill(name: str, _position: int) -> str:
        names.append(name)
        return values[name]

    whole = substitute(text, fill)
    used.update(names)
    return whole if not names or any(values[name] for name in names) else ""


def _split_paragraphs(text: str) -> list[str]:
    """Split a text at one or more blank lines."""
    groups = groupby(text.replace("\r\n", "\n").split("\n"), key=lambda line: bool(line.strip()))
    return ["\n".join(lines) for filled, lines in groups if filled]
