"""The contract of a format: what its reader and writer must do with any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from itertools import pairwise

from hypothesis import strategies as st

from plait.sources.formats import Format, load_format
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import StatusChange
from plait.sources.text import TextLines, to_printable

NOW = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)


@dataclass(frozen=True)
class FormatUnderTest:
    """A format, the path of its file, and the status that is read back after each one was written.

    A status that is not in `read_back` reads back as it was before.
    """

    format: str
    path: str
    read_back: Mapping[SourceStatus, SourceStatus] = field(
        default_factory=lambda: {SourceStatus.DONE: SourceStatus.DONE, SourceStatus.TODO: SourceStatus.TODO}
    )

    @property
    def module(self) -> Format:
        return load_format(self.format)

    def read(self, text: str) -> Reading:
        return self.module.read(SourceFiles(self.path, (Document(self.path, to_printable(text)),)))

    def write(self, text: str, changes: Sequence[StatusChange]) -> str:
        """Return the text of the source's own file after these changes."""
        for writer in self.module.writers(self.path, changes):
            if writer.path == self.path:
                return writer.apply(text, changes).text
        return text

    def change(self, entry: SourceEntry, mark: SourceStatus) -> StatusChange:
        return StatusChange(entry.task.id, mark, NOW, self.path, entry.task.title, reason="the reason, in words")


def check_lossless(subject: FormatUnderTest, text: str) -> None:
    """Check that reading, and writing without a change, is the identity; so is writing what the text says already."""
    assert subject.write(text, ()) == text
    entries = subject.read(text).entries
    same = [
        subject.change(entry, entry.status) for entry in _find_unambiguous(entries) if entry.status in subject.read_back
    ]
    assert subject.write(text, same) == text


def check_status_change(subject: FormatUnderTest, text: str, index: int, mark: SourceStatus) -> None:
    """Check one change: the new status is read back, nothing else is different, and only lines of that entry changed."""
    before = subject.read(text).entries
    candidates = _find_unambiguous(before)
    if not candidates:
        return
    entry = candidates[index % len(candidates)]
    change = subject.change(entry, mark)
    written = subject.write(text, [change])
    assert subject.write(written, [change]) == written, "writing twice is writing once"
    after = subject.read(written).entries
    expected = subject.read_back.get(mark, entry.status)
    statuses = {same.task.id: same.status for same in after}
    assert statuses[entry.task.id] is expected, f"{entry.task.id}: {mark} reads back as {statuses[entry.task.id]}"
    assert [_without_status(other) for other in after] == [_without_status(other) for other in before]
    others = {e.task.id: e.status for e in before if e.task.id != entry.task.id and not e.parts}
    assert {e.task.id: e.status for e in after if e.task.id in others} == others
    start, stop = _line_range(before, entry, text)
    groups = {(e.task.origin.line if e.task.origin else 0) - 1 for e in before if e.parts}
    for line in _find_changed_lines(text, written):
        assert start <= line < stop or line in groups, f"line {line + 1} is not {entry.task.id}'s"


def check_any_text(subject: FormatUnderTest, text: str) -> None:
    """Check that reading and writing never raise, whatever the text, and that every problem has a line."""
    reading = subject.read(text)
    lines = len(TextLines(text))
    for problem in reading.problems:
        assert problem.at is not None, problem.message
        assert problem.at.line <= lines + 1
    for entry in reading.entries:
        assert entry.task.id, "a task without an id"
        assert entry.task.origin is not None, "a task from nowhere"
    subject.write(text, [subject.change(entry, SourceStatus.DONE) for entry in reading.entries])
    assert subject.write(text, ()) == text


def _find_unambiguous(entries: Sequence[SourceEntry]) -> list[SourceEntry]:
    """Return the entries with unique ids and titles that are no groups."""
    ids = [entry.task.id for entry in entries]
    titles = [entry.task.title for entry in entries]
    return [
        entry
        for entry in entries
        if not entry.parts and ids.count(entry.task.id) == 1 and titles.count(entry.task.title) == 1
    ]


def _without_status(entry: SourceEntry) -> SourceEntry:
    """Return an entry without its status, its line numbers and its text."""
    task = replace(entry.task, body="", origin=None, needs=tuple(replace(n, at=None) for n in entry.task.needs))
    return replace(entry, task=task, status=SourceStatus.TODO, status_text="", since=None, retries=0)


def _line_range(entries: Sequence[SourceEntry], entry: SourceEntry, text: str) -> tuple[int, int]:
    lines = sorted({(e.task.origin.line if e.task.origin else 1) - 1 for e in entries})
    start = (entry.task.origin.line if entry.task.origin else 1) - 1
    following = dict(pairwise(lines))
    return start, following.get(start, len(TextLines(text)) + 1)


def _find_changed_lines(before: str, after: str) -> list[int]:
    """Return the lines of `before` that were changed, or before which a line was inserted."""
    old, new = TextLines(before).all, TextLines(after).all
    touched: list[int] = []
    for kind, start, stop, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            touched += range(start, max(stop, start + 1) if kind != "insert" else start)
            if kind == "insert":
                touched.append(start - 1)
    return touched


@st.composite
def mangled_texts(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """Draw a text as found in practice: other line ends, a byte order mark, parts lost, doubled, moved or damaged."""
    text = draw(texts)
    for _ in range(draw(st.integers(0, 4))):
        text = draw(st.sampled_from(_DAMAGES))(draw, text)
    ends = draw(st.sampled_from(("\n", "\r\n", "\r")))
    text = text.replace("\n", ends)
    return ("\ufeff" if draw(st.booleans()) else "") + text


def _slice(draw: st.DrawFn, text: str) -> tuple[int, int]:
    start = draw(st.integers(0, len(text)))
    return start, draw(st.integers(start, min(len(text), start + 60)))


def _delete_slice(draw: st.DrawFn, text: str) -> str:
    start, stop = _slice(draw, text)
    return text[:start] + text[stop:]


def _repeat_slice(draw: st.DrawFn, text: str) -> str:
    start, stop = _slice(draw, text)
    return text[:stop] + text[start:stop] + text[stop:]


def _insert_piece(draw: st.DrawFn, text: str) -> str:
    place = draw(st.integers(0, len(text)))
    piece = draw(st.one_of(st.sampled_from(_PIECES), st.text(max_size=5)))
    return text[:place] + piece + text[place:]


_PIECES = (
    "\0",
    "\udcff",  # a byte that is not UTF-8
    "\n```\n",
    "\n~~~\n",
    "\n    ",
    "\n> ",
    "\n---\n",
    "\n<!--\n",
    "\t",
    "[ ]",
    "- [x] ",
    "**",
    "`",
    "(depends: ",
    "{",
    '"',
    "]",
    ",",
    "\u2028",
    "\x0b",
    "é",
    "✅",
    "9" * 30,
    "\n" + "  " * 40 + "- [ ] deep",
    "- " * 60,
)
_DAMAGES = (_delete_slice, _repeat_slice, _insert_piece)
