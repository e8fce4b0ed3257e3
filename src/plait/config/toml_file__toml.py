"""TOML, read with lines and written value by value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plait.config.toml_file import KeyLines, locate_keys
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass

# TOML as tomllib gives it: what is in it is judged key by key.
TomlTree = Mapping[str, object]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ERROR_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_HINTS = {
    "Invalid value": "A text stands in quotes.",
    "Cannot overwrite": "Say each key once.",
    "Cannot declare": "Say each table once.",
    "Expected '=' after": "A line is `key = value`, or a table's name in brackets.",
}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAX_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class ParsedToml:
    """A file's content, and where each part of it stands."""

    tree: TomlTree
    key_lines: KeyLines


def parse_toml(text: str, file: str) -> ParsedToml:
    import tomllib  # noqa: PLC0415 - only those who have a file need it

    try:
        tree = tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{file}: this is nested too deep to be read") from error
    except ValueError as error:
        raise _syntax_error(text, file, str(error)) from error
    return ParsedToml(tree, locate_keys(text))


def _syntax_error(text: str, file: str, message: str) -> ConfigError:
    """`tomllib` says where only in its message."""
    place = _ERROR_POSITION.search(message)
    why = message[: place.start()] if place else message
    line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
    column = f", at column {place[2]}" if place and place[2] else ""
    said = f"{why[:1].lower()}{why[1:]}{column}"
    hint = next((hint for start, hint in _HINTS.items() if message.startswith(start)), "")
    return ConfigError(f"{file}:{line}: this is not valid TOML: {said}", hint=hint)


def format_toml(value: object) -> str:
    """A value as TOML, on one line. A text that a terminal or an editor could take for more is escaped."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return _quote(value)
        case Mapping():
            pairs = ", ".join(
                f"{format_toml_key(str(name))} = {format_toml(one)}" for name, one in value.items()
            )
            return f"{{ {pairs} }}" if pairs else "{}"
        case Sequence():
            return f"[{', '.join(map(format_toml, value))}]"
        case _:
            return str(value)


def format_short(value: object) -> str:
    """A value for a message: short, however long it is."""
    try:
        said = format_toml(value)
    except RecursionError:
        return "something nested too deep"
    return said if len(said) <= _MAX_SHOWN_CHARS else f"{said[: _MAX_SHOWN_CHARS - 1]}\N{HORIZONTAL ELLIPSIS}"


def format_toml_key(name: str) -> str:
    """A key as a file would have it: in quotes only if it needs them."""
    return name if _BARE_KEY.fullmatch(name) else _quote(name)


def _quote(said: str) -> str:
    return f'"{"".join(map(_escape_char, said))}"'


def _escape_char(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"
