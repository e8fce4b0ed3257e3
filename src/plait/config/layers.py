"""Layers of settings: reading those that are no files (saved settings, variables, flags), and merging all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any

from plait.config.config import COMMAND_AGENT, Config, Layer, ValueOrigin
from plait.config.key import ENV_PREFIX, AnyKey
from plait.config.keys import CONFIG_TABLES, KEYS, KEYS_BY_JSON_NAME, KEYS_BY_NAME, KEYS_BY_VARIABLE, find_similar
from plait.config.toml_file import format_short
from plait.config.value_types import InvalidValueError
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin

_MIN_ENV_SIMILARITY = 0.7

# The variables of attempts: a plait that runs inside an attempt does not warn about them.
ATTEMPT_VARIABLES = frozenset(
    ENV_PREFIX + name
    for name in (
        *("TASK_ID", "BATCH", "ATTEMPT", "STEP", "WORKSPACE", "PORT", "PORTS", "NAME", "MARK"),
        *("FEEDBACK_FILE", "TASK_FILE", "PROMPT_FILE", "TITLE", "DEBUG"),
    )
)


class SettingsError(ConfigError):
    """Everything that is wrong with the settings."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        *others, last = (
            ConfigError(f"{problem.at}: {problem.message}" if problem.at else problem.message, hint=problem.hint)
            for problem in problems
        )
        super().__init__("\n".join([*map(str, others), last.message]), hint=last.hint)
        self.problems = tuple(problems)


@dataclass(slots=True)
class LayerValues:
    """The valid values of one layer, by key, and the problems of the others."""

    layer: Layer
    values: dict[str, tuple[object, ValueOrigin]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, key: AnyKey, raw: object, at: Origin, *, from_text: bool = False) -> None:
        """`from_text`: a variable or a flag, whose text is first parsed into what a file would contain."""
        kind = key.value_type
        try:
            value = kind.read(kind.parse_text(raw) if from_text and isinstance(raw, str) else raw)
        except InvalidValueError as error:
            shown = "its value" if key.is_secret else format_short(raw)
            self.add_error(f"{key.name} must be {kind.allowed}, not {shown}", at, str(error))
        else:
            self.values[key.name] = (value, ValueOrigin(self.layer, at))

    def add_error(self, message: str, at: Origin, hint: str = "") -> None:
        self.problems.append(Problem(Severity.ERROR, message, at, hint))

    def add_warning(self, message: str, at: Origin, hint: str = "") -> None:
        self.problems.append(Problem(Severity.WARNING, message, at, hint))


def merge_layers(layers: Iterable[LayerValues]) -> Config:
    """The weakest layer comes first. Raises `SettingsError` with the errors of all layers."""
    values: dict[str, tuple[object, ValueOrigin]] = {
        key.name: (key.default, ValueOrigin(Layer.DEFAULT)) for key in KEYS
    }
    problems: list[Problem] = []
    for layer in layers:
        values.update(layer.values)
        problems += layer.problems
    config = _build_config(values)
    problems += _check_combinations(config)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise SettingsError(errors)
    return replace(config, warnings=tuple(problems))


def _build_config(values: dict[str, tuple[object, ValueOrigin]]) -> Config:
    # Any: each table is of the type that the field of the same name has.
    tables: dict[str, Any] = {
        table.name_in_file: table(**{key.field: values[key.name][0] for key in table.keys}) for table in CONFIG_TABLES
    }
    return Config(**tables, origins=MappingProxyType({name: origin for name, (_, origin) in values.items()}))


def _check_combinations(config: Config) -> list[Problem]:
    """Valid values that don't go together."""
    return [problem for problem in (_check_gate(config), _check_command(config)) if problem is not None]


def _check_gate(config: Config) -> Problem | None:
    """After each value was checked, only a gate without merges can be wrong."""
    message = config.batch_settings(tasks=1, cores=1).problem()
    if message is None:
        return None
    given = max((config.origins[name] for name in ("run.gate", "run.isolation")), key=lambda given: given.strength)
    return Problem(Severity.ERROR, message, given.at)


def _check_command(config: Config) -> Problem | None:
    """A command and other agents, both set by the same layer."""
    named = config.run.agent
    if config.run.agent_command is None or not named or COMMAND_AGENT in named or config.agents_over_command:
        return None
    message = f"run.agent_command and run.agent ({', '.join(named)}) both set the agent for tasks that name none"
    hint = f"Leave one of them out, or share the tasks: {', '.join((*named, COMMAND_AGENT))}."
    return Problem(Severity.ERROR, message, config.origins["run.agent_command"].at, hint)


def read_saved(settings: Mapping[str, str]) -> LayerValues:
    """JSON texts by the names of the HTTP API. A name of another version is ignored with a warning."""
    layer = LayerValues(Layer.SAVED)
    if not settings:
        return layer
    import msgspec  # only needed if something is saved

    for name, text in settings.items():
        at = saved_origin(name)
        if name not in KEYS_BY_JSON_NAME:
            layer.add_warning("this version has no such setting; it is ignored", at, _suggest(name))
            continue
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            layer.add_error("this is not JSON", at, "Save it again on the page or through the API.")
        else:
            layer.add(KEYS_BY_JSON_NAME[name], value, at)
    return layer


def saved_origin(name: str) -> Origin:
    """The origin of a saved setting."""
    return Origin(f"saved setting {name}")


def read_environment(variables: Mapping[str, str]) -> LayerValues:
    """`PLAIT_RETRIES` is `run.retries`, `PLAIT_SOURCES_TAG` is `sources.tag`; an empty variable counts as unset.

    Attempts and plugins have `PLAIT_` variables of their own, so only an unknown one that looks like a misspelt setting is
    worth a warning.
    """
    layer = LayerValues(Layer.ENVIRONMENT)
    for name, text in variables.items():
        if not name.startswith(ENV_PREFIX) or not text or name in ATTEMPT_VARIABLES:
            continue
        if name in KEYS_BY_VARIABLE:
            layer.add(KEYS_BY_VARIABLE[name], text, Origin(name), from_text=True)
            continue
        known = {variable.removeprefix(ENV_PREFIX): variable for variable in KEYS_BY_VARIABLE}
        alike = find_similar(name.removeprefix(ENV_PREFIX), known, _MIN_ENV_SIMILARITY)
        if alike:
            layer.add_warning("there is no setting of this name", Origin(name), f"Did you mean {known[alike]}?")
    return layer


def read_flags(given: Mapping[str, object]) -> LayerValues:
    """Values by key: texts, or what the command line has parsed. None is a flag that was not given."""
    layer = LayerValues(Layer.FLAG)
    for name, value in given.items():
        if value is not None:
            key = KEYS_BY_NAME[name]
            layer.add(key, value, Origin(key.flag or name), from_text=True)
    return layer


def _suggest(json_name: str) -> str:
    similar = find_similar(json_name, KEYS_BY_JSON_NAME)
    return f"Did you mean {similar}?" if similar else ""
