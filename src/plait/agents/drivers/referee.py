"""`referee`: chooses between the results of a contest. Only contests give it tasks.

It runs as a process of plait; it never forwards output of a score command or a judge, so that neither can forge a result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from json import dumps, loads

from plait.agents.interface import AgentEvent, AgentSpec, AttemptContext, Command, CostReporting, OutputParser, Price
from plait.agents.output_parser import Json, PlaitProtocolParser, get_count, get_text
from plait.agents.plain_text import to_plain_text
from plait.config.agent_keys import Permission, PromptDelivery
from plait.core.contest import REFEREE
from plait.core.decisions import Candidate
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

REFEREE_MODULE = "plait.runtime.contest_referee"
REFEREE_SPEC_FILE = "referee.json"
REFEREE_RESULT_FILE = "result.json"  # the winner and the reason, in the attempt's folder
_SCORE_OPTION, _JUDGE_OPTION = "score", "judge"
_MAX_NAME_CHARS = 300  # characters of an entrant's name
_MAX_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class RefereeSpec:
    """One attempt. The winner's change is put onto `base`. Without `score` and `judge`, the smallest change wins."""

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


def build_referee_spec(*, score: str | None = None, judge: AgentSpec | None = None) -> AgentSpec:
    """The referee of a batch."""
    options = [(_SCORE_OPTION, score)] if score else []
    options += [(_JUDGE_OPTION, dumps(asdict(judge)))] if judge is not None else []
    return AgentSpec(REFEREE, options=tuple(options))


class Referee:
    name = REFEREE

    def __init__(self, spec: AgentSpec) -> None:
        """Raises ConfigError if its judge can't be loaded."""
        self._score = dict(spec.options).get(_SCORE_OPTION, "")
        self._judge = read_judge_spec(spec)
        self.provider, self.reports = REFEREE, CostReporting.FREE
        if self._judge is not None:
            from plait.agents.table import load_agent  # the table imports this module

            judge = load_agent(self._judge)
            self.provider, self.reports = judge.provider, judge.reports

    def build_command(self, context: AttemptContext) -> Command:
        task = context.task
        spec = RefereeSpec(
            task.id,
            task.title,
            task.body,
            str(context.attempt),
            context.workspace,
            context.folder,
            context.base,
            context.candidates,
            self._score,
            self._judge,
        )
        argv = (sys.executable, "-E", "-P", "-m", REFEREE_MODULE, f"{context.folder}/{REFEREE_SPEC_FILE}")
        return Command(argv, files=((REFEREE_SPEC_FILE, dumps(asdict(spec))),))

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:
        return RefereeParser(before)


class RefereeParser(PlaitProtocolParser):
    _winner = ""
    _why = ""

    def handle_usage(self, event: Json) -> Iterator[AgentEvent]:
        yield from self.report_spend(Spend(get_count(event, "microusd"), get_count(event, "tokens")))

    def handle_result(self, event: Json) -> None:
        self._winner = get_text(event, "winner")[:_MAX_NAME_CHARS]
        self._why = to_plain_text(get_text(event, "why"), _MAX_REASON_CHARS)

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        ended = super().finish(code, tail, printed_at)
        if ended.category is not Category.OK:
            return ended
        return replace(ended, winner=self._winner, detail=self._why)


def read_judge_spec(spec: AgentSpec) -> AgentSpec | None:
    """The judge that `build_referee_spec` was given; raises ConfigError."""
    text = dict(spec.options).get(_JUDGE_OPTION)
    return None if text is None else _parse_spec(text)


def _parse_spec(text: str) -> AgentSpec:
    try:
        fields = loads(text)
        given = {
            "command": tuple(fields["command"]),
            "prompt_by": PromptDelivery(fields["prompt_by"]),
            "args": tuple(fields["args"]),
            "permission": Permission(fields["permission"]),
            "sandbox": None,  # that of the referee
            "prices": tuple(Price(**price) for price in fields["prices"]),
            "options": tuple((name, value) for name, value in fields["options"]),
        }
        return AgentSpec(**{**fields, **given})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"the judge's spec can't be read: {error!r}") from error
