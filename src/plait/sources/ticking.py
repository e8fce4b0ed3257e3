"""Ticking: how a file of boxes takes statuses, one character for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from plait.core.frozen import dataclass
from plait.sources import found
from plait.sources.boxes import tick
from plait.sources.markdown import Block, Markdown
from plait.sources.model import Change, Mark, Rewrite, Writer
from plait.sources.text import apply, printable

OPEN = " "


@dataclass(frozen=True, slots=True)
class Spot:
    """A task's box: where it is, what it says, and what the file calls the task.

    `parts` are the places, in the list of spots, of those that a group waits for; they stand below it.
    """

    block: Block
    mark: Mark
    id: str
    title: str
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """The spots of a file, and the signs in which it tells marks; a mark without a sign is not told."""

    markdown: Markdown
    spots: Sequence[Spot]
    signs: Mapping[Mark, str]

    def sign(self, now: Mark, mark: Mark) -> str | None:
        """What to put into a box that says `now`; None if it stays. What a person has ticked is not set back to begun."""
        if mark is now or (mark is Mark.DOING and now is Mark.DONE):
            return None
        if mark in self.signs or mark is Mark.DOING:
            return self.signs.get(mark)
        untrue = {Mark.DOING} if mark is Mark.SKIPPED else {Mark.DOING, Mark.DONE}
        return OPEN if mark is Mark.TODO or now in untrue else None


def writers(path: str, changes: Sequence[Change], sheet: Callable[[str], Sheet]) -> list[Writer]:
    """A writer for each file of the source that the changes are about; `sheet` reads a file's text."""

    def writer(file: str) -> Writer:
        def write(text: str, changes: Sequence[Change]) -> Rewrite:
            return rewrite(sheet(printable(text)), text, found.own(file, changes))

        return Writer(file, write)

    return [writer(file) for file in found.files(path, changes)]


def rewrite(sheet: Sheet, text: str, changes: Sequence[Change]) -> Rewrite:
    """The text with the changes' signs in their boxes, and those of the groups that they are part of."""
    places = found.Places(
        range(len(sheet.spots)), lambda n: sheet.spots[n].id, lambda n: sheet.spots[n].title
    )
    problems = []
    signs: dict[int, str] = {}
    marks: dict[int, Mark] = {}
    for change in changes:
        place = places.find(change)
        if place is None:
            problems.append(found.gone(change))
            continue
        sign = sheet.sign(sheet.spots[place].mark, change.mark)
        if sign is not None:
            signs[place] = sign
            marks[place] = change.mark if change.mark in sheet.signs else Mark.TODO
    signs.update(_groups(sheet, marks))
    edits = [tick(sheet.markdown, sheet.spots[place].block, sign) for place, sign in signs.items()]
    return Rewrite(apply(text, edits), tuple(problems))


def _groups(sheet: Sheet, marks: dict[int, Mark]) -> Iterator[tuple[int, str]]:
    """A group's box follows its parts when one of them changes; from below, since a part may be a group."""
    for place in range(len(sheet.spots) - 1, -1, -1):
        spot = sheet.spots[place]
        if not any(part in marks for part in spot.parts):
            continue
        said = {marks.get(part, sheet.spots[part].mark) for part in spot.parts}
        mark = Mark.TODO if said == {Mark.TODO} else Mark.DOING
        mark = Mark.DONE if all(part.closed for part in said) else mark
        mark = mark if mark in sheet.signs else Mark.TODO
        if mark is not spot.mark:
            marks[place] = mark
            yield place, sheet.signs.get(mark, OPEN)
