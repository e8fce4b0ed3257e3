"""Undo status edits in a source file that an agent changed.

A status can be spelled in many ways and may come with dates. So several candidates are tried; one is valid if its
tasks have the statuses of the base, and it equals the new text once the same statuses are written into both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from plait.core.fast_dataclass import dataclass
from plait.sources.formats import Format, get_entry, load_format
from plait.sources.source_model import Document, ReadOptions, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import StatusChange, TaskIndex
from plait.sources.text import TextLines, find_changes, to_printable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Written one after another, so that spelling and dates are the same whatever was there before.
_NORMALIZATIONS = (
    (SourceStatus.TODO, SourceStatus.DOING, SourceStatus.DONE),
    (SourceStatus.TODO, SourceStatus.DOING, SourceStatus.BLOCKED, SourceStatus.DONE),
    (SourceStatus.TODO, SourceStatus.DOING, SourceStatus.SKIPPED, SourceStatus.DONE),
)
_TOKEN = re.compile(r"\w+|\s|[^\w\s]")


def restore_statuses(format_name: str, path: str, base: str, new: str) -> str:
    """Return the new text with every task's status as in the base; new tasks keep theirs.

    A text without tasks is returned unchanged.
    """
    if base == new or get_entry(format_name).status_file == Document(path, "").name:
        return base
    format_ = load_format(format_name)
    for tag in format_.list_tags(base) if format_.list_tags else [""]:
        new = _StatusRestorer(format_, path, tag).restore(base, new)
    return new


@dataclass(frozen=True, slots=True)
class _StatusRestorer:
    """Restores the statuses of one file of a source, or of one of its lists."""

    format: Format
    path: str
    tag: str

    def restore(self, base: str, new: str) -> str:
        after = self._read_entries(new)
        existing = _index_entries(after)
        known = [entry for entry in self._read_entries(base) if existing.find(self._make_change(entry)) is not None]
        if not known:
            return new
        for statuses in _NORMALIZATIONS:
            plain_base, plain_new = self._normalize(base, known, statuses), self._normalize(new, known, statuses)
            for candidate in (base, *_merge_candidates(plain_base, base, plain_new)):
                if self._normalize(candidate, known, statuses) == plain_new and self._has_expected_statuses(
                    candidate, known, after
                ):
                    return candidate
        moved = [entry for entry in known if _get_status(existing.find(self._make_change(entry))) is not entry.status]
        new = self._write_statuses(new, moved, SourceStatus.TODO)
        return self._write_statuses(new, moved)  # in the writer's own spelling

    def _has_expected_statuses(self, text: str, known: Sequence[SourceEntry], after: Sequence[SourceEntry]) -> bool:
        """Whether each task of the base has its old status, and every other one that of the new text."""
        entries = self._read_entries(text)
        existing = _index_entries(entries)
        for entry in known:
            if _get_status(existing.find(self._make_change(entry))) is not entry.status:
                return False
        ours = {entry.task.id for entry in known}
        others = {entry.task.id: entry.status for entry in after if entry.task.id not in ours}
        return all(others.get(entry.task.id, entry.status) is entry.status for entry in entries)

    def _read_entries(self, text: str) -> tuple[SourceEntry, ...]:
        options = ReadOptions(tag=self.tag) if self.format.list_tags else ReadOptions()
        document = Document(self.path, to_printable(text))
        return self.format.read(SourceFiles(self.path, (document,), options=options)).entries

    def _normalize(self, text: str, known: Sequence[SourceEntry], statuses: Sequence[SourceStatus]) -> str:
        """Write each of these statuses, in turn, into all tasks: texts that differ only in statuses become equal."""
        for status in statuses:
            text = self._write_statuses(text, known, status)
        return text

    def _write_statuses(self, text: str, known: Sequence[SourceEntry], status: SourceStatus | None = None) -> str:
        """Write this status into all tasks; without one, write each task's own."""
        changes = [self._make_change(entry, status) for entry in known]
        for writer in self.format.writers(self.path, changes):
            if writer.path == self.path:
                return writer.apply(text, changes).text
        return text

    def _make_change(self, entry: SourceEntry, status: SourceStatus | None = None) -> StatusChange:
        at = entry.since if entry.since is not None and status is None else _EPOCH
        return StatusChange(entry.task.id, status or entry.status, at, self.path, entry.task.title, tag=self.tag)


def _index_entries(entries: Sequence[SourceEntry]) -> TaskIndex[SourceEntry]:
    return TaskIndex(entries, lambda entry: entry.task.id, lambda entry: entry.task.title)


def _get_status(entry: SourceEntry | None) -> SourceStatus | None:
    return None if entry is None else entry.status


def _merge_candidates(plain_base: str, base: str, plain_new: str) -> Iterator[str]:
    """Yield the base with the other edits of the new text: by lines, then by words."""
    for parts in (lambda text: TextLines(text).all, _TOKEN.findall):
        both = _merge_parts(parts(plain_base), parts(base), parts(plain_new))
        if both is not None:
            yield "".join(both)


def _merge_parts(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """Merge the changes of both sides; None if they changed the same part."""
    spans = sorted([*find_changes(base, ours), *find_changes(base, theirs)], key=lambda span: span[:2])
    merged: list[str] = []
    done = 0
    last = (-1, -1)
    for start, stop, new in spans:
        if start < done or (start, stop) == last:
            return None
        merged += base[done:start]
        merged += new
        done, last = stop, (start, stop)
    return [*merged, *base[done:]]
