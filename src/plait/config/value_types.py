"""Kinds of values: what a file may say, what a variable or a flag may say, and how a value is told again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Generic, Literal, NoReturn, TypeVar

from plait.config import units
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Budget

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

# What TOML and JSON can both say, and what the settings are made of.
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


class InvalidValue(ValueError):  # noqa: N818 - it judges a value; the error is raised by whoever knows where it was said
    """The value is not one of this kind; the text is a hint, or empty."""


@dataclass(frozen=True, slots=True)
class ValueType(Generic[T]):
    """`hear` turns a text from outside into what a file would say, `read` judges that, and the other two tell it again.

    `plain` is for programs; `spell` is how a person would write it in a file. What either tells, `read` reads back.
    """

    allowed: str
    read: Callable[[object], T]
    plain: Callable[[T], PlainValue]
    parse_text: Callable[[str], object] = str
    format_value: Callable[[T], PlainValue] | None = None
    choices: tuple[str, ...] = ()

    def format_for_file(self, value: T) -> PlainValue:
        return self.format_value(value) if self.format_value else self.plain(value)


def whole_number() -> ValueType[int]:
    def read(said: object) -> int:
        if isinstance(said, bool) or not isinstance(said, int) or not 0 <= said <= MAX_NUMBER:
            raise InvalidValue
        return said

    return ValueType(f"a whole number from 0 to {MAX_NUMBER}", read, lambda value: value, _parse_number)


def whole_number_or_auto() -> ValueType[int | Literal["auto"]]:
    number = whole_number()

    def read(said: object) -> int | Literal["auto"]:
        return "auto" if said == "auto" else number.read(said)

    return ValueType(f'{number.allowed}, or "auto"', read, lambda value: value, _parse_number)


def fraction() -> ValueType[float]:
    def read(said: object) -> float:
        if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= 1:
            raise InvalidValue
        return float(said)

    return ValueType("a number from 0 to 1", read, lambda value: value, _parse_number)


def boolean() -> ValueType[bool]:
    def read(said: object) -> bool:
        if not isinstance(said, bool):
            raise InvalidValue
        return said

    def hear(said: str) -> object:
        word = said.strip().lower()
        return True if word in _TRUE_WORDS else False if word in _FALSE_WORDS else said

    return ValueType("true or false", read, lambda value: value, hear)


def choice(of: type[E]) -> ValueType[E]:
    names = [member.value for member in of]

    def read(said: object) -> E:
        if not isinstance(said, str) or said not in names:
            near = get_close_matches(said, names, n=1) if isinstance(said, str) else ()
            raise InvalidValue(f"Did you mean {near[0]}?" if near else "")
        return of(said)

    return ValueType(join_choices(names), read, lambda value: value.value, choices=tuple(names))


def optional_text(what: str) -> ValueType[str | None]:
    """One text; the empty one means none, so that a layer can take back what a lower one says."""

    def read(said: object) -> str | None:
        return _require_text(said).strip() or None if said is not None else None

    return ValueType(f'{what}, or "" for none', read, lambda value: value, format_value=lambda value: value or "")


def required_text(what: str) -> ValueType[str]:
    def read(said: object) -> str:
        return _require_text(said).strip() or _reject()

    return ValueType(what, read, lambda value: value)


def text_list(what: str, *, split: bool = False) -> ValueType[tuple[str, ...]]:
    """Several texts. A single one may stand without brackets; with `split`, commas part it in a file too."""

    def read(said: object) -> tuple[str, ...]:
        if isinstance(said, str):
            said = _split_commas(said) if split else [said]
        if not isinstance(said, Sequence) or isinstance(said, bytes):
            raise InvalidValue
        return tuple(_require_text(item).strip() or _reject() for item in said)

    return ValueType(what, read, list, _split_commas)


def count_table(what: str) -> ValueType[tuple[tuple[str, int], ...]]:
    number = whole_number()

    def read(said: object) -> tuple[tuple[str, int], ...]:
        if not isinstance(said, Mapping):
            raise InvalidValue
        return tuple((_require_text(one).strip() or _reject(), number.read(count)) for one, count in said.items())

    def hear(said: str) -> object:
        pairs = [part.rpartition("=") for part in _split_commas(said)]
        return {one.strip(): _parse_number(count) for one, _, count in pairs}

    return ValueType(f"a table of {what}: {number.allowed} for each", read, dict, hear)


def text_table(what: str, each: str) -> ValueType[tuple[tuple[str, str], ...]]:
    """A text for each of some names."""

    def read(said: object) -> tuple[tuple[str, str], ...]:
        if not isinstance(said, Mapping):
            raise InvalidValue
        pairs = ((_require_text(one).strip(), _require_text(value).strip()) for one, value in said.items())
        return tuple((one or _reject(), value or _reject()) for one, value in pairs)

    def hear(said: str) -> object:
        pairs = [part.partition("=") for part in _split_commas(said)]
        return {one.strip(): value.strip() for one, _, value in pairs}

    return ValueType(f"a table of {what}: {each} for each", read, dict, hear)


def choice_table(what: str, of: type[E]) -> ValueType[tuple[tuple[str, E], ...]]:
    """A choice for each of some names."""
    one_of, texts_ = choice(of), text_table(what, choice(of).allowed)

    def read(said: object) -> tuple[tuple[str, E], ...]:
        return tuple((one, one_of.read(value)) for one, value in texts_.read(said))

    def plain(values: tuple[tuple[str, E], ...]) -> PlainValue:
        return {one: value.value for one, value in values}

    return ValueType(texts_.allowed, read, plain, texts_.parse_text)


def args_table(what: str) -> ValueType[tuple[tuple[str, tuple[str, ...]], ...]]:
    """Words of a command line for each of some names: a list, or one text that is split as a shell would."""

    def words(said: object) -> tuple[str, ...]:
        try:
            found = shlex.split(said) if isinstance(said, str) else said
        except ValueError:
            raise InvalidValue("Look at its quotes.") from None
        if not isinstance(found, Sequence) or isinstance(found, str | bytes):
            raise InvalidValue
        return tuple(_require_text(word) for word in found)

    def read(said: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
        if not isinstance(said, Mapping):
            raise InvalidValue
        return tuple((_require_text(one).strip() or _reject(), words(value)) for one, value in said.items())

    def plain(values: tuple[tuple[str, tuple[str, ...]], ...]) -> PlainValue:
        return {one: list(value) for one, value in values}

    def hear(said: str) -> object:
        one, _, value = said.partition("=")
        return {one.strip(): value} if said.strip() else {}

    return ValueType(f"a table of {what}: a list of words for each", read, plain, hear)


def price_table() -> ValueType[tuple[tuple[str, tuple[float, ...]], ...]]:
    def amounts_of(said: object) -> tuple[float, ...]:
        if isinstance(said, str):
            said = [_parse_number(part) for part in said.split("/")]
        if not isinstance(said, Sequence) or len(said) not in {2, 3}:
            raise InvalidValue
        if any(isinstance(one, bool) or not isinstance(one, int | float) or one < 0 for one in said):
            raise InvalidValue
        return tuple(float(one) for one in said)

    def read(said: object) -> tuple[tuple[str, tuple[float, ...]], ...]:
        if not isinstance(said, Mapping):
            raise InvalidValue
        return tuple((_require_text(one).strip() or _reject(), amounts_of(value)) for one, value in said.items())

    def plain(values: tuple[tuple[str, tuple[float, ...]], ...]) -> PlainValue:
        return {one: list(value) for one, value in values}

    def hear(said: str) -> object:
        pairs = [part.partition("=") for part in _split_commas(said)]
        return {one.strip(): value for one, _, value in pairs}

    allowed = "a table of models: dollars per million tokens read, written and (optional) read from the cache"
    return ValueType(f"{allowed}, such as [1.25, 10, 0.125]", read, plain, hear)


def command_table(what: str) -> ValueType[tuple[tuple[str, str], ...]]:
    def read(said: object) -> tuple[tuple[str, str], ...]:
        if not isinstance(said, Mapping):
            raise InvalidValue
        pairs = ((_require_text(one).strip(), _require_text(command).strip()) for one, command in said.items())
        return tuple((one or _reject(), command or _reject()) for one, command in pairs)

    def hear(said: str) -> object:
        """One pair only: a command may hold anything else."""
        one, _, command = said.partition("=")
        return {one.strip(): command.strip()} if said.strip() else {}

    return ValueType(f"a table of {what}: a command for each", read, dict, hear)


def duration() -> ValueType[float]:
    def read(said: object) -> float:
        seconds = units.parse_duration_setting(said) if isinstance(said, str) else said
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise InvalidValue
        if not 0 < seconds <= units.MAX_SECONDS:
            raise InvalidValue
        return float(seconds)

    allowed = 'a length of time more than 0, such as "60m", "1h30m" or a number of seconds'
    return ValueType(allowed, read, lambda value: value, _parse_number, units.format_duration_setting)


def size(least: int = _MIN_SIZE_BYTES) -> ValueType[int]:
    def read(said: object) -> int:
        found = units.parse_size_setting(said) if isinstance(said, str) else said
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= _MAX_SIZE_BYTES:
            raise InvalidValue
        return found

    allowed = f'a size from {units.format_size_setting(least)} on, such as "64MB", "2GB" or a number of bytes'
    return ValueType(allowed, read, lambda value: value, _parse_number, units.format_size_setting)


def budget() -> ValueType[Budget | None]:
    def read(said: object) -> Budget | None:
        if said is None or said == "":
            return None
        found = units.parse_budget_setting(said) if isinstance(said, str) else None
        if found is None:
            raise InvalidValue
        return found

    def plain(value: Budget | None) -> str | None:
        return None if value is None else units.format_budget_setting(value)

    allowed = 'an amount such as "20usd", "500ktok", "2mtok" or "20usd 500ktok", or "" for none'
    return ValueType(allowed, read, plain, format_value=lambda value: plain(value) or "")


def join_choices(words: Sequence[str]) -> str:
    """`a, b or c`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _parse_number(said: str) -> object:
    plain = said.strip()
    if _INT.fullmatch(plain):
        return int(plain)
    try:
        return float(plain)
    except ValueError:
        return plain


def _split_commas(said: str) -> list[str]:
    return [part.strip() for part in said.split(",")] if said.strip() else []


def _reject() -> NoReturn:
    raise InvalidValue


def _require_text(said: object) -> str:
    """A text that a file can hold and a command line can carry."""
    if not isinstance(said, str) or "\0" in said or any("\ud800" <= char <= "\udfff" for char in said):
        raise InvalidValue
    return said
