"""What can be chosen for settings that the core does not know.

Key: one setting, and its name in every layer.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Generic, TypeVar

from plait.config.value_types import PlainValue, ValueType
from plait.core.fast_dataclass import dataclass


class PromptDeliveryChoice(StrEnum):
    AUTO = "auto"
    STDIN = "stdin"
    FILE = "file"


class PermissionChoice(StrEnum):
    """What a tool may do without asking."""

    FULL = "full"
    EDITS = "edits"
    OWN = "own"


class WhenDone(StrEnum):
    """What is done with a batch branch at the end."""

    ASK = "ask"
    OFF = "off"
    PUSH = "push"
    PR = "pr"
    DRAFT = "draft"


class ForgeKind(StrEnum):
    AUTO = "auto"
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"

    @property
    def explicit(self) -> str:
        """What a person says of the host; nothing, if its name is to tell."""
        return "" if self is ForgeKind.AUTO else self.value


T = TypeVar("T")


ENV_PREFIX = "PLAIT_"


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """One setting: its dotted name, its kind, its default, what it means, and what other layers call it.

    `runs` says whether a value makes plait run code of the repository's choosing, which asks for trust. A `private` one is
    a person's own, and no repository may set it. `hide` makes of a value that holds a secret one that may be shown.
    """

    name: str
    value_type: ValueType[T]
    default: T
    about: str
    flag: str | None = None
    page: str = ""
    runs_code: Callable[[T], bool] = lambda _: False
    user_only: bool = False
    mask: Callable[[T], T] | None = None

    @property
    def table(self) -> str:
        return self.name.partition(".")[0]

    @property
    def field(self) -> str:
        return self.name.partition(".")[2]

    @property
    def env_variable(self) -> str:
        """`PLAIT_RETRIES` for `run.retries`; the other tables are part of the name: `PLAIT_SOURCES_TAG`."""
        return ENV_PREFIX + self.name.removeprefix("run.").replace(".", "_").upper()

    @property
    def saved_name(self) -> str:
        """The name by which the page and the API save it: camelCase, like all their names."""
        first, *rest = (self.name if self.table == "sources" else self.field).replace(".", "_").split("_")
        return self.page or first + "".join(map(str.capitalize, rest))

    @property
    def is_secret(self) -> bool:
        """Its value is for those alone who act upon it: it is shown as `shown` shows it, and nowhere else."""
        return self.mask is not None

    def mask_value(self, value: T) -> T:
        """The value without what is secret in it."""
        return value if self.mask is None else self.mask(value)

    def to_public(self, value: T) -> PlainValue:
        """For programs, as far as anybody may see it."""
        return self.value_type.plain(self.mask_value(value))


# The table of keys has keys of many types: a key's own type holds between its kind and its default.
AnyKey = Key[Any]
