"""Ticking: how a file of boxes takes statuses, one character for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from plait.core.fast_dataclass import dataclass
from plait.sources import status_changes
from plait.sources.checkboxes__boxes import make_tick_edit
from plait.sources.markdown import Block, Markdown
from plait.sources.source_model import Rewrite, SourceStatus, StatusChange, StatusFileWriter
from plait.sources.text import apply_edits, to_printable

OPEN_CHARACTER = " "


@dataclass(frozen=True, slots=True)
class TaskBox:
    """A task's box: where it is, what it says, and what the file calls the task.

    `parts` are the places, in the list of spots, of those that a group waits for; they stand below it.
    """

    block: Block
    status: SourceStatus
    id: str
    title: str
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckboxFile:
    """The spots of a file, and the signs in which it tells marks; a mark without a sign is not told."""

    markdown: Markdown
    boxes: Sequence[TaskBox]
    characters: Mapping[SourceStatus, str]

    def character_for(self, now: SourceStatus, status: SourceStatus) -> str | None:
        """What to put into a box that says `now`; None if it stays. What a person has ticked is not set back to begun."""
        if status is now or (status is SourceStatus.DOING and now is SourceStatus.DONE):
            return None
        if status in self.characters or status is SourceStatus.DOING:
            return self.characters.get(status)
        untrue = (
            {SourceStatus.DOING}
            if status is SourceStatus.SKIPPED
            else {SourceStatus.DOING, SourceStatus.DONE}
        )
        return OPEN_CHARACTER if status is SourceStatus.TODO or now in untrue else None


def make_checkbox_writers(
    path: str, changes: Sequence[StatusChange], parse: Callable[[str], CheckboxFile]
) -> list[StatusFileWriter]:
    """A writer for each file of the source that the changes are about; `sheet` reads a file's text."""

    def writer(file: str) -> StatusFileWriter:
        def write(text: str, changes: Sequence[StatusChange]) -> Rewrite:
            return rewrite_checkboxes(
                parse(to_printable(text)), text, status_changes.select_file_changes(file, changes)
            )

        return StatusFileWriter(file, write)

    return [writer(file) for file in status_changes.list_changed_files(path, changes)]


def rewrite_checkboxes(sheet: CheckboxFile, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    """The text with the changes' signs in their boxes, and those of the groups that they are part of."""
    places = status_changes.TaskIndex(
        range(len(sheet.boxes)), lambda n: sheet.boxes[n].id, lambda n: sheet.boxes[n].title
    )
    problems = []
    signs: dict[int, str] = {}
    marks: dict[int, SourceStatus] = {}
    for change in changes:
        place = places.find(change)
        if place is None:
            problems.append(status_changes.report_missing_task(change))
            continue
        sign = sheet.character_for(sheet.boxes[place].status, change.status)
        if sign is not None:
            signs[place] = sign
            marks[place] = change.status if change.status in sheet.characters else SourceStatus.TODO
    signs.update(_update_groups(sheet, marks))
    edits = [make_tick_edit(sheet.markdown, sheet.boxes[place].block, sign) for place, sign in signs.items()]
    return Rewrite(apply_edits(text, edits), tuple(problems))


def _update_groups(sheet: CheckboxFile, marks: dict[int, SourceStatus]) -> Iterator[tuple[int, str]]:
    """A group's box follows its parts when one of them changes; from below, since a part may be a group."""
    for place in range(len(sheet.boxes) - 1, -1, -1):
        spot = sheet.boxes[place]
        if not any(part in marks for part in spot.parts):
            continue
        said = {marks.get(part, sheet.boxes[part].status) for part in spot.parts}
        mark = SourceStatus.TODO if said == {SourceStatus.TODO} else SourceStatus.DOING
        mark = SourceStatus.DONE if all(part.is_closed for part in said) else mark
        mark = mark if mark in sheet.characters else SourceStatus.TODO
        if mark is not spot.status:
            marks[place] = mark
            yield place, sheet.characters.get(mark, OPEN_CHARACTER)
