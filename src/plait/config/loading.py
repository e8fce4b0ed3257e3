"""Loading settings: reading files, saved settings, variables and flags, and merging these layers.

Only this module of the package reads files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from plait.config import keys
from plait.config.config import COMMAND_AGENT, Config, Layer, ValueOrigin
from plait.config.key import ENV_PREFIX, AnyKey
from plait.config.toml_file import ParsedToml, format_short, format_toml_key, parse_toml
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
    """The settings are invalid; has all their problems."""

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
        """Add a value or its problem. `from_text`: text of a variable or a flag, to be parsed first."""
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
    """Merge the layers, the weakest of which comes first. Raises SettingsError with the errors of all layers."""
    values: dict[str, tuple[object, ValueOrigin]] = {
        key.name: (key.default, ValueOrigin(Layer.DEFAULT)) for key in keys.KEYS
    }
    problems: list[Problem] = []
    for layer in layers:
        values.update(_pick_values(layer, values) if layer.layer is Layer.REPOSITORY else layer.values)
        problems += layer.problems
    config = _build_config(values)
    problems += filter(None, (_check_gate(config), _check_command(config)))  # valid values that don't go together
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise SettingsError(errors)
    return replace(config, warnings=tuple(problems))


def _pick_values(
    layer: LayerValues, own: Mapping[str, tuple[object, ValueOrigin]]
) -> Iterator[tuple[str, tuple[object, ValueOrigin]]]:
    """Yield the repository's values that apply beside the user's own, and warn about the others."""
    for name, (value, origin) in layer.values.items():
        pick = keys.KEYS_BY_NAME[name].pick
        if pick is None or pick(own[name][0], value) == value:
            yield name, (value, origin)
        else:
            assert origin.at is not None
            layer.add_warning(
                f"{name} = {value} is weaker than your own setting, {own[name][0]}, which applies", origin.at
            )


def _build_config(values: dict[str, tuple[object, ValueOrigin]]) -> Config:
    # Any: each table is of the type that the field of the same name has.
    tables: dict[str, Any] = {
        table.name_in_file: table(**{key.field: values[key.name][0] for key in table.keys})
        for table in keys.CONFIG_TABLES
    }
    return Config(**tables, origins=MappingProxyType({name: origin for name, (_, origin) in values.items()}))


def _check_gate(config: Config) -> Problem | None:
    """Check the batch settings as a whole: after each value was checked, only a gate without merges can be wrong."""
    message = config.batch_settings(tasks=1, cores=1).problem()
    if message is None:
        return None
    given = max((config.origins[name] for name in ("run.gate", "run.isolation")), key=lambda given: given.strength)
    return Problem(Severity.ERROR, message, given.at)


def _check_command(config: Config) -> Problem | None:
    """Report a command and other agents that the same layer sets."""
    named = config.run.agent
    if config.run.agent_command is None or not named or COMMAND_AGENT in named or config.agents_over_command:
        return None
    message = f"run.agent_command and run.agent ({', '.join(named)}) both set the agent for tasks that name none"
    hint = f"Leave one of them out, or share the tasks: {', '.join((*named, COMMAND_AGENT))}."
    return Problem(Severity.ERROR, message, config.origins["run.agent_command"].at, hint)


def read_saved(settings: Mapping[str, str]) -> LayerValues:
    """Read saved JSON texts by the names of the HTTP API. A name of another version is ignored with a warning."""
    layer = LayerValues(Layer.SAVED)
    if not settings:
        return layer
    import msgspec  # only needed if something is saved

    for name, text in settings.items():
        at = saved_origin(name)
        if name not in keys.KEYS_BY_JSON_NAME:
            layer.add_warning("this version has no such setting; it is ignored", at, _suggest(name))
            continue
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            layer.add_error("this is not JSON", at, "Save it again on the page or through the API.")
        else:
            layer.add(keys.KEYS_BY_JSON_NAME[name], value, at)
    return layer


def saved_origin(name: str) -> Origin:
    """Return the origin of a saved setting."""
    return Origin(f"saved setting {name}")


def read_environment(variables: Mapping[str, str]) -> LayerValues:
    """Read the variables: `PLAIT_RETRIES` is `run.retries`, `PLAIT_SOURCES_TAG` is `sources.tag`; an empty variable
    counts as unset.

    Attempts and plugins have `PLAIT_` variables of their own, so only an unknown one that looks like a misspelt setting
    is worth a warning.
    """
    layer = LayerValues(Layer.ENVIRONMENT)
    for name, text in variables.items():
        if not name.startswith(ENV_PREFIX) or not text or name in ATTEMPT_VARIABLES:
            continue
        if name in keys.KEYS_BY_VARIABLE:
            layer.add(keys.KEYS_BY_VARIABLE[name], text, Origin(name), from_text=True)
            continue
        known = {variable.removeprefix(ENV_PREFIX): variable for variable in keys.KEYS_BY_VARIABLE}
        alike = keys.find_similar(name.removeprefix(ENV_PREFIX), known, _MIN_ENV_SIMILARITY)
        if alike:
            layer.add_warning("there is no setting of this name", Origin(name), f"Did you mean {known[alike]}?")
    return layer


def read_flags(given: Mapping[str, object]) -> LayerValues:
    """Read the flags by key: texts, or what the command line has parsed. None is a flag that was not given."""
    layer = LayerValues(Layer.FLAG)
    for name, value in given.items():
        if value is not None:
            key = keys.KEYS_BY_NAME[name]
            layer.add(key, value, Origin(key.flag or name), from_text=True)
    return layer


def _suggest(json_name: str) -> str:
    similar = keys.find_similar(json_name, keys.KEYS_BY_JSON_NAME)
    return f"Did you mean {similar}?" if similar else ""


@dataclass(frozen=True, slots=True)
class ConfigDocument:
    """A TOML file with settings in the table `table_path`: `tool.plait` in pyproject.toml, else the top."""

    file: str
    content: ParsedToml
    table_path: tuple[str, ...] = ()

    @property
    def settings(self) -> object:
        """The settings' table, or whatever is in its place; None if there is nothing."""
        tree: object = self.content.tree
        for name in self.table_path:
            tree = tree.get(name) if isinstance(tree, Mapping) else None
        return tree

    def origin_of(self, *path: str) -> Origin:
        return Origin(self.file, self.content.find_line(*self.table_path, *path))


def read_document(document: ConfigDocument, layer: Layer) -> LayerValues:
    """Read valid settings and all problems, in the order of the lines."""
    values = LayerValues(layer)
    settings = document.settings
    if isinstance(settings, Mapping):
        for name, table in settings.items():
            _read_table(values, document, name, table)
    else:
        values.add_error(f"{'.'.join(document.table_path)} must be a table", document.origin_of())
    values.problems.sort(key=lambda problem: problem.at.line if problem.at else 0)
    return values


def _read_table(values: LayerValues, document: ConfigDocument, name: str, table: object) -> None:
    at = document.origin_of(name)
    if name not in keys.TABLES:
        _report_unknown(values, name, table, at)
    elif not isinstance(table, Mapping):
        values.add_error(f"{name} must be a table", at, f"Write [{name}] on a line, with its settings below.")
    else:
        for field, value in table.items():
            _read_setting(values, document, (name, field), value)


def _read_setting(values: LayerValues, document: ConfigDocument, path: tuple[str, str], value: object) -> None:
    key = keys.KEYS_BY_NAME.get(".".join(path))
    if key is None:
        table, field = path
        message = f"there is no setting called {table}.{format_toml_key(field)}"
        values.add_error(message, document.origin_of(*path), keys.suggest_key(table, field))
    elif key.user_only and values.layer is Layer.REPOSITORY:
        message = f"{key.name} is a personal setting, which a repository can't set"
        hint = f"Put it into your own config.toml (in ~/.config/plait/ on Linux), or into {key.env_variable}."
        values.add_error(message, document.origin_of(*path), hint)
    else:
        values.add(key, value, document.origin_of(*path))


def _report_unknown(values: LayerValues, name: str, value: object, at: Origin) -> None:
    if isinstance(value, Mapping):
        alike = keys.find_similar(name, keys.TABLES)
        hint = f"Did you mean [{alike}]?" if alike else f"The tables: {', '.join(keys.TABLES)}."
        values.add_error(f"there is no table called {format_toml_key(name)}", at, hint)
    else:
        values.add_error(f"there is no setting called {format_toml_key(name)}", at, keys.suggest_key("", name))


PLAIT_TOML = "plait.toml"
PYPROJECT = "pyproject.toml"
_PYPROJECT_TABLE = ("tool", "plait")
_BOM = b"\xef\xbb\xbf"


def find_user_file() -> Path:
    from platformdirs import user_config_path  # `plait --help` goes without

    return user_config_path("plait", appauthor=False) / "config.toml"


def read_user_file(path: Path) -> ConfigDocument | None:
    data = _read_bytes(path, str(path))
    return None if data is None else _parse_document(data, str(path))


def read_repository_file(top: Path) -> ConfigDocument | None:
    data = _read_bytes(_require_inside(top, PLAIT_TOML), PLAIT_TOML)
    plait_toml = None if data is None else _parse_document(data, PLAIT_TOML)
    pyproject = _read_pyproject(top)
    if plait_toml and pyproject:
        raise ConfigError(
            f"there are settings in {PLAIT_TOML} and under [tool.plait] at {pyproject.origin_of()}",
            hint=f"Keep one of them: move [tool.plait] to {PLAIT_TOML}, or delete {PLAIT_TOML}.",
        )
    return plait_toml or pyproject


def _require_inside(top: Path, name: str) -> Path:
    """Return the real path of a repository's file; a link that leads outside could make any file show up in messages."""
    path, real, real_top = top / name, os.path.realpath(top / name), os.path.realpath(top)
    inside = real.startswith(f"{real_top}{os.sep}") and ".git" not in Path(real).relative_to(real_top).parts
    if not os.path.exists(real):  # noqa: PTH110 - it never raises
        return path
    if path.is_symlink() and not inside:
        hint = "Replace the link by a copy, or put the settings into your own config.toml."
        raise ConfigError(f"{name} is a link that leads out of the repository, and is not read", hint=hint)
    return Path(real) if inside else path


def _read_pyproject(top: Path) -> ConfigDocument | None:
    """Read pyproject.toml. Problems of this file only matter if it mentions plait."""
    try:
        data = _read_bytes(_require_inside(top, PYPROJECT), PYPROJECT) or b""
    except ConfigError:
        return None
    if b"plait" not in data:
        return None
    document = _parse_document(data, PYPROJECT, _PYPROJECT_TABLE)
    return None if document.settings is None else document


def _parse_document(data: bytes, file: str, table_path: tuple[str, ...] = ()) -> ConfigDocument:
    data = data.removeprefix(_BOM)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}:{line}: this line is not UTF-8", hint="Save the file as UTF-8.") from error
    return ConfigDocument(file, parse_toml(text, file), table_path)


def _read_bytes(path: Path, name: str) -> bytes | None:
    """Return the file's content; None if there is no such file."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # reading a pipe would block
            what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise ConfigError(f"{name} is {what}, and should be a config file", hint="Move or rename it.")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise ConfigError(f"{name} is a broken link", hint="Fix or delete the link.") from None
        return None
    except OSError as error:
        raise ConfigError(f"{name} can't be read: {error.strerror}", hint="Check its permissions: ls -l.") from error


def load_config(
    top: Path,
    *,
    flags: Mapping[str, object] | None = None,
    saved: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    user: Path | None = None,
) -> Config:
    """Load the settings of the repository at `top`; raises ConfigError. `flags` are by key (`run.retries`), None if not
    given.

    By default, the variables are those of this process and the user's file is the usual one.
    """
    layers = (
        _read_layer(read_user_file(user or find_user_file()), Layer.USER),
        _read_layer(read_repository_file(top), Layer.REPOSITORY),
        read_saved(saved or {}),
        read_environment(os.environ if environment is None else environment),
        read_flags(flags or {}),
    )
    return merge_layers(layers)


def _read_layer(found: ConfigDocument | None, layer: Layer) -> LayerValues:
    return read_document(found, layer) if found else LayerValues(layer)
