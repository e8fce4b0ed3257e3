"""The settings as text: the `plait.toml` that `plait init` writes, and the tables of docs/configuration.md.

`python -m plait.config.reference` prints these tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.key import AnyKey
from plait.config.keys import KEYS, KEYS_BY_NAME, TABLES, list_table_keys
from plait.config.toml_file import format_short, format_toml
from plait.config.value_types import InvalidValueError
from plait.core.errors import UserError

_TEMPLATE_HEADER = "# Settings of plait for this repository. `plait config` shows all settings and their values."
# Those that most repositories need: a comment says so if they are not set.
_TEMPLATE_KEYS = frozenset({"sources.paths", "run.agent", "run.verify", "workspace.setup"})


def render_config_template(values: Mapping[str, object]) -> str:
    """Render a short file with these `values` by key; the few other keys that most repositories need are comments."""
    for name in values:
        if name not in KEYS_BY_NAME:
            raise UserError(f"there is no setting called {name}")
    tables = (_template_table(table, values) for table in TABLES)
    return "\n".join([_TEMPLATE_HEADER, *filter(None, tables), ""])


def _template_table(table: str, values: Mapping[str, object]) -> str:
    lines = [_template_line(key, values) for key in list_table_keys(table) if key.name in {*values, *_TEMPLATE_KEYS}]
    return "\n".join(["", f"[{table}]", *lines]) if lines else ""


def _template_line(key: AnyKey, values: Mapping[str, object]) -> str:
    line = f"{key.field} = {_format_setting(key, values)}"
    return line if key.name in values else f"#{line}  # {key.about}"


def _format_setting(key: AnyKey, values: Mapping[str, object]) -> str:
    if key.name not in values:
        return format_toml(key.value_type.format_for_file(key.default))
    try:
        return format_toml(key.value_type.format_for_file(key.value_type.read(values[key.name])))
    except InvalidValueError:
        message = f"{key.name} must be {key.value_type.allowed}, not {format_short(values[key.name])}"
        raise UserError(message) from None


def render_reference() -> str:
    """Render one table for each table of plait.toml."""
    return "\n".join(_reference_table(name, about) for name, about in TABLES.items())


def _reference_table(name: str, about: str) -> str:
    rows = [_reference_row(key) for key in KEYS if key.table == name]
    head = ["| key | default | meaning |", "|---|---|---|"]
    return "\n".join([f"## `[{name}]`", "", about, "", *head, *rows, ""])


def _reference_row(key: AnyKey) -> str:
    value = key.value_type.format_for_file(key.default)
    default = f"`{format_toml(value)}`" if value not in (None, "", [], {}) else "none"
    return f"| `{key.field}` | {default} | {key.about} |"


if __name__ == "__main__":
    print(render_reference(), end="")  # noqa: T201 - its purpose
