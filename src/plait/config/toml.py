"""TOML, read with lines and written value by value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plait.config.locate import Places, locate
from plait.core.errors import ConfigError
from plait.core.frozen import dataclass

# TOML as tomllib gives it: what is in it is judged key by key.
Tree = Mapping[str, object]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_HINTS = {
    "Invalid value": "A text stands in quotes.",
    "Cannot overwrite": "Say each key once.",
    "Cannot declare": "Say each table once.",
    "Expected '=' after": "A line is `key = value`, or a table's name in brackets.",
}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Toml:
    """A file's content, and where each part of it stands."""

    tree: Tree
    places: Places


def parse(text: str, file: str) -> Toml:
    import tomllib  # noqa: PLC0415 - only those who have a file need it

    try:
        tree = tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{file}: this is nested too deep to be read") from error
    except ValueError as error:
        raise _broken(text, file, str(error)) from error
    return Toml(tree, locate(text))


def _broken(text: str, file: str, message: str) -> ConfigError:
    """`tomllib` says where only in its message."""
    place = _PLACE.search(message)
    why = message[: place.start()] if place else message
    line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
    column = f", at column {place[2]}" if place and place[2] else ""
    said = f"{why[:1].lower()}{why[1:]}{column}"
    hint = next((hint for start, hint in _HINTS.items() if message.startswith(start)), "")
    return ConfigError(f"{file}:{line}: this is not valid TOML: {said}", hint=hint)


def write(value: object) -> str:
    """A value as TOML, on one line. A text that a terminal or an editor could take for more is escaped."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return _quoted(value)
        case Mapping():
            pairs = ", ".join(f"{bare(str(name))} = {write(one)}" for name, one in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case Sequence():
            return f"[{', '.join(map(write, value))}]"
        case _:
            return str(value)


def shown(value: object) -> str:
    """A value for a message: short, however long it is."""
    try:
        said = write(value)
    except RecursionError:
        return "something nested too deep"
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def bare(name: str) -> str:
    """A key as a file would have it: in quotes only if it needs them."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(said: str) -> str:
    return f'"{"".join(map(_escaped, said))}"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"
