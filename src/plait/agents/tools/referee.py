"""`referee`: chooses, for a contested task, from what its entrants made. Only a contest gives it tasks.

It is a process of plait's own; it hands on nothing that a score command or a judge printed, so that neither can say who
has won.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from json import dumps, loads

from plait.agents.model import (
    AgentSpec,
    Brief,
    Command,
    Listener,
    Permission,
    Price,
    PromptBy,
    Reports,
    Signal,
)
from plait.agents.plain import plain
from plait.agents.tools.events import Json, count
from plait.agents.tools.own import Own, text_of
from plait.core.contest import REFEREE
from plait.core.decisions import Candidate
from plait.core.errors import ConfigError
from plait.core.frozen import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

MODULE = "plait.site.referee"
FILE = "referee.json"
RESULT = "result.json"  # who was chosen and why, in the attempt's folder

_SCORE, _JUDGE = "score", "judge"
_NAME = 300  # characters of an entrant's name
_DETAIL = 300


@dataclass(frozen=True, slots=True)
class RefereeSpec:
    """One attempt. `base` is what the winner's change is put onto. Without `score` and `judge` the smallest change wins."""

    task: str
    title: str
    body: str
    attempt: str
    workspace: str
    folder: str
    base: str
    candidates: tuple[Candidate, ...]
    score: str = ""
    judge: AgentSpec | None = None


def refereeing(*, score: str | None = None, judge: AgentSpec | None = None) -> AgentSpec:
    """The referee of a batch: how it decides."""
    options = [(_SCORE, score)] if score else []
    options += [(_JUDGE, dumps(asdict(judge)))] if judge is not None else []
    return AgentSpec(REFEREE, options=tuple(options))


class Referee:
    name = REFEREE

    def __init__(self, spec: AgentSpec) -> None:
        """Raises ConfigError if its judge can't be loaded."""
        self._score = dict(spec.options).get(_SCORE, "")
        self._judge = judge_of(spec)
        self.provider, self.reports = REFEREE, Reports.FREE
        if self._judge is not None:
            from plait.agents.table import load  # noqa: PLC0415 - the table names this module

            judge = load(self._judge)
            self.provider, self.reports = judge.provider, judge.reports

    def command(self, brief: Brief) -> Command:
        task = brief.task
        spec = RefereeSpec(
            task.id,
            task.title,
            task.body,
            str(brief.attempt),
            brief.workspace,
            brief.folder,
            brief.base,
            brief.candidates,
            self._score,
            self._judge,
        )
        argv = (sys.executable, "-E", "-P", "-m", MODULE, f"{brief.folder}/{FILE}")
        return Command(argv, files=((FILE, dumps(asdict(spec))),))

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return Heard(before)


class Heard(Own):
    def __init__(self, before: Spend = NO_SPEND) -> None:
        super().__init__(before)
        self._winner = ""
        self._why = ""

    def usage(self, event: Json) -> Iterator[Signal]:
        yield from self.used(Spend(count(event, "microusd"), count(event, "tokens")))

    def result(self, event: Json) -> None:
        self._winner = text_of(event, "winner")[:_NAME]
        self._why = plain(text_of(event, "why"), _DETAIL)

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        ended = super().end(code, tail, said_at)
        if ended.category is not Category.OK:
            return ended
        return replace(ended, winner=self._winner, detail=self._why)


def judge_of(spec: AgentSpec) -> AgentSpec | None:
    """As `refereeing` was given it; raises ConfigError."""
    text = dict(spec.options).get(_JUDGE)
    return None if text is None else _read(text)


def _read(text: str) -> AgentSpec:
    try:
        told = loads(text)
        given = {
            "command": tuple(told["command"]),
            "prompt_by": PromptBy(told["prompt_by"]),
            "args": tuple(told["args"]),
            "permission": Permission(told["permission"]),
            "prices": tuple(Price(**price) for price in told["prices"]),
            "options": tuple((name, value) for name, value in told["options"]),
        }
        return AgentSpec(**{**told, **given})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"how the judge is called can't be read: {error!r}") from error
