"""Key: one setting, and its name in every layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from plait.config.kinds import Kind, Plain
from plait.core.frozen import dataclass

T = TypeVar("T")

PREFIX = "PLAIT_"


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """One setting: its dotted name, its kind, its default, what it means, and what other layers call it.

    `runs` says whether a value makes plait run code of the repository's choosing, which asks for trust. A `private` one is
    a person's own, and no repository may set it. `hide` makes of a value that holds a secret one that may be shown.
    """

    name: str
    kind: Kind[T]
    default: T
    about: str
    flag: str | None = None
    page: str = ""
    runs: Callable[[T], bool] = lambda _: False
    private: bool = False
    hide: Callable[[T], T] | None = None

    @property
    def table(self) -> str:
        return self.name.partition(".")[0]

    @property
    def field(self) -> str:
        return self.name.partition(".")[2]

    @property
    def variable(self) -> str:
        """`PLAIT_RETRIES` for `run.retries`; the other tables are part of the name: `PLAIT_SOURCES_TAG`."""
        return PREFIX + self.name.removeprefix("run.").replace(".", "_").upper()

    @property
    def saved(self) -> str:
        """The name by which the page and the API save it: camelCase, like all their names."""
        first, *rest = (self.name if self.table == "sources" else self.field).replace(".", "_").split("_")
        return self.page or first + "".join(map(str.capitalize, rest))

    @property
    def secret(self) -> bool:
        """Its value is for those alone who act upon it: it is shown as `shown` shows it, and nowhere else."""
        return self.hide is not None

    def veiled(self, value: T) -> T:
        """The value without what is secret in it."""
        return value if self.hide is None else self.hide(value)

    def shown(self, value: T) -> Plain:
        """For programs, as far as anybody may see it."""
        return self.kind.plain(self.veiled(value))


# The table of keys has keys of many types: a key's own type holds between its kind and its default.
AnyKey = Key[Any]
