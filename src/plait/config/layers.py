"""Layers: what each of them says, and the settings that come out when the stronger replace the weaker.

The layers that are no files: saved settings, variables, flags.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from types import MappingProxyType
from typing import Any

from plait.config.config import (
    COMMAND_AGENT,
    AgentsConfig,
    Config,
    EngineConfig,
    Layer,
    MergeConfig,
    ModelConfig,
    NotifyConfig,
    PrConfig,
    RunConfig,
    SourcesConfig,
    ValueOrigin,
    WorkspaceConfig,
)
from plait.config.key import ENV_PREFIX, AnyKey
from plait.config.keys import KEYS, KEYS_BY_NAME, KEYS_BY_SAVED_NAME, KEYS_BY_VARIABLE, find_similar
from plait.config.toml_file import format_short
from plait.config.value_types import InvalidValue
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin

ConfigTable = (
    RunConfig
    | AgentsConfig
    | ModelConfig
    | SourcesConfig
    | WorkspaceConfig
    | MergeConfig
    | PrConfig
    | EngineConfig
    | NotifyConfig
)


class SettingsError(ConfigError):
    """All that is wrong with the settings, at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        *others, last = (
            ConfigError(f"{problem.at}: {problem.message}" if problem.at else problem.message, hint=problem.hint)
            for problem in problems
        )
        super().__init__("\n".join([*map(str, others), last.message]), hint=last.hint)
        self.problems = tuple(problems)


@dataclass(slots=True)
class LayerValues:
    """What one layer says: the values that fit, by key, and what is wrong with the others."""

    layer: Layer
    values: dict[str, tuple[object, ValueOrigin]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, key: AnyKey, said: object, at: Origin, *, from_text: bool = False) -> None:
        """`aloud`: a text from outside, which is turned first into what a file would say."""
        try:
            value = key.value_type.read(
                key.value_type.parse_text(said) if from_text and isinstance(said, str) else said
            )
        except InvalidValue as unfit:
            found = "what stands there" if key.is_secret else format_short(said)
            self.add_error(f"{key.name} must be {key.value_type.allowed}, not {found}", at, str(unfit))
        else:
            self.values[key.name] = (value, ValueOrigin(self.layer, at))

    def add_error(self, message: str, at: Origin, hint: str = "") -> None:
        self.problems.append(Problem(Severity.ERROR, message, at, hint))

    def add_warning(self, message: str, at: Origin, hint: str = "") -> None:
        self.problems.append(Problem(Severity.WARNING, message, at, hint))


def merge_layers(layers: Iterable[LayerValues]) -> Config:
    """The weakest layer first. Raises `SettingsError` with the errors of all layers, if there are any."""
    values: dict[str, tuple[object, ValueOrigin]] = {
        key.name: (key.default, ValueOrigin(Layer.DEFAULT)) for key in KEYS
    }
    problems: list[Problem] = []
    for heard in layers:
        values.update(heard.values)
        problems += heard.problems
    config = _build_config(values)
    problems += _check_combinations(config)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise SettingsError(errors)
    return replace(config, warnings=tuple(problems))


def _build_config(values: dict[str, tuple[object, ValueOrigin]]) -> Config:
    def table(name: str, of: type[ConfigTable]) -> dict[str, Any]:
        # Any: each key's kind has made its value of the type that the field of the same name has.
        return {one.name: values[f"{name}.{one.name}"][0] for one in fields(of)}

    return Config(
        RunConfig(**table("run", RunConfig)),
        AgentsConfig(**table("agents", AgentsConfig)),
        ModelConfig(**table("model", ModelConfig)),
        SourcesConfig(**table("sources", SourcesConfig)),
        WorkspaceConfig(**table("workspace", WorkspaceConfig)),
        MergeConfig(**table("merge", MergeConfig)),
        PrConfig(**table("pr", PrConfig)),
        EngineConfig(**table("engine", EngineConfig)),
        NotifyConfig(**table("notify", NotifyConfig)),
        MappingProxyType({name: given for name, (_, given) in values.items()}),
    )


def _check_combinations(config: Config) -> list[Problem]:
    """What is wrong with values that are each right."""
    return [problem for problem in (_check_gate(config), _check_command(config)) if problem is not None]


def _check_gate(config: Config) -> Problem | None:
    """Only a gate where nothing is merged is left to be wrong."""
    message = config.batch_settings(tasks=1, cores=1).problem()
    if message is None:
        return None
    given = max((config.origins[name] for name in ("run.gate", "run.isolation")), key=lambda given: given.strength)
    return Problem(Severity.ERROR, message, given.at)


def _check_command(config: Config) -> Problem | None:
    """A command and other agents, said in one breath."""
    named = config.run.agent
    if config.run.agent_command is None or not named or COMMAND_AGENT in named or config.agents_over_command:
        return None
    message = f"run.agent_command and run.agent ({', '.join(named)}) both say who works tasks that name no agent"
    hint = f"Leave one of them out, or share the tasks: {', '.join((*named, COMMAND_AGENT))}."
    return Problem(Severity.ERROR, message, config.origins["run.agent_command"].at, hint)


_MIN_ENV_SIMILARITY = 0.7


# What attempts are told, so that a plait inside of one is not warned of its own surroundings.
ATTEMPT_VARIABLES = frozenset(
    ENV_PREFIX + name
    for name in """TASK_ID BATCH ATTEMPT STEP WORKSPACE PORT PORTS NAME MARK FEEDBACK_FILE TASK_FILE PROMPT_FILE TITLE
    DEBUG""".split()  # noqa: SIM905 - words read better in lines
)


def read_saved(settings: Mapping[str, str]) -> LayerValues:
    """JSON texts by the names of the page and the API. A name of another version is passed over with a warning."""
    heard = LayerValues(Layer.SAVED)
    if not settings:
        return heard
    import msgspec  # only those who have saved something need it

    for name, text in settings.items():
        at = saved_origin(name)
        if name not in KEYS_BY_SAVED_NAME:
            heard.add_warning(
                "this version has no such setting; it is passed over", at, _suggest(name, KEYS_BY_SAVED_NAME)
            )
            continue
        try:
            said = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            heard.add_error("this is not JSON", at, "Save it again on the page or through the API.")
        else:
            heard.add(KEYS_BY_SAVED_NAME[name], said, at)
    return heard


def saved_origin(name: str) -> Origin:
    """Where a saved setting was said."""
    return Origin(f"saved setting {name}")


def read_environment(variables: Mapping[str, str]) -> LayerValues:
    """`PLAIT_RETRIES` is `run.retries`, `PLAIT_SOURCES_TAG` is `sources.tag`; an empty variable says nothing.

    Attempts and plugins have `PLAIT_` variables of their own, so an unknown one is passed over; only one that looks like
    a setting with a slip in it is worth a warning.
    """
    heard = LayerValues(Layer.ENVIRONMENT)
    for name, text in variables.items():
        if not name.startswith(ENV_PREFIX) or not text or name in ATTEMPT_VARIABLES:
            continue
        if name in KEYS_BY_VARIABLE:
            heard.add(KEYS_BY_VARIABLE[name], text, Origin(name), from_text=True)
            continue
        known = {variable.removeprefix(ENV_PREFIX): variable for variable in KEYS_BY_VARIABLE}
        alike = find_similar(name.removeprefix(ENV_PREFIX), known, _MIN_ENV_SIMILARITY)
        if alike:
            heard.add_warning("no setting goes by this name", Origin(name), f"Did you mean {known[alike]}?")
    return heard


def read_flags(given: Mapping[str, object]) -> LayerValues:
    """Values by key, as the command line gives them: texts, or what it has made of them. None is a flag not given."""
    heard = LayerValues(Layer.FLAG)
    for name, said in given.items():
        if said is not None:
            key = KEYS_BY_NAME[name]
            heard.add(key, said, Origin(key.flag or name), from_text=True)
    return heard


def _suggest(word: str, names: Mapping[str, object]) -> str:
    alike = find_similar(word, names)
    return f"Did you mean {alike}?" if alike else ""
