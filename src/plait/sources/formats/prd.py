"""ralph's `prd.json`: user stories, each of which passes or does not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from plait.core.plan import Severity
from plait.core.task import Task
from plait.sources import records, words
from plait.sources.formats import Likeness
from plait.sources.found import Places, files, gone, own
from plait.sources.jsontext import MalformedError, Node, inserted, parse, replaced
from plait.sources.mentions import mentions
from plait.sources.model import Change, Entry, Mark, Material, Reading, Rewrite, Writer
from plait.sources.records import Sheet
from plait.sources.text import Edit, apply, printable

_SECTIONS = {"acceptanceCriteria": "Acceptance criteria", "notes": "Notes"}
_NEEDS = ("dependsOn", "dependencies")
# A story passes or it does not; what is in between can't be told.
_PASSES = {Mark.DONE: True, Mark.TODO: False, Mark.FAILED: False, Mark.BLOCKED: False}


def likeness(material: Material) -> Likeness:
    if material.folder or not material.documents:
        return Likeness.NO
    document = material.document
    if not document.name.endswith(".json") or '"userStories"' not in document.text:
        return Likeness.NO
    if document.name == "prd.json":
        return Likeness.NAME
    try:
        stories = parse(document.text).get("userStories")
    except MalformedError:
        return Likeness.NO
    return Likeness.CONTENT if isinstance(stories, list) and any(map(_alike, stories)) else Likeness.NO


def _alike(story: object) -> bool:
    return isinstance(story, dict) and "id" in story and bool(story.keys() & {"passes", "acceptanceCriteria"})


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001
    return ()


def read(material: Material) -> Reading:
    return records.reading(material, _entries)


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return [Writer(file, partial(_write, file)) for file in files(path, changes)]


def _entries(sheet: Sheet, root: Node) -> Iterator[Entry]:
    if not isinstance(root.get("userStories"), list):
        sheet.say(
            Severity.ERROR, root, "this file has no list of userStories", "Is it a prd.json of ralph's?"
        )
        return
    if not root["userStories"].items:
        sheet.say(Severity.INFO, root["userStories"], "there are no user stories in it")
    for name, node in _stories(root, sheet).items():
        yield _entry(sheet, name, node)


def _stories(root: Node, sheet: Sheet | None = None) -> dict[str, Node]:
    """The stories by id; of several with one id the first counts."""
    stories: dict[str, Node] = {}
    for node in root["userStories"].items if "userStories" in root.members else ():
        name = records.name_of(node)
        if name and stories.setdefault(name, node) is node:
            continue
        if sheet is not None:
            records.passed_over(sheet, node, name, stories.get(name))
    return stories


def _entry(sheet: Sheet, name: str, node: Node) -> Entry:
    title = records.title(node, name)
    body = records.sections(node, _SECTIONS)
    task = Task(
        name,
        title,
        body,
        needs=tuple(need for key in _NEEDS for need in records.needs(sheet, node, key)),
        priority=_priority(sheet, node),
        origin=sheet.origin(node),
    )
    passes = node.get("passes")
    if passes is not None and not isinstance(passes, bool):
        sheet.warn(node["passes"], f"{name}: passes is neither true nor false, so it is taken for pending")
    return Entry(task, Mark.DONE if passes is True else Mark.TODO, mentions=mentions(f"{title}\n{body}"))


def _priority(sheet: Sheet, node: Node) -> int:
    """1 goes first, and is what others call P1."""
    match node.get("priority"):
        case None:
            return 1
        case str() as said if (found := words.priority(said)) is not None:
            return found
        case (int() | float()) as number if abs(number) < 1e6 and not isinstance(number, bool):
            return math.floor(number) - 1
        case _:
            sheet.warn(node["priority"], "priority is not a number, and was passed over", "1 goes first.")
            return 1


def _write(path: str, text: str, changes: Sequence[Change]) -> Rewrite:
    try:
        stories = _stories(parse(printable(text)))
    except MalformedError as flaw:
        return Rewrite(text, (records.unwritable(path, flaw),))
    places = Places(stories, lambda name: name, lambda name: records.title(stories[name], name))
    asked: dict[str, bool] = {}
    problems = []
    for change in own(path, changes):
        name = places.find(change)
        if name is None:
            problems.append(gone(change))
        elif change.mark in _PASSES:
            asked[name] = _PASSES[change.mark]
    edits = [edit for name, passes in asked.items() for edit in _edits(stories[name], passes=passes)]
    return Rewrite(apply(text, edits), tuple(problems))


def _edits(node: Node, *, passes: bool) -> Iterator[Edit]:
    if (node.get("passes") is True) is passes:
        return
    if "passes" in node.members:
        yield replaced(node["passes"], passes)
    else:
        yield inserted(node, "passes", passes, after=("priority", "acceptanceCriteria", "title"))
