"""A file's settings: every one that is in it, or why it can't be."""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.layers import Heard
from plait.config.model import Layer
from plait.config.schema import BY_NAME, TABLES, meant, near
from plait.config.toml import Toml, bare
from plait.core.frozen import dataclass
from plait.core.task import Origin


@dataclass(frozen=True, slots=True)
class Document:
    """Settings in TOML; `under` is the table that holds them: none in a file of our own, `tool.plait` in pyproject."""

    file: str
    content: Toml
    under: tuple[str, ...] = ()

    @property
    def settings(self) -> object:
        """What stands where the settings should; None if nothing does."""
        tree: object = self.content.tree
        for name in self.under:
            tree = tree.get(name) if isinstance(tree, Mapping) else None
        return tree

    def at(self, *path: str) -> Origin:
        return Origin(self.file, self.content.places.line(*self.under, *path))


def hear(document: Document, layer: Layer) -> Heard:
    """All that is wrong is found in one go, in the order of the lines."""
    heard = Heard(layer)
    settings = document.settings
    if isinstance(settings, Mapping):
        for name, said in settings.items():
            _table(heard, document, name, said)
    else:
        heard.refuse(f"{'.'.join(document.under)} must be a table", document.at())
    heard.problems.sort(key=lambda problem: problem.at.line if problem.at else 0)
    return heard


def _table(heard: Heard, document: Document, name: str, said: object) -> None:
    at = document.at(name)
    if name not in TABLES:
        _unknown(heard, name, said, at)
    elif not isinstance(said, Mapping):
        heard.refuse(f"{name} must be a table", at, f"Write [{name}] on a line, and its settings below.")
    else:
        for field, value in said.items():
            _setting(heard, document, (name, field), value)


def _setting(heard: Heard, document: Document, path: tuple[str, str], said: object) -> None:
    key = BY_NAME.get(".".join(path))
    if key is None:
        table, field = path
        message = f"there is no setting called {table}.{bare(field)}"
        heard.refuse(message, document.at(*path), meant(table, field))
    elif key.private and heard.layer is Layer.REPOSITORY:
        message = f"{key.name} is a person's own setting: no repository may say it for those who work in it"
        hint = f"Put it into your own config.toml (in ~/.config/plait/ on Linux), or into {key.variable}."
        heard.refuse(message, document.at(*path), hint)
    else:
        heard.take(key, said, document.at(*path))


def _unknown(heard: Heard, name: str, said: object, at: Origin) -> None:
    if isinstance(said, Mapping):
        alike = near(name, TABLES)
        hint = f"Did you mean [{alike}]?" if alike else f"The tables: {', '.join(TABLES)}."
        heard.refuse(f"there is no table called {bare(name)}", at, hint)
    else:
        heard.refuse(f"there is no setting called {bare(name)}", at, meant("", name))
