"""Preferences: the settings as the page and the API show them, save them, and have them count at once.

Settings as programs see them: a value for each name, who gave it, and what may be said in its place.

Changing settings: what was asked for is judged as a whole, and either all of it is sound or nothing is saved.

What changed settings mean for what is going on: they count at once, and whoever has a value of its own keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

import msgspec

from plait.agents import table
from plait.agents.interface import AgentSpec
from plait.client.agent_specs import load_agent_specs
from plait.client.api_errors import FieldError
from plait.client.planning.agent_assignment import check_budgets
from plait.client.planning.plan_preview import measure_agent_capacity
from plait.client.planning.submission import derive_parallel_limit
from plait.client.session import new_request_id
from plait.client.trust import list_repo_commands
from plait.config.config import Config, Layer
from plait.config.key import AnyKey
from plait.config.keys import (
    KEYS,
    KEYS_BY_FIELD,
    KEYS_BY_JSON_NAME,
    KEYS_BY_NAME,
    TABLES,
    find_similar,
    list_table_keys,
)
from plait.config.layers import SettingsError, saved_origin
from plait.config.loading import load_config
from plait.config.toml_file import format_short
from plait.config.value_types import InvalidValue
from plait.core import settings as saving
from plait.core.contest import REFEREE
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.requests import ChangeEngineSettings, ChangeSettings, Request, SaveSettings
from plait.core.settings import Isolation, Settings
from plait.core.state import BatchState, State
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_inputs import BatchInputsError

GIVEN_FIELD = "given"


def preferences_json(config: Config, saved: Mapping[str, str]) -> dict[str, object]:
    """Every setting by its name, and under `given` who gave it. Lengths of time are in seconds, sizes in bytes."""
    values: dict[str, object] = {key.json_name: key.to_public(config.value(key)) for key in KEYS}
    return values | {GIVEN_FIELD: {key.json_name: _given_json(config, saved, key) for key in KEYS}}


def _given_json(config: Config, saved: Mapping[str, str], key: AnyKey) -> dict[str, object]:
    """`hidden`: something is saved, and a stronger layer counts. `problem`: what is saved can't be read, and does not count."""
    given = config.origins[key.name]
    at = saved_origin(key.json_name)
    problem = next((warning.message for warning in config.warnings if warning.at == at), None)
    return {
        "layer": given.layer.value,
        "at": str(given.at) if given.at else None,
        "saved": key.json_name in saved,
        "hidden": key.json_name in saved and problem is None and given.layer is not Layer.SAVED,
        "problem": problem,
    }


def preferences_schema() -> dict[str, object]:
    """What a page needs to show the settings and to ask for others, in the order of the documents."""
    return {"tables": dict(TABLES), "settings": [_key_json(key) for key in KEYS]}


def _key_json(key: AnyKey) -> dict[str, object]:
    return {
        "name": key.json_name,
        "key": key.name,
        "table": key.table,
        "kind": key.value_type.kind.value,
        "choices": list(key.value_type.choices),
        "allowed": key.value_type.allowed,
        "default": key.value_type.plain(key.default),
        "about": key.about,
        "variable": key.env_variable,
        "canBeSaved": not key.is_secret,
    }


# The settings that name agents, and how each of them names them.
_AGENT_KEYS = ("run.agent", "run.fallback", "run.judge", "agents.permissions")


class InvalidSettingsError(FieldError):
    """Nothing was saved. All that is wrong, each with the name of its setting."""

    def __init__(self, wrong: Sequence[tuple[str, Problem]]) -> None:
        self.field_problems = tuple(wrong)
        self.fields = tuple(dict.fromkeys(name for name, _ in wrong))
        self.problems = tuple(problem for _, problem in wrong)
        told = "\n".join(dict.fromkeys(problem.message for problem in self.problems))
        super().__init__(told, field=self.fields[0], hint=self.problems[-1].hint)


@dataclass(frozen=True, slots=True)
class SettingsChanges:
    """What is to be saved, and the settings before and after. `untrusted` are keys with commands that only the repository says."""

    texts: tuple[tuple[str, str | None], ...]
    before: Config
    after: Config
    untrusted: frozenset[str] = frozenset()


def load_effective_config(place: RepoLocation, saved: Mapping[str, str]) -> Config:
    """The settings that count, and a warning for each saved one that can't be read: else nobody could ever save another.

    Raises ConfigError where a file is wrong.
    """
    config, wrong = _load_config(place, saved)
    minor = (replace(problem, severity=Severity.WARNING) for problem in wrong)
    return replace(config, warnings=(*config.warnings, *minor))


def check_changes(place: RepoLocation, saved: Mapping[str, str], patch: Mapping[str, object]) -> SettingsChanges:
    """`patch` has values by name, as JSON says them; null forgets what was saved. Raises UnfitSettingsError or ConfigError."""
    before, known = _load_config(place, saved)
    texts, wrong = _encode_values(saved, patch)
    if wrong:
        raise InvalidSettingsError(wrong)
    try:
        after, found = _load_config(place, saving.merge_saved_settings(saved, texts))
    except SettingsError as error:
        raise InvalidSettingsError([*_attribute_problems(error.problems, patch)]) from error
    wrong = [*_attribute_problems([problem for problem in found if problem not in known], patch)]
    wrong += () if wrong else _check_agents(after, patch)
    if wrong:
        raise InvalidSettingsError(wrong)
    untrusted = frozenset(each.key for each in list_repo_commands(after, place) if not each.trusted)
    return SettingsChanges(texts, before, after, untrusted)


def _load_config(place: RepoLocation, saved: Mapping[str, str]) -> tuple[Config, list[Problem]]:
    """Without those of the saved settings that are in the way, and what is wrong with them."""
    left, problems = dict(saved), list[Problem]()
    while True:
        try:
            return load_config(place.top, saved=left), problems
        except SettingsError as error:
            if not left:
                raise
            guilty = {name for name in left for problem in error.problems if problem.at == saved_origin(name)}
            problems += error.problems
            left = {name: text for name, text in left.items() if guilty and name not in guilty}


def _attribute_problems(problems: Sequence[Problem], patch: Mapping[str, object]) -> Iterator[tuple[str, Problem]]:
    """What several settings have wrong together is told of all that were named now."""
    for problem in problems:
        own = [name for name in patch if problem.at == saved_origin(name)]
        yield from ((name, problem) for name in own or patch)


def _encode_values(
    saved: Mapping[str, str], patch: Mapping[str, object]
) -> tuple[tuple[tuple[str, str | None], ...], list[tuple[str, Problem]]]:
    texts: list[tuple[str, str | None]] = []
    wrong: list[tuple[str, Problem]] = []
    for name, said in patch.items():
        try:
            texts.append((name, _encode_value(saved, name, said)))
        except _InvalidSetting as refusal:
            wrong.append((name, Problem(Severity.ERROR, refusal.args[0], hint=refusal.args[1])))
    why = None if wrong else saving.why_not_save(saved, texts)
    if why is not None:
        wrong += [(name, Problem(Severity.ERROR, why)) for name in patch]
    return tuple(texts), wrong


class _InvalidSetting(Exception):  # noqa: N818 - told among all others, never raised alone
    """What is wrong with one setting, and the way out."""


def _encode_value(saved: Mapping[str, str], name: str, said: object) -> str | None:
    key = KEYS_BY_JSON_NAME.get(name)
    if said is None and (key is not None or name in saved):  # what another version saved can be forgotten too
        return None
    if key is None:
        raise _unknown_setting(name)
    if key.is_secret:
        raise _InvalidSetting(
            f"{name} may hold a secret, and what is saved stays in the journal for ever",
            f"Put {key.field} into your own config.toml, or into {key.env_variable}.",
        )
    try:
        text = msgspec.json.encode(key.value_type.plain(key.value_type.read(said))).decode()
    except InvalidValue as unfit:
        raise _InvalidSetting(
            f"{name} must be {key.value_type.allowed}, not {format_short(said)}", str(unfit)
        ) from None
    if len(text) > saving.MAX_SAVED_TEXT_CHARS:
        raise _InvalidSetting(
            f"{name} is too long to be saved: {saving.MAX_SAVED_TEXT_CHARS} characters are the most", ""
        )
    return text


def _unknown_setting(name: str) -> _InvalidSetting:
    if name == GIVEN_FIELD:
        return _InvalidSetting(f"{GIVEN_FIELD} tells who gave each setting, and can't be set", "Name settings alone.")
    same = KEYS_BY_NAME.get(name) or KEYS_BY_FIELD.get(name)
    alike = same.json_name if same else find_similar(name, KEYS_BY_JSON_NAME)
    hint = f"Did you mean {alike}?" if alike else "GET /api/settings lists them all."
    return _InvalidSetting(f"there is no setting called {format_short(name)[1:-1]}", hint)


def _check_agents(config: Config, patch: Mapping[str, object]) -> Iterator[tuple[str, Problem]]:
    """Agents that there are not: told now, not when a batch wants them."""
    try:
        specs = {spec.name: spec for spec in load_agent_specs(config)}
    except PlaitError as error:
        yield from ((name, Problem(Severity.ERROR, error.message, hint=error.hint)) for name in patch)
        return
    for key in (KEYS_BY_NAME[name] for name in _AGENT_KEYS):
        named = _list_named_agents(config, key) if patch.get(key.json_name) is not None else ()
        for agent in named:
            problem = _check_agent(specs.get(agent, AgentSpec(agent)))
            if problem is not None:
                yield key.json_name, problem


def _list_named_agents(config: Config, key: AnyKey) -> Sequence[str]:
    match config.value(key):
        case str() as one:
            return (one,)
        case tuple() as several:
            return tuple(each if isinstance(each, str) else each[0] for each in several)
        case _:
            return ()


def _check_agent(spec: AgentSpec) -> Problem | None:
    if spec.name == REFEREE:
        return Problem(Severity.ERROR, f"{REFEREE} decides contests, and is given nothing else")
    try:
        table.load_agent(spec)
    except PlaitError as error:
        return Problem(Severity.ERROR, error.message, hint=error.hint)
    return None


_BATCH_FIELDS = {one.name for one in fields(Settings)}


# What of a batch may change while it is open. Where it works is settled when it is submitted.
_LIVE_KEYS = tuple(key for key in list_table_keys("run") if key.field in _BATCH_FIELDS and key.name != "run.isolation")


_BUDGETS = frozenset({"budget", "task_budget"})


_PARALLEL_LIMIT_KEY = "engine.parallel_limit"


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """What to ask for, in this order; `notes` say which open batches keep what they have, and why."""

    requests: tuple[Request, ...]
    notes: tuple[Problem, ...] = ()


def plan_change(place: RepoLocation, state: State, changes: SettingsChanges) -> ChangePlan:
    """A batch that went by the old value of a changed setting goes by the new one; one with a value of its own keeps it."""
    if not changes.texts:
        return ChangePlan(())
    size, notes = measure_agent_capacity(), list[Problem]()
    found = [_BatchChange(place, batch, changes, size) for batch in state.open.values()]
    batches = [request for each in found if (request := each.make_request(notes)) is not None]
    limits = _make_engine_request(state, changes, batches)
    save = SaveSettings(new_request_id(), changes.texts)
    return ChangePlan((save, *((limits,) if limits else ()), *batches), tuple(notes))


class _BatchChange:
    """An open batch, and what the changes mean for it."""

    def __init__(self, place: RepoLocation, batch: BatchState, changes: SettingsChanges, size: int) -> None:
        self._place, self._batch, self._changes = place, batch, changes
        self._old = changes.before.batch_settings(tasks=len(batch.tasks), cores=size)
        self._new = changes.after.batch_settings(tasks=len(batch.tasks), cores=size)

    def make_request(self, notes: list[Problem]) -> ChangeSettings | None:
        names = [key.field for key in _LIVE_KEYS if self._follows(key)]
        kept = dict(self._find_kept_fields(names))
        notes += [_kept_value_problem(self._batch, name, why) for name, why in kept.items()]
        wanted = tuple(name for name in names if name not in kept)
        return ChangeSettings(new_request_id(), self._batch.id, self._new, wanted) if wanted else None

    def _follows(self, key: AnyKey) -> bool:
        old, new, own = (getattr(each, key.field) for each in (self._old, self._new, self._batch.settings))
        return bool(own == old != new)

    def _find_kept_fields(self, names: list[str]) -> Iterator[tuple[str, str]]:
        """What this batch can't have, or nobody has agreed to."""
        for name in names:
            if f"run.{name}" in self._changes.untrusted:
                yield name, "only the repository's own settings say the new one, and nobody has trusted it"
        if "gate" in names and self._new.gate and self._batch.settings.isolation is Isolation.IN_PLACE:
            yield "gate", "it merges nothing that a gate could run on"
        budgets = tuple(name for name in names if name in _BUDGETS)
        settings = self._batch.settings.with_fields(self._new, budgets)
        tasks = [task.task for task in self._batch.tasks]
        for problem in check_budgets(settings, tasks, self._agents()) if budgets else ():
            yield from ((name, problem.message) for name in budgets)

    def _agents(self) -> tuple[AgentSpec, ...]:
        """As they were submitted."""
        try:
            return project_files.load_batch_inputs(self._place, self._batch.id).agents
        except BatchInputsError:
            return ()


def _kept_value_problem(batch: BatchState, name: str, why: str) -> Problem:
    called = KEYS_BY_NAME[f"run.{name}"].json_name
    return Problem(Severity.WARNING, f"batch {batch.id} goes on with the {called} that it has: {why}")


def _make_engine_request(
    state: State, changes: SettingsChanges, batches: list[ChangeSettings]
) -> ChangeEngineSettings | None:
    before, after = changes.before, changes.after
    wanted = replace(after.engine_settings(), parallel_limit=_find_parallel_limit(state, changes, batches))
    moved = {
        "parallel_limit": wanted.parallel_limit != state.settings.parallel_limit,
        "agent_limits": wanted.agent_limits != before.engine.agent_limits,
    }
    names = tuple(name for name, changed in moved.items() if changed)
    return ChangeEngineSettings(new_request_id(), wanted, names) if names else None


def _find_parallel_limit(state: State, changes: SettingsChanges, batches: list[ChangeSettings]) -> int:
    """What is set; what nobody has set follows the open batches."""
    before, after = changes.before, changes.after
    wider = {request.batch: request.settings for request in batches if "max_parallel" in request.fields}
    same = before.origins[_PARALLEL_LIMIT_KEY] == after.origins[_PARALLEL_LIMIT_KEY] and before.engine == after.engine
    if same and not wider:
        return state.settings.parallel_limit
    if after.origins[_PARALLEL_LIMIT_KEY].layer is not Layer.DEFAULT:
        return after.engine.parallel_limit
    open_ = {name: batch.settings for name, batch in state.open.items()}
    return derive_parallel_limit(settings.max_parallel for settings in (open_ | wider).values())
