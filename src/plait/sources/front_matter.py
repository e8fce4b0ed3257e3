"""YAML front matter: parse it, and read typed keys. A value of the wrong type is ignored with a warning."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import replace
from difflib import get_close_matches
from typing import Protocol, TypeVar

import yaml

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources import vocabulary
from plait.sources.source_model import Document, make_warning
from plait.sources.text import BOM, to_printable

T = TypeVar("T")

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NESTING_CHARACTERS = "[{-?:"  # no level begins without one of these
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class FrontMatterValue:
    """A key's value: scalars as written (null is empty), lists and maps of scalars; `line` counts from 1.

    `is_unsupported`: anything else. `span` is the position of a scalar with its quotes; None if it can't be replaced
    alone.
    """

    line: int
    text: str = ""
    items: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    is_list: bool = False
    is_unsupported: bool = False
    span: tuple[int, int] | None = None


def compose_yaml(text: str) -> yaml.Node | None:
    """YAML as nodes. Raises YAMLError, ValueError, or RecursionError where libyaml itself would crash."""
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


def _find_span(text: str, first: int, key: yaml.Node, value: yaml.Node) -> tuple[int, int] | None:
    """Not for blocks, several lines, anchors, tags and aliases."""
    start, stop = first + value.start_mark.index, first + value.end_mark.index
    words = text[start:stop]
    if not isinstance(value, yaml.ScalarNode) or not words.isprintable():
        return None
    if words.startswith(("&", "!", "|", ">")):  # an alias is the node it stands for, which has an anchor
        return None
    if not words and text[first + key.end_mark.index : start].strip(" \t") != ":":
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
            return FrontMatterValue(line, pairs=tuple((key.value, _read_scalar(value)) for key, value in pairs))
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


_TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
_FALSE_WORDS = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}\Z")
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?\Z")
_COMMAS = re.compile(r"[,;\n]")


@dataclass(frozen=True, slots=True)
class NamedReference:
    """A piece of text, the words around it, and its line (from 0)."""

    text: str
    reason: str
    line: int


class FrontMatter:
    """The front matter of one file. Names are compared without regard to case, hyphens and spaces.

    `is_broken`: the text can't be parsed; the problem has the line. A file without front matter has no values.
    """

    def __init__(self, document: Document) -> None:
        self.problems: list[Problem] = []
        self.is_broken = False
        self._document = document
        self._values: dict[str, tuple[str, FrontMatterValue]] = {}
        lines = document.markdown.front_matter
        self.is_present = lines is not None
        if lines is not None:
            text = to_printable(document.markdown.source(*lines)).removeprefix(BOM)
            self._parse_yaml(text, document.markdown.lines.starts[lines[1]] - len(text))

    def _parse_yaml(self, text: str, first: int) -> None:
        """`first` is where the text begins in its file."""
        try:
            node = compose_yaml(text)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            self.is_broken = True
            self.problems.append(_report_unreadable(self._document, first, error))
            return
        if isinstance(node, yaml.MappingNode):
            self._read_pairs(node, first)
        elif node is not None:
            self.is_broken = True
            message = "the front matter is not a list of keys and values"
            self.problems.append(make_warning(self._document, 1, message, 'Write each line as "key: value".'))

    def _read_pairs(self, node: yaml.MappingNode, first: int) -> None:
        values: dict[str, FrontMatterValue] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = _find_line(self._document, first + key.start_mark.index)
            if key.value in values:
                message = f"{key.value} is there twice; the second one counts"
                self.problems.append(make_warning(self._document, line - 1, message))
            span = _find_span(self._document.text, first, key, value)
            values[key.value] = replace(_read_value(value, line), span=span)
        self._values = {normalize_key(key): (key, value) for key, value in values.items()}

    def has(self, *names: str) -> bool:
        return all(name in self._values for name in names)

    @property
    def values(self) -> dict[str, FrontMatterValue]:
        return {name: value for name, (_, value) in self._values.items()}

    def line(self, name: str) -> int:
        """The line of a key, from 0; the first one of the file if it is not there."""
        return self._values[name][1].line - 1 if name in self._values else 0

    def text(self, name: str) -> str | None:
        """The text of a key, None if it is missing or empty."""
        value = self._value(name)
        if value is None or (not value.text and not value.is_list and not value.pairs and not value.is_unsupported):
            return None
        if not value.text:
            self.warn(name, "is not a text", f"Write it as {name}: a text in one piece.")
            return None
        return value.text.strip() or None

    def flag(self, name: str) -> bool | None:
        words = dict.fromkeys(_TRUE_WORDS, True) | dict.fromkeys(_FALSE_WORDS, False)
        hint = f"Write {name}: true, or {name}: false."
        return self._parse(name, lambda text: words.get(text.lower()), "must be true or false", hint)

    def integer(self, name: str, least: int) -> int | None:
        def parse(text: str) -> int | None:
            return int(text) if _WHOLE.match(text) and int(text) >= least else None

        hint = f"Write it as {name}: {max(least, 2)}."
        return self._parse(name, parse, f"must be an integer, at least {least}", hint)

    def seconds(self, name: str) -> float | None:
        """A duration: `20m`, `1h 30m`, or plain seconds."""

        def parse(text: str) -> float | None:
            return (float(text) if _SECONDS.match(text) else vocabulary.parse_duration(text)) or None

        return self._parse(name, parse, "is not a duration", f"Write it as {name}: 20m, or in seconds.")

    def weight(self, name: str) -> float | None:
        hint = f"Write it as {name}: medium, or as a number."
        return self._parse(name, vocabulary.parse_weight, "must be low, medium or high", hint)

    def priority(self, name: str) -> int | None:
        def parse(text: str) -> int | None:
            return int(text) if _WHOLE.match(text) else vocabulary.parse_priority(text)

        return self._parse(name, parse, "is not a priority", f"Write it as {name}: high, or P1.")

    def _parse(self, name: str, parse: Callable[[str], T | None], what: str, hint: str) -> T | None:
        text = self.text(name)
        value = None if text is None else parse(text)
        if text is not None and value is None:
            self.warn(name, f"{what}: {vocabulary.shorten(text)}", hint)
        return value

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        value = self._value(name)
        if value is None or value.pairs:
            return value.pairs if value else ()
        if value.text or value.is_list or value.is_unsupported:
            self.warn(name, "is not a map of names and texts", f"Write {name}:, then indented NAME: text.")
        return ()

    def names(self, *keys: str) -> list[NamedReference]:
        """The tasks that these keys name: `[a, b]`, or `a, b and c`."""
        return self._pieces(keys, vocabulary.split_list)

    def paths(self, *keys: str) -> list[str]:
        """The files that these keys name."""
        return list(dict.fromkeys(value.text for value in self._pieces(keys, _COMMAS.split)))

    def _pieces(self, keys: Collection[str], split: _SplitFunction) -> list[NamedReference]:
        found: list[NamedReference] = []
        for name in keys:
            value = self._value(name)
            if value is None:
                continue
            if value.is_unsupported or value.pairs:
                self.warn(name, "is not a list of texts", f"Write it as {name}: [one, two].")
            parts = value.items if value.is_list else split(value.text)
            key = self._values[name][0]
            for part in parts:
                piece = part.strip().strip("`\"'").strip()
                if vocabulary.split_list(piece):
                    found.append(NamedReference(piece, f"{key}: {vocabulary.shorten(piece)}", value.line - 1))
        return found

    def warn(self, name: str, what: str, hint: str) -> None:
        """Once, however often the key is asked for."""
        key = self._values[name][0] if name in self._values else name
        problem = make_warning(self._document, self.line(name), f"{vocabulary.shorten(key)} {what}", hint)
        if problem not in self.problems:
            self.problems.append(problem)

    def warn_unknown(self, known: Collection[str], quiet: Collection[str]) -> None:
        """Warn about each unknown key, with the nearest known one."""
        for name, (key, _) in self._values.items():
            if name in known or name in quiet:
                continue
            near = get_close_matches(name[:40], known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"The keys are {', '.join(known)}."
            message = f"{vocabulary.shorten(key)} is not a known key; ignored"
            self.problems.append(make_warning(self._document, self.line(name), message, hint))

    def _value(self, name: str) -> FrontMatterValue | None:
        found = self._values.get(name)
        return None if found is None else found[1]


class _SplitFunction(Protocol):
    def __call__(self, text: str, /) -> list[str]: ...


def normalize_key(key: str) -> str:
    """Keys are compared without regard to case, hyphens and spaces."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")
