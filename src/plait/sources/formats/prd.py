"""ralph's `prd.json`: user stories, each of which passes or does not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from plait.core.plan import Severity
from plait.core.task import Task
from plait.sources import json_tasks, vocabulary
from plait.sources.formats import Confidence, Format
from plait.sources.json_tasks import JsonReader
from plait.sources.json_text import JsonNode, JsonSyntaxError, parse_json, set_key
from plait.sources.source_model import SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, TaskIndex, select_file_changes, write_each_file
from plait.sources.task_paths import find_mentions
from plait.sources.text import apply_edits, to_printable

_SECTIONS = {"acceptanceCriteria": "Acceptance criteria", "notes": "Notes"}
_NEEDS = ("dependsOn", "dependencies")
# A story passes or doesn't; there is nothing in between.
_PASSES = {SourceStatus.DONE: True, SourceStatus.TODO: False, SourceStatus.FAILED: False, SourceStatus.BLOCKED: False}


def detect(source: SourceFiles) -> Confidence:
    if source.folder or not source.documents:
        return Confidence.NO
    document = source.document
    if not document.name.endswith(".json") or '"userStories"' not in document.text:
        return Confidence.NO
    if document.name == "prd.json":
        return Confidence.NAME
    try:
        stories = parse_json(document.text).get("userStories")
    except JsonSyntaxError:
        return Confidence.NO
    return Confidence.CONTENT if isinstance(stories, list) and any(map(_looks_like_story, stories)) else Confidence.NO


def _looks_like_story(story: object) -> bool:
    return isinstance(story, dict) and "id" in story and bool(story.keys() & {"passes", "acceptanceCriteria"})


def _read_entries(reader: JsonReader, root: JsonNode) -> Iterator[SourceEntry]:
    if not isinstance(root.get("userStories"), list):
        reader.report(Severity.ERROR, root, "this file has no list of userStories", "Is it a prd.json of ralph's?")
        return
    if not root["userStories"].items:
        reader.report(Severity.INFO, root["userStories"], "there are no user stories in it")
    for name, node in _index_stories(root, reader).items():
        yield _build_entry(reader, name, node)


def _index_stories(root: JsonNode, reader: JsonReader | None = None) -> dict[str, JsonNode]:
    """Return the stories by id; of several with one id the first counts."""
    stories: dict[str, JsonNode] = {}
    for node in root["userStories"].items if "userStories" in root.members else ():
        name = json_tasks.read_id(node)
        if name and stories.setdefault(name, node) is node:
            continue
        if reader is not None:
            json_tasks.warn_skipped(reader, node, name, stories.get(name))
    return stories


def _build_entry(reader: JsonReader, name: str, node: JsonNode) -> SourceEntry:
    title = json_tasks.read_json_title(node, name)
    body = json_tasks.render_sections(node, _SECTIONS)
    task = Task(
        name,
        title,
        body,
        needs=tuple(need for key in _NEEDS for need in json_tasks.read_needs(reader, node, key)),
        priority=_read_priority(reader, node),
        origin=reader.origin(node),
    )
    passes = node.get("passes")
    if passes is not None and not isinstance(passes, bool):
        reader.warn(node["passes"], f"{name}: passes must be true or false; treated as pending")
    return SourceEntry(
        task, SourceStatus.DONE if passes is True else SourceStatus.TODO, mentions=find_mentions(f"{title}\n{body}")
    )


def _read_priority(reader: JsonReader, node: JsonNode) -> int:
    """Return the priority: in the file 1 is the highest, which is P1 or 0 here."""
    match node.get("priority"):
        case None:
            return 1
        case str() as text if (priority := vocabulary.parse_priority(text)) is not None:
            return priority
        case (int() | float()) as number if abs(number) < 1e6 and not isinstance(number, bool):
            return math.floor(number) - 1
        case _:
            reader.warn(node["priority"], "priority is not a number; ignored", "1 goes first.")
            return 1


def _write_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    try:
        stories = _index_stories(parse_json(to_printable(text)))
    except JsonSyntaxError as error:
        return Rewrite(text, (json_tasks.report_unwritable(path, error),))
    index = TaskIndex(stories, lambda name: name, lambda name: json_tasks.read_json_title(stories[name], name))
    matched, problems = index.match(select_file_changes(path, changes))
    edits = [
        set_key(stories[name], "passes", _PASSES[change.status], after=("priority", "acceptanceCriteria", "title"))
        for name, change in matched
        if change.status in _PASSES and (stories[name].get("passes") is True) is not _PASSES[change.status]
    ]
    return Rewrite(apply_edits(text, edits), problems)


FORMAT = Format(detect, partial(json_tasks.read_json_source, _read_entries), partial(write_each_file, _write_statuses))
