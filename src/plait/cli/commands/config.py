"""`plait config`: every setting with its value and origin."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.output import OK, Page, print_json, print_problems
from plait.client.project_state import load_project_config
from plait.config.config import Config
from plait.config.key import AnyKey
from plait.config.keys import KEYS, KEYS_BY_FIELD, KEYS_BY_NAME, TABLES, list_table_keys, suggest_key
from plait.config.toml_file import format_toml, format_toml_key
from plait.core.errors import UserError

_VALUE_WIDTH = 22
_FIELD_WIDTH = max(len(key.field) for key in KEYS)
_INDENT = 2
_NARROW_WIDTH = 60


def config_command(
    where: Path,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="Show only this setting.")] = None,
    *,
    as_json: opt.Json = False,
) -> int:
    """Print settings. Raises UserError for an unknown key; warnings go to standard error."""
    wanted = None if key is None else find_key(key)
    config = load_project_config(where)
    print_problems(config.warnings)
    if as_json:
        print_json(describe_settings(config) if wanted is None else describe_setting(config, wanted))
    elif wanted is not None:
        sys.stdout.write("".join(f"{line}\n" for line in format_value(config, wanted)))
    else:
        make_settings_page(config, get_terminal_size().columns).show()
    return OK


def find_key(name: str) -> AnyKey:
    """Find a key by its name, with or without its table. Raises UserError if there is none."""
    key = KEYS_BY_NAME.get(name) or KEYS_BY_FIELD.get(name)
    if key is None:
        table, _, field = name.rpartition(".")
        raise UserError(
            f"there is no setting called {'.'.join(map(format_toml_key, name.split('.')))}",
            hint=suggest_key(table, field) or "`plait config` lists them all.",
        )
    return key


def describe_settings(config: Config) -> list[dict[str, object]]:
    return [describe_setting(config, key) for key in KEYS]


def describe_setting(config: Config, key: AnyKey) -> dict[str, object]:
    """Describe a setting. `file` and `line` are for files; `name` is the variable, the flag or the saved setting."""
    origin = config.origins[key.name]
    at = origin.at
    return {
        "key": key.name,
        "value": key.to_public(config.value(key)),
        "default": key.value_type.plain(key.default),
        "source": origin.layer.value,
        "file": at.file if at and origin.is_in_file else None,
        "line": at.line if at and origin.is_in_file else None,
        "name": at.file if at and not origin.is_in_file else None,
    }


def format_value(config: Config, key: AnyKey) -> list[str]:
    """Format one value for scripts: unquoted, one item per line, nothing if unset."""
    value = key.value_type.format_for_file(key.mask_value(config.value(key)))
    match value:
        case list():
            return [_escape_unprintable(item) for item in value]
        case dict():
            return [f"{_escape_unprintable(name)}={count}" for name, count in value.items()]
        case str():
            return [_escape_unprintable(value)] if value else []
        case _:
            return [format_toml(value)]


def make_settings_page(config: Config, width: int) -> Page:
    page = Page()
    indent = " " * (_INDENT + _FIELD_WIDTH + 2 if width >= _NARROW_WIDTH else 2 * _INDENT)
    for table in TABLES:
        page.add_line((f"[{table}]", "bold"))
        for key in list_table_keys(table):
            _add_setting(page, config, key)
            for line in wrap(key.about, max(width, _NARROW_WIDTH // 2) - len(indent)):
                page.add_line((f"{indent}{line}", "dim"))
        page.add_line()
    changed = any(config.value(key) != key.default for key in KEYS)
    page.add_line(("* differs from the default" if changed else "All settings have their default values.", "dim"))
    return page


def _add_setting(page: Page, config: Config, key: AnyKey) -> None:
    value = key.value_type.format_for_file(key.mask_value(config.value(key)))
    changed = config.value(key) != key.default
    text = "none" if value in ("", [], {}) else format_toml(value)
    page.add_line(
        f"{'*' if changed else '':<{_INDENT}}{key.field:<{_FIELD_WIDTH}}  ",
        (f"{text:<{_VALUE_WIDTH}}", "bold" if changed else ""),
        (f"  {_escape_unprintable(str(config.origins[key.name]))}", "cyan" if changed else "dim"),
    )


def _escape_unprintable(text: str) -> str:
    """Escape control characters, so that a repository's file can't control the terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else format_toml(char)[1:-1] for char in text)
