"""JSON with positions, so that a value can be replaced without touching anything else.

The standard decoder does the work; positions are found on demand, by decoding one value after another.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import NoReturn, TypeAlias, cast

from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern
from plait.sources.text import BOM, TextEdit, TextLines, to_printable

# No task file is nested deeper; the decoder calls itself once for each level.
MAX_DEPTH = 100
Scalar: TypeAlias = str | bool
_GAP = pattern(r"[ \t\r\n]*")
_COMMA = pattern(r"[ \t\r\n]*,?[ \t\r\n]*")
_KEY = pattern(r'("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\r\n]*:[ \t\r\n]*')
_LINE_END = pattern(r"\r\n|\r|\n")
# A text up to its next bracket; brackets inside strings are none. Possessive, so that nothing is read twice.
_BRACKET = pattern(r'(?:[^\[\]{}"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))*+([\[\]{}])', re.DOTALL)
_SURROGATE_ESCAPE = pattern(r"\\u(?:[dD][89a-fA-F]|0000)")
# Every escape, so that an escaped backslash is not mistaken for one; pairs of surrogates match as one, lone ones are
# captured.
_ESCAPE = pattern(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2}|u0000)|.)", re.DOTALL
)

# Plain wording for the decoder's messages; `{}` is the character found.
_DECODER_MESSAGES = (
    ("Expecting value", "a value is expected here, not {}"),
    ("Expecting property name", "a name in double quotes is expected here, not {}"),
    ("Illegal trailing comma", "nothing follows this comma"),
    ("Expecting ':'", "a colon is expected here, not {}"),
    ("Expecting ','", "a comma or the closing bracket is expected here, not {}"),
    ("Unterminated string", "the text that starts here has no closing quote"),
    ("Invalid control character", "{} inside a text: is a closing quote missing, or should it be escaped?"),
    ("Invalid \\", "an escape that JSON does not know"),
)


class JsonSyntaxError(ValueError):
    """The text is not JSON; `line` and `column` count from 1."""

    def __init__(self, text: str, position: int, message: str) -> None:
        lines = TextLines(f"{text[:position]}.").all
        self.line, self.column = len(lines), len(lines[-1])
        self.message = message
        super().__init__(f"line {self.line}, column {self.column}: {message}")


@dataclass(frozen=True, eq=False)
class JsonNode:
    """A value in its text. `value` is as `JSON.parse` reads it: of a repeated key the last one counts."""

    text: str
    start: int
    stop: int
    value: object

    @property
    def source(self) -> str:
        """The value as it is written."""
        return self.text[self.start : self.stop]

    @cached_property
    def ordered_members(self) -> tuple[JsonMember, ...]:
        """The members of an object in written order; empty for any other value."""
        members: list[JsonMember] = []
        position = _skip(_GAP, self.text, self.start + 1) if isinstance(self.value, dict) else self.stop
        while match := _KEY.match(self.text, position, self.stop):
            node = _decode_value(self.text, match.end())
            key = str(json.loads(match[1])) if "\\" in match[1] else match[1][1:-1]
            members.append(JsonMember(key, match.start(1), match.end(1), node))
            position = _skip(_COMMA, self.text, node.stop)
        return tuple(members)

    @cached_property
    def members(self) -> dict[str, JsonMember]:
        """The members of an object by key."""
        return {member.key: member for member in self.ordered_members}

    @cached_property
    def items(self) -> tuple[JsonNode, ...]:
        """The items of a list; empty for any other value."""
        items: list[JsonNode] = []
        position = _skip(_GAP, self.text, self.start + 1) if isinstance(self.value, list) else self.stop - 1
        while position < self.stop - 1:
            items.append(_decode_value(self.text, position))
            position = _skip(_COMMA, self.text, items[-1].stop)
        return tuple(items)

    def __getitem__(self, key: str) -> JsonNode:
        return self.members[key].node

    def get(self, key: str) -> object:
        """Return the value of a key, or None; cheap, because no position is needed."""
        return cast("dict[str, object]", self.value).get(key) if isinstance(self.value, dict) else None


@dataclass(frozen=True, slots=True, eq=False)
class JsonMember:
    """A key of an object, where it starts and ends, and its value."""

    key: str
    start: int
    stop: int
    node: JsonNode


def parse_json(text: str) -> JsonNode:
    """Parse a text that is one JSON value; raises JsonSyntaxError and nothing else, whatever the text.

    Escapes of lone surrogates and of NUL are read as U+FFFD, so that values can be shown, stored and sent.
    """
    if _SURROGATE_ESCAPE.search(text):
        text = _ESCAPE.sub(lambda match: r"\ufffd" if match[1] else match[0], text)
    _check_depth(text)
    node = _decode_value(text, _skip(_GAP, text, len(BOM) if text.startswith(BOM) else 0))
    end = _skip(_GAP, text, node.stop)
    if end < len(text):
        raise JsonSyntaxError(text, end, f"the JSON ended before this: {_describe_character(text, end)}")
    return node


def replace_value(node: JsonNode, value: Scalar) -> TextEdit:
    """Put another value in the same place."""
    return TextEdit(node.start, node.stop, json.dumps(value))


def insert_key(node: JsonNode, key: str, value: Scalar, after: tuple[str, ...] = ()) -> TextEdit:
    """Insert a key in the file's style, after the first of the keys `after` that the object has, else the last."""
    keys = [member.key for member in node.ordered_members]
    if not keys:
        return TextEdit(node.start + 1, node.start + 1, f"{json.dumps(key)}: {json.dumps(value)}")
    index = next((keys.index(name) for name in after if name in keys), len(keys) - 1)
    member = node.ordered_members[index]
    colon = node.text[member.stop : member.node.start]
    new = f",{_find_separator(node, index)}{json.dumps(key)}{colon}{json.dumps(value)}"
    return TextEdit(member.node.stop, member.node.stop, new)


def set_key(node: JsonNode, key: str, value: Scalar, after: tuple[str, ...] = ()) -> TextEdit:
    """Replace the value of a key, or insert the key."""
    return replace_value(node[key], value) if key in node.members else insert_key(node, key, value, after)


def remove_key(node: JsonNode, key: str) -> TextEdit:
    """Remove a key that the object has, and the comma that separated it."""
    members = node.ordered_members
    index = members.index(node.members[key])
    if index:
        return TextEdit(members[index - 1].node.stop, members[index].node.stop, "")
    return TextEdit(members[0].start, members[1].start if len(members) > 1 else members[0].node.stop, "")


def _find_separator(node: JsonNode, index: int) -> str:
    """Return the whitespace between a comma and a key in this object, as before the next key or this one."""
    shown = node.ordered_members[min(index + 1, len(node.ordered_members) - 1)]
    start = shown.start
    while node.text[start - 1] in " \t\r\n":
        start -= 1
    space = node.text[start : shown.start]
    if len(node.ordered_members) > 1 or _LINE_END.search(space):
        return space
    return " " if node.text[shown.stop : shown.node.start].endswith(" ") else ""


def _decode_value(text: str, position: int) -> JsonNode:
    try:
        value, stop = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        _raise_syntax_error(text, error)
    return JsonNode(text, position, stop, value)


def _raise_syntax_error(text: str, error: json.JSONDecodeError) -> NoReturn:
    if not text.strip(f" \t\r\n{BOM}"):
        raise JsonSyntaxError(text, 0, "there is nothing in it") from None
    shown = _describe_character(text, error.pos)
    message = next((ours for prefix, ours in _DECODER_MESSAGES if error.msg.startswith(prefix)), error.msg)
    raise JsonSyntaxError(text, error.pos, message.format(shown)) from None


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth, position = 0, 0
    while match := _BRACKET.match(text, position):
        position = match.end()
        depth += 1 if match[1] in "[{" else -1
        if depth > MAX_DEPTH:
            raise JsonSyntaxError(text, position - 1, f"lists and objects are nested more than {MAX_DEPTH} deep")


def _parse_integer(digits: str) -> int | float:
    """Parse digits as JSON.parse does: some thousand digits, which Python refuses, make a float."""
    return int(digits) if len(digits) < 300 else float(digits)


_DECODER = json.JSONDecoder(parse_int=_parse_integer)


def _describe_character(text: str, position: int) -> str:
    """Describe the character at a position, for a message."""
    if position >= len(text):
        return "the end of the file"
    if text[position] in "\r\n":
        return "the end of the line"
    return to_printable(text[position]) if text[position].isprintable() else f"U+{ord(text[position]):04X}"


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


_INDENT = re.compile(r"[{\[](\r\n|\r|\n)([ \t]*)\S")
_SURROGATE_CHARACTER = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """The layout of a JSON file. Without an `indent` it is on one line; `before` and `after` surround the value."""

    indent: str | None = "  "
    eol: str = "\n"
    colon: str = ": "
    before: str = ""
    after: str = "\n"
    escaped: bool = False

    @classmethod
    def detect(cls, text: str) -> JsonStyle:
        inner = text.strip(f" \t\r\n{BOM}")
        if not inner:
            return cls(before=BOM if text.startswith(BOM) else "")
        match = _INDENT.search(inner)
        start = text.index(inner)
        return cls(
            indent=match[2] if match else None,
            eol=match[1] if match else "\n",
            colon=": " if '": ' in inner else ":",
            before=text[:start],
            after=text[start + len(inner) :],
            escaped=inner.isascii() and "\\u" in inner,
        )

    def dump(self, value: object) -> str:
        """Format a value; raises ValueError for a number that JSON can't represent."""
        comma = "," if self.indent is not None or self.colon == ":" else ", "
        text = json.dumps(
            value, indent=self.indent, separators=(comma, self.colon), ensure_ascii=self.escaped, allow_nan=False
        )
        # A lone surrogate needs an escape. Line ends inside strings are escapes already.
        text = _SURROGATE_CHARACTER.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        return f"{self.before}{text.replace(chr(10), self.eol)}{self.after}"
