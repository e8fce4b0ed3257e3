"""A draft of a task, and how it changes the text of a task file: front matter keys, title and body. All other bytes stay."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from plait.client.api_errors import FieldError, StateError
from plait.core.fast_dataclass import dataclass
from plait.sources.formats import load_format
from plait.sources.front_matter import FrontMatter, FrontMatterValue, compose_yaml, normalize_key
from plait.sources.markdown import Block, BlockKind
from plait.sources.source_model import Document
from plait.sources.task_files import read_task_title as heading_of
from plait.sources.text import BOM, TextEdit, TextLines, apply_edits, to_printable

FOLDER_FORMAT = "folder"  # the format of files that are made here
_UNSUPPORTED = "odd"
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")
_MAX_TITLE_LENGTH = 200
_MAX_TEXT_LENGTH = 1_000_000
_MAX_WORD_LENGTH = 200
_MAX_COMMAND_LENGTH = 20_000
_MAX_LIST_ITEMS = 500
# Control characters, which some programs interpret; and lone surrogates, which can't be encoded.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_NEWLINES = re.compile(r"\r\n?")
_WORD_FIELDS = ("phase", "priority", "weight", "agent", "model", "verify", "run")


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A draft of a task. None leaves a field unchanged; an empty value removes it. `text` is the whole file and
    excludes all others.
    """

    title: str | None = None
    body: str | None = None
    needs: Sequence[str] | None = None
    touches: Sequence[str] | None = None
    phase: str | None = None
    priority: str | int | None = None
    weight: str | float | None = None
    agent: str | None = None
    model: str | None = None
    verify: str | None = None
    run: str | None = None
    text: str | None = None

    @property
    def lists(self) -> dict[str, list[str]]:
        """The lists that are set, by front matter key."""
        fields = {"needs": self.needs, "touches": self.touches}
        return {name: list(dict.fromkeys(value)) for name, value in fields.items() if value is not None}

    @property
    def words(self) -> dict[str, str]:
        """The values that are set, by front matter key."""
        fields = ((name, getattr(self, name)) for name in _WORD_FIELDS)
        return {name: str(value).strip() for name, value in fields if value is not None}


def validate_draft(draft: TaskDraft) -> TaskDraft:
    """Return the draft as it is to be written: titles on one line, texts with plain line ends. Raises FieldError."""
    for name, items in draft.lists.items():
        _check_list(name, items)
    for name, word in draft.words.items():
        command = name in {"verify", "run"}
        _check_value(name, word, _MAX_COMMAND_LENGTH if command else _MAX_WORD_LENGTH, multiline=command)
    return TaskDraft(
        _validate_title(draft.title),
        _normalize_text("body", draft.body),
        draft.lists.get("needs"),
        draft.lists.get("touches"),
        **draft.words,
        text=_validate_whole_text(draft),
    )


def _validate_title(value: str | None) -> str | None:
    if value is None:
        return None
    title = " ".join(value.split())
    if not title:
        raise FieldError("a task needs a title", field="title", hint="Describe the task in a few words.")
    _check_value("title", title, _MAX_TITLE_LENGTH)
    return title


def _validate_whole_text(draft: TaskDraft) -> str | None:
    if draft.text is None:
        return None
    if draft.title is not None or draft.body is not None or draft.lists or draft.words:
        raise FieldError(
            "text is the whole file: no other field can be set", field="text", hint="Leave the others out."
        )
    if not draft.text.strip():
        raise FieldError("the file is empty", field="text", hint="Describe the task in it.")
    return _normalize_text("text", draft.text)


def _normalize_text(name: str, value: str | None) -> str | None:
    if value is None:
        return None
    _check_value(name, value, _MAX_TEXT_LENGTH, multiline=True)
    return _NEWLINES.sub("\n", value)


def _check_list(name: str, items: Sequence[str]) -> None:
    if len(items) > _MAX_LIST_ITEMS:
        raise FieldError(f"{name} has {len(items)} items; the limit is {_MAX_LIST_ITEMS}", field=name)
    for item in items:
        if not item.strip():
            raise FieldError(f"{name} has an empty item", field=name)
        _check_value(name, item, _MAX_WORD_LENGTH)


def _check_value(name: str, value: str, max_length: int, *, multiline: bool = False) -> None:
    if len(value) > max_length:
        raise FieldError(f"{name} has {len(value)} characters; the limit is {max_length}", field=name)
    control = _CONTROL.search(value)
    if control is not None:
        line = value.count("\n", 0, control.start()) + 1
        message = f"{name} has a character that no text should have (U+{ord(control[0]):04X}, on line {line})"
        raise FieldError(message, field=name, hint="Take it out.")
    if not multiline and len(value.splitlines()) > 1:
        raise FieldError(f"{name} is one line", field=name)


@dataclass(frozen=True, slots=True)
class _KeyValue:
    """The positions of a key and its value; `lines` are whole lines."""

    name: str
    key: tuple[int, int]
    value: tuple[int, int]
    lines: tuple[int, int]
    is_replaceable: bool  # the value can be replaced by itself


def read_front_matter(path: str, text: str) -> FrontMatter:
    return FrontMatter(_make_document(path, text))


def set_key(path: str, text: str, names: Sequence[str], value: str | Sequence[str]) -> str:
    """Set the first of these equivalent keys and remove the others; an empty value removes all.

    Raises StateError if the front matter is not made of plain lines.
    """
    pairs = [pair for pair in _find_pairs(path, text) if pair.name in names]
    first = min(pairs, key=lambda pair: names.index(pair.name), default=None) if value else None
    edits = [TextEdit(*pair.lines, "") for pair in pairs if pair is not first]
    if first is not None:
        edits.append(_make_change(text, first, value))
    written = apply_edits(text, edits)
    if value and first is None:
        written = _add_key(path, written, names[0], value)
    _check_others_unchanged(path, text, written, names)
    return written


def format_key(name: str, value: str | Sequence[str], eol: str = "\n") -> str:
    """Format a key and its value as lines."""
    plain = value if isinstance(value, str) else list(value)
    lines = yaml.dump(
        {name: plain}, Dumper=_KeyDumper, allow_unicode=True, default_flow_style=False, width=1 << 30, sort_keys=False
    )
    return lines.replace("\n", eol)


class _KeyDumper(yaml.SafeDumper):
    """Dumps texts of several lines as they are read, lists on one line, numbers without quotes."""


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    if _NUMBER.match(value):
        return dumper.represent_scalar("tag:yaml.org,2002:int", value)
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


def _represent_list(dumper: yaml.SafeDumper, items: list[str]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


_KeyDumper.add_representer(str, _represent_text)
_KeyDumper.add_representer(list, _represent_list)


def _make_change(text: str, pair: _KeyValue, value: str | Sequence[str]) -> TextEdit:
    eol = TextLines(text).eol
    lines = format_key("k", value, eol).removesuffix(eol)
    scalar = lines.removeprefix("k:").removeprefix(" ")
    if pair.is_replaceable and eol not in scalar:
        start, stop = pair.value
        gap = "" if text[start - 1 : start] in {" ", "\t"} else " "
        return TextEdit(start, stop, gap + scalar)
    return TextEdit(*pair.lines, f"{text[slice(*pair.key)]}:{lines.removeprefix('k:')}{eol}")


def _add_key(path: str, text: str, name: str, value: str | Sequence[str]) -> str:
    markdown = _make_document(path, text).markdown
    eol = markdown.lines.eol
    lines = format_key(name, value, eol)
    if markdown.front_matter is not None:
        return apply_edits(text, [TextEdit(end := markdown.lines.starts[markdown.front_matter[1]], end, lines)])
    begin = len(BOM) if text.startswith(BOM) else 0
    return apply_edits(text, [TextEdit(begin, begin, f"---{eol}{lines}---{eol}{eol}")])


def _find_pairs(path: str, text: str) -> list[_KeyValue]:
    document = _make_document(path, text)
    lines = document.markdown.front_matter
    if lines is None:
        return []
    yaml_text = document.markdown.source(*lines).removeprefix(BOM)
    offset = document.markdown.lines.starts[lines[1]] - len(yaml_text)
    try:
        node = compose_yaml(yaml_text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _unsupported_error(path) from error
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise _unsupported_error(path)
    return [_make_pair(document, offset, key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]


def _make_pair(document: Document, offset: int, key: yaml.ScalarNode, value: yaml.Node) -> _KeyValue:
    lines = document.markdown.lines
    start, stop = offset + key.start_mark.index, offset + key.end_mark.index
    begin, end = offset + value.start_mark.index, offset + _find_end(value)
    end = max(begin, begin + len(document.text[begin:end].rstrip()))
    if start != lines.starts[lines.line_at(start)]:
        raise _unsupported_error(document.path)
    text = document.text[begin:end]
    plain = "\n" not in text and "\r" not in text and not text.startswith(("&", "*", "!", "|", ">"))
    if not text:  # nothing is there; the next key may be right below
        begin = end = stop + 1
        plain = document.text[stop:end] == ":"
    last = lines.starts[lines.line_at(max(begin, end - 1)) + 1]
    return _KeyValue(normalize_key(key.value), (start, stop), (begin, end), (start, last), plain)


def _find_end(node: yaml.Node) -> int:
    """Return where a value ends: of a block, after the last thing in it, not the comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _find_end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _check_others_unchanged(path: str, before: str, after: str, names: Sequence[str]) -> None:
    """Check that whatever was not named reads as before."""
    old, new = read_front_matter(path, before), read_front_matter(path, after)
    others = {name: _comparable(value) for name, value in old.values.items() if name not in names}
    if new.is_broken or others != {k: _comparable(v) for k, v in new.values.items() if k not in names}:
        raise _unsupported_error(path)


def _comparable(value: FrontMatterValue) -> tuple[object, ...]:
    return value.text, value.items, value.pairs, value.is_unsupported


def _unsupported_error(path: str) -> StateError:
    return StateError(
        f"the front matter of {path} is not written in plain lines, one for each key",
        state=_UNSUPPORTED,
        hint="Edit the whole text.",
    )


@dataclass(frozen=True, slots=True)
class TaskFileParts:
    """The parts of a text. `head` is the first heading, if nothing is before it, and the empty lines after it."""

    front: str
    head: str
    body: str

    @property
    def has_front_matter(self) -> bool:
        return self.front not in {"", BOM}


def split_parts(path: str, text: str) -> TaskFileParts:
    markdown = _make_document(path, text).markdown
    starts = markdown.lines.starts
    front = starts[markdown.front_matter[1] + 1] if markdown.front_matter else len(BOM) if text.startswith(BOM) else 0
    first = next(iter(markdown.blocks), None)
    if first is None or not _is_title(first):
        return TaskFileParts(text[:front], "", text[front:])
    stop = first.stop
    while stop < len(markdown.lines) and not markdown.lines.strip_end(stop).strip():
        stop += 1
    return TaskFileParts(text[:front], text[front : starts[stop]], text[starts[stop] :])


def _is_title(block: Block) -> bool:
    return block.kind is BlockKind.HEADING and block.level == 1 and not block.quoted and bool(block.text.strip())


def get_editable_body(path: str, text: str) -> str:
    """Return the body as people edit it: with plain line ends."""
    return to_printable(split_parts(path, text).body).replace("\r\n", "\n").replace("\r", "\n")


def compose_task_file(title: str, body: str) -> str:
    """Compose a new file without keys, that reads as this title and this body."""
    body = normalize_body(body)
    parts = split_parts("new.md", body)
    if parts.head and not parts.front and heading_of(Document("new.md", body)) == title:
        return body
    text = f"{format_heading(title)}\n\n{body}" if body else f"{format_heading(title)}\n"
    if heading_of(Document("new.md", text)) != title:  # `# Task 4: x` and `# C #` read as another title
        text = f"---\n{format_key('title', title)}---\n\n{text}"
    return text


def format_heading(title: str) -> str:
    """Format a title as a heading; one of only # signs is escaped."""
    return f"# {title}" if title.strip("# ") else f"# \\{title}"


def normalize_body(body: str) -> str:
    """Remove the empty lines around a body, and end it with a line end."""
    lines = body.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    kept = "\n".join(lines[first:]).rstrip()
    return f"{kept}\n" if kept else ""


def replace_body(path: str, text: str, body: str) -> str:
    """Return the text with another body, and still with its title, unless the body begins with a heading of its own."""
    parts, eol = split_parts(path, text), TextLines(text).eol
    if body == get_editable_body(path, text):
        return text
    new = normalize_body(body).replace("\n", eol)
    new_parts = split_parts(path, new)
    if new_parts.head and not new_parts.front:
        return parts.front + _front_matter_gap(parts, eol) + new
    if parts.head:
        head = parts.head if parts.body else parts.head.rstrip("\r\n") + eol + eol
        return parts.front + head + new
    plain, title = parts.front + _front_matter_gap(parts, eol) + new, heading_of(_make_document(path, text))
    if parts.has_front_matter and new and heading_of(_make_document(path, plain)) == title:
        return plain
    return f"{parts.front}{_front_matter_gap(parts, eol)}{format_heading(title)}{eol}{eol if new else ''}{new}"


def replace_heading(path: str, text: str, title: str) -> str:
    """Return the text with another title as its first heading of the first level."""
    markdown = _make_document(path, text).markdown
    lines = markdown.lines
    for block in markdown.headings(1):
        if block.parent is None and _is_title(block):
            bom = BOM if block.start == 0 and text.startswith(BOM) else ""
            before, after = text[: lines.starts[block.start]], text[lines.starts[block.stop] :]
            return f"{before}{bom}{format_heading(title)}{lines.line_end(block.stop - 1)}{after}"
    parts = split_parts(path, text)
    rest = parts.body.lstrip("\r\n")
    return f"{parts.front}{_front_matter_gap(parts, lines.eol)}{format_heading(title)}{lines.eol}{lines.eol if rest else ''}{rest}"


def _front_matter_gap(parts: TaskFileParts, eol: str) -> str:
    """Return an empty line after front matter, where there was one."""
    return eol if parts.has_front_matter and (parts.head or parts.body).startswith(("\n", "\r")) else ""


def _make_document(path: str, text: str) -> Document:
    return Document(path, to_printable(text))


def apply_draft(format_name: str, path: str, text: str, draft: TaskDraft) -> str:
    """Apply a draft to a text; its needs are spelled as this source does. Raises FieldError."""
    if draft.body is not None:
        text = replace_body(path, text, draft.body)
    if draft.title is not None:
        text = _replace_title(format_name, path, text, draft.title)
    for name, value in (*draft.lists.items(), *draft.words.items()):
        names = load_format(format_name).keys.get(name)
        if names is None:
            hint = "Put it into the task's text."
            raise FieldError(f"files of the format {format_name} have no key for {name}", field=name, hint=hint)
        text = set_key(path, text, names, value)
        _check_written(path, text, name, value)
    return text


def _check_written(path: str, text: str, name: str, value: str | Sequence[str]) -> None:
    """Check that the value is read back as it was given."""
    matching = [
        entry
        for entry in read_front_matter(path, text).values.values()
        if value in (entry.text.strip(), list(entry.items))
    ]
    if value and not matching:
        raise FieldError(f"{name} would be read as something else", field=name, hint="Use plain letters.")


def _replace_title(format_name: str, path: str, text: str, title: str) -> str:
    """Change the heading, the key, or both, so that the title is read back."""
    format_ = load_format(format_name)
    names = format_.keys.get("title")
    value = read_front_matter(path, text).text(names[0]) if names else None
    if value is None and format_.title_in_heading:
        text = replace_heading(path, text, title)
        if not names or heading_of(_make_document(path, text)) == title:
            return text
    elif value is not None and split_parts(path, text).head and heading_of(_make_document(path, text)) == value:
        text = replace_heading(path, text, title)
    return set_key(path, text, names or (), title)
