"""Task Master's `tasks.json`: tasks under tags (or, in older files, at the top), with subtasks that do the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from plait.core.plan import Problem, Severity
from plait.core.task import Need, Task
from plait.sources import records, words
from plait.sources.formats import Likeness
from plait.sources.formats.taskmaster.tree import Place, lists, statuses, tree
from plait.sources.found import Places, files, gone, own
from plait.sources.jsontext import MalformedError, Node, parse
from plait.sources.mentions import mentions
from plait.sources.model import Change, Entry, Mark, Material, Options, Reading, Rewrite, Writer
from plait.sources.records import Sheet
from plait.sources.text import apply, printable


def likeness(material: Material) -> Likeness:
    if material.folder or not material.documents or not material.document.name.endswith(".json"):
        return Likeness.NO
    if material.document.path.endswith(".taskmaster/tasks/tasks.json"):
        return Likeness.NAME
    if '"tasks"' not in material.document.text:
        return Likeness.NO
    try:
        root = parse(material.document.text)
    except MalformedError:
        return Likeness.NO
    return Likeness.CONTENT if any(_alike(tasks) for tasks in lists(root).values()) else Likeness.NO


def _alike(tasks: Node) -> bool:
    """Others keep lists of "tasks" too: editors without ids, plans without titles."""
    found = tasks.value if isinstance(tasks.value, list) else []
    return any(isinstance(task, dict) and {"id", "title"} <= task.keys() for task in found)


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001
    return ()


def read(material: Material) -> Reading:
    return records.reading(material, partial(_entries, material.options.tag))


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return [Writer(file, partial(_write, file)) for file in files(path, changes)]


def _entries(tag: str, sheet: Sheet, root: Node) -> Iterator[Entry]:
    tasks = _chosen(root, tag, sheet)
    if tasks is None:
        return
    if not tasks.items:
        sheet.say(Severity.INFO, tasks, "there are no tasks in this list")
    for place in tree(tasks, sheet):
        needs = tuple(_needs(sheet, place))
        priority = _priority(sheet, place.node, otherwise=1)
        yield _entry(sheet, place, needs, priority)
        # A part waits for what the whole waits for; that the whole waits for its own parts goes without saying.
        inherited = tuple(need for need in needs if need.on not in place.part_ids)
        for part in place.parts:
            mine = tuple(_needs(sheet, part))
            known = {need.on for need in mine} | {part.id}
            both = mine + tuple(need for need in inherited if need.on not in known)
            yield _entry(sheet, part, both, _priority(sheet, part.node, otherwise=priority))


def _chosen(root: Node, tag: str, sheet: Sheet) -> Node | None:
    """The list of a tag; if there is only one, and nobody asked for another one than the usual, that one."""
    known = lists(root)
    if tag in known:
        return known[tag]
    if len(known) == 1 and tag == Options().tag:
        only, tasks = next(iter(known.items()))
        if only:
            sheet.say(Severity.INFO, tasks, f"there is no tag {tag}: the only one there is, {only}, was read")
        return tasks
    if not known:
        sheet.say(Severity.ERROR, root, "this file has no list of tasks", "Is it Task Master's tasks.json?")
        return None
    names = ", ".join(filter(None, known))
    hint = (
        f"The tags are {names}: choose one with --tag."
        if names
        else "This file has no tags: leave --tag out."
    )
    sheet.say(Severity.ERROR, root, f"there is no tag {tag} in this file", hint)
    return None


def _entry(sheet: Sheet, place: Place, needs: tuple[Need, ...], priority: int) -> Entry:
    status = place.node.get("status")
    if status is not None and (not isinstance(status, str) or words.mark(status) is None):
        message = f"{place.id}: {records.one_line(str(status))[:40]} is no status, so it is taken for pending"
        sheet.warn(place.node["status"], message, "Task Master's are pending, in-progress, done, review, …")
    return Entry(
        Task(
            place.id,
            place.title,
            _in_context(place),
            needs=needs,
            priority=priority,
            origin=sheet.origin(place.node),
        ),
        place.mark,
        records.one_line(status),
        mentions(f"{place.title}\n{place.text}"),
        parts=tuple(place.part_ids),
    )


def _in_context(place: Place) -> str:
    """A subtask is written for people who have just read what it is a part of."""
    if place.above is None:
        return place.text
    whole = f"# Context: this is a part of {place.above.id}, {place.above.title}"
    return "\n\n".join(part for part in (place.text, whole, place.above.text) if part)


def _needs(sheet: Sheet, place: Place) -> Iterator[Need]:
    """In a subtask a bare number is a sibling, if there is one, else a task."""
    above = place.above
    for need in records.needs(sheet, place.node, "dependencies"):
        sibling = f"{above.id}.{need.on}" if above else ""
        if above and sibling != place.id and sibling in above.part_ids:
            yield Need(sibling, need.kind, need.reason, need.at)
        elif above and need.on == above.id:
            sheet.warn(
                place.node["dependencies"], f"{place.id} can't wait for {above.id}, which it is a part of"
            )
        else:
            yield need


def _priority(sheet: Sheet, node: Node, otherwise: int) -> int:
    said = node.get("priority")
    found = words.priority(said) if isinstance(said, str) else None
    if said is not None and found is None:
        message = f"{records.one_line(str(said))[:40]} is no priority, and was passed over"
        sheet.warn(node["priority"], message, "Write high, medium or low.")
    return otherwise if found is None else found


def _write(path: str, text: str, changes: Sequence[Change]) -> Rewrite:
    try:
        known = lists(parse(printable(text)))
    except MalformedError as flaw:
        return Rewrite(text, (records.unwritable(path, flaw),))
    trees = {tag: [*_flat(tree(tasks))] for tag, tasks in known.items()}
    places = {tag: _places(trees, tag) for tag in {change.tag for change in changes}}
    asked: dict[Place, Mark] = {}
    problems: list[Problem] = []
    for change in own(path, changes):
        place = places[change.tag].find(change)
        if place is None:
            problems.append(gone(change))
        else:
            asked[place] = change.mark
    return Rewrite(apply(text, statuses(asked)), tuple(problems))


def _places(trees: Mapping[str, Sequence[Place]], tag: str) -> Places[Place]:
    """Where a change of this tag can belong, in the list that the reader chose; without a tag, in any of them."""
    if tag in trees:
        chosen = trees[tag]
    elif not tag or (len(trees) == 1 and tag == Options().tag):
        chosen = [place for tree in trees.values() for place in tree]
    else:
        chosen = []
    return Places(chosen, lambda place: place.id, lambda place: place.title)


def _flat(tree: Sequence[Place]) -> Iterator[Place]:
    for place in tree:
        yield place
        yield from place.parts
