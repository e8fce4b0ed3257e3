"""TOML: reading a file with the lines of its keys, and formatting single values.

`tomllib` has no line numbers, so a scanner finds them. The scanner gets valid TOML, so it only needs to know what could
hide a key: strings, comments and brackets. A key inside an inline table has the line of that table's own key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern

# TOML as tomllib gives it: what is in it is judged key by key.
TomlTree = Mapping[str, object]
KeyPath = tuple[str, ...]  # names of tables and a key
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ERROR_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")

_HINTS = {
    "Invalid value": "Strings need quotes.",
    "Cannot overwrite": "This key is a duplicate.",
    "Cannot declare": "This table is a duplicate.",
    "Expected '=' after": "A line is `key = value`, or a table's name in brackets.",
}

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAX_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class ParsedToml:
    """A file's content, and the lines of its keys."""

    tree: TomlTree
    key_lines: Mapping[KeyPath, int]

    def find_line(self, *path: str) -> int:
        """Return the line, from 1, of the longest prefix of this path that has one; 0 if none has."""
        found = (self.key_lines.get(path[:length], 0) for length in range(len(path), 0, -1))
        return next(filter(None, found), 0)


def parse_toml(text: str, file: str) -> ParsedToml:
    import tomllib  # only needed if there is a file

    try:
        tree = tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{file}: too deeply nested") from error
    except ValueError as error:
        raise _syntax_error(text, file, str(error)) from error
    return ParsedToml(tree, locate_keys(text))


def _syntax_error(text: str, file: str, message: str) -> ConfigError:
    """Make the error for invalid TOML; `tomllib` has the position only in its message."""
    match = _ERROR_POSITION.search(message)
    why = message[: match.start()] if match else message
    line = int(match[1]) if match and match[1] else text.rstrip("\n").count("\n") + 1
    column = f", at column {match[2]}" if match and match[2] else ""
    hint = next((hint for start, hint in _HINTS.items() if message.startswith(start)), "")
    return ConfigError(f"{file}:{line}: this is not valid TOML: {why[:1].lower()}{why[1:]}{column}", hint=hint)


def format_toml(value: object) -> str:
    """Format a value as TOML, on one line; unprintable characters are escaped."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return _quote(value)
        case Mapping():
            pairs = ", ".join(f"{format_toml_key(str(name))} = {format_toml(one)}" for name, one in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case Sequence():
            return f"[{', '.join(map(format_toml, value))}]"
        case _:
            return str(value)


def format_short(value: object) -> str:
    """Format a value for a message, cut to a short length."""
    try:
        text = format_toml(value)
    except RecursionError:
        return "something too deeply nested"
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[: _MAX_SHOWN_CHARS - 1]}\N{HORIZONTAL ELLIPSIS}"


def format_toml_key(name: str) -> str:
    """Format a key, in quotes only if it needs them."""
    return name if _BARE_KEY.fullmatch(name) else _quote(name)


def _quote(text: str) -> str:
    return f'"{"".join(map(_escape_char, text))}"'


def _escape_char(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


_STRING = (
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'{3,5}"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*+'"
)

_GAP = pattern(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_KEY = pattern(rf"(?:{_STRING}|[A-Za-z0-9_.\- \t]++)++", re.DOTALL)
_TOKEN = pattern(rf"{_STRING}|#[^\n]*+|[\[{{]|[\]}}]|\n|[^\"'#\[\]{{}}\n]++", re.DOTALL)
_MAX_DEPTH = 16  # without a bound, one absurd key would fill the memory
_DEPTH_CHANGE = {"[": 1, "{": 1, "]": -1, "}": -1}


def locate_keys(text: str) -> dict[KeyPath, int]:
    """Return the lines of all keys and tables. The tables of an array count as one: no caller needs each line."""
    return _KeyScanner(text).scan()


class _KeyScanner:
    __slots__ = ("counted", "line", "lines", "position", "table", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.counted = 0
        self.line = 1
        self.lines: dict[KeyPath, int] = {}
        self.table: KeyPath = ()

    def scan(self) -> dict[KeyPath, int]:
        while self._at_statement():
            if self.text.startswith("[", self.position):
                is_array = self.text.startswith("[[", self.position)
                self.position += 2 if is_array else 1
                self.table = self._names()
                self._note(self.table, explicit=not is_array)
            else:
                self._note(self.table + self._names())
            self._pass_value()
        return self.lines

    def _at_statement(self) -> bool:
        gap = _GAP.match(self.text, self.position)
        self.position = gap.end() if gap else self.position
        self.line += self.text.count("\n", self.counted, self.position)
        self.counted = self.position
        return self.position < len(self.text)

    def _note(self, path: KeyPath, *, explicit: bool = True) -> None:
        """Record the line of a path; its parents get the line too, unless they were named before."""
        if explicit and len(path) <= _MAX_DEPTH:
            self.lines[path] = self.line
        for length in range(1, min(len(path), _MAX_DEPTH) + 1):
            self.lines.setdefault(path[:length], self.line)

    def _names(self) -> tuple[str, ...]:
        match = _KEY.match(self.text, self.position)
        if not match:  # not TOML: skip it, so that the scan ends
            self.position += 1
            return ("",)
        self.position = match.end()
        return _split_key(match[0])

    def _pass_value(self) -> None:
        """Skip to the end of the line on which a value or a header ends."""
        depth = 0
        while self.position < len(self.text):
            token = _TOKEN.match(self.text, self.position)
            self.position = token.end() if token else self.position + 1
            text = token[0] if token else ""
            depth += _DEPTH_CHANGE.get(text, 0)
            if text == "\n" and depth <= 0:
                return


def _split_key(key: str) -> tuple[str, ...]:
    """Return the names in a dotted key; `tomllib` reads quoted ones, since it knows the escapes."""
    if '"' not in key and "'" not in key:
        return tuple(part.strip() for part in key.split("."))
    import tomllib  # only needed for quoted keys

    try:
        tree: object = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return (key,)
    names = []
    while isinstance(tree, dict):
        name, tree = next(iter(tree.items()))
        names.append(name)
    return tuple(names)
