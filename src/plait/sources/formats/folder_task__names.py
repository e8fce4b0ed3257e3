"""Ids of task files, and which task is meant by `01`, `01-x`, `task-01-x` or `01-x.md`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from plait.core.fast_dataclass import dataclass
from plait.sources.source_model import Document

_PREFIX = re.compile(r"(?:task|writer-prompt)-(?=.)", re.IGNORECASE)
_LINK = re.compile(r"\[([^\]\[\n]{1,200})\]\([^()\n]{0,500}\)")
# A remark behind a name: `01-x (first)`, `01-x: why`, `01-x - why`.
_REMARK = re.compile(r"\(|:\s|\s[-\u2013\u2014]+\s|[.:]\Z")
_TASK_WORD = re.compile(r"(?:tasks?\s+)?#?", re.IGNORECASE)
_BOUNDARY = re.compile(r"[\W_]+")
_MAX_PREFIX_LENGTH = 120


@dataclass(frozen=True, slots=True)
class TaskNames:
    """A task by all its names: its id, and the stem of its file."""

    id: str
    stem: str

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names that it answers to."""
        names = (self.stem, strip_task_prefix(self.stem))
        return tuple(dict.fromkeys(name for name in names if name != self.id))


def strip_task_prefix(stem: str) -> str:
    """A stem without the words that only say that it is a task."""
    return _PREFIX.sub("", stem, count=1) if _PREFIX.match(stem) else stem


def assign_ids(documents: Sequence[Document]) -> list[TaskNames]:
    """Stems without their prefix words; files that would get one id keep their whole stems."""
    counts = Counter(strip_task_prefix(document.stem) for document in documents)
    stems = [document.stem for document in documents]
    return [
        TaskNames(strip_task_prefix(stem) if counts[strip_task_prefix(stem)] == 1 else stem, stem)
        for stem in stems
    ]


def clean_reference(value: str) -> str:
    """A name without what is put around it: links, back-ticks, folders, `.md`, `Task`, and remarks."""
    found = _LINK.search(value)
    name = _REMARK.split((found[1] if found else value).strip(), maxsplit=1)[0].strip().strip("`*\"'").strip()
    name = name.rpartition("/")[2]
    return _TASK_WORD.sub("", name.removesuffix(".md"), count=1).strip()


class TaskNameIndex:
    """Finds tasks by name, whatever its case: whole names first, then the first words of one."""

    def __init__(self, tasks: Iterable[TaskNames]) -> None:
        self._whole: dict[str, dict[str, None]] = {}
        self._first: dict[str, dict[str, None]] = {}
        for task in tasks:
            for name in (task.id, *task.aliases):
                self._whole.setdefault(name.casefold(), {})[task.id] = None
                for words in _iter_prefixes(name.casefold()):
                    self._first.setdefault(words, {})[task.id] = None

    def find(self, value: str, asking: str = "") -> tuple[str, ...]:
        """The ids that a name may mean; more than one if it is not clear. `asking` does not mean itself by a part."""
        names = dict.fromkeys(
            name.casefold()
            for name in (value.strip(), clean_reference(value), strip_task_prefix(clean_reference(value)))
        )
        for name in names:
            if name in self._whole:
                return tuple(self._whole[name])
        for name in names:
            found = self._first.get(_strip_zeros(name), {})
            others = tuple(task for task in found if task != asking)
            if others:
                return others
        return ()


def _iter_prefixes(name: str) -> Iterator[str]:
    """`01-add-tests` begins with `1`, `01-add` and `01-add-tests`."""
    for boundary in _BOUNDARY.finditer(name[:_MAX_PREFIX_LENGTH]):
        yield _strip_zeros(name[: boundary.start()])
    yield _strip_zeros(name)


def _strip_zeros(name: str) -> str:
    """A number without its leading zeros; any other name as it is."""
    return name.lstrip("0") or "0" if name.isdecimal() else name
