"""Listening to a tool that prints a JSON object per line, and text of any kind between.

Exit codes lie, so a tool's own last word counts first: how it says it ended. Only where it says nothing, the exit status
and the last lines are judged as any command's are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from json import loads
from typing import Any, cast

from plait.agents.complaints import judged
from plait.agents.failures import DETAIL, killed, outcome
from plait.agents.listening import ACTIVITY, PHASE, PHASES
from plait.agents.model import Activity, Doing, PhaseBegun, SessionKnown, Signal, Used
from plait.agents.plain import cut, plain
from plait.agents.tools.words import last_words, mended, spoken
from plait.agents.waits import NO_WAIT, Wait
from plait.core.frozen import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

# What a tool printed: its shape is the tool's, and every look at it asks first.
Json = Mapping[str, Any]

# A session becomes a word of the next command: nothing that could be an option, or two words.
_SESSION = re.compile(r"[A-Za-z0-9][\w.:-]{0,199}", re.ASCII)
_MOST = 10**15  # no tool counts so far
_AND_WHY = ": what it may do unasked is set under [agents.permissions]"


@dataclass(frozen=True, slots=True)
class Error:
    """What a tool says went wrong: its words, and the status of HTTP where it tells one. `category`: where it is plain.

    `otherwise` is for words that tell nothing; `wait` is what it said of a limit before.
    """

    said: str
    status: int | None = None
    category: Category | None = None
    otherwise: Category = Category.TASK
    wait: Wait = NO_WAIT


class Events:
    """A listener. A tool's own gives `event` a meaning, and sets `finished` or `error` when the tool says how it ended.

    `deeds` counts what it did to the workspace, with a tool that tells; so does `denied` what it was not allowed to do.
    """

    # Whether a tool that said no event at all (a person's arguments may ask for text) is judged by its exit status.
    exit_counts = False
    last_word = ""  # how the line begins that must not be lost

    def __init__(self, before: Spend = NO_SPEND, may: str = "") -> None:
        """`may`: a sentence about what it may do, for a person who wonders why it did nothing."""
        self.before = before
        self.may = may
        self.workspace = ""
        self.gone = False  # its session: it must not be tried again
        self.deeds: int | None = None
        self.denied: list[str] = []
        self._whole = True  # whether all was heard
        self._spoke = False
        self._told = NO_SPEND
        self._phase = ""
        self._phases = 0
        self.session: str | None = None
        self.spend = NO_SPEND
        self.error: Error | None = None
        self.finished = False
        self.said = ""  # its last message, as a whole
        self.question: str | None = None

    def event(self, event: Json) -> Iterator[Signal]:
        """What one object means."""
        raise NotImplementedError

    def text(self, line: str) -> Iterator[Signal]:
        """A line that is no object: what tools print beside their events is mostly noise."""
        shown = plain(line, ACTIVITY)
        if shown:
            yield Activity(shown)

    def unread(self, line: str) -> Iterator[Signal]:  # noqa: ARG002 - some look at it
        """An object that lost its end on the way (some tools put whole files into one), or that never was one."""
        self.missed()
        yield from ()

    def missed(self) -> None:
        """It may have been a deed: nobody knows any more how many there were."""
        self._whole = False
        self.question = None

    def hear(self, line: str) -> Sequence[Signal]:
        stripped = line.strip()
        if not stripped.startswith("{"):
            return tuple(self.text(line))
        event = self._read(stripped)
        if event is None:
            return tuple(self.unread(line))
        self._spoke = True
        try:
            return tuple(self.event(event))
        except (TypeError, AttributeError, KeyError, IndexError, ValueError, OverflowError, RecursionError):
            return ()  # of a shape that no version had so far: it costs this line

    def _read(self, line: str) -> Json | None:
        """Of a line that is too long, the end is lost on the way: that must not cost how it all ended."""
        with suppress(ValueError, RecursionError):
            return cast("Json", loads(line))
        with suppress(ValueError, RecursionError):
            return cast("Json", loads(mended(line))) if line.startswith(self.last_word or "\n") else None
        return None

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        if self.question is not None:
            ended = Outcome(Category.QUESTION, code, cut(self.question, DETAIL), question=self.question)
        elif killed(code):
            ended = outcome(code, spoken(tail))
        elif self.error is not None:
            ended = failed(code, self.error, said_at)
        elif code:
            ended = outcome(code, spoken(tail), said_at=said_at, words=True)
        elif self.finished:
            ended = self._done(code)
        elif self.exit_counts and not self._spoke:
            ended = Outcome(Category.OK, code, "" if tail.strip() else "it printed nothing")
        else:
            ended = Outcome(Category.TASK, code, "it ended without saying how")
        return replace(ended, spend=self.spend, session="" if self.gone else self.session)

    def _done(self, code: int) -> Outcome:
        """It says that it is done. Whether it is, its diff tells; where it did nothing, its words may tell why."""
        if self.denied and self.idle:
            names = ", ".join(dict.fromkeys(self.denied))
            return Outcome(Category.USAGE, code, cut(f"it was not allowed to use {names}{_AND_WHY}", DETAIL))
        if not self.idle:
            return Outcome(Category.OK, code)
        if not self.said.strip():
            return Outcome(Category.EMPTY, code, "the model's answer was empty")
        said = f"it said: {plain(last_words(self.said), DETAIL // 2)}"
        return Outcome(Category.OK, code, cut(f"{said} ({self.may})" if self.may else said, DETAIL))

    @property
    def idle(self) -> bool:
        """As far as is known for sure, it did nothing to the workspace."""
        return self.deeds == 0 and self._whole

    def did(self) -> None:
        """It did something to the workspace: nobody waits for an answer any more."""
        self.deeds = (self.deeds or 0) + 1
        self.question = None

    def known(self, session: object) -> Iterator[Signal]:
        if isinstance(session, str) and session != self.session and _SESSION.fullmatch(session):
            self.session = session
            yield SessionKnown(session)

    def stage(self, name: object) -> Iterator[Signal]:
        """The step of its own list that it is at."""
        shown = plain(name, PHASE) if isinstance(name, str) else ""
        if shown and shown != self._phase and self._phases < PHASES:
            self._phase = shown
            self._phases += 1
            yield PhaseBegun(shown)

    def rising(self, spend: Spend) -> Iterator[Signal]:
        """Like `used`, for what grows with every message: it is told when it has grown by a quarter."""
        self.spend = self.spend.at_least(spend)
        if self.spend.tokens * 4 >= self._told.tokens * 5 and self.spend != self._told:
            self._told = self.spend
            yield Used(self.spend)

    def used(self, spend: Spend) -> Iterator[Signal]:
        """What this attempt has spent so far; never less than it said before."""
        more = self.spend.at_least(spend)
        if more != self._told:
            self.spend = self._told = more
            yield Used(more)


def failed(code: int, error: Error, said_at: float) -> Outcome:
    """A tool's own word, whatever its exit status."""
    found = judged(error.said, error.status, said_at)
    category = error.category or (found.category if found else error.otherwise)
    told = Outcome(category, code, cut(plain(error.said) or f"exit status {code}", DETAIL))
    if category is not Category.RATE_LIMIT:
        return told
    asked = (found.wait if found else NO_WAIT) or error.wait
    return replace(told, retry_after=asked.after, retry_at=asked.at)


def doing(text: object, kind: Doing, *details: object) -> Iterator[Signal]:
    """An activity, if there is something to tell: `editing src/app.py`."""
    words = " ".join(str(part) for part in (text, *details) if part)
    shown = plain(" ".join(words.split()), ACTIVITY)
    if shown:
        yield Activity(shown, kind)


def sub(tree: object, *names: str) -> Json:
    """The object under these names; an empty one where there is none."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree if isinstance(tree, Mapping) else {}


def count(tree: Json, *names: str) -> int:
    """The first of these numbers that is there; tools have several names for one."""
    for name in names:
        value = tree.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST:
            return int(value)
    return 0


def difference(whole: Spend, before: Spend) -> Spend:
    """What was spent since; a count that is smaller than before began anew."""
    since = whole - before
    return since if since.sound else whole


def micro(dollars: object) -> int:
    """Dollars as millionths of one."""
    sound = isinstance(dollars, int | float) and not isinstance(dollars, bool) and 0 <= dollars < 1e6
    return round(dollars * 1e6) if sound else 0  # type: ignore[operator]  # a number, as was just seen


def relative(path: object, workspace: str = "") -> str:
    """A file as people call it: below the workspace, by the rest of its path."""
    said = path if isinstance(path, str) else ""
    inside = workspace and said.startswith(f"{workspace}/")
    return said[len(workspace) + 1 :] if inside else said
