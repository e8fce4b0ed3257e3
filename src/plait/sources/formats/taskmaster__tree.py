"""Tasks and their subtasks in Task Master's file: where each one stands, how far it is, and what that means above it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from plait.core.fast_dataclass import dataclass
from plait.sources import json_tasks, vocabulary
from plait.sources.json_tasks import JsonReader
from plait.sources.json_text import JsonNode, insert_key, replace_value
from plait.sources.source_model import SourceStatus
from plait.sources.text import TextEdit

_SECTIONS = {"details": "Details", "testStrategy": "Test strategy"}
# Task Master knows no failure: what failed is to be done.
_STATUSES = {
    SourceStatus.TODO: "pending",
    SourceStatus.DOING: "in-progress",
    SourceStatus.DONE: "done",
    SourceStatus.FAILED: "pending",
    SourceStatus.BLOCKED: "blocked",
    SourceStatus.SKIPPED: "cancelled",
}


@dataclass(frozen=True, eq=False)
class TreeTask:
    """A task, or a subtask of the one `above`; `id` is the full one (5.2). What it tells is known once the tree is made."""

    id: str
    node: JsonNode
    parent: TreeTask | None = None
    parts: list[TreeTask] = field(default_factory=list)

    @cached_property
    def title(self) -> str:
        return json_tasks.read_json_title(self.node, self.id)

    @cached_property
    def text(self) -> str:
        """All that it says, as markdown."""
        return json_tasks.render_sections(self.node, _SECTIONS)

    @cached_property
    def part_ids(self) -> dict[str, None]:
        """In their order."""
        return dict.fromkeys(part.id for part in self.parts)

    @cached_property
    def own_status(self) -> SourceStatus:
        """What it says of itself; nothing, or nothing that is known, is pending."""
        status = self.node.get("status")
        return (vocabulary.parse_status(status) if isinstance(status, str) else None) or SourceStatus.TODO

    @cached_property
    def status(self) -> SourceStatus:
        """A task that is closed closes its subtasks; one whose subtasks are all closed, and some of them done, is done."""
        if self.own_status.is_closed:
            return self.own_status
        if self.parent is not None:
            return self.parent.own_status if self.parent.own_status.is_closed else self.own_status
        return SourceStatus.DONE if _are_finished(part.own_status for part in self.parts) else self.own_status


def find_task_lists(root: JsonNode) -> dict[str, JsonNode]:
    """The lists of tasks by tag; in an older file, which has none, the only list is called nothing."""
    tags = {
        tag: member.node["tasks"]
        for tag, member in root.members.items()
        if isinstance(member.node.get("tasks"), list)
    }
    return tags or ({"": root["tasks"]} if isinstance(root.get("tasks"), list) else {})


def build_tree(tasks: JsonNode, reader: JsonReader | None = None) -> list[TreeTask]:
    """The tasks with their subtasks; an entry without an id, or with one that was there before, is passed over."""
    return list(_iter_tasks(tasks, None, {}, reader))


def _iter_tasks(
    nodes: JsonNode, above: TreeTask | None, known: dict[str, JsonNode], reader: JsonReader | None
) -> Iterator[TreeTask]:
    for node in nodes.items:
        name = json_tasks.read_id(node)
        if above is not None and name and not name.startswith(f"{above.id}."):
            name = f"{above.id}.{name}"
        if not name or known.setdefault(name, node) is not node:
            if reader is not None:
                json_tasks.warn_skipped(reader, node, name, known.get(name))
            continue
        place = TreeTask(name, node, above)
        if isinstance(node.get("subtasks"), list) and above is None:
            place.parts.extend(_iter_tasks(node["subtasks"], place, known, reader))
        elif node.get("subtasks") and reader is not None:
            message = f"the subtasks of {name} are not a list, or lie too deep, and were passed over"
            reader.warn(node["subtasks"], message)
        yield place


def make_status_edits(asked: Mapping[TreeTask, SourceStatus]) -> Iterator[TextEdit]:
    """The edits that make it so, and that keep each task in step with its subtasks."""
    new: dict[TreeTask, SourceStatus] = {}
    for place, mark in asked.items():
        told = vocabulary.parse_status(_STATUSES.get(mark, "")) or place.status
        finished_meanwhile = place.status is SourceStatus.DONE and mark is SourceStatus.DOING
        if place.status not in {mark, told} and not finished_meanwhile:
            new[place] = told
    wholes = {place.parent: None for place in new if place.parent is not None and place.parent not in asked}
    for whole in wholes:
        becomes = _parent_status(whole, new)
        if becomes is not None:
            new[whole] = becomes
    for place, mark in new.items():
        if mark is not place.own_status:
            yield _make_edit(place.node, _STATUSES[mark])


def _parent_status(whole: TreeTask, new: Mapping[TreeTask, SourceStatus]) -> SourceStatus | None:
    """What becomes of a task when subtasks of it change: done when they are, in progress when one has begun.

    If it was closed while some of them were not, that is a person's word, and stays.
    """
    marks = [new.get(part, part.own_status) for part in whole.parts]
    begun = any(mark in {SourceStatus.DOING, SourceStatus.DONE} for mark in marks)
    if _are_finished(marks):
        return None if whole.own_status.is_closed else SourceStatus.DONE
    if whole.own_status is SourceStatus.DONE and all(part.own_status.is_closed for part in whole.parts):
        return SourceStatus.DOING if begun else SourceStatus.TODO
    if begun and whole.own_status is SourceStatus.TODO:
        return SourceStatus.DOING
    if not begun and whole.node.get("status") == _STATUSES[SourceStatus.DOING]:
        return SourceStatus.TODO
    return None


def _are_finished(marks: Iterable[SourceStatus]) -> bool:
    marks = list(marks)
    return SourceStatus.DONE in marks and all(mark.is_closed for mark in marks)


def _make_edit(node: JsonNode, status: str) -> TextEdit:
    if "status" in node.members:
        return replace_value(node["status"], status)
    return insert_key(node, "status", status, after=("title", "id"))
