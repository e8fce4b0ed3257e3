"""Ids of task files, and which task is meant by `01`, `01-x`, `task-01-x` or `01-x.md`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from plait.core.frozen import dataclass
from plait.sources.model import Document

_PREFIX = re.compile(r"(?:task|writer-prompt)-(?=.)", re.IGNORECASE)
_LINK = re.compile(r"\[([^\]\[\n]{1,200})\]\([^()\n]{0,500}\)")
# A remark behind a name: `01-x (first)`, `01-x: why`, `01-x - why`.
_REMARK = re.compile(r"\(|:\s|\s[-\u2013\u2014]+\s|[.:]\Z")
_CALLED = re.compile(r"(?:tasks?\s+)?#?", re.IGNORECASE)
_BOUNDARY = re.compile(r"[\W_]+")
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Named:
    """A task by all its names: its id, and the stem of its file."""

    id: str
    stem: str

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names that it answers to."""
        names = (self.stem, short(self.stem))
        return tuple(dict.fromkeys(name for name in names if name != self.id))


def short(stem: str) -> str:
    """A stem without the words that only say that it is a task."""
    return _PREFIX.sub("", stem, count=1) if _PREFIX.match(stem) else stem


def ids(documents: Sequence[Document]) -> list[Named]:
    """Stems without their prefix words; files that would get one id keep their whole stems."""
    counts = Counter(short(document.stem) for document in documents)
    stems = [document.stem for document in documents]
    return [Named(short(stem) if counts[short(stem)] == 1 else stem, stem) for stem in stems]


def plain(said: str) -> str:
    """A name without what is put around it: links, back-ticks, folders, `.md`, `Task`, and remarks."""
    found = _LINK.search(said)
    name = _REMARK.split((found[1] if found else said).strip(), maxsplit=1)[0].strip().strip("`*\"'").strip()
    name = name.rpartition("/")[2]
    return _CALLED.sub("", name.removesuffix(".md"), count=1).strip()


class Names:
    """Finds tasks by name, whatever its case: whole names first, then the first words of one."""

    def __init__(self, tasks: Iterable[Named]) -> None:
        self._whole: dict[str, dict[str, None]] = {}
        self._first: dict[str, dict[str, None]] = {}
        for task in tasks:
            for name in (task.id, *task.aliases):
                self._whole.setdefault(name.casefold(), {})[task.id] = None
                for words in _first_words(name.casefold()):
                    self._first.setdefault(words, {})[task.id] = None

    def find(self, said: str, asking: str = "") -> tuple[str, ...]:
        """The ids that a name may mean; more than one if it is not clear. `asking` does not mean itself by a part."""
        names = dict.fromkeys(name.casefold() for name in (said.strip(), plain(said), short(plain(said))))
        for name in names:
            if name in self._whole:
                return tuple(self._whole[name])
        for name in names:
            found = self._first.get(_unpadded(name), {})
            others = tuple(task for task in found if task != asking)
            if others:
                return others
        return ()


def _first_words(name: str) -> Iterator[str]:
    """`01-add-tests` begins with `1`, `01-add` and `01-add-tests`."""
    for boundary in _BOUNDARY.finditer(name[:_LONGEST]):
        yield _unpadded(name[: boundary.start()])
    yield _unpadded(name)


def _unpadded(name: str) -> str:
    """A number without its leading zeros; any other name as it is."""
    return name.lstrip("0") or "0" if name.isdecimal() else name
