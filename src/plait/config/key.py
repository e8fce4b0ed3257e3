"""Declaring a setting: a `Key` in a `ConfigTable` is its only declaration.

`plait.toml`, environment variables, command line options, the HTTP schema, the page's form and docs/configuration.md are
all derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

from plait.config.value_types import PlainValue, ValueKind, ValueType

ENV_PREFIX = "PLAIT_"
T = TypeVar("T")


class Key(Generic[T]):
    """One setting. On a table's class it is the declaration; on a table's instance, the value.

    `about` is the help text everywhere: lower case, one line, no full stop. `flag` makes it an option of commands;
    `repeatable`: the option may be given several times. `json_name` is needed only if the name derived from the key is
    taken. `runs_code` tells whether a value makes plait run code, or write to a place, of the repository's choosing, which needs trust.
    `user_only`: a repository can't set it. `per_batch`: a batch submitted over
    HTTP may override it; None: as its table says. `mask` removes
    secrets from a value. `pick` chooses between the user's own value and the repository's; None: the repository's.
    """

    def __init__(  # noqa: PLR0913 - a declaration
        self,
        value_type: ValueType[T],
        default: T,
        about: str,
        *,
        flag: str = "",
        short_flag: str = "",
        metavar: str = "",
        repeatable: bool = False,
        json_name: str = "",
        runs_code: Callable[[T], bool] = lambda _: False,
        user_only: bool = False,
        per_batch: bool | None = None,
        mask: Callable[[T], T] | None = None,
        pick: Callable[[T, T], T] | None = None,
    ) -> None:
        self.value_type = value_type
        self.default = default
        self.about = about
        self.flag = flag
        self.short_flag = short_flag
        self.repeatable = repeatable
        self.runs_code = runs_code
        self.user_only = user_only
        self.per_batch = per_batch
        self.pick = pick
        self.table = self.field = ""
        self._metavar = metavar
        self._json_name = json_name
        self._mask = mask

    def __set_name__(self, owner: type, name: str) -> None:
        self.field = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """Return the declaration when accessed on the class: an instance's own attribute comes first."""
        return self

    @property
    def name(self) -> str:
        """The full name, such as `run.retries`."""
        return f"{self.table}.{self.field}"

    @property
    def env_variable(self) -> str:
        """The variable: `PLAIT_RETRIES` for `run.retries`; with other tables, such as `PLAIT_SOURCES_TAG`."""
        return ENV_PREFIX + self.name.removeprefix("run.").replace(".", "_").upper()

    @property
    def json_name(self) -> str:
        """The name in the HTTP API, under which the page also saves it."""
        first, *rest = (self.name if self.table == "sources" else self.field).replace(".", "_").split("_")
        return self._json_name or first + "".join(map(str.capitalize, rest))

    @property
    def metavar(self) -> str:
        """The placeholder that `--help` shows after the flag; empty for a switch."""
        if self.value_type.kind is ValueKind.SWITCH:
            return ""
        by_kind = {ValueKind.NUMBER: "N", ValueKind.DURATION: "DURATION", ValueKind.AMOUNT: "AMOUNT"}
        return self._metavar or "|".join(self.value_type.choices) or by_kind.get(self.value_type.kind, "TEXT")

    @property
    def summary(self) -> str:
        """The help text (`about`) as a sentence."""
        return f"{self.about[:1].upper()}{self.about[1:]}."

    @property
    def is_secret(self) -> bool:
        """Whether the value is only shown masked, and never saved in the journal."""
        return self._mask is not None

    def mask_value(self, value: T) -> T:
        return value if self._mask is None else self._mask(value)

    def to_public(self, value: T) -> PlainValue:
        """Return the value for programs, without secrets."""
        return self.value_type.plain(self.mask_value(value))


# A collection of keys has keys of many types: a key's own type holds between its value type and its default.
AnyKey = Key[Any]


class ConfigTable:
    """A table of `plait.toml`: its class declares the keys, an instance holds a value for each."""

    name_in_file: ClassVar[str]
    about: ClassVar[str]
    keys: ClassVar[tuple[AnyKey, ...]]

    def __init_subclass__(cls, *, name: str, about: str, per_batch: bool = False) -> None:
        cls.name_in_file, cls.about = name, about
        cls.keys = tuple(key for key in vars(cls).values() if isinstance(key, Key))
        for key in cls.keys:
            key.table = name
            key.per_batch = per_batch if key.per_batch is None else key.per_batch

    def __init__(self, **values: object) -> None:
        """Set these values by field; the others have their defaults."""
        unknown = values.keys() - {key.field for key in self.keys}
        if unknown:
            raise TypeError(f"[{self.name_in_file}] has no key {', '.join(sorted(unknown))}")
        vars(self).update({key.field: values.get(key.field, key.default) for key in self.keys})

    @property
    def values(self) -> Mapping[str, object]:
        """The values by field, in the order of declaration."""
        return vars(self)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings don't change: {self.name_in_file}.{name}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
