"""The code blocks of an answer (fences and `~~~worksplit` markers), and the file that a line or an info string names.

Fences may be nested. One with a language opens a block; a bare one closes the innermost, unless the following line looks
like the inside of a block: then it opens one. In doubt the block stays open, and the answer counts as cut off.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from plait.core.fast_dataclass import dataclass

_MAX_LINE_CHARS = 1200

_LABEL = re.compile(
    r"(?:[#>*\-\s]|\d{1,3}[.)])*(?:\*\*|__)?(?:file(?: ?name| ?path)?|path)(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.+)",
    re.IGNORECASE,
)

_LEAD = re.compile(r"(?:#{1,6}\s+|>\s*|[-*+]\s+|\d{1,3}[.)]\s+)+")
_AROUND = "*_`\"' \t"
_PLAIN = re.compile(r"[^\s`\"'<>|*?:,;(){}]+\Z")
_TICKED = re.compile(r"`([^`\n]{1,300})`")
_PATH_ATTRIBUTE = re.compile(r"(?:title|file|filename|path|name)\s*=\s*[\"']?([^\"'\s}]+)", re.IGNORECASE)
_ENDING = re.compile(r"[^/.\s]\.[A-Za-z][A-Za-z0-9_+-]{0,9}\Z|(?:^|/)\.[A-Za-z][\w.-]*\Z")

_COMMENT = re.compile(
    r"\s*(?:#|//|--|;+|%|/\*|<!--|\"\"\"|')?!?\s*(?:file(?:name)?:\s*)?(\S+?)\s*(?:\*/|-->|\"\"\")?\s*\Z"
)

_LANGUAGES = frozenset({"asp.net", "vb.net"})

_KNOWN_FILE_NAMES = frozenset(
    {"Makefile", "Dockerfile", "Justfile", "justfile", "LICENSE", "Rakefile", "Gemfile", "Procfile"}
)


def parse_file_label(line: str) -> str | None:
    """Return the text after FILE:, Path: and the like, or None."""
    match = _LABEL.match(line[:_MAX_LINE_CHARS].strip())
    return _strip_markup(match[1]) if match else None


def find_file_header(line: str, known: Collection[str] = ()) -> str | None:
    """Return the path in the line before a fence: any path after a label, only a known one in a sentence."""
    line = line[:_MAX_LINE_CHARS].strip()
    if (labelled := parse_file_label(line)) is not None:
        return labelled
    bare = _strip_markup(_LEAD.sub("", line, count=1))
    if bare in known or (_PLAIN.match(bare) and looks_like_path(bare)):
        return bare
    ticked = [str(each).strip() for each in _TICKED.findall(line)]
    if len(ticked) == 1 and line.strip(_AROUND + ":#.").strip() == ticked[0] and looks_like_path(ticked[0]):
        return ticked[0]
    named = dict.fromkeys(each for each in ticked if each in known)
    return next(iter(named)) if len(named) == 1 else None


def find_path_in_info(info: str, known: Collection[str] = ()) -> str | None:
    """Return the path in an info string: "python src/a.py", "python:src/a.py", "src/a.py", "python title=src/a.py"."""
    text = _PATH_ATTRIBUTE.search(info[:_MAX_LINE_CHARS])
    if text is not None:
        return str(text[1])
    for word in info[:_MAX_LINE_CHARS].split():
        named = word.partition(":")[2] if re.match(r"[A-Za-z+#-]+:[^:]", word) else word
        named = named.strip("{}`\"'")
        if named.lower() in _LANGUAGES:
            continue
        if named in known or ("/" in named and looks_like_path(named)) or _ENDING.search(named):
            return named
    return None


def find_path_in_comment(line: str, known: Collection[str]) -> str | None:
    """Return the known path in a comment on the first line of a file, or None."""
    match = _COMMENT.match(line[:_MAX_LINE_CHARS])
    path = "" if match is None else str(match[1]).removeprefix("./")
    return path if path in known else None


def looks_like_path(word: str) -> bool:
    if word.endswith(("/", ".", "...")) or "://" in word or not any(each.isalnum() for each in word):
        return False
    return "/" in word or "\\" in word or word in _KNOWN_FILE_NAMES or _ENDING.search(word) is not None


def _strip_markup(text: str) -> str:
    """Remove backticks, bold, a colon, or a remark in brackets."""
    text = text.strip().rstrip(":").strip(_AROUND).rstrip(":").strip(_AROUND)
    ticked = _TICKED.match(f"`{text}")
    if ticked is not None and ticked[1] != text:
        text = ticked[1].strip()
    return re.sub(r"\s+\([^()]*\)\Z", "", text)


_FENCE = re.compile(r"([ \t]*+)(`{3,}+|~{3,}+)([^`]*+)\Z")
_MARKER = re.compile(r"[ ]{0,3}~{3,}+worksplit(?::(.*+)|[ \t]*+)\Z")
_THOUGHTS = ("think", "thinking", "thought", "reasoning")
_THOUGHT = re.compile(rf"\s*<({'|'.join(_THOUGHTS)})>", re.IGNORECASE)
_THOUGHT_ENDS = {word: re.compile(f"</{word}>", re.IGNORECASE) for word in _THOUGHTS}
_CLOSING = re.compile(rf"[ \t]*</(?:{'|'.join(_THOUGHTS)})>[ \t]*", re.IGNORECASE)

# Stop tokens that the server did not remove.
_TOKENS = re.compile(r"(?:\s*(?:<\|[\w ]{1,24}\|>|<\uff5c[^\uff5c>]{1,32}\uff5c>|(?<=```)</s>))+\s*\Z")
_TOKEN_TAIL_CHARS = 200
_HEADER_LINES = 2  # above a fence, where its path may be
_MAX_FENCES_AHEAD = 24  # to distinguish an opening fence from a closing one


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A block of code in an answer. `path` is named by a marker, `above` is the line before a fence, `info` its info
    string.

    Not `closed`: the answer ended inside it.
    """

    lines: tuple[str, ...]
    path: str | None = None
    above: str = ""
    info: str = ""
    closed: bool = True

    @property
    def text(self) -> str:
        return join_lines(self.lines)


@dataclass(frozen=True, slots=True)
class _Fence:
    indent: str
    mark: str
    info: str

    @classmethod
    def parse(cls, line: str) -> _Fence | None:
        match = _FENCE.match(line)
        return None if match is None else cls(match[1], match[2], match[3].strip())

    def closes(self, outer: _Fence) -> bool:
        return not self.info and self._matches(outer)

    def nests(self, outer: _Fence) -> bool:
        return bool(self.info) and self._matches(outer)

    def _matches(self, outer: _Fence) -> bool:
        """Whether this fence could close the outer one; a fence that is indented further is part of the code."""
        near = len(self.indent) <= len(outer.indent) + 3
        return near and self.mark[0] == outer.mark[0] and len(self.mark) >= len(outer.mark)


def clean_answer(text: str) -> str:
    """Normalise line ends, and remove thoughts and stop tokens."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if (ends := _TOKENS.search(text, max(len(text) - _TOKEN_TAIL_CHARS, 0))) is not None:
        text = f"{text[: ends.start()]}\n"
    at = 0
    while (opened := _THOUGHT.match(text, at)) is not None:
        closed = _THOUGHT_ENDS[opened[1].lower()].search(text, opened.end())
        if closed is None:
            return ""
        at = closed.end()
    lines = text[at:].split("\n")
    for index, line in enumerate(lines):
        if is_fence(line):
            break
        if _CLOSING.fullmatch(line):
            return "\n".join(lines[index + 1 :])
    return text[at:]


def join_lines(lines: Sequence[str]) -> str:
    return "\n".join((*lines, "")) if lines else ""


def is_fence(line: str) -> bool:
    return _FENCE.match(line) is not None


def is_bare_fence(line: str) -> bool:
    """Whether the line is a fence that could close another."""
    fence = _Fence.parse(line)
    return fence is not None and not fence.info


def find_blocks(text: str) -> Iterator[CodeBlock]:
    """Yield the blocks in order; the text between them is prose."""
    return _BlockScanner(text).find_blocks()


def strip_outer_fence(lines: Sequence[str]) -> Sequence[str]:
    """Remove a fence around the whole text."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    opened = _Fence.parse(lines[filled[0]]) if len(filled) > 1 else None
    closing = _Fence.parse(lines[filled[-1]]) if filled else None
    if opened is None or closing is None or not closing.closes(opened):
        return lines
    return lines[filled[0] + 1 : filled[-1]]


class _BlockScanner:
    """Scans an answer in one pass; only fences are read twice."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        found = ((line_index, _Fence.parse(line)) for line_index, line in enumerate(self._lines))
        self._fences = {line_index: fence for line_index, fence in found if fence is not None}
        self._fence_lines = sorted(self._fences)

    def find_blocks(self) -> Iterator[CodeBlock]:
        at = 0
        for line_index in self._fence_lines:
            if line_index < at or self._wraps_markers(line_index):
                continue
            marker = _MARKER.match(self._lines[line_index])
            found, at = (
                self._fenced_block(line_index)
                if marker is None
                else self._marked_block(line_index, _marker_path(marker))
            )
            yield found

    def _fences_after(self, line_index: int) -> range:
        """Return the indexes in `_places` of the fences after this line."""
        return range(bisect_right(self._fence_lines, line_index), len(self._fence_lines))

    def _wraps_markers(self, line_index: int) -> bool:
        """Whether the fence only surrounds markers, so that it has no meaning of its own."""
        following = next((line for line in self._lines[line_index + 1 : line_index + 4] if line.strip()), "")
        marker = _MARKER.match(following)
        return _MARKER.match(self._lines[line_index]) is None and marker is not None and bool(_marker_path(marker))

    def _marked_block(self, at: int, path: str | None) -> tuple[CodeBlock, int]:
        """Return the block after a marker, and the line to continue with. It ends with the next marker; one that names
        a file starts the next block, if the end is missing or just `~~~`.
        """
        plain = None
        for line_index in map(self._fence_lines.__getitem__, self._fences_after(at)):
            marker = _MARKER.match(self._lines[line_index])
            if marker is not None and not _marker_path(marker):
                return self._block(at, line_index, path), line_index + 1
            if marker is not None:
                return self._block(at, line_index if plain is None else plain, path), line_index
            if self._lines[line_index].strip() == "~~~":
                plain = line_index
        if plain is not None:
            return self._block(at, plain, path), len(self._lines)
        return self._block(at, None, path), len(self._lines)

    def _block(self, at: int, end: int | None, path: str | None) -> CodeBlock:
        return CodeBlock(tuple(self._lines[at + 1 : end]), path, closed=end is not None)

    def _fenced_block(self, at: int) -> tuple[CodeBlock, int]:
        opened = self._fences[at]
        depth, end = 1, None
        for line_index in map(self._fence_lines.__getitem__, self._fences_after(at)):
            depth += self._depth_change(line_index, opened, depth)
            if depth == 0:
                end = line_index
                break
        inner = tuple(_outdent(line, opened.indent) for line in self._lines[at + 1 : end])
        found = CodeBlock(inner, above=self._above(at), info=opened.info, closed=end is not None)
        return found, len(self._lines) if end is None else end + 1

    def _above(self, at: int) -> str:
        near = next((line for line in reversed(self._lines[max(at - _HEADER_LINES, 0) : at]) if line.strip()), "")
        return "" if is_fence(near) else near

    def _depth_change(self, line_index: int, outer: _Fence, depth: int) -> int:
        """Return 1 if this line opens a nested block, -1 if it closes one, else 0."""
        fence = self._fences[line_index]
        if fence.closes(outer):
            return 1 if depth == 1 and self._opens_inner(line_index, outer) else -1
        return 1 if fence.nests(outer) else 0

    def _opens_inner(self, line_index: int, outer: _Fence) -> bool:
        """Whether a bare fence opens a nested block: text follows it, not the header of the next block, and enough
        closing fences follow.
        """
        after = self._lines[line_index + 1] if line_index + 1 < len(self._lines) else ""
        if not after.strip() or line_index + 1 in self._fences:
            return False
        if find_file_header(after) is not None and any(
            each in self._fences for each in (line_index + 2, line_index + 3)
        ):
            return False
        closing = 0
        for each in self._fences_after(line_index)[:_MAX_FENCES_AHEAD]:
            fence = self._fences[self._fence_lines[each]]
            closing += 1 if fence.closes(outer) else -1 if fence.nests(outer) else 0
            if closing > 1:
                return True
        return False


def _marker_path(marker: re.Match[str]) -> str | None:
    return (marker[1] or "").strip(" \t`\"'") or None


def _outdent(line: str, indent: str) -> str:
    return line.removeprefix(indent) if line.startswith(indent) else line.lstrip(" \t")
