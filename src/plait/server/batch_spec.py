"""The batch that an API client requests, and hints with the API's names instead of flags."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from plait.client.api_errors import FieldError, NotFoundError, StateError
from plait.client.task_actions import RETRY_KEYS
from plait.config.key import AnyKey
from plait.config.keys import KEYS, KEYS_BY_NAME, find_similar
from plait.config.value_types import InvalidValueError
from plait.core.contest import MAX_ENTRANTS, Contest
from plait.core.errors import UserError
from plait.core.plan import Problem, Severity
from plait.core.settings import Mode
from plait.server.http.schema import ApiBody
from plait.sources.planning import PlanOptions
from plait.sources.source_set import SourceSet

PER_BATCH: Mapping[str, AnyKey] = MappingProxyType({key.json_name: key for key in KEYS if key.per_batch})
_MAX_NAMED = 5


TaskId = Annotated[str, Field(min_length=1, max_length=10_000)]
AgentName = Annotated[str, Field(min_length=1, max_length=200)]
TaskIds = Annotated[list[TaskId], Field(min_length=1, max_length=10_000)]
GivenSettings = Annotated[
    dict[str, JsonValue],
    Field(description="By the names of GET /api/settings; null: not given", max_length=100),
]


Command = Annotated[str, Field(max_length=100_000)]


class RecheckFields(BaseModel):
    """The settings that a recheck can change (RECHECK_KEYS). An empty command means none."""

    verify: Command | None = Field(default=None, description="Command that must pass in a workspace")
    gate: Command | None = Field(default=None, description="Command that must pass on the merged result")
    setup: Command | None = Field(default=None, description="Command to run once in a new worktree")

    def to_flags(self) -> dict[str, object]:
        """Return the settings that are given, by key. Raises FieldError."""
        keys = [KEYS_BY_NAME[name] for name in RETRY_KEYS]
        given = {key.name: check_value(key, getattr(self, key.field, None), key.field) for key in keys}
        return {name: value for name, value in given.items() if value is not None}


class RetryFields(RecheckFields):
    """The settings that a retry can change (RETRY_KEYS), and what only these tasks use."""

    agent: AgentName | None = Field(default=None, description="Use this agent. Omitted: the same as before")
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Use this model. Omitted: the same as before"
    )
    timeout: str | float | None = Field(default=None, description="Time limit of an attempt: 90m, or seconds")
    preflight: bool | None = Field(
        default=None, description="false: start although new commands fail on the base, or their program is missing"
    )


class ContestSpec(ApiBody):
    """Run each task `times` times per agent and merge the best result. `agents` omitted: those of the settings."""

    agents: Annotated[list[AgentName], Field(min_length=1, max_length=MAX_ENTRANTS)] | None = None
    times: Annotated[int, Field(ge=1, le=MAX_ENTRANTS)] = 1


class BatchSpec(ApiBody):
    """Which tasks to run, and how. `taskIds` omitted: every incomplete task. All else as for a new batch."""

    task_ids: TaskIds | None = None
    mode: Mode | None = Field(default=None, strict=False)
    settings: GivenSettings | None = None
    with_needs: bool = False
    ignore_needs: bool = False
    again: bool | None = Field(
        default=None,
        description="Whether to run what an earlier batch completed with the same text; omitted: only if `taskIds` names it",
    )
    contest: ContestSpec | None = None

    def select(self, source_set: SourceSet | None) -> PlanOptions:
        """Return the plan's options. Raises NotFoundError for unknown tasks, and StateError for a name of several;
        without sources, all are unknown.
        """
        ids = _resolve_names(source_set, self.task_ids or ())
        return PlanOptions(ids=ids, with_needs=self.with_needs, ignore_needs=self.ignore_needs, again=self.again)

    @property
    def identity(self) -> tuple[str, ...]:
        """Texts that are equal only for equal specs."""
        contest = self.contest and Contest(tuple(self.contest.agents or ()), self.contest.times)
        parts = [
            self.task_ids or (),
            self.mode,
            self.settings or {},
            [self.with_needs, self.ignore_needs],
            str(contest),
            *(() if self.again is None else [self.again]),
        ]
        return ("submit", json.dumps(parts, sort_keys=True, default=str))

    def to_flags(self) -> dict[str, object]:
        """Return settings by key, as the command line does. Raises FieldError for an invalid name or value."""
        keys = {name: _find_key(name) for name in self.settings or ()}
        given = {
            keys[name].name: check_value(keys[name], value, f"settings.{name}")
            for name, value in (self.settings or {}).items()
        }
        if self.contest is not None and self.contest.agents:
            given |= {"run.agent": self.contest.agents}
        return given | ({"run.mode": self.mode.value} if self.mode is not None else {})


class NewBatchSpec(BatchSpec):
    """A batch to create. `taskIds` are ids, or names as the source spells them (`task-1`), in the order of the queue.
    `withNeeds`: also their dependencies, `ignoreNeeds`: without them.
    """

    task_ids: TaskIds


def _resolve_names(source_set: SourceSet | None, names: Sequence[str]) -> tuple[str, ...]:
    known = {} if source_set is None else source_set.by_id
    ids_by_alias: dict[str, dict[str, None]] = {}
    if any(name not in known for name in names):
        for entry in known.values():
            for alias in entry.aliases:
                ids_by_alias.setdefault(alias, {})[entry.task.id] = None
    matches = {name: [name] if name in known else [*ids_by_alias.get(name, ())] for name in names}
    missing = [name for name, ids in matches.items() if not ids]
    if missing:
        shown = ", ".join(missing[:_MAX_NAMED])
        others = f" and {len(missing) - _MAX_NAMED} others" if len(missing) > _MAX_NAMED else ""
        raise NotFoundError(f"there is no task {shown}{others}", hint="List the tasks to see their ids.")
    for name, ids in matches.items():
        if len(ids) > 1:
            raise StateError(f"{name} could be {' or '.join(ids)}", state="ambiguous", hint="Name the one you mean.")
    return tuple(dict.fromkeys(ids[0] for ids in matches.values()))


def _find_key(name: str) -> AnyKey:
    if name not in PER_BATCH:
        alike = find_similar(name, PER_BATCH)
        raise FieldError(
            f"{name} is not a setting of a batch",
            field=f"settings.{name}",
            hint=f"Did you mean {alike}?" if alike else "",
        )
    return PER_BATCH[name]


def check_value(key: AnyKey, value: object, field: str) -> object:
    """Return a valid value; None if the setting is not given. Raises FieldError."""
    kind = key.value_type
    if value is None:
        return None
    try:
        kind.read(kind.parse_text(value) if isinstance(value, str) else value)
    except InvalidValueError as error:
        raise FieldError(f"{key.json_name} must be {kind.allowed}", field=field, hint=str(error)) from None
    return value


_API_NAMES = {key.flag: key.json_name for key in KEYS if key.flag} | {
    "--with-needs": "withNeeds",
    "--ignore-needs": "ignoreNeeds",
    "--again": "again",
    "--select": "taskIds",
    "--contest": "contest",
    "-n": "times",
    "--no-preflight": "preflight: false",
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
