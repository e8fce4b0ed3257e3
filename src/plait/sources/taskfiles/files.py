"""The files of a folder that hold one task each: where they lie, which of them count, and what to say if none does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from plait.core.globs import parse
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.model import Document, Material

if TYPE_CHECKING:
    from plait.sources.taskfiles.keys import Keys

_ABOUT = frozenset({"readme.md", "phases.md"})
_ENOUGH = 20


def folder_of(path: str) -> str:
    """The folder of a source: `path` itself, or the one in which the file `path` lies; empty for the current one."""
    folder = path.rpartition("/")[0] if path.endswith(".md") else path.rstrip("/") or path[:1]
    return "" if folder == "." else folder


def beside(path: str, name: str) -> str:
    """Where a file of this name lies: in the folder `path`, or next to the file `path`."""
    folder = folder_of(path)
    return f"{folder.rstrip('/')}/{name}" if folder else name


def aside(document: Document) -> bool:
    """A file about the folder, or a hidden one: never a task."""
    name = document.name.lower()
    return name.startswith(("_", ".")) or name in _ABOUT or not name.endswith(".md")


def samples(material: Material, *texts: str) -> Iterator[Keys]:
    """The keys of some files of a source, as far as their front matter holds all these texts: enough to know it by."""
    from plait.sources.taskfiles.keys import Keys  # noqa: PLC0415 - with YAML, and only markdown has front matter

    for document in material.documents[:_ENOUGH]:
        if not aside(document) and document.markdown.front and all(text in document.text for text in texts):
            yield Keys(document)


def nothing(material: Material, what: str) -> Problem:
    """The error of a source that has no task at all."""
    message = f"there are no {what} in {material.path}"
    hint = "It takes .md files directly inside; README.md and names with _ or . in front are passed over."
    if material.options.exclude:
        hint += f" Excluded: {', '.join(material.options.exclude)}."
    return Problem(Severity.ERROR, message, Origin(material.path), hint)


def included(material: Material) -> list[Document]:
    """The documents that may be tasks: not those about the folder, nor hidden ones, nor what is excluded."""
    excluded = [parse(glob) for glob in material.options.exclude if glob]
    folder = material.path.rstrip("/") + "/"
    found = []
    for document in material.documents:
        names = (document.name, document.path, document.path.removeprefix(folder))
        if not aside(document) and not any(glob.matches(name) for glob in excluded for name in names):
            found.append(document)
    return found
