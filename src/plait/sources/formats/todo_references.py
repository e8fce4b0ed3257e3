"""Which tasks a text about dependencies names: `132, 133`, `Tasks 72-77`, `Requires Task 9 (the proofs)`.

A number is a task only if the text treats it as one: `Layer 0`, `4/12`, `3.11`, `2025-01-03` and `3 hours` are none.
And it is a dependency only if the text requires it: `Benefits from Task 2` is a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from plait.core.fast_dataclass import dataclass
from plait.sources.references import TaskRange

DASHES = "-\u2013\u2014"
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_CHUNK = re.compile(r"[()\[\]]|[,;&+\n]|[^\s,;&+()\[\]]+")
_NUMBER = re.compile(
    r"(?P<task>tasks?[-#]?)?#?(?P<first>[0-9]{1,9})"
    rf"(?:(?:[{DASHES}]|\.\.\.?)#?(?P<last>[0-9]{{1,9}}))?(?:['\u2019]s)?\Z",
    re.IGNORECASE,
)
_MONTH = re.compile(r"(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])\Z")
_QUOTE_CHARACTERS = "*_`\"'\u201c\u201d\u2018\u2019"
_CLOSERS = {"(": ")", "[": "]"}
_COMMAS = frozenset({",", "&", "+", "and", "or", "plus", "but", "then"})


class TokenKind(Enum):
    NUMBER = auto()
    WORD = auto()
    NOTE = auto()
    COMMA = auto()
    STOP = auto()  # the end of a sentence


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text. `bounds` are the ends of a number or a range.

    `has_task_word`: as in `Task#72`. `is_marked`: a number with #, or a note in square brackets.
    """

    kind: TokenKind
    text: str
    bounds: tuple[int, int] | None = None
    has_task_word: bool = False
    is_marked: bool = False
    has_colon: bool = False


def tokenize(text: str) -> Iterator[Token]:
    """Split a text into tokens. A link is its text, and brackets with their content are one token."""
    chunks = [match[0] for match in _CHUNK.finditer(_LINK.sub(r"\1", text))]
    ends = _match_brackets(chunks)
    index = 0
    while index < len(chunks):
        chunk = chunks[index]
        if index in ends:
            yield Token(TokenKind.NOTE, " ".join(chunks[index + 1 : ends[index]]), is_marked=chunk == "[")
            index = ends[index]
        elif chunk.lower() in _COMMAS:
            yield Token(TokenKind.COMMA, chunk)
        elif chunk in ";\n":
            yield Token(TokenKind.STOP, chunk)
        elif chunk not in "()[]":
            yield from _tokenize_word(chunk)
        index += 1


def _match_brackets(chunks: list[str]) -> dict[int, int]:
    """Map each opening bracket to its closing one; brackets without a partner are ignored."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for index, chunk in enumerate(chunks):
        if chunk in _CLOSERS:
            opened.append(index)
        elif opened and chunk == _CLOSERS[chunks[opened[-1]]]:
            pairs[opened.pop()] = index
    return pairs


def _tokenize_word(chunk: str) -> Iterator[Token]:
    bare = chunk.strip(_QUOTE_CHARACTERS)
    plain = bare.rstrip(".:!?").rstrip(_QUOTE_CHARACTERS) or bare
    if not plain:
        return
    match = _NUMBER.match(plain)
    if match is None or _MONTH.match(plain):
        yield Token(TokenKind.WORD, plain)
    else:
        first = int(match["first"])
        bounds = (first, int(match["last"] or first))
        yield Token(TokenKind.NUMBER, plain, bounds, bool(match["task"]), "#" in plain, bare.endswith(":"))
    if bare.endswith((".", "!", "?")) and "." not in plain:
        yield Token(TokenKind.STOP, ".")


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NONE = _word_set("none no n/a na nothing nil tbd tba - \u2013 \u2014 independent independently")
_TASK = _word_set("task tasks")
_UNTIL = _word_set("to through thru - \u2013 \u2014")
_LEADING_WORDS = _word_set("require requires requiring need needs after on by of from upon")
_DONE = _word_set("done complete completed finished merged archived closed implemented \u2705 \u2713 \u2714")
_OPEN = _word_set("not to be when once until must will should if")
# What follows holds for the rest of the sentence, unless a clause begins with a word that asks for a task; a negation
# holds up to the next comma; a remark behind a task, for that task.
_SOFT = _word_set(
    """benefit benefits enhanced optional optionally related relates see similar ideally recommended helpful nice soft
    independent independently unrelated superseded supersedes parallel alongside blocks unblocks enables"""
)
_HARD = _word_set("require requires need needs depends after blocked must")
_NOT = _word_set("not no without")
_OPTIONAL = _word_set("optional soft nice")
# After a bare number: words about a task, and words for what is counted.
_ABOUT = _word_set("is are has must should needs before first for because as once when")
_COUNTED = _word_set(
    "more other others day days hour hours minutes week weeks file files test tests items times of tasks"
)


@dataclass(frozen=True, slots=True)
class TodoReferences:
    """The tasks that a text names. `has_note`: the text also has something that is not a dependency."""

    refs: tuple[TaskRange, ...] = ()
    has_note: bool = False


def parse_references(text: str) -> TodoReferences:
    """Parse a text about dependencies. Never raises, and takes time in proportion to the text."""
    tokens = list(tokenize(text))
    if not tokens or tokens[0].text.lower() in _NONE:
        return TodoReferences()
    reader = _ReferenceParser(tokens)
    reader.run()
    return TodoReferences(tuple(dict.fromkeys(reader.refs)), reader.found_note or not reader.refs)


class _ReferenceParser:
    """Parses the tokens in one pass. `_other`: the numbers of this list count something else, as in `Layers 0, 1`."""

    def __init__(self, tokens: list[Token], *, soft: bool = False) -> None:
        self.refs: list[TaskRange] = []
        self.found_note = False
        self._tokens = tokens
        self._index = 0
        self._before: str | None = None  # the word in front, unless a comma is
        self._other = False
        self._tasks = False
        self._soft = soft
        self._not = False

    def run(self) -> None:
        while self._index < len(self._tokens):
            token = self._tokens[self._index]
            match token.kind:
                case TokenKind.NUMBER:
                    self._read_number(token)
                case TokenKind.WORD:
                    self._read_word(token.text.lower())
                case TokenKind.NOTE:
                    self._read_note(token)
                case TokenKind.COMMA:
                    self._before, self._not = None, False
                case TokenKind.STOP:
                    self._before = None
                    self._other = self._tasks = self._soft = self._not = False
            self._index += 1

    def _read_word(self, word: str) -> None:
        if word in _SOFT:
            self._soft = True
        elif word in _HARD and self._before is None:
            self._soft = False
        self._not = self._not or word in _NOT
        self._other = False
        self._before = word

    def _read_number(self, token: Token) -> None:
        first, last = self._read_bounds(token)
        if not self._is_task(token):
            self._other = True
        elif self._soft or self._not or self._remarks() & _OPTIONAL:
            self.found_note = True
        else:
            self.refs.append(TaskRange(str(first), str(last), is_settled=self._is_settled()))
        self._before = token.text

    def _read_bounds(self, token: Token) -> tuple[int, int]:
        """Return the ends of a number or a range; the three tokens `72 - 77` or `72 through 77` are one range."""
        first, last = token.bounds or (0, 0)
        until, end = self._peek(1), self._peek(2)
        if until is None or until.text.lower() not in _UNTIL or end is None or end.bounds is None or end.has_task_word:
            return first, last
        self._index += 2
        return first, end.bounds[1]

    def _is_task(self, token: Token) -> bool:
        """Whether a number is a task: after the word "task", or bare where a task can be named."""
        before = self._before
        if token.has_task_word or before in _TASK:
            self._tasks, self._other = True, False
            return True
        if before is not None and before not in _LEADING_WORDS:
            self._tasks = False
            return False
        return not self._other and (token.is_marked or not self._is_count(token))

    def _is_count(self, token: Token) -> bool:
        """Whether a bare number counts what follows it, as in `3 hours`; `63: a title` and `63 is ready` do not."""
        after = self._peek(1)
        if after is None or after.kind is not TokenKind.WORD or token.has_colon or after.text in DASHES:
            return False
        word = after.text.lower()
        return word in _COUNTED if self._tasks else word not in _DONE | _ABOUT

    def _is_settled(self) -> bool:
        remarks = self._remarks()
        if remarks:
            return bool(remarks & _DONE) and not remarks & _OPEN
        after = self._peek(1)
        if after is not None and after.text in DASHES:
            after = self._peek(2)
        return after is not None and after.text.lower() in _DONE

    def _remarks(self) -> set[str]:
        """Return the words in the brackets that follow."""
        after = self._peek(1)
        if after is None or after.kind is not TokenKind.NOTE:
            return set()
        return {word.strip(".:*_").lower() for word in after.text.split()}

    def _read_note(self, token: Token) -> None:
        """Read references in brackets, if these only list tasks: `(Task 5)`, `[72, 73]`."""
        inner = list(tokenize(token.text))
        if not inner or any(part.kind in {TokenKind.NOTE, TokenKind.STOP} for part in inner):
            return
        named = token.is_marked or inner[0].has_task_word or inner[0].text.lower() in _TASK
        if not named or any(part.kind is TokenKind.WORD and part.text.lower() not in _TASK | _DONE for part in inner):
            return
        reader = _ReferenceParser(inner, soft=self._soft or self._not)
        reader.run()
        self.refs += reader.refs
        self.found_note = self.found_note or reader.found_note

    def _peek(self, ahead: int) -> Token | None:
        index = self._index + ahead
        return self._tokens[index] if index < len(self._tokens) else None
