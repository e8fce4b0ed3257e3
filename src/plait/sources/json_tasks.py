"""Tasks as JSON objects: ids, titles, sections and dependencies, as all JSON formats read them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from plait.core.plan import Problem, Severity
from plait.core.task import Need, Origin
from plait.sources.json_text import JsonNode, JsonSyntaxError, parse_json
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, sort_by_line
from plait.sources.text import TextLines

_DECIMAL = re.compile(r"\d{1,9}\.\d{1,9}")


def parse_id(node: JsonNode) -> str:
    """Return an id or a reference to one: a text, a whole number, or `5.2` as a number; empty for anything else."""
    if isinstance(node.value, float):
        return node.source if _DECIMAL.fullmatch(node.source) else ""
    return _format_id(node.value)


def read_id(node: JsonNode) -> str:
    """Return the id of an object; its position is looked up only for a number with a point."""
    value = node.get("id")
    return parse_id(node["id"]) if isinstance(value, float) else _format_id(value)


def _format_id(value: object) -> str:
    return collapse_whitespace(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def collapse_whitespace(value: object) -> str:
    """Put a text on one line, for titles and ids; empty if it is not a text."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def read_json_title(node: JsonNode, otherwise: str) -> str:
    """Return the title of an object, else the first line of its description, else `otherwise`."""
    description = node.get("description")
    lines = description.split("\n") if isinstance(description, str) else []
    first = next((line for line in lines if line.strip()), "")
    return collapse_whitespace(node.get("title")) or collapse_whitespace(first) or otherwise


def render_value(value: object) -> str:
    """Render a value as markdown: a text as written, a list as bullets, anything else as JSON."""
    match value:
        case None:
            return ""
        case str():
            return value.strip("\r\n") if value.strip() else ""
        case list() if all(isinstance(item, str) for item in value):
            return "\n".join(f"- {collapse_whitespace(item)}" for item in value)
        case _:
            return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"


def render_sections(node: JsonNode, titles: Mapping[str, str]) -> str:
    """Render the description, then each of these keys that has a value, under its title."""
    parts = [render_value(node.get("description"))]
    for key, heading in titles.items():
        value = render_value(node.get(key))
        parts.append(f"## {heading}\n\n{value}" if value else "")
    return "\n\n".join(part for part in parts if part)


class JsonReader:
    """A JSON document, the lines of its values, and the problems found in it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.lines = TextLines(document.text)
        self.problems: list[Problem] = []

    def line(self, node: JsonNode) -> int:
        """Return the line of a value as people count, from 1."""
        return self.lines.line_at(node.start) + 1

    def origin(self, node: JsonNode) -> Origin:
        return Origin(self.document.path, self.line(node))

    def report(self, severity: Severity, node: JsonNode, message: str, hint: str = "") -> None:
        self.problems.append(Problem(severity, message, self.origin(node), hint))

    def warn(self, node: JsonNode, message: str, hint: str = "") -> None:
        self.report(Severity.WARNING, node, message, hint)


def warn_skipped(reader: JsonReader, node: JsonNode, name: str, first: JsonNode | None) -> None:
    """Report an entry without an id, or with the id of another one."""
    if first is not None and name:
        message = f"duplicate id {name} (first on line {reader.line(first)}); ignored"
        reader.warn(node, message, "Give it an id of its own.")
    elif isinstance(node.value, dict):
        reader.warn(node, "an entry without an id; ignored", 'Give it an "id": a number or a text.')
    else:
        reader.warn(node, f"not a task; ignored: {collapse_whitespace(node.source)[:40]}")


def read_needs(reader: JsonReader, node: JsonNode, key: str) -> Iterator[Need]:
    """Yield the tasks that a list of ids names; anything that is not an id is reported and ignored."""
    value = node.get(key)
    if value is not None and not isinstance(value, list):
        reader.warn(node[key], f"{key} is not a list; ignored", f'Write "{key}": [1, 2].')
    for item in node[key].items if value and isinstance(value, list) else ():
        if on := parse_id(item):
            yield Need(on, reason=f"{key}: {on}", at=reader.origin(item))
        else:
            reader.warn(item, f"{collapse_whitespace(item.source)[:40]} in {key} is not an id; ignored")


def read_json_source(entries: Callable[[JsonReader, JsonNode], Iterable[SourceEntry]], source: SourceFiles) -> Reading:
    """Read all documents, each of which is one JSON value."""
    all_entries: list[SourceEntry] = []
    problems: list[Problem] = []
    for document in source.documents:
        reader = JsonReader(document)
        try:
            root = parse_json(document.text)
        except JsonSyntaxError as error:
            message = f"not valid JSON: {error.message} (column {error.column}); no tasks read"
            problems.append(document.make_error(error.line - 1, message, "Fix the JSON here."))
        else:
            all_entries += entries(reader, root)
            problems += sort_by_line(reader.problems)
    return Reading(tuple(all_entries), problems=tuple(problems))


def report_unwritable(path: str, error: JsonSyntaxError) -> Problem:
    """Report that no statuses were written, because the file is not valid JSON."""
    message = f"not valid JSON: {error.message} (column {error.column}); no status was written"
    hint = "The statuses are kept in plait's own records."
    return Problem(Severity.WARNING, message, Origin(path, error.line), hint)
