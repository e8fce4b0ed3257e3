"""`plait config`: every setting, its value, and who gave it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli import say
from plait.config.key import AnyKey
from plait.config.model import Config
from plait.config.schema import BY_FIELD, BY_NAME, KEYS, TABLES, meant, of_table
from plait.config.toml import bare, write
from plait.core.errors import UserError

if TYPE_CHECKING:  # rich is slow to import, and `plait --help` reads this file
    from rich.console import Console, RenderableType

CHANGED = "*"
_VALUE_WIDTH = 22
_FIELD_WIDTH = max(len(key.field) for key in KEYS)
_INDENT = 2
_NARROW = 60


def config_command(
    where: Path,
    key: str | None,
    as_json: bool,  # noqa: FBT001 - the command line's own flag
    console: Console,
) -> int:
    """The exit code. What is wrong with the key or the settings is raised; warnings go to the standard error."""
    wanted = None if key is None else find(key)
    from plait.wiring.sources import settings  # noqa: PLC0415 - `plait --help` goes without

    config = settings(where)
    if config.warnings:
        say.tell_problems(config.warnings)
    if as_json:
        say.write_json(rows(config) if wanted is None else row(config, wanted))
    elif wanted is not None:
        console.file.write("".join(f"{line}\n" for line in lines(config, wanted)))
    else:
        console.print(listing(config, console.width))
    return say.OK


def find(name: str) -> AnyKey:
    """A key by its name, with or without its table."""
    key = BY_NAME.get(name) or BY_FIELD.get(name)
    if key is None:
        table, _, field = name.rpartition(".")
        raise UserError(
            f"there is no setting called {'.'.join(map(bare, name.split('.')))}",
            hint=meant(table, field) or "`plait config` lists them all.",
        )
    return key


def rows(config: Config) -> list[dict[str, object]]:
    return [row(config, key) for key in KEYS]


def row(config: Config, key: AnyKey) -> dict[str, object]:
    """`file` and `line` are for files; `name` is the variable, the flag or the saved setting."""
    given = config.given[key.name]
    at = given.at
    return {
        "key": key.name,
        "value": key.shown(config.value(key)),
        "default": key.kind.plain(key.default),
        "source": given.layer.value,
        "file": at.file if at and given.in_file else None,
        "line": at.line if at and given.in_file else None,
        "name": at.file if at and not given.in_file else None,
    }


def lines(config: Config, key: AnyKey) -> list[str]:
    """One value for scripts: without quotes, an item a line, nothing where nothing is set."""
    value = key.kind.spelt(key.veiled(config.value(key)))
    match value:
        case list():
            return [_visible(item) for item in value]
        case dict():
            return [f"{_visible(name)}={count}" for name, count in value.items()]
        case str():
            return [_visible(value)] if value else []
        case _:
            return [write(value)]


def listing(config: Config, width: int = 80) -> RenderableType:
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    parts: list[RenderableType] = []
    for table in TABLES:
        parts.append(Text(f"[{table}]", style="bold"))
        for key in of_table(table):
            parts += [_entry(config, key), _about(key, width)]
        parts.append(Text())
    changed = any(config.value(key) != key.default for key in KEYS)
    note = f"{CHANGED} differs from the default" if changed else "Everything is as it comes."
    return Group(*parts, Text(note, style="dim"))


def _entry(config: Config, key: AnyKey) -> RenderableType:
    from rich.text import Text  # noqa: PLC0415

    value = key.kind.spelt(key.veiled(config.value(key)))
    changed = config.value(key) != key.default
    said = "none" if value in ("", [], {}) else write(value)
    line = Text(f"{CHANGED if changed else '':<{_INDENT}}{key.field:<{_FIELD_WIDTH}}  ")
    line.append(f"{said:<{_VALUE_WIDTH}}", style="bold" if changed else "")
    line.append(f"  {_visible(str(config.given[key.name]))}", style="cyan" if changed else "dim")
    return line


def _about(key: AnyKey, width: int) -> RenderableType:
    from textwrap import fill  # noqa: PLC0415

    from rich.text import Text  # noqa: PLC0415

    indent = " " * (_INDENT + _FIELD_WIDTH + 2 if width >= _NARROW else 2 * _INDENT)
    said = fill(key.about, max(width, _NARROW // 2), initial_indent=indent, subsequent_indent=indent)
    return Text(said, style="dim")


def _visible(said: str) -> str:
    """Nothing in a repository's file may steer a terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else write(char)[1:-1] for char in said)
