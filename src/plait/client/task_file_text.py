"""One key of a file's front matter put, changed or taken out. All other bytes stay: keys, comments, their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import yaml

from plait.client.api_errors__refusals import StateError
from plait.core.fast_dataclass import dataclass
from plait.sources.front_matter import FrontMatterKeys
from plait.sources.front_matter__front import FrontMatterValue, compose_yaml
from plait.sources.source_model import Document
from plait.sources.text import BOM, TextEdit, TextLines, apply_edits, to_printable

_UNSUPPORTED = "odd"
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")


@dataclass(frozen=True, slots=True)
class _KeyValue:
    """Where in the text a key and its value stand; `lines` are whole ones."""

    name: str
    key: tuple[int, int]
    value: tuple[int, int]
    lines: tuple[int, int]
    is_replaceable: bool  # the value can be replaced by itself


def read_front_matter_keys(path: str, text: str) -> FrontMatterKeys:
    return FrontMatterKeys(Document(path, to_printable(text)))


def set_key(path: str, text: str, names: Sequence[str], value: str | Sequence[str]) -> str:
    """The text in which one of these keys, which mean the same, has this value, and no other is there. Empty: none is.

    Raises StateError where the front matter is not made of plain lines.
    """
    pairs = [pair for pair in _find_pairs(path, text) if pair.name in names]
    first = next((pair for pair in pairs if value and pair.name == _choose_key(pairs, names)), None)
    edits = [TextEdit(*pair.lines, "") for pair in pairs if pair is not first]
    if first is not None:
        edits.append(_make_change(text, first, value))
    written = apply_edits(text, edits)
    if value and first is None:
        written = _add_key(path, written, names[0], value)
    _check_others_unchanged(path, text, written, names)
    return written


def format_key(name: str, value: str | Sequence[str], eol: str = "\n") -> str:
    """A key and its value, as lines."""
    said = value if isinstance(value, str) else list(value)
    lines = yaml.dump(
        {name: said},
        Dumper=_KeyDumper,
        allow_unicode=True,
        default_flow_style=False,
        width=1 << 30,
        sort_keys=False,
    )
    return lines.replace("\n", eol)


class _KeyDumper(yaml.SafeDumper):
    """Texts of several lines are written as they are read, lists on one line, numbers without quotes."""


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    if _NUMBER.match(value):
        return dumper.represent_scalar("tag:yaml.org,2002:int", value)
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


def _represent_list(dumper: yaml.SafeDumper, said: list[str]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", said, flow_style=True)


_KeyDumper.add_representer(str, _represent_text)
_KeyDumper.add_representer(list, _represent_list)


def _choose_key(pairs: Iterable[_KeyValue], names: Sequence[str]) -> str:
    """The one that is kept of several: the first of the names."""
    return min((pair.name for pair in pairs), key=names.index)


def _make_change(text: str, pair: _KeyValue, value: str | Sequence[str]) -> TextEdit:
    eol = TextLines(text).eol
    lines = format_key("k", value, eol).removesuffix(eol)
    said = lines.removeprefix("k:").removeprefix(" ")
    if pair.is_replaceable and eol not in said:
        start, stop = pair.value
        gap = "" if text[start - 1 : start] in {" ", "\t"} else " "
        return TextEdit(start, stop, gap + said)
    return TextEdit(*pair.lines, f"{text[slice(*pair.key)]}:{lines.removeprefix('k:')}{eol}")


def _add_key(path: str, text: str, name: str, value: str | Sequence[str]) -> str:
    markdown = Document(path, to_printable(text)).markdown
    eol = markdown.lines.eol
    lines = format_key(name, value, eol)
    if markdown.front_matter is not None:
        return apply_edits(
            text, [TextEdit(place := markdown.lines.starts[markdown.front_matter[1]], place, lines)]
        )
    begin = len(BOM) if text.startswith(BOM) else 0
    return apply_edits(text, [TextEdit(begin, begin, f"---{eol}{lines}---{eol}{eol}")])


def _find_pairs(path: str, text: str) -> list[_KeyValue]:
    document = Document(path, to_printable(text))
    lines = document.markdown.front_matter
    if lines is None:
        return []
    matter = document.markdown.source(*lines).removeprefix(BOM)
    first = document.markdown.lines.starts[lines[1]] - len(matter)
    try:
        node = compose_yaml(matter)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _unsupported_error(path) from error
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise _unsupported_error(path)
    return [
        _make_pair(document, first, key, value)
        for key, value in node.value
        if isinstance(key, yaml.ScalarNode)
    ]


def _make_pair(document: Document, first: int, key: yaml.ScalarNode, value: yaml.Node) -> _KeyValue:
    lines = document.markdown.lines
    start, stop = first + key.start_mark.index, first + key.end_mark.index
    begin, end = first + value.start_mark.index, first + _find_end(value)
    end = max(begin, begin + len(document.text[begin:end].rstrip()))
    if start != lines.starts[lines.line_at(start)]:
        raise _unsupported_error(document.path)
    said = document.text[begin:end]
    plain = "\n" not in said and "\r" not in said and not said.startswith(("&", "*", "!", "|", ">"))
    if not said:  # nothing is there, be the next key right below
        begin = end = stop + 1
        plain = document.text[stop:end] == ":"
    last = lines.starts[lines.line_at(max(begin, end - 1)) + 1]
    return _KeyValue(_normalize_key(key.value), (start, stop), (begin, end), (start, last), plain)


def _find_end(node: yaml.Node) -> int:
    """Where a value ends: of a block, the last thing in it, not the comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _find_end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _normalize_key(key: str) -> str:
    """As `Keys` compares them."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")


def _check_others_unchanged(path: str, before: str, after: str, names: Sequence[str]) -> None:
    """Whatever was not named reads as it did."""
    old, new = read_front_matter_keys(path, before), read_front_matter_keys(path, after)
    kept = {name: _comparable(value) for name, value in old.values.items() if name not in names}
    if new.front_matter.is_broken or kept != {
        k: _comparable(v) for k, v in new.values.items() if k not in names
    }:
        raise _unsupported_error(path)


def _comparable(value: FrontMatterValue) -> tuple[object, ...]:
    return value.text, value.items, value.pairs, value.is_unsupported


def _unsupported_error(path: str) -> StateError:
    return StateError(
        f"the front matter of {path} is not written in plain lines, one for each key",
        state=_UNSUPPORTED,
        hint="Edit the whole text.",
    )
