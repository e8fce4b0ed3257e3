"""A file's settings: every one that is in it, or why it can't be."""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.config import Layer
from plait.config.keys import KEYS_BY_NAME, TABLES, find_similar, suggest_key
from plait.config.layers import LayerValues
from plait.config.toml_file__toml import ParsedToml, format_toml_key
from plait.core.fast_dataclass import dataclass
from plait.core.task import Origin


@dataclass(frozen=True, slots=True)
class ConfigDocument:
    """Settings in TOML; `under` is the table that holds them: none in a file of our own, `tool.plait` in pyproject."""

    file: str
    content: ParsedToml
    table_path: tuple[str, ...] = ()

    @property
    def settings(self) -> object:
        """What stands where the settings should; None if nothing does."""
        tree: object = self.content.tree
        for name in self.table_path:
            tree = tree.get(name) if isinstance(tree, Mapping) else None
        return tree

    def origin_of(self, *path: str) -> Origin:
        return Origin(self.file, self.content.key_lines.find_line(*self.table_path, *path))


def read_document(document: ConfigDocument, layer: Layer) -> LayerValues:
    """All that is wrong is found in one go, in the order of the lines."""
    heard = LayerValues(layer)
    settings = document.settings
    if isinstance(settings, Mapping):
        for name, said in settings.items():
            _read_table(heard, document, name, said)
    else:
        heard.add_error(f"{'.'.join(document.table_path)} must be a table", document.origin_of())
    heard.problems.sort(key=lambda problem: problem.at.line if problem.at else 0)
    return heard


def _read_table(heard: LayerValues, document: ConfigDocument, name: str, said: object) -> None:
    at = document.origin_of(name)
    if name not in TABLES:
        _report_unknown(heard, name, said, at)
    elif not isinstance(said, Mapping):
        heard.add_error(f"{name} must be a table", at, f"Write [{name}] on a line, and its settings below.")
    else:
        for field, value in said.items():
            _read_setting(heard, document, (name, field), value)


def _read_setting(heard: LayerValues, document: ConfigDocument, path: tuple[str, str], said: object) -> None:
    key = KEYS_BY_NAME.get(".".join(path))
    if key is None:
        table, field = path
        message = f"there is no setting called {table}.{format_toml_key(field)}"
        heard.add_error(message, document.origin_of(*path), suggest_key(table, field))
    elif key.user_only and heard.layer is Layer.REPOSITORY:
        message = f"{key.name} is a person's own setting: no repository may say it for those who work in it"
        hint = f"Put it into your own config.toml (in ~/.config/plait/ on Linux), or into {key.env_variable}."
        heard.add_error(message, document.origin_of(*path), hint)
    else:
        heard.add(key, said, document.origin_of(*path))


def _report_unknown(heard: LayerValues, name: str, said: object, at: Origin) -> None:
    if isinstance(said, Mapping):
        alike = find_similar(name, TABLES)
        hint = f"Did you mean [{alike}]?" if alike else f"The tables: {', '.join(TABLES)}."
        heard.add_error(f"there is no table called {format_toml_key(name)}", at, hint)
    else:
        heard.add_error(f"there is no setting called {format_toml_key(name)}", at, suggest_key("", name))
