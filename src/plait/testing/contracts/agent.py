"""What an Agent must do, and helpers that run its output parser on valid and on broken output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pytest

from plait.agents.interface import (
    Activity,
    ActivityKind,
    Agent,
    AgentEvent,
    AttemptContext,
    PhaseStarted,
    ProviderRefused,
    QuestionAsked,
    SessionStarted,
    SpendUpdated,
)
from plait.agents.retry_after import RetryAfter
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category
from plait.core.task import Attempt, Step, Task

PRINTED_AT = 1_794_700_800.0
TAIL_CHARS = 8 << 10  # characters at the end from which an exit is classified
_WRONG_VALUES: tuple[object, ...] = (
    None,
    True,
    -1,
    1e308,
    "",
    "\x1b[31m\0\ud800",
    [],
    [[None]],
    {},
    {"": {"": []}},
)


@dataclass(frozen=True, slots=True)
class ParsedOutput:
    """What a parser made of one attempt's output."""

    outcome: Outcome
    signals: tuple[AgentEvent, ...]

    @property
    def activities(self) -> list[tuple[ActivityKind, str]]:
        return [(one.kind, one.text) for one in self.signals if isinstance(one, Activity)]

    @property
    def refused(self) -> list[RetryAfter]:
        return [one.wait for one in self.signals if isinstance(one, ProviderRefused)]

    @property
    def sessions(self) -> list[str]:
        return [one.session for one in self.signals if isinstance(one, SessionStarted)]

    @property
    def spends(self) -> list[Spend]:
        return [one.spend for one in self.signals if isinstance(one, SpendUpdated)]

    @property
    def phases(self) -> list[str]:
        return [one.name for one in self.signals if isinstance(one, PhaseStarted)]

    @property
    def asked(self) -> list[str]:
        return [one.question for one in self.signals if isinstance(one, QuestionAsked)]


def parse_output(agent: Agent, lines: Iterable[object], code: int = 0, before: Spend = NO_SPEND) -> ParsedOutput:
    """Parse the output of an attempt that printed these lines; objects are printed as JSON."""
    parser = agent.create_parser(before)
    printed = [line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in lines]
    signals = tuple(signal for line in printed for signal in parser.feed(line))
    return ParsedOutput(parser.finish(code, "\n".join(printed)[-TAIL_CHARS:], PRINTED_AT), signals)


def make_context(*, session: str | None = None, model: str = "", n: int = 1) -> AttemptContext:
    return AttemptContext(
        Attempt("7f3a", "04-split", Step.WRITE, n),
        Task("04-split", "Split it", model=model or None),
        workspace="/work/tree",
        task_file="/state/04-split.md",
        prompt_file="/state/write-1/prompt.md",
        folder="/state/write-1",
        session=session,
    )


def mangle_event(event: Mapping[str, object]) -> Iterator[str]:
    """Yield the event with an error at each of its places in turn, then cut off, endless, and deep."""
    for wrong in _WRONG_VALUES:
        for changed in _change_each_place(event, wrong):
            yield json.dumps(changed)
    whole = json.dumps(event)
    yield from (whole[:end] for end in range(1, len(whole), 7))
    yield whole[:-1] + ',"more":"' + "x" * (1 << 20) + '"}'
    yield whole[:-1] + ',"deep":' + "[" * 5000 + "]" * 5000 + "}"
    yield whole[:-1] + ',"deep":' + '{"a":' * 100_000


def _change_each_place(tree: object, wrong: object) -> Iterator[object]:
    """Yield the tree with one place changed, for each of its places."""
    yield wrong if not isinstance(tree, Mapping) else {**tree, "type": wrong}
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from ({**tree, name: one} for one in _change_each_place(value, wrong))
    elif isinstance(tree, list):
        for place, value in enumerate(tree):
            yield from ([*tree[:place], one, *tree[place + 1 :]] for one in _change_each_place(value, wrong))


class AgentContract:
    """Provide `agent`, and `success`: the lines (texts, or objects of JSON) that it prints in a successful attempt.

    `events` are further objects that it may print; `results` are the categories of an attempt that also printed broken ones.
    """

    results: frozenset[Category] = frozenset({Category.OK})

    @pytest.fixture
    def agent(self) -> Agent:
        raise NotImplementedError

    @pytest.fixture
    def success(self) -> Sequence[object]:
        raise NotImplementedError

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return ()

    def test_the_command_depends_only_on_the_context(self, agent: Agent) -> None:
        context = make_context(session="5f0c", model="m1")
        assert agent.build_command(context) == agent.build_command(context)

    def test_the_command_can_be_started(self, agent: Agent) -> None:
        argv = agent.build_command(make_context()).argv
        assert argv[0]
        assert not [word for word in argv if "\0" in word]

    def test_the_tool_gets_the_prompt_or_the_task(self, agent: Agent) -> None:
        context = make_context()
        command = agent.build_command(context)
        words = " ".join((*command.argv, command.stdin or ""))
        assert context.prompt_file in words or context.task_file in words

    def test_a_successful_attempt_is_ok(self, agent: Agent, success: Sequence[object]) -> None:
        assert parse_output(agent, success).outcome.category is Category.OK

    def test_a_killed_process_is_killed_whatever_it_printed(self, agent: Agent, success: Sequence[object]) -> None:
        assert parse_output(agent, success, code=137).outcome.category is Category.KILLED

    def test_a_failure_without_output_is_not_ok(self, agent: Agent) -> None:
        assert parse_output(agent, [], code=1).outcome.category is not Category.OK

    def test_broken_events_do_no_harm(
        self, agent: Agent, success: Sequence[object], events: Sequence[Mapping[str, object]]
    ) -> None:
        for event in (*success, *events):
            if isinstance(event, Mapping):
                assert parse_output(agent, [*mangle_event(event), *success]).outcome.category in self.results, event
