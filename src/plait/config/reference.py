"""The settings as text: the `plait.toml` that `plait init` writes, and the tables of docs/configuration.md.

`python -m plait.config.reference` prints the latter.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.key import AnyKey
from plait.config.keys import KEYS, KEYS_BY_NAME, TABLES, list_table_keys
from plait.config.toml_file import format_short, format_toml
from plait.config.value_types import InvalidValueError, join_choices
from plait.core.errors import UserError

_TEMPLATE_HEADER = "# Settings of plait for this repository. `plait config` shows all values and their origins."


def render_config_template(values: Mapping[str, object]) -> str:
    """`values` by key, as in a file. Other keys are comments with their defaults, without a space after the #."""
    for name in values:
        if name not in KEYS_BY_NAME:
            raise UserError(f"there is no setting called {name}")
    tables = (_template_table(table, about, values) for table, about in TABLES.items() if _repository_keys(table))
    return "\n".join([_TEMPLATE_HEADER, *tables, ""])


def _template_table(table: str, about: str, values: Mapping[str, object]) -> str:
    lines = ["", f"# {about}", f"[{table}]"]
    for key in _repository_keys(table):
        mark = "" if key.name in values else "#"
        lines += [f"# {_describe(key)}", f"{mark}{key.field} = {_format_setting(key, values)}"]
    return "\n".join(lines)


def _repository_keys(table: str) -> list[AnyKey]:
    """The keys that a repository may set."""
    return [key for key in list_table_keys(table) if not key.user_only]


def _format_setting(key: AnyKey, values: Mapping[str, object]) -> str:
    if key.name not in values:
        return format_toml(key.value_type.format_for_file(key.default))
    try:
        return format_toml(key.value_type.format_for_file(key.value_type.read(values[key.name])))
    except InvalidValueError:
        message = f"{key.name} must be {key.value_type.allowed}, not {format_short(values[key.name])}"
        raise UserError(message) from None


def _describe(key: AnyKey) -> str:
    choices = f" One of {join_choices(key.value_type.choices)}." if key.value_type.choices else ""
    return f"{key.summary}{choices}"


def render_reference() -> str:
    """One table for each table of plait.toml."""
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
