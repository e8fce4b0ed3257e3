"""The text of a task file in its parts: front matter, the heading that is its title, and its body."""

from __future__ import annotations

from plait.core.frozen import dataclass
from plait.front.taskfiles.matter import emitted
from plait.sources.markdown import Block, Kind
from plait.sources.model import Document
from plait.sources.taskfiles.text import title as heading_of
from plait.sources.text import BOM, Lines, printable


@dataclass(frozen=True, slots=True)
class Parts:
    """Together they are the whole text. `head` is the first heading, if nothing is before it, with the empty lines after it."""

    front: str
    head: str
    body: str

    @property
    def matter(self) -> bool:
        return self.front not in {"", BOM}


def parts(path: str, text: str) -> Parts:
    markdown = _document(path, text).markdown
    starts = markdown.lines.starts
    front = starts[markdown.front[1] + 1] if markdown.front else len(BOM) if text.startswith(BOM) else 0
    first = next(iter(markdown.blocks), None)
    if first is None or not _is_title(first):
        return Parts(text[:front], "", text[front:])
    stop = first.stop
    while stop < len(markdown.lines) and not markdown.lines.bare(stop).strip():
        stop += 1
    return Parts(text[:front], text[front : starts[stop]], text[starts[stop] :])


def _is_title(block: Block) -> bool:
    return block.kind is Kind.HEADING and block.level == 1 and not block.quoted and bool(block.text.strip())


def shown(path: str, text: str) -> str:
    """The body as people edit it: with plain line ends."""
    return printable(parts(path, text).body).replace("\r\n", "\n").replace("\r", "\n")


def composed(title: str, body: str) -> str:
    """A new file without keys, that reads as this title and this body."""
    body = normal(body)
    own = parts("new.md", body)
    if own.head and not own.front and heading_of(Document("new.md", body)) == title:
        return body
    text = f"{heading(title)}\n\n{body}" if body else f"{heading(title)}\n"
    if (
        heading_of(Document("new.md", text)) != title
    ):  # `# Task 4: x`, `# C #`: the heading alone says something else
        text = f"---\n{emitted('title', title)}---\n\n{text}"
    return text


def heading(title: str) -> str:
    """Signs alone would be a heading that says nothing."""
    return f"# {title}" if title.strip("# ") else f"# \\{title}"


def normal(body: str) -> str:
    """Without the empty lines around it, and with an end."""
    lines = body.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    kept = "\n".join(lines[first:]).rstrip()
    return f"{kept}\n" if kept else ""


def with_body(path: str, text: str, body: str) -> str:
    """The text with another body, and still with its title, unless the body begins with a heading of its own."""
    now, eol = parts(path, text), Lines(text).eol
    if body == shown(path, text):
        return text
    new = normal(body).replace("\n", eol)
    own = parts(path, new)
    if own.head and not own.front:
        return now.front + _apart(now, eol) + new
    if now.head:
        return now.front + _ended(now, eol) + new
    plain, title = now.front + _apart(now, eol) + new, heading_of(_document(path, text))
    if now.matter and new and heading_of(_document(path, plain)) == title:
        return plain
    return f"{now.front}{_apart(now, eol)}{heading(title)}{eol}{eol if new else ''}{new}"


def with_heading(path: str, text: str, title: str) -> str:
    """The text with another title as its first heading of the first level."""
    markdown = _document(path, text).markdown
    lines = markdown.lines
    for block in markdown.headings(1):
        if block.parent is None and _is_title(block):
            bom = BOM if block.start == 0 and text.startswith(BOM) else ""
            before, after = text[: lines.starts[block.start]], text[lines.starts[block.stop] :]
            return f"{before}{bom}{heading(title)}{lines.end(block.stop - 1)}{after}"
    now = parts(path, text)
    rest = now.body.lstrip("\r\n")
    return f"{now.front}{_apart(now, lines.eol)}{heading(title)}{lines.eol}{lines.eol if rest else ''}{rest}"


def _apart(now: Parts, eol: str) -> str:
    """An empty line after front matter, where there was one."""
    return eol if now.matter and (now.head or now.body).startswith(("\n", "\r")) else ""


def _ended(now: Parts, eol: str) -> str:
    """The heading, with an empty line after it where nothing followed yet."""
    return now.head if now.body else now.head.rstrip("\r\n") + eol + eol


def _document(path: str, text: str) -> Document:
    return Document(path, printable(text))
