"""Applying edits: each must fit the file as it was shown, exactly or regardless of whitespace; all are made or none.

For `update_fixtures`, edits may only add the new field to literals of one struct.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from plait.agents.model_jobs.code_blocks import is_fence, strip_outer_fence
from plait.agents.model_jobs.edit_blocks import AnswerError, Change, Edit, Insertion
from plait.agents.model_jobs.whole_files import resolve_path
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob

_MAX_MATCHES = 6  # named in a message
_COMPARED_CHARS = 200  # of a line
_MAX_COMPARED_LINES = 20_000
_MIN_SIMILARITY = 0.5


@dataclass(frozen=True, slots=True)
class LineRange:
    """The lines from `first` to before `last`, from 0; `indents` maps the searched text's indents to the file's."""

    first: int
    last: int
    indents: Mapping[str, str]


class FileText:
    """A file's text, and its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = (0, *accumulate(len(line) + 1 for line in self.lines))

    def line_at(self, offset: int) -> int:
        """Return the line at an offset, from 0."""
        return bisect_left(self.starts, offset + 1) - 1

    def find_exact(self, find: Sequence[str], limit: int = _MAX_MATCHES) -> list[int]:
        """Return the offsets of exact occurrences, also inside a line."""
        needle, found, at = "\n".join(find), list[int](), -1
        while len(found) < limit and (at := self.text.find(needle, at + 1)) >= 0:
            found.append(at)
        return found

    def find_lines(self, find: Sequence[str], limit: int | None = _MAX_MATCHES) -> list[LineRange]:
        """Return the ranges of lines that are equal except for whitespace."""
        plain = [normalize_whitespace(line) for line in self.lines]
        starts = (0, *accumulate(len(line) + 1 for line in plain))
        hay, needle = "\n".join(("", *plain, "")), "\n".join(("", *map(normalize_whitespace, find), ""))
        found: list[LineRange] = []
        at = -1
        while (limit is None or len(found) < limit) and (at := hay.find(needle, at + 1)) >= 0:
            first = bisect_left(starts, at)
            last = first + len(find)
            found.append(LineRange(first, last, _map_indents(find, self.lines[first:last])))
        return found

    def describe_nearest(self, find: Sequence[str]) -> str:
        """Say for a message where the text starts to differ, or which line is most similar to its first."""
        wanted = [normalize_whitespace(line) for line in find]
        lines = [normalize_whitespace(line) for line in self.lines]
        begun = max(_find_partial_matches(wanted, lines), default=(0, 0))
        if begun[0]:
            matched, index = begun[0], -begun[1]
            index += matched
            there = f"line {index + 1} is {quote_line(self.lines[index])}" if index < len(lines) else "the file ends"
            return f"it starts like line {index - matched + 1}, but then {there}, not {quote_line(find[matched])}"
        like = _find_most_similar(wanted[0][:_COMPARED_CHARS], lines[:_MAX_COMPARED_LINES])
        if like is None:
            return "nothing in the file is similar"
        return f"the nearest is line {like + 1}: {quote_line(self.lines[like])}"


def normalize_whitespace(line: str) -> str:
    return " ".join(line.split())


def count_blank_edges(lines: Sequence[str]) -> tuple[int, int]:
    """Count the blank lines at the start and at the end."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    return (filled[0], len(lines) - filled[-1] - 1) if filled else (0, len(lines))


def get_indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def reindent(lines: Sequence[str], indents: Mapping[str, str]) -> list[str]:
    """Give the lines the file's indents; a line indented further than a known one keeps the difference."""
    return [_reindent_line(line, indents) if line.strip() else line.strip() for line in lines]


def quote_line(line: str) -> str:
    plain = "".join(each if each.isprintable() else " " for each in line.strip()[:120])
    return f"`{plain if len(plain) < 100 else plain[:99] + chr(0x2026)}`"


def _reindent_line(line: str, indents: Mapping[str, str]) -> str:
    mine = get_indent(line)
    if mine in indents:
        return indents[mine] + line[len(mine) :]
    under = [each for each in indents if mine.startswith(each)]
    if under:
        base = max(under, key=len)
        deeper = mine[len(base) :]
        if "\t" in "".join(indents.values()) and not deeper.strip(" "):
            deeper = "\t" * max(1, len(deeper) // 4)
        return indents[base] + deeper + line[len(mine) :]
    # Less indented than anything in the searched text: keep the difference.
    least = min(indents, key=len, default="")
    there = indents.get(least, "")
    return there[: max(0, len(there) - (len(least) - len(mine)))] + line[len(mine) :]


def _map_indents(find: Sequence[str], there: Sequence[str]) -> dict[str, str]:
    known: dict[str, str] = {}
    for mine, other in zip(find, there, strict=True):
        if mine.strip():
            known.setdefault(get_indent(mine), get_indent(other))
    return known


def _find_partial_matches(wanted: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield for each occurrence of the first line the number of equal lines, and the negated position."""
    if len(wanted) < 2:
        return
    tried = 0
    for index, line in enumerate(lines):
        if line == wanted[0] and line and tried < _MAX_COMPARED_LINES:
            count = 1
            while count < len(wanted) and index + count < len(lines) and lines[index + count] == wanted[count]:
                count += 1
            tried += count
            if count < len(wanted):
                yield count, -index


def _find_most_similar(wanted: str, lines: Sequence[str]) -> int | None:
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    best, index = _MIN_SIMILARITY, None
    for at, line in enumerate(lines):
        matcher.set_seq1(line[:_COMPARED_CHARS])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, index = matcher.ratio(), at
    return index


_PAIRS = {"{": "}", "(": ")", "[": "]"}
_BRACKET = re.compile(r"[{}()\[\]]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|//[^\n]*")
_MAX_LITERAL_CHARS = 20_000

_DEFINITION = re.compile(
    r"\b(?:struct|impl|class|enum|interface|type|trait|union|record|fn|func|def|function|for|extends|import|use)\b[^={;]*\Z|->\s*\Z"
)


def find_scopes(lines: Sequence[str], begins: str) -> tuple[range, ...]:
    """Return the range of each line with this text and what is indented below it; if nothing is, with all that follows."""
    found: list[range] = []
    for index, line in enumerate(lines):
        if begins in line and (not found or index >= found[-1].stop):
            found.append(range(index, _block_end(lines, index)))
    return tuple(found)


def _block_end(lines: Sequence[str], begin: int) -> int:
    """Return the line after the indented ones; the end of the text if none is indented."""
    depth, inner = len(get_indent(lines[begin])), False
    for index in range(begin + 1, len(lines)):
        if not lines[index].strip():
            continue
        deeper = len(get_indent(lines[index])) > depth
        if inner and not deeper:
            return index
        inner = inner or deeper
    return len(lines)


def find_name_mentions(text: str, name: str) -> list[range]:
    """Return the ranges from each occurrence of the name to the end of its bracket, or of its line."""
    return [range(found.start(), _bracket_end(text, found.end())) for found in _word_pattern(name).finditer(text)]


def find_literals(text: str, name: str) -> list[range]:
    """Return the mentions that create a value: the name right before a bracket, and no definition."""
    found: list[range] = []
    for match in _word_pattern(name).finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[line : match.start()]
        opens = re.match(r"\s*[{(]", text[match.end() : match.end() + 40])
        if opens and not _DEFINITION.search(before[-200:]):
            found.append(range(match.start(), _bracket_end(text, match.end())))
    return found


def _word_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _bracket_end(text: str, at: int) -> int:
    """Return the end of the bracket that is opened on this line or at the start of the next; else the end of the line."""
    line = text.find("\n", at)
    line = len(text) if line < 0 else line
    upto = text.find("\n", line + 1)
    opened = next((m for m in _BRACKET.finditer(text, at, len(text) if upto < 0 else upto) if m[0] in _PAIRS), None)
    if opened is None or (opened.start() > line and text[line : opened.start()].strip()):
        return line
    depth = 0
    for each in _BRACKET.finditer(text, opened.start(), min(len(text), at + _MAX_LITERAL_CHARS)):
        depth += each[0] in _PAIRS
        depth -= each[0] in _PAIRS.values()
        if depth == 0:
            return each.end()
    return line


_MAX_ERRORS = 20  # each takes time in a large file


@dataclass(frozen=True, slots=True)
class Hunk:
    """Replaces the characters from `start` to before `end` by `put`. `line` is that of the answer."""

    start: int
    end: int
    put: str
    line: int = 0


class EditApplier:
    """Applies edits. `read` returns the text of a path, or None. `everywhere` are the files for changes that name none."""

    def __init__(
        self,
        read: Callable[[str], str | None],
        allowed: Collection[str] | None,
        everywhere: Sequence[str] = (),
    ) -> None:
        self.errors: list[AnswerError] = []
        self.originals: dict[str, FileText] = {}
        self.hunks: dict[str, list[Hunk]] = {}
        self._read = read
        self.allowed = allowed
        self._everywhere = everywhere

    def add(self, change: Change) -> None:
        if len(self.errors) >= _MAX_ERRORS:
            return
        paths = self._paths(change)
        found = {path: _make_hunks(change, self.originals[path]) for path in paths}
        hits = {path: hunks for path, hunks in found.items() if not isinstance(hunks, str)}
        if isinstance(change, Insertion) and hits:
            found = dict(hits)  # without a file, one match is enough
        for path, hunks in found.items():
            if isinstance(hunks, str):
                self.errors.append(AnswerError(f"line {change.line} of the answer: {hunks}", path))
            else:
                self.hunks.setdefault(path, []).extend(hunks)

    def exists(self, path: str) -> bool:
        return self._read(path) is not None

    def render(self) -> dict[str, str]:
        """Return the changed files, and add errors for edits that overlap."""
        made: dict[str, str] = {}
        for path, hunks in self.hunks.items():
            hunks.sort(key=lambda hunk: (hunk.start, hunk.end, hunk.line))
            for one, other in pairwise(hunks):
                if other.start < one.end or (other.start == one.start and other.end == one.end > one.start):
                    message = f"lines {one.line} and {other.line} of the answer change the same place"
                    self.errors.append(AnswerError(message, path))
            made[path] = _apply_hunks(self.originals[path].text, hunks)
        return made

    def _paths(self, change: Change) -> list[str]:
        named = [change.path] if change.path is not None else list(self._everywhere)
        if not named or (isinstance(change, Edit) and len(named) > 1):
            self.errors.append(AnswerError(f"line {change.line} of the answer: it names no FILE"))
            return []
        return [path for each in named if (path := self._open(each)) is not None]

    def _open(self, named: str) -> str | None:
        path = resolve_path(named, self.allowed)
        if isinstance(path, str) and path not in self.originals:
            text = self._read(path)
            if text is None:
                path = AnswerError("there is no such file to be edited", path)
            else:
                self.originals[path] = FileText(text)
        if isinstance(path, str):
            return path
        if path not in self.errors:
            self.errors.append(path)
        return None


def _apply_hunks(text: str, hunks: Sequence[Hunk]) -> str:
    parts: list[str] = []
    at = 0
    for hunk in hunks:
        parts += [text[at : hunk.start], hunk.put]
        at = max(at, hunk.end)
    return "".join((*parts, text[at:]))


def _make_hunks(change: Change, page: FileText) -> list[Hunk] | str:
    """Return the replacements, or why there are none."""
    return _edit_hunks(change, page) if isinstance(change, Edit) else _insertion_hunks(change, page)


def _edit_hunks(edit: Edit, page: FileText) -> list[Hunk] | str:
    find, put = _trim_sides(edit.find, edit.put, page)
    exact = page.find_exact(find)
    if len(exact) == 1:
        return [_exact_hunk(page, exact[0], len("\n".join(find)), put, edit.line)]
    if exact:
        return _ambiguous_message([page.line_at(offset) for offset in exact])
    runs = page.find_lines(find)
    if len(runs) == 1:
        return [_lines_hunk(page, runs[0], put, edit.line)]
    if runs:
        return _ambiguous_message([run.first for run in runs])
    return f"FIND is not in the file; {page.describe_nearest(find)}"


def _trim_sides(find: Sequence[str], put: Sequence[str], page: FileText) -> tuple[Sequence[str], Sequence[str]]:
    """Remove blank lines that only set the labels apart, and fences that the file does not have."""
    find, put = _strip_fences(find, put, page)
    before, after = count_blank_edges(find)
    find = find[before : len(find) - after]
    blank_before, blank_after = count_blank_edges(put) if any(line.strip() for line in put) else (len(put), 0)
    before, after = min(before, blank_before), min(after, blank_after)
    return find, put[before : len(put) - after]


def _strip_fences(find: Sequence[str], put: Sequence[str], page: FileText) -> tuple[Sequence[str], Sequence[str]]:
    fenced = any(is_fence(line) for line in find) and "\n".join(find).strip() not in page.text
    return (strip_outer_fence(find), strip_outer_fence(put)) if fenced else (find, put)


def _exact_hunk(page: FileText, start: int, length: int, put: Sequence[str], line: int) -> Hunk:
    """Make the hunk for an exact match. A deleted line loses its line end, too."""
    end = start + length
    alone = (start == 0 or page.text[start - 1] == "\n") and page.text[end : end + 1] == "\n"
    return Hunk(start, end + (alone and not put), "\n".join(put), line)


def _lines_hunk(page: FileText, run: LineRange, put: Sequence[str], line: int) -> Hunk:
    start, end = page.starts[run.first], page.starts[run.last]
    made = "\n".join((*reindent(put, run.indents), "")) if put else ""
    if run.last == len(page.lines):  # the last line has no end
        return Hunk(start, len(page.text), made.removesuffix("\n"), line)
    return Hunk(start, end, made, line)


def _insertion_hunks(insertion: Insertion, page: FileText) -> list[Hunk] | str:
    find, put = _strip_fences(insertion.find, insertion.put, page)
    before, after = count_blank_edges(find)
    find = find[before : len(find) - after]
    within = find_scopes(page.lines, insertion.scope) if insertion.scope else (range(len(page.lines)),)
    if not within:
        return f"its SCOPE is not in the file: {insertion.scope}"
    runs = [
        run
        for run in page.find_lines(find, limit=None)
        if any(run.first in scope and run.last - 1 in scope for scope in within)
    ]
    if runs:
        return [_insert_after(page, run, put, insertion.line) for run in runs]
    inside = _insert_inline(page, find, put, within, insertion.line)
    where = " in its SCOPE" if insertion.scope else ""
    return inside or f"AFTER is not{where} in the file; {page.describe_nearest(find)}"


def _insert_after(page: FileText, run: LineRange, put: Sequence[str], line: int) -> Hunk:
    made = reindent(put, run.indents)
    if run.last == len(page.lines):
        return Hunk(len(page.text), len(page.text), "\n".join(("", *made)), line)
    return Hunk(page.starts[run.last], page.starts[run.last], "\n".join((*made, "")), line)


def _insert_inline(
    page: FileText, find: Sequence[str], put: Sequence[str], within: Sequence[range], line: int
) -> list[Hunk]:
    """Insert after a part of a line, within that line."""
    if len(find) != 1 or len(put) != 1:
        return []
    ends = [start + len(find[0]) for start in page.find_exact(find, limit=10_000)]
    return [Hunk(end, end, put[0], line) for end in ends if any(page.line_at(end - 1) in scope for scope in within)]


def _ambiguous_message(lines: Sequence[int]) -> str:
    named = ", ".join(str(line + 1) for line in lines[:5])
    more = " and more" if len(lines) > 5 else ""
    return f"FIND matches more than one place (lines {named}{more}): give more lines around it, until it matches once"


_FIELD = re.compile(r"\W*([A-Za-z_$][\w$]*)")


def parse_field_name(job: ModelJob) -> str:
    """Return the name of the new field: `timeout` of `timeout: None`."""
    match = _FIELD.match(job.new_field)
    return match[1] if match else ""


def find_unrelated_edits(job: ModelJob, edits: EditApplier, files: Collection[str]) -> list[AnswerError]:
    """Return errors for edits outside literals of the struct or without the new field, and for new files."""
    field = parse_field_name(job)
    if not job.struct_name or not field:
        return [AnswerError("the job does not say which struct_name gets which new_field")]
    flaws = [AnswerError("this job makes no new files", path) for path in files if path not in edits.originals]
    for path, hunks in edits.hunks.items():
        page = edits.originals[path]
        mentions = find_name_mentions(page.text, job.struct_name)
        for hunk in hunks:
            line = page.line_at(hunk.start) + 1
            if not any(_is_inside(page, mention, hunk.start, hunk.end) for mention in mentions):
                flaws.append(
                    AnswerError(f"line {line} is not where a {job.struct_name} is made; leave it as it is", path)
                )
            elif field not in hunk.put:
                flaws.append(AnswerError(f"what is put at line {line} does not give {field}", path))
    return flaws


def find_missing_fields(job: ModelJob, files: dict[str, str]) -> tuple[str, ...]:
    """Describe literals that still lack the field; this is only a note, since some may copy it from another value."""
    field = re.compile(rf"\b{re.escape(parse_field_name(job))}\b")
    return tuple(
        f"{path}:{text.count(chr(10), 0, literal.start) + 1}: this {job.struct_name} has no {parse_field_name(job)}"
        for path, text in files.items()
        for literal in find_literals(text, job.struct_name)
        if not field.search(text, literal.start, literal.stop)
    )


def _is_inside(page: FileText, mention: range, start: int, end: int) -> bool:
    """Whether the range is within the lines of the literal."""
    first = page.starts[page.line_at(mention.start)]
    last = page.line_at(max(mention.stop - 1, mention.start))
    stop = page.starts[last + 1] if last + 1 < len(page.starts) else len(page.text)
    if start == end:  # an insertion after its last line would be outside of it
        return first < start < stop
    return first <= start and end <= stop
