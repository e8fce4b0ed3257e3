"""Statements in a plan outside its tasks, at the start of a line: execution notes, VERIFY lines, pipeline starts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plait.core.fast_dataclass import dataclass
from plait.sources.markdown import BlockKind, Markdown
from plait.sources.references import DASH, TO, TaskRange, parse_number
from plait.sources.text import BOM

NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,2}"
ID = r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,2}"
_REFERENCE = re.compile(rf"(?<![\w.])({NUMBER})(?:{TO}({NUMBER}))?(?!\w|\.[0-9])", re.IGNORECASE)


def normalize_number(value: str) -> str:
    """Return a phase's number without leading zeros."""
    return ".".join(str(part) for part in parse_number(value))


def find_references(text: str) -> Iterator[TaskRange]:
    """Yield all numbers and ranges of a text in which gaps are single spaces. `3.1-4` is short for `3.1-3.4`."""
    for match in _REFERENCE.finditer(text):
        first, last = match[1], match[2] or ""
        if last and "." in first and "." not in last:
            last = f"{first.rpartition('.')[0]}.{last}"
        yield TaskRange(first, last, match.start(), match.end())


def find_task_references(text: str) -> list[TaskRange]:
    return [reference for reference in find_references(text) if "." in reference.first]


_START = re.compile(
    r"(?P<prefix>> ?|[-*+][ \t]+|#{2,6}[ \t]+)?(?P<bold>\*\*|__|[*_])?[ \t]*"
    r"(?P<word>VERIFY[ \t]+Phase|Execution[ \t]+Notes?|pipeline-start|Tasks)(?![^\W_])",
    re.IGNORECASE,
)
_CONTINUATION = re.compile(r"[ \t]*(?![-*+#>|`~\s]|[0-9]{1,9}[.)][ \t])\S")
_TASKS = re.compile(r"Tasks\b[^:]{0,40}:?\Z", re.IGNORECASE)
_VERIFY = re.compile(rf"VERIFY Phase ({NUMBER})(?!\w|\.[0-9])", re.IGNORECASE)
_OPENING = re.compile(
    rf"pipeline-start ?: ?(?:(?:when|after|once) )?(?:task )?({ID})(?!\w|\.[0-9])(?: (?:completes?|is (?:done|completed?)))?",
    re.IGNORECASE,
)
_NOTE = re.compile(r"Execution Notes?(?P<label>[^:\[]{0,60}:)?", re.IGNORECASE)
_MARKER = re.compile(r"\[ ?((?i:SEQUENTIAL|PARALLEL)) ?\]|\b(SEQUENTIAL|PARALLEL)\b")
_SUBJECT = re.compile(r"\b(?:task|phase)s?\b", re.IGNORECASE)
_PHASE = re.compile(r"\bphases?\b", re.IGNORECASE)
_TASK = re.compile(r"\btasks?\b", re.IGNORECASE)
_SEPARATOR = re.compile(rf"\A[ :;.,]*(?:{DASH}+ *)?")
# No label or note is longer; in a longer one the rest is passed over.
_MAX_NOTE_LENGTH = 4_000
_MAX_NOTE_LINES = 20


@dataclass(frozen=True, slots=True)
class VerifyNote:
    """A note `**VERIFY Phase N:**`: the tasks below it verify that phase. Unless `is_gating`, nothing waits for them."""

    line: int
    phase: str
    is_gating: bool
    text: str


@dataclass(frozen=True, slots=True)
class PipelineStart:
    """A note `**pipeline-start:** when 1.3 completes`; `task` is empty if it can't be parsed."""

    line: int
    task: str
    text: str


@dataclass(frozen=True, slots=True)
class ExecutionNote:
    """A note `Tasks 3.1-3.4 are [SEQUENTIAL] - reason`: `name` is the group as written, `subject` the text before the
    marker.
    """

    line: int
    is_parallel: bool
    name: str
    reason: str
    subject: str
    references: tuple[TaskRange, ...]

    @property
    def is_about_phases(self) -> bool:
        return self.is_parallel or not any("." in reference.first for reference in self.references)


@dataclass(frozen=True, slots=True)
class TasksLabel:
    """A label `**Tasks:**`: the tasks below it are ordinary ones again."""

    line: int


PlanStatement = VerifyNote | PipelineStart | ExecutionNote | TasksLabel


def find_statements(markdown: Markdown) -> Iterator[PlanStatement]:
    """Yield the statements in order. Only unindented lines, quotes and bullets count; a fence is an example."""
    covered = _find_example_lines(markdown)
    lines = markdown.lines.all
    for index, line in enumerate(lines):
        whole = line if index else line.removeprefix(BOM)
        start = _START.match(whole)
        if start is None or index in covered:
            continue
        text, bold = whole[start.start("word") :], bool(start["bold"])
        if bold:
            text = text.replace(start["bold"], "", 1)
        match start["word"].split()[0].lower():
            case "verify":
                yield from _parse_verify(index, text, label=bold or "#" in (start["prefix"] or ""))
            case "pipeline-start":
                yield from parse_pipeline_start(index, text)
            case "execution":
                yield from _parse_notes(index, _join_wrapped_lines(lines, index, text, covered), label=bold)
            case _ if bold and _TASKS.match(_strip_bold(text)):
                yield TasksLabel(index)
            case _:
                pass


def parse_pipeline_start(line: int, text: str) -> Iterator[PipelineStart]:
    """Yield the pipeline start that a text begins with, if any."""
    plain = _strip_bold(text)
    match = _OPENING.match(plain)
    if match:
        yield PipelineStart(line, match[1], match[0])
    elif plain[:16].rstrip().endswith(":"):
        yield PipelineStart(line, "", plain)


def _find_example_lines(markdown: Markdown) -> set[int]:
    """Return the lines of code, comments and front matter."""
    covered = set(range(markdown.front_matter[1])) if markdown.front_matter else set()
    for block in markdown.blocks:
        if block.kind in (BlockKind.FENCE, BlockKind.HTML):
            covered.update(range(block.start, block.stop))
    return covered


def _parse_verify(line: int, text: str, *, label: bool) -> Iterator[VerifyNote]:
    """Yield a line's VERIFY note. Without bold, it needs capitals and a colon: `VERIFY Phase 1:`."""
    plain = _strip_bold(text)
    match = _VERIFY.match(plain)
    if match and (label or (plain.startswith("VERIFY") and ":" in plain)):
        yield VerifyNote(line, normalize_number(match[1]), "(non-blocking)" not in plain.lower(), plain)


def _join_wrapped_lines(lines: list[str], index: int, text: str, covered: set[int]) -> str:
    """Join a note with its continuation lines."""
    parts = [text]
    for following in range(index + 1, min(len(lines), index + _MAX_NOTE_LINES)):
        line = lines[following]
        if following in covered or not _CONTINUATION.match(line) or _START.match(line):
            break
        parts.append(line)
    return " ".join(parts)


def _parse_notes(line: int, text: str, *, label: bool) -> Iterator[ExecutionNote]:
    """Yield a line's notes: a marker follows its group's name, and precedes the reason, up to the next name."""
    plain = _strip_bold(text)
    match = _NOTE.match(plain)
    if match is None or not (label or match["label"]):
        return
    starts = [match.end()]
    markers: list[re.Match[str]] = []
    for marker in _MARKER.finditer(plain, match.end()):
        if markers:
            subjects = list(_SUBJECT.finditer(plain, markers[-1].end(), marker.start()))
            if not subjects:  # the word is part of the reason
                continue
            starts.append(subjects[-1].start())
        markers.append(marker)
    for start, marker, stop in zip(starts, markers, [*starts[1:], len(plain)], strict=False):
        yield _parse_note(line, plain[start : marker.start()], marker, plain[marker.end() : stop])


def _parse_note(line: int, subject: str, marker: re.Match[str], reason: str) -> ExecutionNote:
    is_parallel = (marker[1] or marker[2]).upper() == "PARALLEL"
    subject = subject.replace("`", "")
    tasks = find_task_references(subject)
    phases = list(find_references(subject)) if _PHASE.search(subject) and not (tasks and _TASK.search(subject)) else []
    named = phases if is_parallel else tasks or phases
    name = subject[named[0].start : named[-1].stop] if named else ""
    reason = _SEPARATOR.sub("", reason).strip(" ;")
    if f"({reason[1:-1]})" == reason and "(" not in reason[1:]:
        reason = reason[1:-1]
    return ExecutionNote(line, is_parallel, name, reason, subject.strip(), tuple(named))


def _strip_bold(text: str) -> str:
    """Remove bold markup and collapse whitespace."""
    return " ".join(text.replace("**", "").split())[:_MAX_NOTE_LENGTH]
