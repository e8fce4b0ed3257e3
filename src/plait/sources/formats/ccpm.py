"""CCPM: `.claude/epics/<name>/001.md`, with needs, conflicts and status in the front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter

from plait.core.task import Need, Task
from plait.sources.formats import Confidence, Format
from plait.sources.formats.folder_task import SERIAL_GROUP
from plait.sources.front_matter import FrontMatter, StatusKey, read_status_key
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles
from plait.sources.task_files import list_task_documents, read_task_body, read_task_title, report_no_tasks, sample_keys
from plait.sources.task_paths import find_task_paths
from plait.sources.vocabulary import strip_zeros

_EPICS = ".claude/epics/"
_NON_TASK_STEMS = frozenset({"epic", "execution-status", "github-mapping", "progress"})
_ISSUE = re.compile(r"/issues/(\d{1,12})\b")


def detect(source: SourceFiles) -> Confidence:
    in_epics = any(_EPICS in path for path in (f"{source.path}/", *(d.path for d in source.documents[:1])))
    for keys in sample_keys(source, "name", "status") if in_epics else ():
        if keys.has("name", "status"):
            return Confidence.NAME
    for keys in sample_keys(source, "parallel", "conflicts_with"):
        if keys.has("parallel", "conflicts_with"):
            return Confidence.CONTENT
    return Confidence.NO


def read(source: SourceFiles) -> Reading:
    documents = [document for document in list_task_documents(source) if _is_task(document)]
    if not documents:
        return Reading(problems=(report_no_tasks(source, "task files"),))
    files = [(document, FrontMatter(document)) for document in documents]
    names = _index_names(files)
    entries = [_build_entry(document, keys, names) for document, keys in files]
    return Reading(tuple(entries), problems=tuple(problem for _, keys in files for problem in keys.problems))


def _is_task(document: Document) -> bool:
    """A task's file name begins with a number, or it has a name and a status."""
    stem = document.stem.lower()
    if stem in _NON_TASK_STEMS or stem.endswith("-analysis"):
        return False
    return stem[:1].isdecimal() or FrontMatter(document).has("name", "status")


def _read_title(document: Document, keys: FrontMatter | None = None) -> str:
    value = (keys or FrontMatter(document)).text("name")
    return " ".join(value.split()) if value else read_task_title(document)


_STATUS_KEY = StatusKey("open", "in-progress", "closed", attrgetter("stem"), _read_title, time_key="updated")


def _index_names(documents: Sequence[tuple[Document, FrontMatter]]) -> dict[str, str]:
    """What tasks are called by others: their file, its number, and the issue that was made of it."""
    names: dict[str, str] = {}
    for document, keys in documents:
        issue = _ISSUE.search(keys.text("github") or "")
        for name in (keys.text("id"), keys.text("beads_id"), issue[1] if issue else None):
            if name:
                names.setdefault(_normalize_id(name), document.stem)
    return names | {_normalize_id(document.stem): document.stem for document, _ in documents}


def _normalize_id(value: str) -> str:
    return strip_zeros(value.strip().lstrip("#").removesuffix(".md").casefold())


def _build_entry(document: Document, keys: FrontMatter, names: dict[str, str]) -> SourceEntry:
    paths = find_task_paths(document)
    needs = {
        names.get(_normalize_id(need.text), need.text): (need.reason, need.line) for need in keys.names("depends_on")
    }
    others = (names.get(_normalize_id(other.text), other.text) for other in keys.names("conflicts_with"))
    task = Task(
        document.stem,
        _read_title(document, keys),
        read_task_body(document),
        needs=tuple(Need(on, reason=reason, at=document.origin(line)) for on, (reason, line) in needs.items()),
        touches=tuple(dict.fromkeys(paths.owned)),
        conflicts_with=tuple(dict.fromkeys(others)),
        exclusive=SERIAL_GROUP if keys.flag("parallel") is False else None,
        origin=document.origin(0),
    )
    status, status_text = read_status_key(document, keys, "name and status")
    return SourceEntry(task, status, status_text, paths.list_undeclared(task.touches))


FORMAT = Format(detect, read, _STATUS_KEY.writers, keys={"title": ("name",), "needs": ("depends_on",)})
