"""A `plait.toml` to begin with: every key with what it means; what is set as a value, the rest as a comment."""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.key import AnyKey
from plait.config.kinds import Unfit, listed
from plait.config.schema import BY_NAME, TABLES, of_table
from plait.config.toml import shown, write
from plait.core.errors import UserError

_HEAD = "# Settings of plait for this repository. `plait config` shows what is in force, and why."


def template(values: Mapping[str, object]) -> str:
    """`values` by key, as a file would say them. What is commented out is the default, and says so without a space."""
    for name in values:
        if name not in BY_NAME:
            raise UserError(f"there is no setting called {name}")
    tables = (_table(table, about, values) for table, about in TABLES.items() if _keys(table))
    return "\n".join([_HEAD, *tables, ""])


def _table(table: str, about: str, values: Mapping[str, object]) -> str:
    lines = ["", f"# {about}", f"[{table}]"]
    for key in _keys(table):
        mark = "" if key.name in values else "#"
        lines += [f"# {_meaning(key)}", f"{mark}{key.field} = {_spelt(key, values)}"]
    return "\n".join(lines)


def _keys(table: str) -> list[AnyKey]:
    """Those that a repository may set."""
    return [key for key in of_table(table) if not key.private]


def _spelt(key: AnyKey, values: Mapping[str, object]) -> str:
    if key.name not in values:
        return write(key.kind.spelt(key.default))
    try:
        return write(key.kind.spelt(key.kind.read(values[key.name])))
    except Unfit:
        message = f"{key.name} must be {key.kind.allowed}, not {shown(values[key.name])}"
        raise UserError(message) from None


def _meaning(key: AnyKey) -> str:
    choices = f" One of {listed(key.kind.choices)}." if key.kind.choices else ""
    return f"{key.about[:1].upper()}{key.about[1:]}.{choices}"
