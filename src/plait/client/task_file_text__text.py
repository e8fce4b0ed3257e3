"""The text of a task file in its parts: front matter, the heading that is its title, and its body."""

from __future__ import annotations

from plait.client.task_file_text import format_key
from plait.core.fast_dataclass import dataclass
from plait.sources.markdown import Block, BlockKind
from plait.sources.source_model import Document
from plait.sources.task_files__text import read_task_title as heading_of
from plait.sources.text import BOM, TextLines, to_printable


@dataclass(frozen=True, slots=True)
class TaskFileParts:
    """Together they are the whole text. `head` is the first heading, if nothing is before it, with the empty lines after it."""

    front: str
    head: str
    body: str

    @property
    def has_front_matter(self) -> bool:
        return self.front not in {"", BOM}


def split_parts(path: str, text: str) -> TaskFileParts:
    markdown = _make_document(path, text).markdown
    starts = markdown.lines.starts
    front = (
        starts[markdown.front_matter[1] + 1]
        if markdown.front_matter
        else len(BOM)
        if text.startswith(BOM)
        else 0
    )
    first = next(iter(markdown.blocks), None)
    if first is None or not _is_title(first):
        return TaskFileParts(text[:front], "", text[front:])
    stop = first.stop
    while stop < len(markdown.lines) and not markdown.lines.strip_end(stop).strip():
        stop += 1
    return TaskFileParts(text[:front], text[front : starts[stop]], text[starts[stop] :])


def _is_title(block: Block) -> bool:
    return (
        block.kind is BlockKind.HEADING and block.level == 1 and not block.quoted and bool(block.text.strip())
    )


def get_editable_body(path: str, text: str) -> str:
    """The body as people edit it: with plain line ends."""
    return to_printable(split_parts(path, text).body).replace("\r\n", "\n").replace("\r", "\n")


def compose_task_file(title: str, body: str) -> str:
    """A new file without keys, that reads as this title and this body."""
    body = normalize_body(body)
    own = split_parts("new.md", body)
    if own.head and not own.front and heading_of(Document("new.md", body)) == title:
        return body
    text = f"{format_heading(title)}\n\n{body}" if body else f"{format_heading(title)}\n"
    if (
        heading_of(Document("new.md", text)) != title
    ):  # `# Task 4: x`, `# C #`: the heading alone says something else
        text = f"---\n{format_key('title', title)}---\n\n{text}"
    return text


def format_heading(title: str) -> str:
    """Signs alone would be a heading that says nothing."""
    return f"# {title}" if title.strip("# ") else f"# \\{title}"


def normalize_body(body: str) -> str:
    """Without the empty lines around it, and with an end."""
    lines = body.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    kept = "\n".join(lines[first:]).rstrip()
    return f"{kept}\n" if kept else ""


def replace_body(path: str, text: str, body: str) -> str:
    """The text with another body, and still with its title, unless the body begins with a heading of its own."""
    now, eol = split_parts(path, text), TextLines(text).eol
    if body == get_editable_body(path, text):
        return text
    new = normalize_body(body).replace("\n", eol)
    own = split_parts(path, new)
    if own.head and not own.front:
        return now.front + _front_matter_gap(now, eol) + new
    if now.head:
        return now.front + _end_heading(now, eol) + new
    plain, title = now.front + _front_matter_gap(now, eol) + new, heading_of(_make_document(path, text))
    if now.has_front_matter and new and heading_of(_make_document(path, plain)) == title:
        return plain
    return f"{now.front}{_front_matter_gap(now, eol)}{format_heading(title)}{eol}{eol if new else ''}{new}"


def replace_heading(path: str, text: str, title: str) -> str:
    """The text with another title as its first heading of the first level."""
    markdown = _make_document(path, text).markdown
    lines = markdown.lines
    for block in markdown.headings(1):
        if block.parent is None and _is_title(block):
            bom = BOM if block.start == 0 and text.startswith(BOM) else ""
            before, after = text[: lines.starts[block.start]], text[lines.starts[block.stop] :]
            return f"{before}{bom}{format_heading(title)}{lines.line_end(block.stop - 1)}{after}"
    now = split_parts(path, text)
    rest = now.body.lstrip("\r\n")
    return f"{now.front}{_front_matter_gap(now, lines.eol)}{format_heading(title)}{lines.eol}{lines.eol if rest else ''}{rest}"


def _front_matter_gap(now: TaskFileParts, eol: str) -> str:
    """An empty line after front matter, where there was one."""
    return eol if now.has_front_matter and (now.head or now.body).startswith(("\n", "\r")) else ""


def _end_heading(now: TaskFileParts, eol: str) -> str:
    """The heading, with an empty line after it where nothing followed yet."""
    return now.head if now.body else now.head.rstrip("\r\n") + eol + eol


def _make_document(path: str, text: str) -> Document:
    return Document(path, to_printable(text))
