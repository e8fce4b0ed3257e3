"""Loading settings: finding and reading the files, and merging all layers. Only this module of the package reads files."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from plait.config.config import Config, Layer
from plait.config.keys import KEYS_BY_NAME, TABLES, find_similar, suggest_key
from plait.config.layers import LayerValues, merge_layers, read_environment, read_flags, read_saved
from plait.config.toml_file import ParsedToml, format_toml_key, parse_toml
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Origin


@dataclass(frozen=True, slots=True)
class ConfigDocument:
    """A TOML file with settings; `table_path` is the table that holds them: `tool.plait` in pyproject.toml, else the top."""

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
        return Origin(self.file, self.content.key_lines.find_line(*self.table_path, *path))


def read_document(document: ConfigDocument, layer: Layer) -> LayerValues:
    """Valid settings and all problems, in the order of the lines."""
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
    if name not in TABLES:
        _report_unknown(values, name, table, at)
    elif not isinstance(table, Mapping):
        values.add_error(f"{name} must be a table", at, f"Write [{name}] on a line, with its settings below.")
    else:
        for field, value in table.items():
            _read_setting(values, document, (name, field), value)


def _read_setting(values: LayerValues, document: ConfigDocument, path: tuple[str, str], value: object) -> None:
    key = KEYS_BY_NAME.get(".".join(path))
    if key is None:
        table, field = path
        message = f"there is no setting called {table}.{format_toml_key(field)}"
        values.add_error(message, document.origin_of(*path), suggest_key(table, field))
    elif key.user_only and values.layer is Layer.REPOSITORY:
        message = f"{key.name} is a personal setting, which a repository can't set"
        hint = f"Put it into your own config.toml (in ~/.config/plait/ on Linux), or into {key.env_variable}."
        values.add_error(message, document.origin_of(*path), hint)
    else:
        values.add(key, value, document.origin_of(*path))


def _report_unknown(values: LayerValues, name: str, value: object, at: Origin) -> None:
    if isinstance(value, Mapping):
        alike = find_similar(name, TABLES)
        hint = f"Did you mean [{alike}]?" if alike else f"The tables: {', '.join(TABLES)}."
        values.add_error(f"there is no table called {format_toml_key(name)}", at, hint)
    else:
        values.add_error(f"there is no setting called {format_toml_key(name)}", at, suggest_key("", name))


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
    own = _read_bytes(top / PLAIT_TOML, PLAIT_TOML)
    ours = None if own is None else _parse_document(own, PLAIT_TOML)
    theirs = _read_pyproject(top / PYPROJECT)
    if ours and theirs:
        raise ConfigError(
            f"there are settings in {PLAIT_TOML} and under [tool.plait] at {theirs.origin_of()}",
            hint=f"Keep one of them: move [tool.plait] to {PLAIT_TOML}, or delete {PLAIT_TOML}.",
        )
    return ours or theirs


def _read_pyproject(path: Path) -> ConfigDocument | None:
    """Problems of this file only matter if it mentions plait."""
    try:
        data = _read_bytes(path, PYPROJECT) or b""
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
    """None if there is no such file."""
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
    """The settings of the repository at `top`; raises ConfigError. `flags` are by key (`run.retries`), None if not given.

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
