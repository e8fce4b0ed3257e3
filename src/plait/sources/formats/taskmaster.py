"""Task Master's `tasks.json`: tasks under tags (in older files at the top), with subtasks that do the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, partial

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Need, Task
from plait.sources import json_tasks, status_changes, vocabulary
from plait.sources.formats import Confidence, Format
from plait.sources.json_tasks import JsonReader
from plait.sources.json_text import JsonNode, JsonSyntaxError, parse_json, set_key
from plait.sources.source_model import Reading, ReadOptions, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, TaskIndex
from plait.sources.task_paths import find_mentions
from plait.sources.text import TextEdit, apply_edits, to_printable

_SECTIONS = {"details": "Details", "testStrategy": "Test strategy"}

# Task Master has no status for failures: a failed task is pending.
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
    """A task, or a subtask of `parent`; `id` is the full one (5.2). Derived values need the whole tree."""

    id: str
    node: JsonNode
    parent: TreeTask | None = None
    parts: list[TreeTask] = field(default_factory=list)

    @cached_property
    def title(self) -> str:
        return json_tasks.read_json_title(self.node, self.id)

    @cached_property
    def text(self) -> str:
        """All sections of the task as markdown."""
        return json_tasks.render_sections(self.node, _SECTIONS)

    @cached_property
    def part_ids(self) -> dict[str, None]:
        """The ids of the subtasks, in order."""
        return dict.fromkeys(part.id for part in self.parts)

    @cached_property
    def own_status(self) -> SourceStatus:
        """The status in the file; a missing or unknown one means to do."""
        status = self.node.get("status")
        return (vocabulary.parse_status(status) if isinstance(status, str) else None) or SourceStatus.TODO

    @cached_property
    def status(self) -> SourceStatus:
        """The status: a closed task closes its subtasks; a task whose subtasks are closed, at least one as done, is
        done.
        """
        if self.own_status.is_closed:
            return self.own_status
        if self.parent is not None:
            return self.parent.own_status if self.parent.own_status.is_closed else self.own_status
        return SourceStatus.DONE if _are_finished(part.own_status for part in self.parts) else self.own_status


def find_task_lists(root: JsonNode) -> dict[str, JsonNode]:
    """Return the lists of tasks by tag; in an older file without tags, the only list has the tag ""."""
    tags = {
        tag: member.node["tasks"] for tag, member in root.members.items() if isinstance(member.node.get("tasks"), list)
    }
    return tags or ({"": root["tasks"]} if isinstance(root.get("tasks"), list) else {})


def build_tree(tasks: JsonNode, reader: JsonReader | None = None) -> list[TreeTask]:
    """Build the tasks with their subtasks; an entry without an id, or with a repeated one, is ignored."""
    return list(_iter_tasks(tasks, None, {}, reader))


def _iter_tasks(
    nodes: JsonNode, above: TreeTask | None, node_by_id: dict[str, JsonNode], reader: JsonReader | None
) -> Iterator[TreeTask]:
    for node in nodes.items:
        name = json_tasks.read_id(node)
        if above is not None and name and not name.startswith(f"{above.id}."):
            name = f"{above.id}.{name}"
        if not name or node_by_id.setdefault(name, node) is not node:
            if reader is not None:
                json_tasks.warn_skipped(reader, node, name, node_by_id.get(name))
            continue
        task = TreeTask(name, node, above)
        if isinstance(node.get("subtasks"), list) and above is None:
            task.parts.extend(_iter_tasks(node["subtasks"], task, node_by_id, reader))
        elif node.get("subtasks") and reader is not None:
            message = f"the subtasks of {name} are not a list or are nested too deep; ignored"
            reader.warn(node["subtasks"], message)
        yield task


def make_status_edits(statuses: Mapping[TreeTask, SourceStatus]) -> Iterator[TextEdit]:
    """Return the edits that write these statuses and keep each task in step with its subtasks."""
    new: dict[TreeTask, SourceStatus] = {}
    for task, status in statuses.items():
        written = vocabulary.parse_status(_STATUSES.get(status, "")) or task.status
        if task.status is not written and status_changes.changes_status(task.status, status):
            new[task] = written
    parents = {task.parent: None for task in new if task.parent is not None and task.parent not in statuses}
    for parent in parents:
        becomes = _derive_parent_status(parent, new)
        if becomes is not None:
            new[parent] = becomes
    for task, status in new.items():
        if status is not task.own_status:
            yield set_key(task.node, "status", _STATUSES[status], after=("title", "id"))


def _derive_parent_status(parent: TreeTask, new: Mapping[TreeTask, SourceStatus]) -> SourceStatus | None:
    """Return the new status of a task whose subtasks change: done when they are, in progress when one has begun.

    None to keep it: if it was closed while some of them were not, a person decided that.
    """
    statuses = [new.get(part, part.own_status) for part in parent.parts]
    has_started = any(status in {SourceStatus.DOING, SourceStatus.DONE} for status in statuses)
    if _are_finished(statuses):
        return None if parent.own_status.is_closed else SourceStatus.DONE
    if parent.own_status is SourceStatus.DONE and all(part.own_status.is_closed for part in parent.parts):
        return SourceStatus.DOING if has_started else SourceStatus.TODO
    if has_started and parent.own_status is SourceStatus.TODO:
        return SourceStatus.DOING
    if not has_started and parent.node.get("status") == _STATUSES[SourceStatus.DOING]:
        return SourceStatus.TODO
    return None


def _are_finished(statuses: Iterable[SourceStatus]) -> bool:
    statuses = list(statuses)
    return SourceStatus.DONE in statuses and all(status.is_closed for status in statuses)


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
    # Others keep lists of "tasks" too: editors without ids, plans without titles.
    lists = [tasks.value for tasks in find_task_lists(root).values() if isinstance(tasks.value, list)]
    has_tasks = any(isinstance(task, dict) and {"id", "title"} <= task.keys() for tasks in lists for task in tasks)
    return Confidence.CONTENT if has_tasks else Confidence.NO


def read(source: SourceFiles) -> Reading:
    return json_tasks.read_json_source(partial(_read_entries, source.options.tag), source)


def _read_entries(tag: str, reader: JsonReader, root: JsonNode) -> Iterator[SourceEntry]:
    tasks = _choose_list(root, tag, reader)
    if tasks is None:
        return
    if not tasks.items:
        reader.report(Severity.INFO, tasks, "there are no tasks in this list")
    for task in build_tree(tasks, reader):
        needs = tuple(_read_task_needs(reader, task))
        priority = _read_priority(reader, task.node, otherwise=1)
        yield _build_entry(reader, task, needs, priority)
        # A subtask inherits the needs of its task, except for those on other subtasks.
        inherited = tuple(need for need in needs if need.on not in task.part_ids)
        for part in task.parts:
            own = tuple(_read_task_needs(reader, part))
            known = {need.on for need in own} | {part.id}
            both = own + tuple(need for need in inherited if need.on not in known)
            yield _build_entry(reader, part, both, _read_priority(reader, part.node, otherwise=priority))


def _choose_list(root: JsonNode, tag: str, reader: JsonReader) -> JsonNode | None:
    """Return the list of a tag; a file's only list also has the default tag. Without one, report a problem."""
    lists = find_task_lists(root)
    if tag in lists:
        return lists[tag]
    if len(lists) == 1 and tag == ReadOptions().tag:
        only, tasks = next(iter(lists.items()))
        if only:
            reader.report(Severity.INFO, tasks, f"no tag {tag}; reading the only one, {only}")
        return tasks
    if not lists:
        reader.report(Severity.ERROR, root, "this file has no list of tasks", "Is it Task Master's tasks.json?")
        return None
    names = ", ".join(filter(None, lists))
    hint = f"The tags are {names}: choose one with --tag." if names else "This file has no tags: leave --tag out."
    reader.report(Severity.ERROR, root, f"there is no tag {tag} in this file", hint)
    return None


def _build_entry(reader: JsonReader, task: TreeTask, needs: tuple[Need, ...], priority: int) -> SourceEntry:
    status = task.node.get("status")
    if status is not None and (not isinstance(status, str) or vocabulary.parse_status(status) is None):
        message = (
            f"{task.id}: {json_tasks.collapse_whitespace(str(status))[:40]} is not a known status; treated as pending"
        )
        reader.warn(task.node["status"], message, "Task Master's are pending, in-progress, done, review, …")
    return SourceEntry(
        Task(
            task.id, task.title, _add_parent_text(task), needs=needs, priority=priority, origin=reader.origin(task.node)
        ),
        task.status,
        json_tasks.collapse_whitespace(status),
        find_mentions(f"{task.title}\n{task.text}"),
        parts=tuple(task.part_ids),
    )


def _add_parent_text(task: TreeTask) -> str:
    """Return the text of a task. A subtask also gets its parent's text: its author assumed that the reader knows it."""
    if task.parent is None:
        return task.text
    context = f"# Context: this is a part of {task.parent.id}, {task.parent.title}"
    return "\n\n".join(part for part in (task.text, context, task.parent.text) if part)


def _read_task_needs(reader: JsonReader, task: TreeTask) -> Iterator[Need]:
    """Yield the needs of a task. In a subtask a bare number is a sibling, if there is one, else a task."""
    above = task.parent
    for need in json_tasks.read_needs(reader, task.node, "dependencies"):
        sibling = f"{above.id}.{need.on}" if above else ""
        if above and sibling != task.id and sibling in above.part_ids:
            yield Need(sibling, need.kind, need.reason, need.at)
        elif above and need.on == above.id:
            reader.warn(task.node["dependencies"], f"{task.id} can't wait for {above.id}, which it is a part of")
        else:
            yield need


def _read_priority(reader: JsonReader, node: JsonNode, otherwise: int) -> int:
    value = node.get("priority")
    priority = vocabulary.parse_priority(value) if isinstance(value, str) else None
    if value is not None and priority is None:
        message = f"{json_tasks.collapse_whitespace(str(value))[:40]} is not a priority; ignored"
        reader.warn(node["priority"], message, "Write high, medium or low.")
    return otherwise if priority is None else priority


def _write_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    try:
        lists = find_task_lists(parse_json(to_printable(text)))
    except JsonSyntaxError as error:
        return Rewrite(text, (json_tasks.report_unwritable(path, error),))
    trees = {tag: [*_flatten(build_tree(tasks))] for tag, tasks in lists.items()}
    statuses: dict[TreeTask, SourceStatus] = {}
    problems: list[Problem] = []
    own_changes = status_changes.select_file_changes(path, changes)
    for tag in dict.fromkeys(change.tag for change in own_changes):
        matched, missing = _index_tasks(trees, tag).match(change for change in own_changes if change.tag == tag)
        statuses |= {task: change.status for task, change in matched}
        problems += missing
    return Rewrite(apply_edits(text, make_status_edits(statuses)), tuple(problems))


def _index_tasks(trees: Mapping[str, Sequence[TreeTask]], tag: str) -> TaskIndex[TreeTask]:
    """Return the tasks that a change with this tag can be about: of the reader's list; without a tag, of all."""
    if tag in trees:
        chosen = trees[tag]
    elif not tag or (len(trees) == 1 and tag == ReadOptions().tag):
        chosen = [task for tree in trees.values() for task in tree]
    else:
        chosen = []
    return TaskIndex(chosen, lambda task: task.id, lambda task: task.title)


def _flatten(tree: Sequence[TreeTask]) -> Iterator[TreeTask]:
    for task in tree:
        yield task
        yield from task.parts


def list_tags(text: str) -> list[str]:
    try:
        return list(find_task_lists(parse_json(to_printable(text))))
    except JsonSyntaxError:
        return []


FORMAT = Format(detect, read, partial(status_changes.write_each_file, _write_statuses), list_tags=list_tags)
