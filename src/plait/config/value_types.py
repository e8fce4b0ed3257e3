"""Types of settings: what a file, a variable or a flag may contain, and how a value is written back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Generic, Literal, NoReturn, TypeVar
from urllib.parse import SplitResult, urlsplit

from plait.config import units
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Budget

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

# What both TOML and JSON can express.
PlainValue = (
    str
    | int
    | float
    | bool
    | None
    | list[str]
    | dict[str, int]
    | dict[str, str]
    | dict[str, list[str]]
    | dict[str, list[float]]
)

MAX_NUMBER = 1_000_000
_MIN_SIZE_BYTES, _MAX_SIZE_BYTES = 2**16, 2**50
_INT = re.compile(r"[+-]?[0-9]{1,15}")
_TRUE_WORDS = {"true", "yes", "on", "1"}
_FALSE_WORDS = {"false", "no", "off", "0"}


class InvalidValueError(ValueError):
    """The value does not fit the type; the text is a hint, or empty."""


class ValueKind(StrEnum):
    """Which kind of form field fits a setting; the values are part of the HTTP API."""

    TEXT = "text"
    SWITCH = "switch"
    TABLE = "table"
    DURATION = "duration"
    SIZE = "size"
    AMOUNT = "amount"
    NUMBER = "number"
    CHOICE = "choice"
    CHOICES = "choices"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class ValueType(Generic[T]):
    """The type of a setting. `parse_text` turns a variable's or flag's text into what a file would contain; `read`
    checks and converts that.

    `plain` makes the value for programs, `format_value` the one that a person would write into a file; `read` accepts
    both. `json_type` is the type of the plain value: a type, or a union of types.
    """

    allowed: str
    read: Callable[[object], T]
    plain: Callable[[T], PlainValue] = lambda value: value  # type: ignore[assignment,return-value]  # most are plain
    parse_text: Callable[[str], object] = str
    format_value: Callable[[T], PlainValue] | None = None
    choices: tuple[str, ...] = ()
    kind: ValueKind = ValueKind.TEXT
    json_type: Any = str

    def format_for_file(self, value: T) -> PlainValue:
        return self.format_value(value) if self.format_value else self.plain(value)


def whole_number() -> ValueType[int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
            raise InvalidValueError
        return value

    allowed = f"a whole number from 0 to {MAX_NUMBER}"
    return ValueType(allowed, read, parse_text=_parse_number, kind=ValueKind.NUMBER, json_type=int)


def whole_number_or_auto() -> ValueType[int | Literal["auto"]]:
    number = whole_number()

    def read(value: object) -> int | Literal["auto"]:
        return "auto" if value == "auto" else number.read(value)

    allowed, json_type = f'{number.allowed}, or "auto"', int | Literal["auto"]
    return ValueType(allowed, read, parse_text=_parse_number, kind=ValueKind.NUMBER, json_type=json_type)


def fraction() -> ValueType[float]:
    allowed = "a number from 0 to 1"
    return ValueType(allowed, _read_number(0, 1), parse_text=_parse_number, kind=ValueKind.NUMBER, json_type=float)


def optional_number(maximum: float) -> ValueType[float | None]:
    number = _read_number(0, maximum)

    def read(value: object) -> float | None:
        return None if value is None or value == "" else number(value)

    return ValueType(
        f'a number from 0 to {maximum:g}, or "" for none',
        read,
        parse_text=_parse_number,
        format_value=lambda value: "" if value is None else value,
        kind=ValueKind.NUMBER,
        json_type=float,
    )


def number() -> ValueType[float]:
    allowed = "a number from 0 on"
    return ValueType(allowed, _read_number(0), parse_text=_parse_number, kind=ValueKind.NUMBER, json_type=float)


def boolean() -> ValueType[bool]:
    def read(value: object) -> bool:
        if not isinstance(value, bool):
            raise InvalidValueError
        return value

    def parse_text(text: str) -> object:
        word = text.strip().lower()
        return True if word in _TRUE_WORDS else False if word in _FALSE_WORDS else text

    return ValueType("true or false", read, parse_text=parse_text, kind=ValueKind.SWITCH, json_type=bool)


def choice(enum: type[E]) -> ValueType[E]:
    names = [member.value for member in enum]

    def read(value: object) -> E:
        if not isinstance(value, str) or value not in names:
            near = get_close_matches(value, names, n=1) if isinstance(value, str) else ()
            raise InvalidValueError(f"Did you mean {near[0]}?" if near else "")
        return enum(value)

    return ValueType(join_choices(names), read, lambda value: value.value, choices=tuple(names), kind=ValueKind.CHOICE)


def choice_list(enum: type[E]) -> ValueType[tuple[E, ...]]:
    one_of, texts = choice(enum), text_list("", split=True)

    def read(value: object) -> tuple[E, ...]:
        return tuple(dict.fromkeys(map(one_of.read, texts.read(value))))

    return ValueType(
        f"a list of {one_of.allowed}",
        read,
        lambda values: [value.value for value in values],
        texts.parse_text,
        choices=one_of.choices,
        kind=ValueKind.CHOICES,
    )


def optional_text(what: str, check: Callable[[str], object] = str) -> ValueType[str | None]:
    """Make the type of an optional text. The empty text means none, so that a layer can undo what a weaker one sets.
    `check` may raise InvalidValueError.
    """

    def read(value: object) -> str | None:
        text = _require_text(value).strip() if value is not None else ""
        if not text:
            return None
        check(text)
        return text

    return ValueType(f'{what}, or "" for none', read, format_value=lambda value: value or "")


def required_text(what: str) -> ValueType[str]:
    return ValueType(what, _require_nonempty)


def text_list(what: str, *, split: bool = False) -> ValueType[tuple[str, ...]]:
    """Make the type of a list of texts. `split`: one text of a file may hold several values, separated by commas."""

    def read(value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = _split_commas(value) if split else [value]
        if not isinstance(value, Sequence) or isinstance(value, bytes):
            raise InvalidValueError
        return tuple(map(_require_nonempty, value))

    return ValueType(what, read, list, _split_commas, kind=ValueKind.LIST, json_type=list[str])


def absolute_path() -> ValueType[str | None]:
    """Make the type of a path that does not depend on the current directory: an engine has none."""

    def check(path: str) -> None:
        if not path.startswith(("/", "~/")):
            raise InvalidValueError("Write the absolute path; ~/ is your home folder.")

    return optional_text("the absolute path of a file", check)


def http_url() -> ValueType[str | None]:
    return optional_text('an address that begins with "https://" or "http://"', split_http_url)


def split_http_url(url: str) -> SplitResult:
    """Return the parts of an http(s) address with a host; raises InvalidValueError for anything else."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InvalidValueError from None
    if not valid or not url.isprintable() or " " in url:
        raise InvalidValueError
    return parts


def duration() -> ValueType[float]:
    def read(value: object) -> float:
        seconds = units.parse_duration_setting(value) if isinstance(value, str) else value
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise InvalidValueError
        if not 0 < seconds <= units.MAX_SECONDS:
            raise InvalidValueError
        return float(seconds)

    return ValueType(
        'a length of time more than 0, such as "60m", "1h30m" or a number of seconds',
        read,
        parse_text=_parse_number,
        format_value=units.format_duration_setting,
        kind=ValueKind.DURATION,
        json_type=float,
    )


def size(least: int = _MIN_SIZE_BYTES) -> ValueType[int]:
    def read(value: object) -> int:
        count = units.parse_size_setting(value) if isinstance(value, str) else value
        if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= _MAX_SIZE_BYTES:
            raise InvalidValueError
        return count

    return ValueType(
        f'a size from {units.format_size_setting(least)} on, such as "64MB", "2GB" or a number of bytes',
        read,
        parse_text=_parse_number,
        format_value=units.format_size_setting,
        kind=ValueKind.SIZE,
        json_type=int,
    )


def optional_size() -> ValueType[int | None]:
    given = size(least=0)

    def read(value: object) -> int | None:
        return None if value is None or value == "" else given.read(value)

    return ValueType(
        f'{given.allowed}, or "" for none',
        read,
        parse_text=_parse_number,
        format_value=lambda value: "" if value is None else units.format_size_setting(value),
        kind=ValueKind.SIZE,
        json_type=int,
    )


def amount() -> ValueType[Budget | None]:
    def read(value: object) -> Budget | None:
        if value is None or value == "":
            return None
        parsed = units.parse_budget_setting(value) if isinstance(value, str) else None
        return parsed or _reject()

    def plain(value: Budget | None) -> str | None:
        return None if value is None else units.format_budget_setting(value)

    allowed = 'an amount such as "20usd", "500ktok", "2mtok" or "20usd 500ktok", or "" for none'
    return ValueType(allowed, read, plain, format_value=lambda value: plain(value) or "", kind=ValueKind.AMOUNT)


def text_table(what: str, value_text: str) -> ValueType[tuple[tuple[str, str], ...]]:
    return _table_of(what, f"{value_text} for each", _require_nonempty)


def command_table(what: str) -> ValueType[tuple[tuple[str, str], ...]]:
    return _table_of(what, "a command for each", _require_nonempty, parse_text=_parse_pair)


def count_table(what: str) -> ValueType[tuple[tuple[str, int], ...]]:
    def parse_text(text: str) -> object:
        return {name: _parse_number(count) for name, count in _parse_pairs(text).items()}

    number = whole_number()
    return _table_of(what, f"{number.allowed} for each", number.read, parse_text=parse_text)


def choice_table(what: str, enum: type[E]) -> ValueType[tuple[tuple[str, E], ...]]:
    one_of = choice(enum)
    return _table_of(
        what,
        f"{one_of.allowed} for each",
        lambda value: one_of.read(_require_nonempty(value)),
        lambda values: {name: value.value for name, value in values},
    )


def args_table(what: str) -> ValueType[tuple[tuple[str, tuple[str, ...]], ...]]:
    """Make the type of a table of arguments by name: a list, or one text that is split as a shell would."""

    def read_args(value: object) -> tuple[str, ...]:
        try:
            args = shlex.split(value) if isinstance(value, str) else value
        except ValueError:
            raise InvalidValueError("Check its quotes.") from None
        if not isinstance(args, Sequence) or isinstance(args, str | bytes):
            raise InvalidValueError
        return tuple(map(_require_text, args))

    def plain(values: tuple[tuple[str, tuple[str, ...]], ...]) -> PlainValue:
        return {name: list(args) for name, args in values}

    return _table_of(what, "a list of words for each", read_args, plain, _parse_pair)


def price_table() -> ValueType[tuple[tuple[str, tuple[float, ...]], ...]]:
    def read_prices(value: object) -> tuple[float, ...]:
        if isinstance(value, str):
            value = [_parse_number(part) for part in value.split("/")]
        if not isinstance(value, Sequence) or len(value) not in {2, 3}:
            raise InvalidValueError
        return tuple(map(_read_number(0), value))

    value_text = (
        "dollars per million tokens read, written and (optional) read from the cache, such as [1.25, 10, 0.125]"
    )
    return _table_of("models", value_text, read_prices, lambda values: {name: list(prices) for name, prices in values})


def _table_of(
    what: str,
    value_text: str,
    read_value: Callable[[object], T],
    plain: Callable[..., PlainValue] = dict,
    parse_text: Callable[[str], object] | None = None,
) -> ValueType[tuple[tuple[str, T], ...]]:
    """Make the type of a table with a value for each of some names, kept as pairs."""

    def read(value: object) -> tuple[tuple[str, T], ...]:
        if not isinstance(value, Mapping):
            raise InvalidValueError
        return tuple((_require_nonempty(name), read_value(entry)) for name, entry in value.items())

    allowed = f"a table of {what}: {value_text}"
    return ValueType(allowed, read, plain, parse_text or _parse_pairs, kind=ValueKind.TABLE, json_type=dict)


def join_choices(choices: Sequence[str]) -> str:
    """Join choices for people: `a, b or c`."""
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))


def _read_number(least: float, maximum: float | None = None) -> Callable[[object], float]:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidValueError
        if not value >= least or (maximum is not None and value > maximum):  # also rejects NaN
            raise InvalidValueError
        return float(value)

    return read


def _parse_number(text: str) -> object:
    plain = text.strip()
    if _INT.fullmatch(plain):
        return int(plain)
    try:
        return float(plain)
    except ValueError:
        return plain


def _split_commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _parse_pairs(text: str) -> dict[str, str]:
    """Parse several pairs: `a=1, b=2`."""
    pairs = (part.partition("=") for part in _split_commas(text))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _parse_pair(text: str) -> dict[str, str]:
    """Parse one `name=command`: a command may contain commas."""
    name, _, value = text.partition("=")
    return {name.strip(): value.strip()} if text.strip() else {}


def _reject() -> NoReturn:
    raise InvalidValueError


def _require_text(value: object) -> str:
    """Return the value if it is a text that a file can hold and a command line can carry; else raise InvalidValueError."""
    if not isinstance(value, str) or "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise InvalidValueError
    return value


def _require_nonempty(value: object) -> str:
    return _require_text(value).strip() or _reject()
