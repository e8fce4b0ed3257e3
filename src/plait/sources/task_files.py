"""Folders of files that hold one task each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plait.core.file_locks import parse_glob
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.source_model import Document, SourceFiles

if TYPE_CHECKING:
    from plait.sources.front_matter import FrontMatter


_FOLDER_FILES = frozenset({"readme.md", "phases.md"})
_MAX_SAMPLES = 20


def get_folder(path: str) -> str:
    """Return the folder of a source: `path` itself, or that of the file `path`; empty for the current one."""
    folder = path.rpartition("/")[0] if path.endswith(".md") else path.rstrip("/") or path[:1]
    return "" if folder == "." else folder


def get_sibling_path(path: str, name: str) -> str:
    """Return the path of a file with this name in the folder `path`, or next to the file `path`."""
    folder = get_folder(path)
    return f"{folder.rstrip('/')}/{name}" if folder else name


def is_ignored(document: Document) -> bool:
    """Whether the file is about the folder, or hidden, and so is never a task."""
    name = document.name.lower()
    is_hidden = name.startswith(("_", ".")) or f"/{document.path}".endswith(
        f"/.beads/{document.name}"
    )  # Beads' PRIME.md
    return is_hidden or name in _FOLDER_FILES or not name.endswith(".md")


def sample_keys(source: SourceFiles, *texts: str) -> Iterator[FrontMatter]:
    """Yield the front matter of some files of a source that contain all these texts: enough to recognise its format."""
    from plait.sources.front_matter import FrontMatter  # with YAML, and only markdown has front matter

    for document in source.documents[:_MAX_SAMPLES]:
        if not is_ignored(document) and document.markdown.front_matter and all(text in document.text for text in texts):
            yield FrontMatter(document)


def report_no_tasks(source: SourceFiles, what: str) -> Problem:
    """Make the error for a source that has no task at all."""
    message = f"there are no {what} in {source.path}"
    hint = "It takes .md files directly inside; README.md and names starting with _ or . are ignored."
    if source.options.exclude:
        hint += f" Excluded: {', '.join(source.options.exclude)}."
    return Problem(Severity.ERROR, message, Origin(source.path), hint)


def list_task_documents(source: SourceFiles) -> list[Document]:
    """List the documents that may be tasks: not hidden, not excluded, and not about the folder."""
    excluded = [parse_glob(glob) for glob in source.options.exclude if glob]
    folder = source.path.rstrip("/") + "/"
    documents = []
    for document in source.documents:
        names = (document.name, document.path, document.path.removeprefix(folder))
        if not is_ignored(document) and not any(glob.matches(name) for glob in excluded for name in names):
            documents.append(document)
    return documents


_TASK_PREFIX = re.compile(r"task(?:\s+#?\d[\w.]{0,20})?\s*(?::|\s[-\u2013\u2014](?=\s))\s*", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"[-_\s]+")


def read_task_title(document: Document, otherwise: str | None = None) -> str:
    """Return the first top-level heading without `Task 04:`, else `otherwise`, else the words of the file's name."""
    value = _read_heading(document)
    match = _TASK_PREFIX.match(value)
    if value[match.end() if match else 0 :]:
        return value[match.end() if match else 0 :]
    return " ".join((otherwise or "").split()) or split_stem(document.stem)


def split_stem(stem: str) -> str:
    return _BETWEEN_WORDS.sub(" ", stem).strip() or stem


def has_task_heading(document: Document) -> bool:
    """Whether the first heading begins with `Task`."""
    return _TASK_PREFIX.match(_read_heading(document)) is not None


def _read_heading(document: Document) -> str:
    blocks = (block for block in document.markdown.headings(1) if block.parent is None and not block.quoted)
    return next((" ".join(block.text.split()) for block in blocks if block.text.strip()), "")


def read_task_body(document: Document) -> str:
    """Return the text without the front matter, as it is written."""
    front = document.markdown.front_matter
    return document.markdown.source(front[1] + 1 if front else 0, len(document.markdown.lines))
