"""JSON objects that tell of tasks: their ids, words and sections, as every JSON format reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from plait.core.plan import Problem, Severity
from plait.core.task import Need, Origin
from plait.sources import report
from plait.sources.jsontext import MalformedError, Node, parse
from plait.sources.model import Document, Entry, Material, Reading
from plait.sources.text import Lines

_DECIMAL = re.compile(r"\d{1,9}\.\d{1,9}")


def name(node: Node) -> str:
    """An id, or a reference to one: a text, a whole number, or `5.2` as a number; empty for anything else."""
    if isinstance(node.value, float):
        return node.source if _DECIMAL.fullmatch(node.source) else ""
    return _name(node.value)


def name_of(node: Node) -> str:
    """The id of an object; where it is written is asked for only if that matters."""
    value = node.get("id")
    return name(node["id"]) if isinstance(value, float) else _name(value)


def _name(value: object) -> str:
    return one_line(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def one_line(value: object) -> str:
    """A text as a title or an id can carry it; empty if it is no text."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def title(node: Node, otherwise: str) -> str:
    """Its title; else the first line of its description; else what it is called otherwise."""
    description = node.get("description")
    lines = description.split("\n") if isinstance(description, str) else []
    first = next((line for line in lines if line.strip()), "")
    return one_line(node.get("title")) or one_line(first) or otherwise


def prose(value: object) -> str:
    """A value as markdown: a text as written, a list as bullets, anything else as the JSON that it is."""
    match value:
        case None:
            return ""
        case str():
            return value.strip("\r\n") if value.strip() else ""
        case list() if all(isinstance(item, str) for item in value):
            return "\n".join(f"- {one_line(item)}" for item in value)
        case _:
            return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"


def sections(node: Node, titles: Mapping[str, str]) -> str:
    """The description, then each of these keys that says something, under its title."""
    parts = [prose(node.get("description"))]
    for key, heading in titles.items():
        said = prose(node.get(key))
        parts.append(f"## {heading}\n\n{said}" if said else "")
    return "\n\n".join(part for part in parts if part)


class Sheet:
    """A document as positions tell of it, and what is found wrong with it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.lines = Lines(document.text)
        self.problems: list[Problem] = []

    def line(self, node: Node) -> int:
        """As people count."""
        return self.lines.at(node.start) + 1

    def origin(self, node: Node) -> Origin:
        return Origin(self.document.path, self.line(node))

    def say(self, severity: Severity, node: Node, message: str, hint: str = "") -> None:
        self.problems.append(Problem(severity, message, self.origin(node), hint))

    def warn(self, node: Node, message: str, hint: str = "") -> None:
        self.say(Severity.WARNING, node, message, hint)


def passed_over(sheet: Sheet, node: Node, name: str, first: Node | None) -> None:
    """What is said of an entry that can't be told from others: it has no id, or that of another one."""
    if first is not None and name:
        message = (
            f"{name} is here a second time (first in line {sheet.line(first)}): this one was passed over"
        )
        sheet.warn(node, message, "Give it an id of its own.")
    elif isinstance(node.value, dict):
        sheet.warn(node, "an entry without an id was passed over", 'Give it an "id": a number or a text.')
    else:
        sheet.warn(node, f"this is no task, and was passed over: {one_line(node.source)[:40]}")


def needs(sheet: Sheet, node: Node, key: str) -> Iterator[Need]:
    """The tasks that a list of ids names; what is no id costs itself."""
    said = node.get(key)
    if said is not None and not isinstance(said, list):
        sheet.warn(node[key], f"{key} is not a list, and was passed over", f'Write "{key}": [1, 2].')
    for item in node[key].items if said and isinstance(said, list) else ():
        if on := name(item):
            yield Need(on, reason=f"{key}: {on}", at=sheet.origin(item))
        else:
            sheet.warn(item, f"{one_line(item.source)[:40]} in {key} is not an id, and was passed over")


def reading(material: Material, entries: Callable[[Sheet, Node], Iterable[Entry]]) -> Reading:
    """All that the documents say, each of them one JSON value."""
    found: list[Entry] = []
    problems: list[Problem] = []
    for document in material.documents:
        sheet = Sheet(document)
        try:
            root = parse(document.text)
        except MalformedError as flaw:
            problems.append(_unreadable(document, flaw))
        else:
            found += entries(sheet, root)
            problems += sorted(sheet.problems, key=lambda problem: problem.at.line if problem.at else 0)
    return Reading(tuple(found), problems=tuple(problems))


def _unreadable(document: Document, flaw: MalformedError) -> Problem:
    message = f"this file is not JSON: {flaw.message} (column {flaw.column}); no task was read from it"
    return report.error(document, flaw.line - 1, message, "Correct this place, or make the file anew.")


def unwritable(path: str, flaw: MalformedError) -> Problem:
    """What is said of a file that is not JSON when statuses come to be written: it is left as it is."""
    message = f"this file is not JSON any more: {flaw.message} (column {flaw.column}); no status was written"
    hint = "The statuses are kept in plait's own records."
    return Problem(Severity.WARNING, message, Origin(path, flaw.line), hint)
