"""The settings as a page: `python -m plait.config.reference` writes the tables of docs/configuration.md."""

from __future__ import annotations

from plait.config.key import AnyKey
from plait.config.keys import KEYS, TABLES
from plait.config.toml_file__toml import format_toml


def render_reference() -> str:
    """One table for each table of plait.toml."""
    return "\n".join(_reference_table(name, about) for name, about in TABLES.items())


def _reference_table(name: str, about: str) -> str:
    rows = [_reference_row(key) for key in KEYS if key.table == name]
    head = ["| key | default | what it means |", "|---|---|---|"]
    return "\n".join([f"## `[{name}]`", "", about, "", *head, *rows, ""])


def _reference_row(key: AnyKey) -> str:
    spelt = key.value_type.format_for_file(key.default)
    default = f"`{format_toml(spelt)}`" if spelt not in (None, "", [], {}) else "none"
    return f"| `{key.field}` | {default} | {key.about} |"


if __name__ == "__main__":
    print(render_reference(), end="")  # noqa: T201 - what was asked for
