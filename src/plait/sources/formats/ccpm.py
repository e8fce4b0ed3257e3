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

_EPICS = ".claude/epics/"
_NON_TASK_STEMS = frozenset({"epic", "execution-status", "github-mapping", "progress"})
_ISSUE = re.compile(r"/issues/(\d{1,12})\b")
_NUMBER = re.compile(r"(\d{1,9}[a-z]?)(?=[-_. ])", re.IGNORECASE)  # of a file's name
_PREFIX = re.compile(r"\A(?:task|issue)?[\s_#-]*0*(?=\d)")
NEEDS_KEYS = ("depends_on", "dependencies", "blocked_by", "needs")
_ID_KEYS = ("id", "task_id", "task_number", "task", "number", "issue", "beads_id")
_OTHER_NEEDS_KEYS = ("depends", "requires", "prerequisites", "blocks", "enables")


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
    for document, keys in files:
        for name in _OTHER_NEEDS_KEYS:
            if keys.names(name):
                message = f"{name} is not read as a dependency"
                keys.problems.append(document.make_info(keys.line(name), message, "Write it as depends_on: [001]."))
    return Reading(tuple(entries), problems=tuple(problem for _, keys in files for problem in keys.problems))


def _is_task(document: Document) -> bool:
    """Whether the file is a task: its name begins with a number, or it has a name and a status."""
    stem = document.stem.lower()
    if stem in _NON_TASK_STEMS or stem.endswith("-analysis"):
        return False
    return stem[:1].isdecimal() or FrontMatter(document).has("name", "status")


def _read_title(document: Document, keys: FrontMatter | None = None) -> str:
    value = (keys or FrontMatter(document)).text("name")
    return " ".join(value.split()) if value else read_task_title(document)


_STATUS_KEY = StatusKey("open", "in-progress", "closed", attrgetter("stem"), _read_title, time_key="updated")


def _index_names(documents: Sequence[tuple[Document, FrontMatter]]) -> dict[str, str]:
    """Map each name of a task to its file's stem: that stem, its number, the ids in its front matter, and the number of
    its GitHub issue.
    """
    names: dict[str, str] = {}
    for document, keys in documents:
        number = _NUMBER.match(document.stem)
        issue = _ISSUE.search(_read_scalar(keys, "github"))
        own = (number[1] if number else "", *(_read_scalar(keys, key) for key in _ID_KEYS), issue[1] if issue else "")
        for name in filter(None, own):
            names.setdefault(_normalize_id(name), document.stem)
    return names | {_normalize_id(document.stem): document.stem for document, _ in documents}


def _read_scalar(keys: FrontMatter, name: str) -> str:
    """Return the text of a key; the key may hold anything."""
    return keys.values[name].text.strip() if name in keys.values else ""


def _normalize_id(value: str) -> str:
    """Reduce `#12`, `012.md` and `task-12` to 12."""
    return _PREFIX.sub("", value.strip().removesuffix(".md").casefold(), count=1)


def _build_entry(document: Document, keys: FrontMatter, names: dict[str, str]) -> SourceEntry:
    paths = find_task_paths(document)
    needs = {
        names.get(_normalize_id(need.text), need.text): (need.reason, need.line) for need in keys.names(*NEEDS_KEYS)
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


FORMAT = Format(detect, read, _STATUS_KEY.writers, keys={"title": ("name",), "needs": NEEDS_KEYS})
