"""One key of a file's front matter put, changed or taken out. All other bytes stay: keys, comments, their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import yaml

from plait.core.frozen import dataclass
from plait.front.refusals import StateError
from plait.sources.front import Value, compose
from plait.sources.model import Document
from plait.sources.taskfiles.keys import Keys
from plait.sources.text import BOM, Edit, Lines, apply, printable

_ODD = "odd"
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")


@dataclass(frozen=True, slots=True)
class _Pair:
    """Where in the text a key and its value stand; `lines` are whole ones."""

    name: str
    key: tuple[int, int]
    value: tuple[int, int]
    lines: tuple[int, int]
    plain: bool  # the value can be replaced by itself


def keys_of(path: str, text: str) -> Keys:
    return Keys(Document(path, printable(text)))


def put(path: str, text: str, names: Sequence[str], value: str | Sequence[str]) -> str:
    """The text in which one of these keys, which mean the same, has this value, and no other is there. Empty: none is.

    Raises StateError where the front matter is not made of plain lines.
    """
    pairs = [pair for pair in _pairs(path, text) if pair.name in names]
    first = next((pair for pair in pairs if value and pair.name == _first(pairs, names)), None)
    edits = [Edit(*pair.lines, "") for pair in pairs if pair is not first]
    if first is not None:
        edits.append(_changed(text, first, value))
    written = apply(text, edits)
    if value and first is None:
        written = _added(path, written, names[0], value)
    _check(path, text, written, names)
    return written


def emitted(name: str, value: str | Sequence[str], eol: str = "\n") -> str:
    """A key and its value, as lines."""
    said = value if isinstance(value, str) else list(value)
    lines = yaml.dump(
        {name: said},
        Dumper=_Dumper,
        allow_unicode=True,
        default_flow_style=False,
        width=1 << 30,
        sort_keys=False,
    )
    return lines.replace("\n", eol)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines are written as they are read, lists on one line, numbers without quotes."""


def _text(dumper: yaml.SafeDumper, said: str) -> yaml.ScalarNode:
    if _NUMBER.match(said):
        return dumper.represent_scalar("tag:yaml.org,2002:int", said)
    return dumper.represent_scalar("tag:yaml.org,2002:str", said, style="|" if "\n" in said else None)


def _list(dumper: yaml.SafeDumper, said: list[str]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", said, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def _first(pairs: Iterable[_Pair], names: Sequence[str]) -> str:
    """The one that is kept of several: the first of the names."""
    return min((pair.name for pair in pairs), key=names.index)


def _changed(text: str, pair: _Pair, value: str | Sequence[str]) -> Edit:
    eol = Lines(text).eol
    lines = emitted("k", value, eol).removesuffix(eol)
    said = lines.removeprefix("k:").removeprefix(" ")
    if pair.plain and eol not in said:
        start, stop = pair.value
        gap = "" if text[start - 1 : start] in {" ", "\t"} else " "
        return Edit(start, stop, gap + said)
    return Edit(*pair.lines, f"{text[slice(*pair.key)]}:{lines.removeprefix('k:')}{eol}")


def _added(path: str, text: str, name: str, value: str | Sequence[str]) -> str:
    markdown = Document(path, printable(text)).markdown
    eol = markdown.lines.eol
    lines = emitted(name, value, eol)
    if markdown.front is not None:
        return apply(text, [Edit(place := markdown.lines.starts[markdown.front[1]], place, lines)])
    begin = len(BOM) if text.startswith(BOM) else 0
    return apply(text, [Edit(begin, begin, f"---{eol}{lines}---{eol}{eol}")])


def _pairs(path: str, text: str) -> list[_Pair]:
    document = Document(path, printable(text))
    lines = document.markdown.front
    if lines is None:
        return []
    matter = document.markdown.source(*lines).removeprefix(BOM)
    first = document.markdown.lines.starts[lines[1]] - len(matter)
    try:
        node = compose(matter)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _odd(path) from error
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise _odd(path)
    return [
        _pair(document, first, key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)
    ]


def _pair(document: Document, first: int, key: yaml.ScalarNode, value: yaml.Node) -> _Pair:
    lines = document.markdown.lines
    start, stop = first + key.start_mark.index, first + key.end_mark.index
    begin, end = first + value.start_mark.index, first + _end(value)
    end = max(begin, begin + len(document.text[begin:end].rstrip()))
    if start != lines.starts[lines.at(start)]:
        raise _odd(document.path)
    said = document.text[begin:end]
    plain = "\n" not in said and "\r" not in said and not said.startswith(("&", "*", "!", "|", ">"))
    if not said:  # nothing is there, be the next key right below
        begin = end = stop + 1
        plain = document.text[stop:end] == ":"
    last = lines.starts[lines.at(max(begin, end - 1)) + 1]
    return _Pair(_normal(key.value), (start, stop), (begin, end), (start, last), plain)


def _end(node: yaml.Node) -> int:
    """Where a value ends: of a block, the last thing in it, not the comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _normal(key: str) -> str:
    """As `Keys` compares them."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")


def _check(path: str, before: str, after: str, names: Sequence[str]) -> None:
    """Whatever was not named reads as it did."""
    old, new = keys_of(path, before), keys_of(path, after)
    kept = {name: _said(value) for name, value in old.values.items() if name not in names}
    if new.front.broken or kept != {k: _said(v) for k, v in new.values.items() if k not in names}:
        raise _odd(path)


def _said(value: Value) -> tuple[object, ...]:
    return value.text, value.items, value.pairs, value.odd


def _odd(path: str) -> StateError:
    return StateError(
        f"the front matter of {path} is not written in plain lines, one for each key",
        state=_ODD,
        hint="Edit the whole text.",
    )
