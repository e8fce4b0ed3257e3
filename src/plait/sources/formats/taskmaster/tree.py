"""Tasks and their subtasks in Task Master's file: where each one stands, how far it is, and what that means above it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from plait.core.frozen import dataclass
from plait.sources import records, words
from plait.sources.jsontext import Node, inserted, replaced
from plait.sources.model import Mark
from plait.sources.records import Sheet
from plait.sources.text import Edit

_SECTIONS = {"details": "Details", "testStrategy": "Test strategy"}
# Task Master knows no failure: what failed is to be done.
_STATUSES = {
    Mark.TODO: "pending",
    Mark.DOING: "in-progress",
    Mark.DONE: "done",
    Mark.FAILED: "pending",
    Mark.BLOCKED: "blocked",
    Mark.SKIPPED: "cancelled",
}


@dataclass(frozen=True, eq=False)
class Place:
    """A task, or a subtask of the one `above`; `id` is the full one (5.2). What it tells is known once the tree is made."""

    id: str
    node: Node
    above: Place | None = None
    parts: list[Place] = field(default_factory=list)

    @cached_property
    def title(self) -> str:
        return records.title(self.node, self.id)

    @cached_property
    def text(self) -> str:
        """All that it says, as markdown."""
        return records.sections(self.node, _SECTIONS)

    @cached_property
    def part_ids(self) -> dict[str, None]:
        """In their order."""
        return dict.fromkeys(part.id for part in self.parts)

    @cached_property
    def own(self) -> Mark:
        """What it says of itself; nothing, or nothing that is known, is pending."""
        status = self.node.get("status")
        return (words.mark(status) if isinstance(status, str) else None) or Mark.TODO

    @cached_property
    def mark(self) -> Mark:
        """A task that is closed closes its subtasks; one whose subtasks are all closed, and some of them done, is done."""
        if self.own.closed:
            return self.own
        if self.above is not None:
            return self.above.own if self.above.own.closed else self.own
        return Mark.DONE if _finished(part.own for part in self.parts) else self.own


def lists(root: Node) -> dict[str, Node]:
    """The lists of tasks by tag; in an older file, which has none, the only list is called nothing."""
    tags = {
        tag: member.node["tasks"]
        for tag, member in root.members.items()
        if isinstance(member.node.get("tasks"), list)
    }
    return tags or ({"": root["tasks"]} if isinstance(root.get("tasks"), list) else {})


def tree(tasks: Node, sheet: Sheet | None = None) -> list[Place]:
    """The tasks with their subtasks; an entry without an id, or with one that was there before, is passed over."""
    return list(_places(tasks, None, {}, sheet))


def _places(nodes: Node, above: Place | None, known: dict[str, Node], sheet: Sheet | None) -> Iterator[Place]:
    for node in nodes.items:
        name = records.name_of(node)
        if above is not None and name and not name.startswith(f"{above.id}."):
            name = f"{above.id}.{name}"
        if not name or known.setdefault(name, node) is not node:
            if sheet is not None:
                records.passed_over(sheet, node, name, known.get(name))
            continue
        place = Place(name, node, above)
        if isinstance(node.get("subtasks"), list) and above is None:
            place.parts.extend(_places(node["subtasks"], place, known, sheet))
        elif node.get("subtasks") and sheet is not None:
            message = f"the subtasks of {name} are not a list, or lie too deep, and were passed over"
            sheet.warn(node["subtasks"], message)
        yield place


def statuses(asked: Mapping[Place, Mark]) -> Iterator[Edit]:
    """The edits that make it so, and that keep each task in step with its subtasks."""
    new: dict[Place, Mark] = {}
    for place, mark in asked.items():
        told = words.mark(_STATUSES.get(mark, "")) or place.mark
        finished_meanwhile = place.mark is Mark.DONE and mark is Mark.DOING
        if place.mark not in {mark, told} and not finished_meanwhile:
            new[place] = told
    wholes = {place.above: None for place in new if place.above is not None and place.above not in asked}
    for whole in wholes:
        becomes = _whole(whole, new)
        if becomes is not None:
            new[whole] = becomes
    for place, mark in new.items():
        if mark is not place.own:
            yield _edit(place.node, _STATUSES[mark])


def _whole(whole: Place, new: Mapping[Place, Mark]) -> Mark | None:
    """What becomes of a task when subtasks of it change: done when they are, in progress when one has begun.

    If it was closed while some of them were not, that is a person's word, and stays.
    """
    marks = [new.get(part, part.own) for part in whole.parts]
    begun = any(mark in {Mark.DOING, Mark.DONE} for mark in marks)
    if _finished(marks):
        return None if whole.own.closed else Mark.DONE
    if whole.own is Mark.DONE and all(part.own.closed for part in whole.parts):
        return Mark.DOING if begun else Mark.TODO
    if begun and whole.own is Mark.TODO:
        return Mark.DOING
    if not begun and whole.node.get("status") == _STATUSES[Mark.DOING]:
        return Mark.TODO
    return None


def _finished(marks: Iterable[Mark]) -> bool:
    marks = list(marks)
    return Mark.DONE in marks and all(mark.closed for mark in marks)


def _edit(node: Node, status: str) -> Edit:
    if "status" in node.members:
        return replaced(node["status"], status)
    return inserted(node, "status", status, after=("title", "id"))
