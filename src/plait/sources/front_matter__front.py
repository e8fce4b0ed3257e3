"""Front matter: YAML between two rules, read as text. What a value means is its reader's business."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field, replace

import yaml

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.source_model import Document
from plait.sources.text import BOM, to_printable

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NESTING_CHARACTERS = "[{-?:"  # no level begins without one of these
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class FrontMatterValue:
    """A key's value: scalars as they are written (null is empty), lists and maps of scalars; `line` counts from 1.

    `odd`: it is something else, and has no reading here. `span` is where in the document's text a scalar stands, with
    its quotes; there is none where putting another value in its place would change more than that.
    """

    line: int
    text: str = ""
    items: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    is_list: bool = False
    is_unsupported: bool = False
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`broken`: the text can't be read, and the problem says where."""

    values: dict[str, FrontMatterValue] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    is_broken: bool = False
    is_present: bool = False


def read_front_matter(document: Document) -> FrontMatter:
    """The front matter of a file; one without any has no values and no problems."""
    lines = document.markdown.front_matter
    if lines is None:
        return FrontMatter()
    text = to_printable(document.markdown.source(*lines)).removeprefix(BOM)
    first = document.markdown.lines.starts[lines[1]] - len(text)
    try:
        node = compose_yaml(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return FrontMatter(
            problems=(_report_unreadable(document, first, error),), is_broken=True, is_present=True
        )
    if node is None:
        return FrontMatter(is_present=True)
    if not isinstance(node, yaml.MappingNode):
        problem = Problem(
            Severity.WARNING,
            "the front matter is not a list of keys and values",
            Origin(document.path, 2),
            'Write each line as "key: value".',
        )
        return FrontMatter(problems=(problem,), is_broken=True, is_present=True)
    return _read_pairs(node, document, first)


def compose_yaml(text: str) -> yaml.Node | None:
    """YAML as nodes. Raises YAMLError or ValueError, and RecursionError for what is nested too deep: libyaml's own reader
    would take the whole process down with it.
    """
    if sum(map(text.count, _NESTING_CHARACTERS)) > _MAX_DEPTH:
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise RecursionError
    node: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    return node


def _find_line(document: Document, place: int) -> int:
    """The line (from 1) of a place in the text, as this project counts lines: YAML knows more kinds of line ends."""
    starts = document.markdown.lines.starts
    return min(bisect_right(starts, place), len(starts) - 1)


def _read_pairs(node: yaml.MappingNode, document: Document, first: int) -> FrontMatter:
    values: dict[str, FrontMatterValue] = {}
    problems = []
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        line = _find_line(document, first + key.start_mark.index)
        if key.value in values:
            message = f"{key.value} is there twice; the second one counts"
            problems.append(Problem(Severity.WARNING, message, Origin(document.path, line)))
        values[key.value] = replace(
            _read_value(value, line), span=_find_span(document.text, first, key, value)
        )
    return FrontMatter(values, tuple(problems), is_present=True)


def _find_span(text: str, first: int, key: yaml.Node, value: yaml.Node) -> tuple[int, int] | None:
    """Not for blocks, several lines, anchors, tags and aliases."""
    start, stop = first + value.start_mark.index, first + value.end_mark.index
    said = text[start:stop]
    if not isinstance(value, yaml.ScalarNode) or not said.isprintable():
        return None
    if said.startswith(("&", "!", "|", ">")):  # an alias is the node it stands for, which has an anchor
        return None
    if not said and text[first + key.end_mark.index : start].strip(" \t") != ":":
        return None
    return start, stop


def _read_value(node: yaml.Node, line: int) -> FrontMatterValue:
    match node:
        case yaml.ScalarNode():
            return FrontMatterValue(line, _read_scalar(node))
        case yaml.SequenceNode(value=parts) if all(isinstance(part, yaml.ScalarNode) for part in parts):
            return FrontMatterValue(line, items=tuple(_read_scalar(part) for part in parts), is_list=True)
        case yaml.MappingNode(value=pairs) if all(
            isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode) for key, value in pairs
        ):
            return FrontMatterValue(
                line, pairs=tuple((key.value, _read_scalar(value)) for key, value in pairs)
            )
        case _:
            return FrontMatterValue(line, is_unsupported=True)


def _read_scalar(node: yaml.ScalarNode) -> str:
    return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _report_unreadable(document: Document, first: int, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    place = mark.index if mark else getattr(error, "position", 0)
    why = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is nested too deep"
    return Problem(
        Severity.WARNING,
        f"the front matter can't be read: {why}",
        Origin(document.path, _find_line(document, first + place)),
        "Texts with a colon, a # or a leading @, *, & or ! need quotes.",
    )
