"""CCPM: `.claude/epics/<name>/001.md`, with needs, conflicts and status in the front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.core.plan import Problem
from plait.core.task import Need, Origin, Task
from plait.sources.formats import Likeness
from plait.sources.formats.folder.owned import paths
from plait.sources.formats.folder.task import SERIAL
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Writer
from plait.sources.report import warning
from plait.sources.taskfiles import status_line
from plait.sources.taskfiles.files import included, nothing, samples
from plait.sources.taskfiles.keys import Keys
from plait.sources.taskfiles.text import body, title

_EPICS = ".claude/epics/"
_ABOUT = frozenset({"epic", "execution-status", "github-mapping", "progress"})
_ISSUE = re.compile(r"/issues/(\d{1,12})\b")


def likeness(material: Material) -> Likeness:
    lies = any(_EPICS in path for path in (f"{material.path}/", *(d.path for d in material.documents[:1])))
    for keys in samples(material, "name", "status") if lies else ():
        if keys.has("name", "status"):
            return Likeness.NAME
    for keys in samples(material, "parallel", "conflicts_with"):
        if keys.has("parallel", "conflicts_with"):
            return Likeness.CONTENT
    return Likeness.NO


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001
    return ()


def read(material: Material) -> Reading:
    documents = [document for document in included(material) if _is_task(document)]
    if not documents:
        return Reading(problems=(nothing(material, "task files"),))
    problems: list[Problem] = []
    read_keys = [(document, Keys(document)) for document in documents]
    names = _names(read_keys)
    entries = [_entry(document, keys, names) for document, keys in read_keys]
    for _, keys in read_keys:
        problems += keys.problems
    return Reading(tuple(entries), problems=tuple(problems))


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return _LINE.writers(path, changes)


def _is_task(document: Document) -> bool:
    """Tasks are called by their number; others must at least say what they are called and how far they are."""
    stem = document.stem.lower()
    if stem in _ABOUT or stem.endswith("-analysis"):
        return False
    return stem[:1].isdecimal() or Keys(document).has("name", "status")


def _title(document: Document, keys: Keys | None = None) -> str:
    said = (keys or Keys(document)).text("name")
    return " ".join(said.split()) if said else title(document)


def _stem(document: Document) -> str:
    return document.stem


_LINE = status_line.StatusLine("open", "in-progress", "closed", _stem, _title, stamp="updated")


def _names(documents: Sequence[tuple[Document, Keys]]) -> dict[str, str]:
    """What tasks are called by others: their file, its number, and the issue that was made of it."""
    names: dict[str, str] = {}
    for document, keys in documents:
        issue = _ISSUE.search(keys.text("github") or "")
        for name in (keys.text("id"), keys.text("beads_id"), issue[1] if issue else None):
            if name:
                names.setdefault(_unpadded(name), document.stem)
    return names | {_unpadded(document.stem): document.stem for document, _ in documents}


def _unpadded(said: str) -> str:
    name = said.strip().lstrip("#").removesuffix(".md").casefold()
    return name.lstrip("0") or "0" if name.isdecimal() else name


def _entry(document: Document, keys: Keys, names: dict[str, str]) -> Entry:
    said = paths(document)
    needs = {
        names.get(_unpadded(need.text), need.text): (need.reason, need.line)
        for need in keys.names("depends_on")
    }
    others = (names.get(_unpadded(other.text), other.text) for other in keys.names("conflicts_with"))
    task = Task(
        document.stem,
        _title(document, keys),
        body(document),
        needs=tuple(
            Need(on, reason=reason, at=Origin(document.path, line + 1))
            for on, (reason, line) in needs.items()
        ),
        touches=tuple(dict.fromkeys(said.owned)),
        conflicts_with=tuple(dict.fromkeys(others)),
        exclusive=SERIAL if keys.flag("parallel") is False else None,
        origin=Origin(document.path, 1),
    )
    mark, status = _mark(document, keys)
    return Entry(task, mark, status, said.besides(task.touches))


def _mark(document: Document, keys: Keys) -> tuple[Mark, str]:
    if not keys.front.present:
        message = "there is no front matter, so this is no task that can be run"
        keys.problems.append(warning(document, 0, message, "Give it name and status."))
    if keys.front.broken or not keys.front.present:
        return Mark.UNREADABLE, ""
    return status_line.read(document, keys)
