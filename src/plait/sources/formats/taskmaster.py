"""Task Master's `tasks.json`: tasks under tags (or, in older files, at the top), with subtasks that do the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from plait.core.plan import Problem, Severity
from plait.core.task import Need, Task
from plait.sources import json_tasks, vocabulary
from plait.sources.formats import Confidence
from plait.sources.formats.taskmaster__tree import TreeTask, build_tree, find_task_lists, make_status_edits
from plait.sources.json_tasks import JsonReader
from plait.sources.json_text import JsonNode, JsonSyntaxError, parse_json
from plait.sources.source_model import (
    Reading,
    ReadOptions,
    Rewrite,
    SourceEntry,
    SourceFiles,
    SourceStatus,
    StatusChange,
    StatusFileWriter,
)
from plait.sources.status_changes import (
    TaskIndex,
    list_changed_files,
    report_missing_task,
    select_file_changes,
)
from plait.sources.task_paths__mentions import find_mentions
from plait.sources.text import apply_edits, to_printable


def detect(source: SourceFiles) -> Confidence:
    if source.folder or not source.documents or not source.document.name.endswith(".json"):
        return Confidence.NO
    if source.document.path.endswith(".taskmaster/tasks/tasks.json"):
        return Confidence.NAME
    if '"tasks"' not in source.document.text:
        return Confidence.NO
    try:
        root = parse_json(source.document.text)
    except JsonSyntaxError:
        return Confidence.NO
    return (
        Confidence.CONTENT
        if any(_looks_like_tasks(tasks) for tasks in find_task_lists(root).values())
        else Confidence.NO
    )


def _looks_like_tasks(tasks: JsonNode) -> bool:
    """Others keep lists of "tasks" too: editors without ids, plans without titles."""
    found = tasks.value if isinstance(tasks.value, list) else []
    return any(isinstance(task, dict) and {"id", "title"} <= task.keys() for task in found)


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001
    return ()


def read(source: SourceFiles) -> Reading:
    return json_tasks.read_json_source(source, partial(_read_entries, source.options.tag))


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    return [
        StatusFileWriter(file, partial(_write_statuses, file)) for file in list_changed_files(path, changes)
    ]


def _read_entries(tag: str, reader: JsonReader, root: JsonNode) -> Iterator[SourceEntry]:
    tasks = _choose_list(root, tag, reader)
    if tasks is None:
        return
    if not tasks.items:
        reader.report(Severity.INFO, tasks, "there are no tasks in this list")
    for place in build_tree(tasks, reader):
        needs = tuple(_read_task_needs(reader, place))
        priority = _read_priority(reader, place.node, otherwise=1)
        yield _build_entry(reader, place, needs, priority)
        # A part waits for what the whole waits for; that the whole waits for its own parts goes without saying.
        inherited = tuple(need for need in needs if need.on not in place.part_ids)
        for part in place.parts:
            mine = tuple(_read_task_needs(reader, part))
            known = {need.on for need in mine} | {part.id}
            both = mine + tuple(need for need in inherited if need.on not in known)
            yield _build_entry(reader, part, both, _read_priority(reader, part.node, otherwise=priority))


def _choose_list(root: JsonNode, tag: str, reader: JsonReader) -> JsonNode | None:
    """The list of a tag; if there is only one, and nobody asked for another one than the usual, that one."""
    known = find_task_lists(root)
    if tag in known:
        return known[tag]
    if len(known) == 1 and tag == ReadOptions().tag:
        only, tasks = next(iter(known.items()))
        if only:
            reader.report(
                Severity.INFO, tasks, f"there is no tag {tag}: the only one there is, {only}, was read"
            )
        return tasks
    if not known:
        reader.report(
            Severity.ERROR, root, "this file has no list of tasks", "Is it Task Master's tasks.json?"
        )
        return None
    names = ", ".join(filter(None, known))
    hint = (
        f"The tags are {names}: choose one with --tag."
        if names
        else "This file has no tags: leave --tag out."
    )
    reader.report(Severity.ERROR, root, f"there is no tag {tag} in this file", hint)
    return None


def _build_entry(reader: JsonReader, task: TreeTask, needs: tuple[Need, ...], priority: int) -> SourceEntry:
    status = task.node.get("status")
    if status is not None and (not isinstance(status, str) or vocabulary.parse_status(status) is None):
        message = f"{task.id}: {json_tasks.collapse_whitespace(str(status))[:40]} is no status, so it is taken for pending"
        reader.warn(task.node["status"], message, "Task Master's are pending, in-progress, done, review, …")
    return SourceEntry(
        Task(
            task.id,
            task.title,
            _add_parent_text(task),
            needs=needs,
            priority=priority,
            origin=reader.origin(task.node),
        ),
        task.status,
        json_tasks.collapse_whitespace(status),
        find_mentions(f"{task.title}\n{task.text}"),
        parts=tuple(task.part_ids),
    )


def _add_parent_text(task: TreeTask) -> str:
    """A subtask is written for people who have just read what it is a part of."""
    if task.parent is None:
        return task.text
    whole = f"# Context: this is a part of {task.parent.id}, {task.parent.title}"
    return "\n\n".join(part for part in (task.text, whole, task.parent.text) if part)


def _read_task_needs(reader: JsonReader, task: TreeTask) -> Iterator[Need]:
    """In a subtask a bare number is a sibling, if there is one, else a task."""
    above = task.parent
    for need in json_tasks.read_needs(reader, task.node, "dependencies"):
        sibling = f"{above.id}.{need.on}" if above else ""
        if above and sibling != task.id and sibling in above.part_ids:
            yield Need(sibling, need.kind, need.reason, need.at)
        elif above and need.on == above.id:
            reader.warn(
                task.node["dependencies"], f"{task.id} can't wait for {above.id}, which it is a part of"
            )
        else:
            yield need


def _read_priority(reader: JsonReader, node: JsonNode, otherwise: int) -> int:
    said = node.get("priority")
    found = vocabulary.parse_priority(said) if isinstance(said, str) else None
    if said is not None and found is None:
        message = f"{json_tasks.collapse_whitespace(str(said))[:40]} is no priority, and was passed over"
        reader.warn(node["priority"], message, "Write high, medium or low.")
    return otherwise if found is None else found


def _write_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    try:
        known = find_task_lists(parse_json(to_printable(text)))
    except JsonSyntaxError as flaw:
        return Rewrite(text, (json_tasks.report_unwritable(path, flaw),))
    trees = {tag: [*_flatten(build_tree(tasks))] for tag, tasks in known.items()}
    places = {tag: _index_tasks(trees, tag) for tag in {change.tag for change in changes}}
    asked: dict[TreeTask, SourceStatus] = {}
    problems: list[Problem] = []
    for change in select_file_changes(path, changes):
        place = places[change.tag].find(change)
        if place is None:
            problems.append(report_missing_task(change))
        else:
            asked[place] = change.status
    return Rewrite(apply_edits(text, make_status_edits(asked)), tuple(problems))


def _index_tasks(trees: Mapping[str, Sequence[TreeTask]], tag: str) -> TaskIndex[TreeTask]:
    """Where a change of this tag can belong, in the list that the reader chose; without a tag, in any of them."""
    if tag in trees:
        chosen = trees[tag]
    elif not tag or (len(trees) == 1 and tag == ReadOptions().tag):
        chosen = [place for tree in trees.values() for place in tree]
    else:
        chosen = []
    return TaskIndex(chosen, lambda place: place.id, lambda place: place.title)


def _flatten(tree: Sequence[TreeTask]) -> Iterator[TreeTask]:
    for place in tree:
        yield place
        yield from place.parts
