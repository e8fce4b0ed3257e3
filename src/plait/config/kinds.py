"""Kinds of values: what a file may say, what a variable or a flag may say, and how a value is told again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Generic, Literal, NoReturn, TypeVar

from plait.config import amounts
from plait.core.frozen import dataclass
from plait.core.settings import Budget

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

# What TOML and JSON can both say, and what the settings are made of.
Plain = (
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

LARGEST = 1_000_000
_LEAST_SIZE, _MOST_SIZE = 2**16, 2**50
_INT = re.compile(r"[+-]?[0-9]{1,15}")
_YES = {"true", "yes", "on", "1"}
_NO = {"false", "no", "off", "0"}


class Unfit(ValueError):  # noqa: N818 - it judges a value; the error is raised by whoever knows where it was said
    """The value is not one of this kind; the text is a hint, or empty."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """`hear` turns a text from outside into what a file would say, `read` judges that, and the other two tell it again.

    `plain` is for programs; `spell` is how a person would write it in a file. What either tells, `read` reads back.
    """

    allowed: str
    read: Callable[[object], T]
    plain: Callable[[T], Plain]
    hear: Callable[[str], object] = str
    spell: Callable[[T], Plain] | None = None
    choices: tuple[str, ...] = ()

    def spelt(self, value: T) -> Plain:
        return self.spell(value) if self.spell else self.plain(value)


def whole() -> Kind[int]:
    def read(said: object) -> int:
        if isinstance(said, bool) or not isinstance(said, int) or not 0 <= said <= LARGEST:
            raise Unfit
        return said

    return Kind(f"a whole number from 0 to {LARGEST}", read, lambda value: value, _number)


def whole_or_auto() -> Kind[int | Literal["auto"]]:
    number = whole()

    def read(said: object) -> int | Literal["auto"]:
        return "auto" if said == "auto" else number.read(said)

    return Kind(f'{number.allowed}, or "auto"', read, lambda value: value, _number)


def share() -> Kind[float]:
    def read(said: object) -> float:
        if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= 1:
            raise Unfit
        return float(said)

    return Kind("a number from 0 to 1", read, lambda value: value, _number)


def switch() -> Kind[bool]:
    def read(said: object) -> bool:
        if not isinstance(said, bool):
            raise Unfit
        return said

    def hear(said: str) -> object:
        word = said.strip().lower()
        return True if word in _YES else False if word in _NO else said

    return Kind("true or false", read, lambda value: value, hear)


def choice(of: type[E]) -> Kind[E]:
    names = [member.value for member in of]

    def read(said: object) -> E:
        if not isinstance(said, str) or said not in names:
            near = get_close_matches(said, names, n=1) if isinstance(said, str) else ()
            raise Unfit(f"Did you mean {near[0]}?" if near else "")
        return of(said)

    return Kind(listed(names), read, lambda value: value.value, choices=tuple(names))


def text(what: str) -> Kind[str | None]:
    """One text; the empty one means none, so that a layer can take back what a lower one says."""

    def read(said: object) -> str | None:
        return _sound(said).strip() or None if said is not None else None

    return Kind(f'{what}, or "" for none', read, lambda value: value, spell=lambda value: value or "")


def name(what: str) -> Kind[str]:
    def read(said: object) -> str:
        return _sound(said).strip() or _unfit()

    return Kind(what, read, lambda value: value)


def texts(what: str, *, split: bool = False) -> Kind[tuple[str, ...]]:
    """Several texts. A single one may stand without brackets; with `split`, commas part it in a file too."""

    def read(said: object) -> tuple[str, ...]:
        if isinstance(said, str):
            said = _parts(said) if split else [said]
        if not isinstance(said, Sequence) or isinstance(said, bytes):
            raise Unfit
        return tuple(_sound(item).strip() or _unfit() for item in said)

    return Kind(what, read, list, _parts)


def counts(what: str) -> Kind[tuple[tuple[str, int], ...]]:
    number = whole()

    def read(said: object) -> tuple[tuple[str, int], ...]:
        if not isinstance(said, Mapping):
            raise Unfit
        return tuple((_sound(one).strip() or _unfit(), number.read(count)) for one, count in said.items())

    def hear(said: str) -> object:
        pairs = [part.rpartition("=") for part in _parts(said)]
        return {one.strip(): _number(count) for one, _, count in pairs}

    return Kind(f"a table of {what}: {number.allowed} for each", read, dict, hear)


def named_texts(what: str, each: str) -> Kind[tuple[tuple[str, str], ...]]:
    """A text for each of some names."""

    def read(said: object) -> tuple[tuple[str, str], ...]:
        if not isinstance(said, Mapping):
            raise Unfit
        pairs = ((_sound(one).strip(), _sound(value).strip()) for one, value in said.items())
        return tuple((one or _unfit(), value or _unfit()) for one, value in pairs)

    def hear(said: str) -> object:
        pairs = [part.partition("=") for part in _parts(said)]
        return {one.strip(): value.strip() for one, _, value in pairs}

    return Kind(f"a table of {what}: {each} for each", read, dict, hear)


def named_choices(what: str, of: type[E]) -> Kind[tuple[tuple[str, E], ...]]:
    """A choice for each of some names."""
    one_of, texts_ = choice(of), named_texts(what, choice(of).allowed)

    def read(said: object) -> tuple[tuple[str, E], ...]:
        return tuple((one, one_of.read(value)) for one, value in texts_.read(said))

    def plain(values: tuple[tuple[str, E], ...]) -> Plain:
        return {one: value.value for one, value in values}

    return Kind(texts_.allowed, read, plain, texts_.hear)


def named_words(what: str) -> Kind[tuple[tuple[str, tuple[str, ...]], ...]]:
    """Words of a command line for each of some names: a list, or one text that is split as a shell would."""

    def words(said: object) -> tuple[str, ...]:
        try:
            found = shlex.split(said) if isinstance(said, str) else said
        except ValueError:
            raise Unfit("Look at its quotes.") from None
        if not isinstance(found, Sequence) or isinstance(found, str | bytes):
            raise Unfit
        return tuple(_sound(word) for word in found)

    def read(said: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
        if not isinstance(said, Mapping):
            raise Unfit
        return tuple((_sound(one).strip() or _unfit(), words(value)) for one, value in said.items())

    def plain(values: tuple[tuple[str, tuple[str, ...]], ...]) -> Plain:
        return {one: list(value) for one, value in values}

    def hear(said: str) -> object:
        one, _, value = said.partition("=")
        return {one.strip(): value} if said.strip() else {}

    return Kind(f"a table of {what}: a list of words for each", read, plain, hear)


def prices() -> Kind[tuple[tuple[str, tuple[float, ...]], ...]]:
    def amounts_of(said: object) -> tuple[float, ...]:
        if isinstance(said, str):
            said = [_number(part) for part in said.split("/")]
        if not isinstance(said, Sequence) or len(said) not in {2, 3}:
            raise Unfit
        if any(isinstance(one, bool) or not isinstance(one, int | float) or one < 0 for one in said):
            raise Unfit
        return tuple(float(one) for one in said)

    def read(said: object) -> tuple[tuple[str, tuple[float, ...]], ...]:
        if not isinstance(said, Mapping):
            raise Unfit
        return tuple((_sound(one).strip() or _unfit(), amounts_of(value)) for one, value in said.items())

    def plain(values: tuple[tuple[str, tuple[float, ...]], ...]) -> Plain:
        return {one: list(value) for one, value in values}

    def hear(said: str) -> object:
        pairs = [part.partition("=") for part in _parts(said)]
        return {one.strip(): value for one, _, value in pairs}

    allowed = "a table of models: dollars per million tokens read, written and (optional) read from the cache"
    return Kind(f"{allowed}, such as [1.25, 10, 0.125]", read, plain, hear)


def commands(what: str) -> Kind[tuple[tuple[str, str], ...]]:
    def read(said: object) -> tuple[tuple[str, str], ...]:
        if not isinstance(said, Mapping):
            raise Unfit
        pairs = ((_sound(one).strip(), _sound(command).strip()) for one, command in said.items())
        return tuple((one or _unfit(), command or _unfit()) for one, command in pairs)

    def hear(said: str) -> object:
        """One pair only: a command may hold anything else."""
        one, _, command = said.partition("=")
        return {one.strip(): command.strip()} if said.strip() else {}

    return Kind(f"a table of {what}: a command for each", read, dict, hear)


def duration() -> Kind[float]:
    def read(said: object) -> float:
        seconds = amounts.duration(said) if isinstance(said, str) else said
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise Unfit
        if not 0 < seconds <= amounts.LONGEST:
            raise Unfit
        return float(seconds)

    allowed = 'a length of time more than 0, such as "60m", "1h30m" or a number of seconds'
    return Kind(allowed, read, lambda value: value, _number, amounts.spell_duration)


def size(least: int = _LEAST_SIZE) -> Kind[int]:
    def read(said: object) -> int:
        found = amounts.size(said) if isinstance(said, str) else said
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= _MOST_SIZE:
            raise Unfit
        return found

    allowed = f'a size from {amounts.spell_size(least)} on, such as "64MB", "2GB" or a number of bytes'
    return Kind(allowed, read, lambda value: value, _number, amounts.spell_size)


def budget() -> Kind[Budget | None]:
    def read(said: object) -> Budget | None:
        if said is None or said == "":
            return None
        found = amounts.budget(said) if isinstance(said, str) else None
        if found is None:
            raise Unfit
        return found

    def plain(value: Budget | None) -> str | None:
        return None if value is None else amounts.spell_budget(value)

    allowed = 'an amount such as "20usd", "500ktok", "2mtok" or "20usd 500ktok", or "" for none'
    return Kind(allowed, read, plain, spell=lambda value: plain(value) or "")


def listed(words: Sequence[str]) -> str:
    """`a, b or c`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _number(said: str) -> object:
    plain = said.strip()
    if _INT.fullmatch(plain):
        return int(plain)
    try:
        return float(plain)
    except ValueError:
        return plain


def _parts(said: str) -> list[str]:
    return [part.strip() for part in said.split(",")] if said.strip() else []


def _unfit() -> NoReturn:
    raise Unfit


def _sound(said: object) -> str:
    """A text that a file can hold and a command line can carry."""
    if not isinstance(said, str) or "\0" in said or any("\ud800" <= char <= "\udfff" for char in said):
        raise Unfit
    return said
