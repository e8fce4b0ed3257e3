"""Saved settings, as the page and the API show and change them.

A change is checked as a whole: either all of it is valid, or nothing is saved. It applies at once, also to open batches
that still have the old value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

import msgspec

from plait.agents import table
from plait.agents.interface import AgentSpec
from plait.client.agent_specs import build_agent_specs
from plait.client.api_errors import FieldError
from plait.client.json_encoding import Json, api_model, to_builtins
from plait.client.planning.agent_assignment import check_budgets
from plait.client.planning.plan_preview import measure_agent_capacity
from plait.client.planning.submission import derive_parallel_limit
from plait.client.session import new_request_id
from plait.client.trust import RepoCommand, list_repo_commands, save_trust
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
from plait.config.loading import SettingsError, load_config, saved_origin
from plait.config.toml_file import format_short
from plait.config.value_types import InvalidValueError, ValueKind
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
from plait.store.batch_files import BatchInputsError

GIVEN_FIELD = "given"


@api_model
class SettingOrigin:
    """A setting's origin. `hidden`: a stronger layer overrides the saved value. `problem`: why that is invalid."""

    layer: Layer
    at: str | None
    saved: bool
    hidden: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class Preferences:
    """Every setting by its JSON name, and where it comes from. Durations are in seconds, sizes in bytes."""

    values: Mapping[str, object]  # a setting may be any JSON value
    given: Mapping[str, SettingOrigin]

    def to_json(self) -> Json:
        return {**self.values, GIVEN_FIELD: to_builtins(self.given)}


def describe_preferences(config: Config, saved: Mapping[str, str]) -> Preferences:
    return Preferences(
        {key.json_name: key.to_public(config.value(key)) for key in KEYS},
        {key.json_name: _describe_origin(config, saved, key) for key in KEYS},
    )


def _describe_origin(config: Config, saved: Mapping[str, str], key: AnyKey) -> SettingOrigin:
    origin = config.origins[key.name]
    at = saved_origin(key.json_name)
    problem = next((warning.message for warning in config.warnings if warning.at == at), None)
    return SettingOrigin(
        layer=origin.layer,
        at=str(origin.at) if origin.at else None,
        saved=key.json_name in saved,
        hidden=key.json_name in saved and problem is None and origin.layer is not Layer.SAVED,
        problem=problem,
    )


@api_model
class SettingDetails:
    """The form field of a setting. `kind` suggests the kind of field; `allowed` describes the allowed values; `flag` is
    the option of `plait run`, if any.
    """

    name: str
    key: str
    table: str
    kind: ValueKind
    choices: list[str]
    allowed: str
    default: object
    about: str
    variable: str
    flag: str | None
    can_be_saved: bool


@api_model
class SettingsForm:
    tables: dict[str, str]
    settings: list[SettingDetails]


def describe_settings() -> SettingsForm:
    """Describe what a form for the settings needs, in the order of the documentation."""
    return SettingsForm(dict(TABLES), [_describe_key(key) for key in KEYS])


def _describe_key(key: AnyKey) -> SettingDetails:
    kind = key.value_type
    return SettingDetails(
        name=key.json_name,
        key=key.name,
        table=key.table,
        kind=kind.kind,
        choices=list(kind.choices),
        allowed=kind.allowed,
        default=kind.plain(key.default),
        about=key.about,
        variable=key.env_variable,
        flag=key.flag or None,
        can_be_saved=not key.is_secret,
    )


# The settings that name agents.
_AGENT_KEYS = ("run.agent", "run.fallback", "run.judge", "agents.permissions")


class InvalidSettingsError(FieldError):
    """Some settings are invalid, so none was saved. Has all problems, each with the name of its setting."""

    def __init__(self, problems: Sequence[tuple[str, Problem]]) -> None:
        self.field_problems = tuple(problems)
        self.fields = tuple(dict.fromkeys(name for name, _ in problems))
        self.problems = tuple(problem for _, problem in problems)
        message = "\n".join(dict.fromkeys(problem.message for problem in self.problems))
        super().__init__(message, field=self.fields[0], hint=self.problems[-1].hint)


@dataclass(frozen=True, slots=True)
class SettingsChanges:
    """What to save, and the settings before and after. `untrusted`: keys whose commands come from an untrusted
    repository. `commands` are those to be saved.
    """

    texts: tuple[tuple[str, str | None], ...]
    before: Config
    after: Config
    untrusted: frozenset[str] = frozenset()
    commands: tuple[RepoCommand, ...] = ()


def load_effective_config(location: RepoLocation, saved: Mapping[str, str]) -> Config:
    """Load the settings in force, with a warning for each invalid saved one, which is ignored: others can still be
    saved.

    Raises ConfigError for an invalid file.
    """
    config, problems = _load_config(location, saved)
    warnings = (replace(problem, severity=Severity.WARNING) for problem in problems)
    return replace(config, warnings=(*config.warnings, *warnings))


def check_changes(location: RepoLocation, saved: Mapping[str, str], patch: Mapping[str, object]) -> SettingsChanges:
    """Check `patch`: JSON values by name, null to remove one. Raises InvalidSettingsError or ConfigError."""
    before, known_problems = _load_config(location, saved)
    texts, field_problems = _encode_values(saved, patch)
    if field_problems:
        raise InvalidSettingsError(field_problems)
    try:
        after, problems = _load_config(location, saving.merge_saved_settings(saved, texts))
    except SettingsError as error:
        raise InvalidSettingsError([*_attribute_problems(error.problems, patch)]) from error
    field_problems = [*_attribute_problems([problem for problem in problems if problem not in known_problems], patch)]
    field_problems += () if field_problems else _check_agents(after, patch)
    if field_problems:
        raise InvalidSettingsError(field_problems)
    names = {KEYS_BY_JSON_NAME[name].name for name, text in texts if text is not None}
    commands = list_repo_commands(after, location)
    own = tuple(command for command in commands if command.given.layer is Layer.SAVED and command.key in names)
    untrusted = frozenset(command.key for command in commands if not command.trusted and command not in own)
    return SettingsChanges(texts, before, after, untrusted, own)


def trust_saved_commands(location: RepoLocation, changes: SettingsChanges) -> None:
    """Trust the saved commands on this machine: saving one is consent, but saved settings can be copied from elsewhere.

    Raises WorldError if it can't be saved.
    """
    if changes.commands:
        save_trust(location, changes.commands)


def _load_config(location: RepoLocation, saved: Mapping[str, str]) -> tuple[Config, list[Problem]]:
    """Load the settings without invalid saved ones, and the problems of those."""
    valid, problems = dict(saved), list[Problem]()
    while True:
        try:
            return load_config(location.top, saved=valid), problems
        except SettingsError as error:
            if not valid:
                raise
            invalid = {name for name in valid for problem in error.problems if problem.at == saved_origin(name)}
            problems += error.problems
            valid = {name: text for name, text in valid.items() if invalid and name not in invalid}


def _attribute_problems(problems: Sequence[Problem], patch: Mapping[str, object]) -> Iterator[tuple[str, Problem]]:
    """Yield each problem with its setting; a problem of a combination is reported for all settings of the patch."""
    for problem in problems:
        names = [name for name in patch if problem.at == saved_origin(name)]
        yield from ((name, problem) for name in names or patch)


def _encode_values(
    saved: Mapping[str, str], patch: Mapping[str, object]
) -> tuple[tuple[tuple[str, str | None], ...], list[tuple[str, Problem]]]:
    texts: list[tuple[str, str | None]] = []
    field_problems: list[tuple[str, Problem]] = []
    for name, value in patch.items():
        encoded = _encode_value(saved, name, value)
        if isinstance(encoded, Problem):
            field_problems.append((name, encoded))
        else:
            texts.append((name, encoded))
    why = None if field_problems else saving.why_not_save(saved, texts)
    if why is not None:
        field_problems += [(name, Problem(Severity.ERROR, why)) for name in patch]
    return tuple(texts), field_problems


def _encode_value(saved: Mapping[str, str], name: str, value: object) -> str | Problem | None:
    """Return the text to save, None to remove what is saved, or why the value can't be saved."""
    key = KEYS_BY_JSON_NAME.get(name)
    if value is None and (key is not None or name in saved):  # also of another version
        return None
    if key is None:
        return _report_unknown_setting(name)
    if key.is_secret:
        message = f"{name} may hold a secret, and saved settings stay in the journal forever"
        hint = f"Put {key.field} into your own config.toml, or into {key.env_variable}."
        return Problem(Severity.ERROR, message, hint=hint)
    try:
        text = msgspec.json.encode(key.value_type.plain(key.value_type.read(value))).decode()
    except InvalidValueError as error:
        message = f"{name} must be {key.value_type.allowed}, not {format_short(value)}"
        return Problem(Severity.ERROR, message, hint=str(error))
    if len(text) > saving.MAX_SAVED_TEXT_CHARS:
        message = f"{name} is too long to be saved: the limit is {saving.MAX_SAVED_TEXT_CHARS} characters"
        return Problem(Severity.ERROR, message)
    return text


def _report_unknown_setting(name: str) -> Problem:
    if name == GIVEN_FIELD:
        message = f"{GIVEN_FIELD} is the origin of each setting, and can't be set"
        return Problem(Severity.ERROR, message, hint="Send only settings.")
    same = KEYS_BY_NAME.get(name) or KEYS_BY_FIELD.get(name)
    suggestion = same.json_name if same else find_similar(name, KEYS_BY_JSON_NAME)
    hint = f"Did you mean {suggestion}?" if suggestion else "GET /api/settings lists them all."
    return Problem(Severity.ERROR, f"there is no setting called {format_short(name)[1:-1]}", hint=hint)


def _check_agents(config: Config, patch: Mapping[str, object]) -> Iterator[tuple[str, Problem]]:
    """Report unknown agents now, not when a batch starts."""
    try:
        specs = {spec.name: spec for spec in build_agent_specs(config)}
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
        case str() as name:
            return (name,)
        case tuple() as names:
            return tuple(item if isinstance(item, str) else item[0] for item in names)
        case _:
            return ()


def _check_agent(spec: AgentSpec) -> Problem | None:
    if spec.name == REFEREE:
        return Problem(Severity.ERROR, f"{REFEREE} only decides contests")
    try:
        table.load_agent(spec)
    except PlaitError as error:
        return Problem(Severity.ERROR, error.message, hint=error.hint)
    return None


_BATCH_FIELDS = {field.name for field in fields(Settings)}

# What may change while a batch is open. The others are fixed when it is submitted.
_FIXED_KEYS = frozenset({"run.isolation", "run.executor"})
_LIVE_FIELDS = [
    key.field for key in list_table_keys("run") if key.field in _BATCH_FIELDS and key.name not in _FIXED_KEYS
]
_BUDGETS = frozenset({"budget", "task_budget"})
_PARALLEL_LIMIT_KEY = "engine.parallel_limit"


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """The requests to send, in order; `notes` say which open batches keep their value, and why."""

    requests: tuple[Request, ...]
    notes: tuple[Problem, ...] = ()


def plan_change(location: RepoLocation, state: State, changes: SettingsChanges) -> ChangePlan:
    """Plan the change of open batches: those with the old value of a setting get the new one, others keep theirs."""
    if not changes.texts:
        return ChangePlan(())
    notes = list[Problem]()
    planned = [_plan_batch_change(location, batch, changes, notes) for batch in state.open.values()]
    batches = [request for request in planned if request is not None]
    limits = _make_engine_request(state, changes, batches)
    save = SaveSettings(new_request_id(), changes.texts)
    return ChangePlan((save, *((limits,) if limits else ()), *batches), tuple(notes))


def _plan_batch_change(
    location: RepoLocation, batch: BatchState, changes: SettingsChanges, notes: list[Problem]
) -> ChangeSettings | None:
    """Make the request that gives an open batch the values that it follows; add notes about those that it can't have."""
    cores, tasks, current = measure_agent_capacity(), len(batch.tasks), batch.settings
    old, new = (config.batch_settings(tasks=tasks, cores=cores) for config in (changes.before, changes.after))
    names = [name for name in _LIVE_FIELDS if getattr(current, name) == getattr(old, name) != getattr(new, name)]
    kept = dict(_find_kept_fields(location, batch, changes, new, names))
    notes += [
        Problem(Severity.WARNING, f"batch {batch.id} keeps its {KEYS_BY_NAME[f'run.{name}'].json_name}: {why}")
        for name, why in kept.items()
    ]
    wanted = tuple(name for name in names if name not in kept)
    return ChangeSettings(new_request_id(), batch.id, new, wanted) if wanted else None


def _find_kept_fields(
    location: RepoLocation, batch: BatchState, changes: SettingsChanges, new: Settings, names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield fields whose new value this batch can't have, with the reason."""
    for name in names:
        if f"run.{name}" in changes.untrusted:
            yield name, "the new value comes from the repository's settings, which are not trusted"
    if "gate" in names and new.gate and batch.settings.isolation is Isolation.IN_PLACE:
        yield "gate", "it merges nothing that a gate could run on"
    budgets = tuple(name for name in names if name in _BUDGETS)
    if budgets:
        try:
            agents = project_files.load_batch_inputs(location, batch.id).agents  # as submitted
        except BatchInputsError:
            agents = ()
        settings = batch.settings.with_fields(new, budgets)
        for problem in check_budgets(settings, [task.task for task in batch.tasks], agents):
            yield from ((name, problem.message) for name in budgets)


def _make_engine_request(
    state: State, changes: SettingsChanges, batches: list[ChangeSettings]
) -> ChangeEngineSettings | None:
    before, after = changes.before, changes.after
    wanted = replace(after.engine_settings(), parallel_limit=_find_parallel_limit(state, changes, batches))
    changes_by_field = {
        "parallel_limit": wanted.parallel_limit != state.settings.parallel_limit,
        "agent_limits": wanted.agent_limits != before.engine.agent_limits,
    }
    names = tuple(name for name, changed in changes_by_field.items() if changed)
    return ChangeEngineSettings(new_request_id(), wanted, names) if names else None


def _find_parallel_limit(state: State, changes: SettingsChanges, batches: list[ChangeSettings]) -> int:
    """Return the limit that is set; otherwise the one that follows from the open batches."""
    before, after = changes.before, changes.after
    changed = {request.batch: request.settings for request in batches if "max_parallel" in request.fields}
    same = before.origins[_PARALLEL_LIMIT_KEY] == after.origins[_PARALLEL_LIMIT_KEY] and before.engine == after.engine
    if same and not changed:
        return state.settings.parallel_limit
    if after.origins[_PARALLEL_LIMIT_KEY].layer is not Layer.DEFAULT:
        return after.engine.parallel_limit
    open_ = {name: batch.settings for name, batch in state.open.items()}
    return derive_parallel_limit(settings.max_parallel for settings in (open_ | changed).values())
