"""`referee`: chooses between the results of a contest. Only contests give it tasks.

It runs as a process of plait, outside of the attempt's sandbox; each judge and score command has a sandbox of its own. It never
forwards their output, so that they can't forge a result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from json import dumps, loads

from plait.agents.interface import AgentEvent, AgentSpec, AttemptContext, Command, CostReporting, OutputParser, Price
from plait.agents.output_parser import Json, PlaitProtocolParser, get_count, get_text
from plait.agents.plain_text import to_plain_text
from plait.config.agent_keys import Permission, PromptDelivery
from plait.core.ballot import Ballot, BallotResult, Vote
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
_MAX_NAME_CHARS = 300  # characters of the name of an entrant or a judge
_MAX_REASON_CHARS = 300
# What a budget can be enforced by, least first.
_REPORTING_ORDER = (CostReporting.NOTHING, CostReporting.TOKENS, CostReporting.COST, CostReporting.FREE)


@dataclass(frozen=True, slots=True)
class RefereeSpec:
    """What one attempt of the referee does. The winner's change is put onto `base`. Without `score` and `judges`, the
    smallest change wins.

    Each judge works in its own checkout. `votes` are those of an earlier attempt that still hold. At most `slots`
    judges run at once; the attempt is ended after `timeout` seconds, or `idle_timeout` without output (0: never).
    """

    task: str
    title: str
    body: str
    attempt: str
    workspace: str
    folder: str
    base: str
    candidates: tuple[Candidate, ...]
    score: str = ""
    judges: tuple[AgentSpec, ...] = ()
    checkouts: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()
    slots: int = 1
    timeout: float = 0.0
    idle_timeout: float = 0.0


def build_referee_spec(*, score: str | None = None, judges: Sequence[AgentSpec] = ()) -> AgentSpec:
    """Make the spec of a batch's referee."""
    options = [(_SCORE_OPTION, score)] if score else []
    options += [(_JUDGE_OPTION, dumps([asdict(judge) for judge in judges]))] if judges else []
    return AgentSpec(REFEREE, options=tuple(options))


class Referee:
    """The agent that chooses a contest's winner. Its provider is that of its first judge: an attempt has one."""

    name = REFEREE

    def __init__(self, spec: AgentSpec) -> None:
        """Load the judges; raises ConfigError if one can't be loaded."""
        self._score = dict(spec.options).get(_SCORE_OPTION, "")
        self._judges = read_judge_specs(spec)
        self.provider, self.reports = REFEREE, CostReporting.FREE
        if self._judges:
            from plait.agents.table import load_agent  # the table imports this module

            judges = [load_agent(judge) for judge in self._judges]
            self.provider = judges[0].provider
            self.reports = min((judge.reports for judge in judges), key=_REPORTING_ORDER.index)

    def build_command(self, context: AttemptContext) -> Command:
        task = context.task
        count = len(self._judges) if len(context.candidates) > 1 else 0
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
            self._judges,
            tuple(f"{context.workspace}+judge-{number}" for number in range(1, count + 1)),
            context.votes,
            context.slots,
            context.timeout,
            context.idle_timeout,
        )
        argv = (sys.executable, "-E", "-P", "-m", REFEREE_MODULE, f"{context.folder}/{REFEREE_SPEC_FILE}")
        files = ((REFEREE_SPEC_FILE, dumps(asdict(spec))),)
        return Command(argv, files=files, checkouts=spec.checkouts, confines_others=True)

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:
        return RefereeParser(before)


class RefereeParser(PlaitProtocolParser):
    _winner = ""
    _why = ""
    _result: BallotResult | None = None
    _votes: tuple[Vote, ...] = ()

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        if event.get("type") == "vote":
            self._votes += (_parse_vote(event),)
        else:
            yield from super().handle_event(event)

    def handle_usage(self, event: Json) -> Iterator[AgentEvent]:
        yield from self.report_spend(Spend(get_count(event, "microusd"), get_count(event, "tokens")))

    def handle_result(self, event: Json) -> None:
        self._winner = get_text(event, "winner")[:_MAX_NAME_CHARS]
        self._why = to_plain_text(get_text(event, "why"), _MAX_REASON_CHARS)
        result = get_text(event, "ballot")
        self._result = BallotResult(result) if result in set(BallotResult) else None

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        """Return the outcome, also with the votes of a failure: the next attempt need not ask these judges."""
        ended = super().finish(code, tail, printed_at)
        ended = replace(ended, ballot=self._build_ballot(ended.category))
        return replace(ended, winner=self._winner, detail=self._why) if ended.category is Category.OK else ended

    def _build_ballot(self, category: Category) -> Ballot | None:
        if not self._votes:
            return None
        without = BallotResult.ALL_REJECTED if category is Category.REJECTED else BallotResult.NO_QUORUM
        return Ballot(self._result or without, self._votes)


def _parse_vote(event: Json) -> Vote:
    return Vote(
        get_text(event, "judge")[:_MAX_NAME_CHARS],
        _parse_names(event.get("ranking")),
        _parse_names(event.get("rejected")),
        to_plain_text(get_text(event, "reason"), _MAX_REASON_CHARS),
        to_plain_text(get_text(event, "failure"), _MAX_REASON_CHARS),
    )


def _parse_names(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list) else []
    return tuple(name[:_MAX_NAME_CHARS] for name in names if isinstance(name, str))


def read_judge_specs(spec: AgentSpec) -> tuple[AgentSpec, ...]:
    """Return the judges that `build_referee_spec` was given; raises ConfigError."""
    text = dict(spec.options).get(_JUDGE_OPTION)
    if text is None:
        return ()
    try:
        given = loads(text)
        # A batch of an earlier plait has one judge, and not in a list.
        return tuple(_make_spec(fields) for fields in ([given] if isinstance(given, dict) else given))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"the specs of the judges can't be read: {error!r}") from error


def _make_spec(fields: Json) -> AgentSpec:
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
