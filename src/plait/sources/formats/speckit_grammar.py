"""The tasks of a spec-kit file, and statements about their order: `T002 before T003`, `T001 -> T002`.

A statement has task ids on both sides of its verb or arrow, near to it. Ids in parentheses count if there are no
others: `Tests (T004-T007) before implementation (T008-T014)`. Negated statements, and those about anything but ids,
are prose.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from plait.core.fast_dataclass import dataclass
from plait.sources.checkboxes import find_checkboxes, is_checkbox, read_checkbox_status, read_checkbox_text
from plait.sources.formats.speckit_headings import TaskHeading, find_task_headings
from plait.sources.markdown import Block, Checkbox, Markdown, UniqueNames, make_title, walk_outline
from plait.sources.references import DASH, TO, TaskRange
from plait.sources.source_model import SourceStatus
from plait.sources.vocabulary import shorten

ID = r"T\d{1,6}(?:\.\d{1,4}){0,3}[a-z]?(?:-(?!T\d)(?-i:[A-Z][A-Z0-9]{0,11})(?!\w))?"  # T012, T012.1, T012a, T012-MIN
_ARROW = r"(?<![-=\u2500])[-=\u2500]+(?:>|[\u2192\u21d2\u2794\u279c\u27f6\u25ba\u25b6])|[\u2192\u21d2\u2794\u279c\u27f6\u25ba\u25b6]"
_BACK = r"<[-=\u2500]+(?!>)|[\u2190\u21d0][-=\u2500]*"
_AFTER = (
    r"(?:cannot|can't|(?:can|must|may|should|does|do)\s+not)\s+(?:[a-z]{1,20}\s+){0,3}(?:before|until)"
    r"|depend(?:s|ent|ing)?(?:\s+[a-z]{1,20})?\s+on|dependenc(?:y|ies)[*_]*(?=\s*:)|depends[*_]*(?=\s*:)"
    r"|after|requires?|needs?|follows?|blocked\s+(?:by|on)|waits?\s+(?:for|on)|once|prerequisites?[*_]*(?=\s*:)"
)
_BEFORE = r"before|blocks?|precedes?|enables?|unblocks?|(?:required|prerequisites?)\s+(?:by|for|of)"

_TOKEN = re.compile(
    rf"""(?P<ref>(?<![\w-]){ID}(?!\w))
        (?:{TO}(?P<to>{ID}(?!\w))
          |{DASH}(?P<number>\d{{1,6}}[a-z]?)(?!\w))?
    |(?P<arrow>{_ARROW})
    |(?P<back>{_BACK})
    |(?P<after>\b(?:{_AFTER})(?!\w))
    |(?P<before>\b(?:{_BEFORE})(?!\w))
    |(?P<no>\b(?:not|no|nor|never|neither|cannot|without|nothing|independent(?:ly)?|unless|instead|until)\b|n't\b)
    |(?P<may>\b(?:can|could|may|might)\b)
    |(?P<comma>,)
    |(?P<join>[&+/{{}}\[\]|\u2225]|\b(?:and|or|both|all|tasks?|p|us\d+)\b)
    |(?P<open>\()
    |(?P<close>\))
    |(?P<stop>;|\.(?=\s|\Z))
    |(?P<line>\n)
    |(?P<word>[^\W_]+)""",
    re.IGNORECASE | re.VERBOSE,
)

# A line continues the statement above if it begins with an arrow; in prose, unless it begins with an id.
_ARROW_NEXT = re.compile(rf"[ \t]*(?:{_ARROW})")
_ID_NEXT = re.compile(rf"[ \t*_`>-]*{ID}(?!\w)", re.IGNORECASE)
_VERB_FIRST = re.compile(rf"[\s*_`-]*(?:{_AFTER}|{_BEFORE})(?!\w)", re.IGNORECASE)
_VERBS = {"after", "before"}
_ARROWS = {"arrow", "back"}
_OPERATORS = _ARROWS | _VERBS
_MAX_WORDS_AFTER_VERB = 5  # words between a verb and the ids that follow it
_MAX_WORDS_BEFORE_VERB = 9  # words between ids and the verb that they are the subject of
_MAX_SHOWN_LENGTH = 120


@dataclass(frozen=True, slots=True)
class OrderStatement:
    """A statement that each of `later` comes after all of `earlier`."""

    earlier: tuple[TaskRange, ...]
    later: tuple[TaskRange, ...]
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    depth: int
    ref: TaskRange | None = None


def starts_with_verb(text: str) -> bool:
    """Whether the text states an order without its subject, as in `depends on T001`."""
    return _VERB_FIRST.match(text) is not None


def parse_refs(text: str) -> tuple[TaskRange, ...]:
    """Return the ids of a list such as a table's cell; those in parentheses only if there are no others."""
    tokens = [token for _, _, clause in _split_clauses(text, fenced=False) for token in clause]
    return tuple(ref for group in _group_refs(tokens) for ref in group.refs)


def parse_orders(text: str, first: int = 0, *, fenced: bool = False, subject: str = "") -> Iterator[OrderStatement]:
    """Yield all statements about order in a text, which begins on line `first`.

    In a fence each line stands alone, and only arrows count. `subject` is the task meant by a text that begins with a
    verb.
    """
    about = [_Token("ref", 0, TaskRange(subject))] if subject else []
    for line, clause_text, clause in _split_clauses(text, fenced=fenced):
        shown = shorten(clause_text.strip("-*_ \n"), _MAX_SHOWN_LENGTH)
        for earlier, later in _parse_statements([*about, *clause]):
            yield OrderStatement(tuple(earlier), tuple(later), first + line, shown)
        about = []


def _split_clauses(text: str, *, fenced: bool) -> Iterator[tuple[int, str, list[_Token]]]:
    """Yield the statements of a text as tokens, each with its line and its words."""
    tokens: list[_Token] = []
    clause_start, line, start, depth = 0, 0, 0, 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        kind = "ref" if kind in {"to", "number"} else kind
        kind = "word" if fenced and kind in _VERBS else kind
        line += kind == "line"
        ends = kind == "line" and _ends_statement(text, match.end(), tokens, fenced=fenced)
        if ends or (kind == "stop" and depth == 0):
            yield clause_start, text[start : match.start()], tokens
            tokens, start, depth, clause_start = [], match.end(), 0, line
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind not in {"line", "stop"}:
            last = match["to"] or (f"T{match['number']}" if match["number"] else "")
            tokens.append(_Token(kind, depth, TaskRange(match["ref"], last) if kind == "ref" else None))
    yield clause_start, text[start:], tokens


def _ends_statement(text: str, at: int, tokens: Sequence[_Token], *, fenced: bool) -> bool:
    """Whether a statement ends with this line."""
    if tokens and tokens[-1].kind in {*_OPERATORS, "comma", "join"}:
        return False
    if _ARROW_NEXT.match(text, at):
        return False
    return fenced or _ID_NEXT.match(text, at) is not None


@dataclass(slots=True)
class _RefGroup:
    """Ids that are listed together; `first` and `last` are their indexes in the segment."""

    refs: list[TaskRange]
    first: int
    last: int
    depth: int


def _group_refs(tokens: Sequence[_Token]) -> list[_RefGroup]:
    """Return the groups of ids outside parentheses or, if there are none, those inside."""
    groups: list[_RefGroup] = []
    for index, token in enumerate(tokens):
        if token.ref is None:
            continue
        group = groups[-1] if groups else None
        between = {skipped.kind for skipped in tokens[group.last + 1 : index]} if group is not None else set()
        if group is not None and group.depth == token.depth and between <= {"comma", "join"}:
            group.refs.append(token.ref)
            group.last = index
        else:
            groups.append(_RefGroup([token.ref], index, index, token.depth))
    return [group for group in groups if group.depth == 0] or groups


_Statement = tuple[Sequence[TaskRange], Sequence[TaskRange]]


def _parse_statements(tokens: Sequence[_Token]) -> Iterator[_Statement]:
    """Yield for each operator the ids that come first and the ids that come after them."""
    operators = [n for n, token in enumerate(tokens) if token.kind in _OPERATORS and token.depth == 0]
    segments = [tokens[start + 1 : stop] for start, stop in pairwise([-1, *operators, len(tokens)])]
    verbs = [False, *(tokens[index].kind not in _ARROWS for index in operators), False]
    for n, index in enumerate(operators):
        kind = tokens[index].kind
        left = _find_subject(segments[n], kind, shared=verbs[n] and verbs[n + 1])
        max_words = 0 if kind == "back" else _MAX_WORDS_AFTER_VERB  # what points back at a task is often a remark on it
        right = _find_object(segments[n + 1], shared=verbs[n + 1] and verbs[n + 2], max_words=max_words)
        if left and right:
            yield (right, left) if kind in {"after", "back"} else (left, right)
    yield from _parse_asides(tokens)


def _parse_asides(tokens: Sequence[_Token]) -> Iterator[_Statement]:
    """Yield statements in parentheses that begin with a verb, about the ids before: `T004 (depends on T001)`."""
    start = 0
    for index, token in enumerate(tokens):
        if token.depth == 0:
            start = index if token.kind in _OPERATORS else start
            continue
        if token.kind not in _VERBS or (index and tokens[index - 1].depth > 0):
            continue
        stop = next((n for n in range(index + 1, len(tokens)) if tokens[n].depth == 0), len(tokens))
        left = [group for group in _group_refs(tokens[start:index]) if group.depth == 0]
        right = _find_object(tokens[index + 1 : stop], shared=False)
        if left and right:
            subject = left[-1].refs
            yield (right, subject) if token.kind == "after" else (subject, right)
        start = stop


def _find_subject(segment: Sequence[_Token], kind: str, *, shared: bool) -> Sequence[TaskRange]:
    """Return the ids before a verb. Between two verbs the last id is the subject of the second one."""
    groups = _group_refs(segment)
    if not groups:
        return ()
    between = [token for token in segment[groups[-1].last + 1 :] if token.depth == 0]
    kinds = {token.kind for token in between}
    if "no" in kinds or (kind == "before" and "may" in kinds) or len(between) > _MAX_WORDS_BEFORE_VERB:
        return ()
    return groups[-1].refs[-1:] if shared else groups[-1].refs


def _find_object(
    segment: Sequence[_Token], *, shared: bool, max_words: int = _MAX_WORDS_AFTER_VERB
) -> Sequence[TaskRange]:
    """Return the ids right after a verb. Between two verbs the last one belongs to the second, if the first has others."""
    groups = _group_refs(segment)
    if not groups:
        return ()
    between = segment[: groups[0].first]
    if any(token.kind in {"no", "comma"} for token in between) or len(between) > max_words:
        return ()
    refs = groups[0].refs
    return refs[:-1] if shared and len(groups) == 1 and len(refs) > 1 else refs


_TAGS = r"(?:`?\[[^\[\]\n]{1,40}\](?!\()`?[ \t]*){0,9}"
_OTHER_ID = r"(?:\([\w.:#/-]{1,40}\)[ \t]+(?=`?\[))?"  # `T022 (abc-8z6.1) [P]`
_TASK = re.compile(
    rf"(?P<before>{_TAGS})[*_`\[]{{0,4}}(?P<id>{ID})(?!\w|[-\u2010-\u2015]T?\d)[*_`\]]{{0,4}}[ \t]*[:.)\u2013\u2014\u00b7-]?[*_`]{{0,4}}"
    rf"(?:\s+|\Z)(?P<other>{_OTHER_ID})(?P<after>{_TAGS})(?P<text>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_HEADING = re.compile(rf"[^\w\[(`*]*(?:Task\s+)?{_TASK.pattern}", re.IGNORECASE | re.DOTALL)
_LAST_TAG = re.compile(r"\s*\[P\]\s*\Z", re.IGNORECASE)
_TAG = re.compile(r"\[([^\[\]\n]{1,40})\]")
_KNOWN_TAGS = re.compile(r"P\??|(?:US\s?-?\d+|Story)(?:\s*[,/&+]\s*US\s?-?\d+)*", re.IGNORECASE)
_ASIDE = re.compile(r"[*_]?\(([^()]{1,400})\)[*_]?")
# The same without parentheses, at the end of a sentence or of the text.
_STATED = re.compile(
    rf"(?<=[\s,;.\u2013\u2014-])(?<!not )(?<!longer )depends\s+on\s+(?:tasks?\s+)?{ID}(?!\w)"
    rf"(?:\s*(?:,|&|\+|-|\u2013|\band\b|,\s*and\b)\s*{ID}(?!\w))*(?=\s*(?:[.;)]|\Z))",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"(?<!\w){ID}(?!\w)", re.IGNORECASE)
_PHASE = re.compile(
    r"\W*(?:(?i:phase)\s+(?P<key>\d{1,4}(?:\.\d{1,4})*[A-Za-z]?|[A-Z])\b|(?i:(?P<final>final)\s+phase)\b)"
    r"(?:\W*(?P<title>[\w(].*))?",
    re.DOTALL,
)
_EXAMPLES = re.compile(r"\W*(?:format|legend)\b|.*\bexamples?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task in the list, or with a heading of its own. `asides` are remarks about its dependencies.

    `written_id` is as in the file; `id` is unique. `heading` is the heading of its phase. `place` is set if the task is
    a heading.
    """

    block: Block
    status: SourceStatus
    written_id: str
    id: str
    title: str
    asides: tuple[str, ...]
    parallel: bool
    heading: Block | None
    place: TaskHeading | None = None


def looks_like_task(box: Checkbox) -> bool:
    return _TASK.match(box.text[:300]) is not None


def has_task_headings(markdown: Markdown) -> bool:
    return bool(find_task_headings(markdown, _HEADING))


def find_tasks(markdown: Markdown) -> list[ListedTask]:
    """Return tasks in lists, and headings that are tasks: not one above listed tasks, or of one of them."""
    names = UniqueNames()
    listed = list(_find_listed_tasks(markdown, names))
    ids = {task.written_id.lower() for task in listed}
    lines = [task.block.start for task in listed]
    places = [
        place
        for place in find_task_headings(markdown, _HEADING)
        if bisect_left(lines, place.block.start) == bisect_left(lines, place.stop)
    ]
    if not places:
        return listed
    under = {id(block): path for block, path in walk_outline(markdown)}
    phased = any(is_phase(heading) for heading in markdown.headings(2))
    headed = []
    for place in places:
        if place.match["id"].lower() not in ids:
            phase = _find_phase_heading(under[id(place.block)][:-1], phased=phased)
            task = _make_listed_task(place.block, place.status, place.match, names, phase)
            headed.append(replace(task, place=place))
    return sorted([*listed, *headed], key=lambda task: task.block.start)


def _find_listed_tasks(markdown: Markdown, names: UniqueNames) -> Iterator[ListedTask]:
    """Yield the tasks in lists. Outside the phases a box may repeat the id of a task (a summary, a validation list),
    which makes no second task.
    """
    under = {id(block): path for block, path in walk_outline(markdown)}
    phased = any(is_phase(heading) for heading in markdown.headings(2))
    seen: set[str] = set()
    for block, box in find_checkboxes(markdown):
        path = under[id(block)]
        in_phase = any(is_phase(heading) for heading in path)
        is_example = any(heading.level > 1 and _EXAMPLES.match(heading.text) for heading in path)
        if not is_checkbox(box) or (is_example and not in_phase):
            continue
        match = _TASK.match(read_checkbox_text(markdown, block, box))
        if match is not None and (in_phase or not phased or match["id"].lower() not in seen):
            seen.add(match["id"].lower())
            phase = _find_phase_heading(path, phased=phased)
            yield _make_listed_task(block, read_checkbox_status(box), match, names, phase)


def is_phase(heading: Block) -> bool:
    return _PHASE.match(heading.text) is not None


def parse_phase(heading: Block) -> tuple[str, str]:
    """Return the key of a phase, and its title."""
    match = _PHASE.match(heading.text)
    if match is None:
        return "", heading.text
    return match["key"] or "final", match["title"] or ""


def _find_phase_heading(path: Sequence[Block], *, phased: bool) -> Block | None:
    """Return the innermost heading that names a phase; else, in a file with phases, the heading of their level."""
    inner = next((heading for heading in reversed(path) if heading.level > 1 and is_phase(heading)), None)
    if inner is not None or not phased:
        return inner
    return next((heading for heading in path if heading.level == 2), None)


def _make_listed_task(
    block: Block, status: SourceStatus, match: re.Match[str], names: UniqueNames, heading: Block | None
) -> ListedTask:
    tags = [tag.strip() for tag in _TAG.findall(match["before"]) + _TAG.findall(match["after"])]
    written = match["text"].rstrip()
    last_tag = _LAST_TAG.search(written)
    written = match["other"] + (written[: last_tag.start()] if last_tag else written)
    stated = _STATED.findall(_ASIDE.sub("", written)) if "depends" in written.lower() else ()
    asides = tuple(aside for aside in _ASIDE.findall(written) if _states_order(aside))
    text = _ASIDE.sub(lambda aside: "" if _states_order(aside[1]) else aside[0], written) if asides else written
    name = f"T{match['id'][1:]}"
    kept = "".join(f"[{tag}] " for tag in tags if not _KNOWN_TAGS.fullmatch(tag))
    parallel = last_tag is not None or any(tag.upper() == "P" for tag in tags)
    title = make_title(kept + text) or name
    return ListedTask(block, status, name, names(name), title, (*asides, *stated), parallel, heading)


def _states_order(aside: str) -> bool:
    """Whether a remark is about the order of tasks: `(depends on T012)`, but not `(requires a login)`."""
    return starts_with_verb(aside) and _NAMED.search(aside) is not None
