"""The settings as a page: `python -m plait.config.reference` writes the tables of docs/configuration.md."""

from __future__ import annotations

from plait.config.key import AnyKey
from plait.config.schema import KEYS, TABLES
from plait.config.toml import write


def tables() -> str:
    """One table for each table of plait.toml."""
    return "\n".join(_table(name, about) for name, about in TABLES.items())


def _table(name: str, about: str) -> str:
    rows = [_row(key) for key in KEYS if key.table == name]
    head = ["| key | default | what it means |", "|---|---|---|"]
    return "\n".join([f"## `[{name}]`", "", about, "", *head, *rows, ""])


def _row(key: AnyKey) -> str:
    spelt = key.kind.spelt(key.default)
    default = f"`{write(spelt)}`" if spelt not in (None, "", [], {}) else "none"
    return f"| `{key.field}` | {default} | {key.about} |"


if __name__ == "__main__":
    print(tables(), end="")  # noqa: T201 - what was asked for
