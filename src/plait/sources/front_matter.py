"""YAML front matter: parse it, read typed keys, and write the status of a task back.

A value of the wrong type is ignored with a warning. A status is written in the same place, case and quotes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TypeVar

import yaml

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.sources import status_changes, vocabulary
from plait.sources.source_model import Document, SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, StatusFileWriter, TaskIndex
from plait.sources.task_files import get_folder
from plait.sources.text import BOM, TextEdit, apply_edits, to_printable

T = TypeVar("T")

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NESTING_CHARACTERS = "[{-?:"  # no level begins without one of these
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class FrontMatterValue:
    """A key as written, and its value: scalars as written (null is empty), lists and maps of scalars.

    `line` counts from 0. `is_unsupported`: anything else. `span` is the position of a scalar with its quotes; None if it can't be replaced
    alone.
    """

    key: str
    line: int
    text: str = ""
    items: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    is_list: bool = False
    is_unsupported: bool = False
    span: tuple[int, int] | None = None


def compose_yaml(text: str) -> yaml.Node | None:
    """Parse YAML into nodes. Raises YAMLError or ValueError, or RecursionError where libyaml itself would crash."""
    if sum(map(text.count, _NESTING_CHARACTERS)) > _MAX_DEPTH:
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise RecursionError
    node: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    return node


def _find_line(document: Document, position: int) -> int:
    """Return the line of a position in the text, as this project counts lines: YAML knows more kinds of line ends."""
    starts = document.markdown.lines.starts
    return min(bisect_right(starts, position), len(starts) - 1) - 1


def _find_span(text: str, first: int, key: yaml.Node, value: yaml.Node) -> tuple[int, int] | None:
    """Return a value's position, or None for a block, several lines, an anchor, a tag or an alias."""
    start, stop = first + value.start_mark.index, first + value.end_mark.index
    span_text = text[start:stop]
    if not isinstance(value, yaml.ScalarNode) or not span_text.isprintable():
        return None
    if span_text.startswith(("&", "!", "|", ">")):  # an alias is the node it stands for, which has an anchor
        return None
    if not span_text and text[first + key.end_mark.index : start].strip(" \t") != ":":
        return None
    return start, stop


def _read_value(key: str, line: int, node: yaml.Node) -> FrontMatterValue:
    match node:
        case yaml.ScalarNode():
            return FrontMatterValue(key, line, _read_scalar(node))
        case yaml.SequenceNode(value=parts) if all(isinstance(part, yaml.ScalarNode) for part in parts):
            return FrontMatterValue(key, line, items=tuple(_read_scalar(part) for part in parts), is_list=True)
        case yaml.MappingNode(value=pairs) if all(
            isinstance(name, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode) for name, value in pairs
        ):
            return FrontMatterValue(key, line, pairs=tuple((name.value, _read_scalar(value)) for name, value in pairs))
        case _:
            return FrontMatterValue(key, line, is_unsupported=True)


def _read_scalar(node: yaml.ScalarNode) -> str:
    return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _report_unreadable(document: Document, first: int, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    position = mark.index if mark else getattr(error, "position", 0)
    why = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is nested too deep"
    hint = "Texts with a colon, a # or a leading @, *, & or ! need quotes."
    return document.make_warning(_find_line(document, first + position), f"the front matter can't be read: {why}", hint)


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
        self.values: dict[str, FrontMatterValue] = {}
        lines = document.markdown.front_matter
        self.is_present = lines is not None
        if lines is not None:
            text = to_printable(document.markdown.source(*lines)).removeprefix(BOM)
            self._parse_yaml(text, document.markdown.lines.starts[lines[1]] - len(text))

    def _parse_yaml(self, text: str, first: int) -> None:
        """Parse the front matter; `first` is where its text begins in the file."""
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
            self.problems.append(self._document.make_warning(1, message, 'Write each line as "key: value".'))

    def _read_pairs(self, node: yaml.MappingNode, first: int) -> None:
        values: dict[str, FrontMatterValue] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = _find_line(self._document, first + key.start_mark.index)
            if key.value in values:
                message = f"{key.value} is there twice; the second one counts"
                self.problems.append(self._document.make_warning(line, message))
            span = _find_span(self._document.text, first, key, value)
            values[key.value] = replace(_read_value(key.value, line, value), span=span)
        self.values = {normalize_key(key): value for key, value in values.items()}

    def has(self, *names: str) -> bool:
        return all(name in self.values for name in names)

    def line(self, name: str) -> int:
        """Return the line of a key, from 0; the first one of the file if it is not there."""
        return self.values[name].line if name in self.values else 0

    def text(self, name: str) -> str | None:
        """Return the text of a key; None if it is missing or empty."""
        value = self.values.get(name)
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
        """Return a duration in seconds, written as `20m`, `1h 30m`, or plain seconds."""

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

    def _parse(self, name: str, parse: Callable[[str], T | None], expected: str, hint: str) -> T | None:
        text = self.text(name)
        value = None if text is None else parse(text)
        if text is not None and value is None:
            self.warn(name, f"{expected}: {vocabulary.shorten(text)}", hint)
        return value

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        value = self.values.get(name)
        if value is None or value.pairs:
            return value.pairs if value else ()
        if value.text or value.is_list or value.is_unsupported:
            self.warn(name, "is not a map of names and texts", f"Write {name}:, then indented NAME: text.")
        return ()

    def names(self, *keys: str) -> list[NamedReference]:
        """Return the tasks that these keys name: `[a, b]`, or `a, b and c`."""
        return self._pieces(keys, vocabulary.split_list)

    def paths(self, *keys: str) -> list[str]:
        """Return the files that these keys name."""
        return list(dict.fromkeys(value.text for value in self._pieces(keys, _COMMAS.split)))

    def _pieces(self, keys: Collection[str], split: Callable[[str], list[str]]) -> list[NamedReference]:
        references: list[NamedReference] = []
        for name in keys:
            value = self.values.get(name)
            if value is None:
                continue
            if value.is_unsupported or value.pairs:
                self.warn(name, "is not a list of texts", f"Write it as {name}: [one, two].")
            parts = value.items if value.is_list else split(value.text)
            for part in parts:
                piece = part.strip().strip("`\"'").strip()
                if vocabulary.split_list(piece):
                    references.append(NamedReference(piece, f"{value.key}: {vocabulary.shorten(piece)}", value.line))
        return references

    def warn(self, name: str, message: str, hint: str) -> None:
        """Warn about a key, once, however often it is read."""
        key = self.values[name].key if name in self.values else name
        problem = self._document.make_warning(self.line(name), f"{vocabulary.shorten(key)} {message}", hint)
        if problem not in self.problems:
            self.problems.append(problem)

    def warn_unknown(self, known: Collection[str], quiet: Collection[str]) -> None:
        """Warn about each unknown key, with the nearest known one."""
        for name, value in self.values.items():
            if name in known or name in quiet:
                continue
            similar = get_close_matches(name[:40], known, n=1)
            hint = f"Did you mean {similar[0]}?" if similar else f"The keys are {', '.join(known)}."
            message = f"{vocabulary.shorten(value.key)} is not a known key; ignored"
            self.problems.append(self._document.make_warning(value.line, message, hint))


def normalize_key(key: str) -> str:
    """Return a key as it is compared: without regard to case, hyphens and spaces."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")


_STATUS_KEY = "status"


@dataclass(frozen=True, slots=True)
class StatusKey:
    """How a format with one task per file writes statuses, and identifies a file's task.

    `time_key` names a key that holds the time of the status, if the file has it.
    """

    todo: str
    doing: str
    done: str
    id_of: Callable[[Document], str]
    title_of: Callable[[Document], str]
    time_key: str | None = None

    def writers(self, path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
        """Return one writer for each file of the source that these changes are about."""
        return status_changes.write_each_file(self.write, get_folder(path), changes)

    def write(self, path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
        """Write the new status of this file's one task."""
        problems: list[Problem] = []
        for change in status_changes.select_file_changes(path, changes):
            document = Document(path, to_printable(text))
            matched, missing = TaskIndex([document], self.id_of, self.title_of).match([change])
            problems += missing
            if not matched:
                continue
            edits = _make_edits(document, change, self)
            written = None if edits is None else apply_edits(text, edits)
            if written is None or not _changes_only_status(document, Document(path, to_printable(written)), self):
                message = f"the status of {change.id} ({change.status}) has no place in the front matter"
                hint = "Put a plain line status: into it. The status is kept in plait's own records."
                problems.append(document.make_warning(0, message, hint))
            else:
                text = written
        return Rewrite(text, tuple(problems))


def read_status_key(document: Document, keys: FrontMatter, required: str) -> tuple[SourceStatus, str]:
    """Read the status and its text; an unknown status is reported and counts as not started.

    Without readable front matter a task can't be run; `required` names the keys that it should have.
    """
    if not keys.is_present:
        message = "no front matter: this task can't be run"
        keys.problems.append(document.make_warning(0, message, f"Give it {required}."))
    if keys.is_broken or not keys.is_present:
        return SourceStatus.UNREADABLE, ""
    value = keys.text(_STATUS_KEY) or ""
    status = vocabulary.parse_status(value)
    if status is None and value:
        message = f"{value[:60]} is not a known status; the task counts as not started"
        keys.problems.append(document.make_warning(keys.line(_STATUS_KEY), message))
    if not keys.has(_STATUS_KEY):
        message = "no status; the task counts as not started, and no status can be written"
        keys.problems.append(document.make_warning(keys.line(_STATUS_KEY), message, "Put a line status: into it."))
    return status or SourceStatus.TODO, value


def _make_edits(document: Document, change: StatusChange, style: StatusKey) -> list[TextEdit] | None:
    """Return the edits for a change; None if there is no place to write to."""
    values = FrontMatter(document).values
    value = values.get(_STATUS_KEY)
    if value is None or value.span is None:
        return None
    status = _choose_status(vocabulary.parse_status(value.text), change.status)
    if status is None:
        return []
    word = {SourceStatus.DOING: style.doing, SourceStatus.DONE: style.done}.get(status, style.todo)
    edits = [_replace_value(document.text, value.span, _match_style(word, value.text))]
    stamp = values.get(style.time_key) if style.time_key else None
    if stamp is not None and stamp.span is not None:
        edits.append(_replace_value(document.text, stamp.span, vocabulary.format_time(change.at)))
    return edits


def _choose_status(now: SourceStatus | None, wanted: SourceStatus) -> SourceStatus | None:
    """Return the status to write, or None to keep the old one. Failed and blocked are written as to do."""
    if not status_changes.changes_status(now, wanted):
        return None
    match wanted:
        case SourceStatus.DONE | SourceStatus.DOING:
            return wanted
        case SourceStatus.TODO:
            return None if now is None else SourceStatus.TODO
        case SourceStatus.FAILED | SourceStatus.BLOCKED:
            return SourceStatus.TODO if now in {SourceStatus.DOING, SourceStatus.DONE} else None
        case SourceStatus.PARTIAL | SourceStatus.SKIPPED:
            return SourceStatus.TODO if now is SourceStatus.DOING else None
        case SourceStatus.STUCK | SourceStatus.UNREADABLE:
            return None


def _replace_value(text: str, span: tuple[int, int], new: str) -> TextEdit:
    start, stop = span
    if start == stop:
        return TextEdit(start, stop, new if text[start - 1 : start] == " " else f" {new}")
    quote = text[start] if text[start] in "'\"" else ""
    return TextEdit(start, stop, f"{quote}{new}{quote}")


def _match_style(word: str, like: str) -> str:
    """Spell a status like the file's own: its case, and the character between words."""
    between = re.search(r"\w([-_])\w", like)
    if between:
        word = re.sub(r"[ -]", between[1], word)
    if like.islower():
        return word.lower()
    return word.upper() if like.isupper() else word.title() if like else word


def _changes_only_status(before: Document, after: Document, style: StatusKey) -> bool:
    """Whether nothing but the status and its time reads differently."""
    first, second = FrontMatter(before).values, FrontMatter(after).values
    own_keys = {_STATUS_KEY, style.time_key}
    return first.keys() == second.keys() and all(
        (first[key].text, first[key].items, first[key].pairs)
        == (second[key].text, second[key].items, second[key].pairs)
        for key in first
        if key not in own_keys
    )
