"""The batch that an API client asks for, and hints with the API's names instead of flags."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType

from plait.client.api_errors import FieldError, NotFoundError
from plait.config.key import AnyKey
from plait.config.keys import KEYS, find_similar
from plait.config.value_types import InvalidValueError
from plait.core.contest import Contest
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.settings import Mode
from plait.sources.planning import PlanOptions
from plait.sources.source_set import SourceSet

PER_BATCH: Mapping[str, AnyKey] = MappingProxyType({key.json_name: key for key in KEYS if key.per_batch})
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class BatchSpec:
    """`ids` are exact task ids; empty: all incomplete tasks. `settings` have the names of the API.

    A contest without agents uses those of the settings.
    """

    ids: tuple[str, ...] = ()
    mode: Mode | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    with_needs: bool = False
    ignore_needs: bool = False
    contest: Contest | None = None

    @property
    def selection(self) -> PlanOptions:
        return PlanOptions(ids=self.ids, with_needs=self.with_needs, ignore_needs=self.ignore_needs)

    @property
    def identity(self) -> tuple[str, ...]:
        """Equal only for equal specs."""
        needs, contest = [self.with_needs, self.ignore_needs], str(self.contest)
        encoded = json.dumps([self.ids, self.mode, self.settings, needs, contest], sort_keys=True, default=str)
        return ("submit", encoded)

    def to_flags(self) -> dict[str, object]:
        """By key, as from the command line. Raises FieldError for an unknown name or an invalid value."""
        given = {_find_key(name).name: _check_value(name, value) for name, value in self.settings.items()}
        if self.contest is not None and self.contest.agents:
            given |= {"run.agent": list(self.contest.agents)}
        return given | ({"run.mode": self.mode.value} if self.mode is not None else {})

    def check_task_ids(self, pile: SourceSet | None) -> None:
        """Raises NotFoundError for unknown tasks; without sources, all are unknown."""
        missing = [name for name in self.ids if pile is None or name not in pile.by_id]
        if missing:
            shown = ", ".join(missing[:_MAX_NAMED])
            more = f" and {len(missing) - _MAX_NAMED} others" if len(missing) > _MAX_NAMED else ""
            raise NotFoundError(f"there is no task {shown}{more}", hint="List the tasks to see their ids.")


def _find_key(name: str) -> AnyKey:
    if name not in PER_BATCH:
        alike = find_similar(name, PER_BATCH)
        raise FieldError(
            f"{name} is not a setting of a batch",
            field=f"settings.{name}",
            hint=f"Did you mean {alike}?" if alike else "",
        )
    return PER_BATCH[name]


def _check_value(name: str, value: object) -> object:
    """Null: the setting is not given."""
    kind = _find_key(name).value_type
    if value is None:
        return None
    try:
        kind.read(kind.parse_text(value) if isinstance(value, str) else value)
    except InvalidValueError as unfit:
        raise FieldError(f"{name} must be {kind.allowed}", field=f"settings.{name}", hint=str(unfit)) from None
    return value


_API_NAMES = {key.flag: key.json_name for key in KEYS if key.flag} | {
    "--with-needs": "withNeeds",
    "--ignore-needs": "ignoreNeeds",
    "--select": "taskIds",
    "--contest": "contest",
    "-n": "times",
    "--draft": "whenDone",
    "--push": "whenDone",
}

_FLAG = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]*|-n\b)")


def translate_hint(hint: str) -> str:
    """Replace flags by field names; a flag without one is part of a full command, and stays."""
    return _FLAG.sub(lambda match: f"`{name}`" if (name := _API_NAMES.get(match[0])) else match[0], hint)


def translate_problem(problem: Problem) -> Problem:
    return replace(problem, hint=translate_hint(problem.hint))


class PlanError(UserError):
    """There is no plan: the problems say why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        errors = [problem for problem in problems if problem.severity is Severity.ERROR] or list(problems)
        first = errors[0] if errors else None
        super().__init__(first.message if first else "there is nothing to plan", hint=first.hint if first else "")
        self.problems = tuple(problems)
