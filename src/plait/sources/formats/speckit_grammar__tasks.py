"""The tasks of a spec-kit file: boxes with an id such as T012, outside examples, legends and criteria."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plait.core.fast_dataclass import dataclass
from plait.sources.checkboxes__boxes import find_checkboxes, is_checkbox, read_checkbox_text
from plait.sources.formats.speckit_grammar import ID, starts_with_verb
from plait.sources.markdown import Block, Checkbox, Markdown
from plait.sources.outline import walk_outline
from plait.sources.outline__titles import UniqueNames, make_title

_TAGS = r"(?:`?\[[^\[\]\n]{1,40}\](?!\()`?[ \t]*){0,9}"
_TASK = re.compile(
    rf"(?P<before>{_TAGS})[*_`\[]{{0,4}}(?P<id>{ID})(?!\w|[-\u2010-\u2015]T?\d)[*_`\]]{{0,4}}[ \t]*[:.)\u2013\u2014\u00b7-]?[*_`]{{0,4}}"
    rf"(?:\s+|\Z)(?P<after>{_TAGS})(?P<text>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
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
    """A task as it is listed. `asides` say in parentheses what it depends on; `heading` is its phase's.

    `written` is its id as it stands there; one that is there again gets an id of its own.
    """

    block: Block
    box: Checkbox
    written_id: str
    id: str
    title: str
    asides: tuple[str, ...]
    parallel: bool
    heading: Block | None


def looks_like_task(box: Checkbox) -> bool:
    return _TASK.match(box.text[:300]) is not None


def find_listed_tasks(markdown: Markdown) -> Iterator[ListedTask]:
    """Outside the phases a box may repeat the id of a task: a summary, a validation list. That makes no second task."""
    under = {id(block): path for block, path in walk_outline(markdown)}
    phased = any(is_phase(heading) for heading in markdown.headings(2))
    seen: set[str] = set()
    names = UniqueNames()
    for block, box in find_checkboxes(markdown):
        path = under[id(block)]
        in_phase = any(is_phase(heading) for heading in path)
        if not is_checkbox(box) or (not in_phase and any(map(is_example, path))):
            continue
        found = _TASK.match(read_checkbox_text(markdown, block, box))
        if found is not None and (in_phase or not phased or found["id"].lower() not in seen):
            seen.add(found["id"].lower())
            yield _make_listed_task(block, box, found, names, _find_phase_heading(path, phased=phased))


def is_example(heading: Block) -> bool:
    return heading.level > 1 and _EXAMPLES.match(heading.text) is not None


def is_phase(heading: Block) -> bool:
    return _PHASE.match(heading.text) is not None


def parse_phase(heading: Block) -> tuple[str, str]:
    """The key of a phase, and its title."""
    found = _PHASE.match(heading.text)
    if found is None:
        return "", heading.text
    return found["key"] or "final", found["title"] or ""


def _find_phase_heading(path: Sequence[Block], *, phased: bool) -> Block | None:
    """The innermost heading that names a phase; else, in a file with phases, the one of their level."""
    inner = next((heading for heading in reversed(path) if heading.level > 1 and is_phase(heading)), None)
    if inner is not None or not phased:
        return inner
    return next((heading for heading in path if heading.level == 2), None)


def _make_listed_task(
    block: Block, box: Checkbox, found: re.Match[str], names: UniqueNames, heading: Block | None
) -> ListedTask:
    tags = [tag.strip() for tag in _TAG.findall(found["before"]) + _TAG.findall(found["after"])]
    stated = _STATED.findall(_ASIDE.sub("", found["text"])) if "depends" in found["text"].lower() else ()
    asides = tuple(aside for aside in _ASIDE.findall(found["text"]) if _states_order(aside))
    text = (
        _ASIDE.sub(lambda aside: "" if _states_order(aside[1]) else aside[0], found["text"])
        if asides
        else found["text"]
    )
    name = f"T{found['id'][1:]}"
    kept = "".join(f"[{tag}] " for tag in tags if not _KNOWN_TAGS.fullmatch(tag))
    parallel = any(tag.upper() == "P" for tag in tags)
    title = make_title(kept + text) or name
    return ListedTask(block, box, name, names(name), title, (*asides, *stated), parallel, heading)


def _states_order(aside: str) -> bool:
    """`(depends on T012)`, but not `(requires a login)`."""
    return starts_with_verb(aside) and _NAMED.search(aside) is not None
