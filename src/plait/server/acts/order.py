"""An order: the batch that somebody asks for, in the words of the HTTP interface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from plait.config.key import AnyKey
from plait.config.kinds import Unfit
from plait.config.schema import BY_NAME, KEYS, near
from plait.core.contest import Contest
from plait.core.frozen import dataclass
from plait.core.settings import Mode
from plait.front.refusals import FieldError, UnknownError
from plait.sources.pile import Pile
from plait.sources.planning import Wish

# What can be said of one batch: how it is run, and what becomes of it. Where things lie is for the settings to say.
_OTHERS = (
    "pr.when_done",
    "pr.title",
    "pr.target",
    "sources.unknown_needs",
    "sources.file_conflicts",
    "sources.write_back",
)
PER_BATCH: Mapping[str, AnyKey] = MappingProxyType(
    {key.saved: key for key in KEYS if key.table == "run" and key.name != "run.prompt"}
    | {BY_NAME[name].saved: BY_NAME[name] for name in _OTHERS}
)
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Order:
    """`ids` are exact ids of tasks; none: all that are not complete. `settings` are by the names of the API.

    A contest without agents is one between those of the settings.
    """

    ids: tuple[str, ...] = ()
    mode: Mode | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    with_needs: bool = False
    ignore_needs: bool = False
    contest: Contest | None = None

    @property
    def wish(self) -> Wish:
        return Wish(ids=self.ids, with_needs=self.with_needs, ignore_needs=self.ignore_needs)

    @property
    def words(self) -> tuple[str, ...]:
        """The same for the same order, and for no other."""
        needs, contest = [self.with_needs, self.ignore_needs], str(self.contest)
        told = json.dumps([self.ids, self.mode, self.settings, needs, contest], sort_keys=True, default=str)
        return ("submit", told)

    def flags(self) -> dict[str, object]:
        """By key, as the command line would give them. Raises FieldError for a name or a value that can't be."""
        said = {_key(name).name: _fitting(name, value) for name, value in self.settings.items()}
        if self.contest is not None and self.contest.agents:
            said |= {"run.agent": list(self.contest.agents)}
        return said | ({"run.mode": self.mode.value} if self.mode is not None else {})

    def check(self, pile: Pile | None) -> None:
        """Raises UnknownError if a task is not there; without a `pile`, none is."""
        gone = [name for name in self.ids if pile is None or name not in pile.by_id]
        if gone:
            shown = ", ".join(gone[:_NAMED])
            more = f" and {len(gone) - _NAMED} others" if len(gone) > _NAMED else ""
            raise UnknownError(
                f"there is no task {shown}{more}", hint="List the tasks to see those that are there."
            )


def _key(name: str) -> AnyKey:
    if name not in PER_BATCH:
        alike = near(name, PER_BATCH)
        raise FieldError(
            f"{name} is no setting of a batch",
            field=f"settings.{name}",
            hint=f"Did you mean {alike}?" if alike else "",
        )
    return PER_BATCH[name]


def _fitting(name: str, said: object) -> object:
    """Null is a setting not given."""
    kind = _key(name).kind
    if said is None:
        return None
    try:
        kind.read(kind.hear(said) if isinstance(said, str) else said)
    except Unfit as unfit:
        raise FieldError(
            f"{name} must be {kind.allowed}", field=f"settings.{name}", hint=str(unfit)
        ) from None
    return said
