"""mini-swe-agent: how it is called, and what its text comes to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plait.agents.drivers.mini import Mini
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting
from plait.agents.retry_after import RetryAfter
from plait.config.agent_keys import Permission
from plait.core.errors import ConfigError
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

MINI = Mini(AgentSpec("mini"))
ASKED = [
    "System:",
    "You are helpful.",
    "",
    "User:",
    "Please solve this issue: Read it.",
    "Exit codes matter.",
]
RULE = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * 80


def step(number: int, cost: str, *lines: str) -> list[str]:
    return [RULE, "", f"mini-swe-agent (step {number}, ${cost}):", *lines]


FIRST = step(1, "0.01", "I look around.", "", "```", "ls -la", "cat README", "```", "", "Tool:", "<output>", "README")
LAST = step(2, "0.03", "Done.", "", "```", "echo COMPLETE_TASK", "```", "", "Tool:", "<output>", "")
SAVED = ["Saved trajectory to '/state/write-1/mini.trajectory.json'"]


def ended(*last: str, saved: bool = True) -> list[str]:
    return [*ASKED, *FIRST, *LAST, "Exit:", *last, "", *(SAVED if saved else [])]


def test_it_gets_the_path_of_the_prompt() -> None:
    command = MINI.build_command(make_context(model="acme/m1"))
    assert command.argv[-2:] == ("--task", "Read the file /state/write-1/prompt.md and do what it says.")
    assert "--model=acme/m1" in command.argv
    assert "--yolo" in command.argv
    assert command.argv[command.argv.index("--output") + 1] == "/state/write-1/mini.trajectory.json"
    assert command.stdin is None
    assert dict(command.env)["MSWEA_CONFIGURED"] == "true"


def test_it_can_not_be_restricted_to_changing_files() -> None:
    with pytest.raises(ConfigError, match="mini can't be restricted to changing files"):
        Mini(AgentSpec("mini", permission=Permission.EDITS))


@pytest.mark.parametrize("last", [[], ["All is well."], ["Error handling is better now."]])
def test_a_successful_run_is_ok(last: list[str]) -> None:
    run = parse_output(MINI, ended(*last))
    assert run.outcome.category is Category.OK
    assert run.outcome.spend == Spend(30_000)
    assert run.spends == [Spend(10_000), Spend(30_000)]
    assert MINI.reports is CostReporting.COST


def test_only_its_own_messages_are_shown() -> None:
    assert parse_output(MINI, ended()).activities == [
        (ActivityKind.SAYS, "I look around."),
        (ActivityKind.RUNS, "running ls -la"),
        (ActivityKind.SAYS, "Done."),
        (ActivityKind.RUNS, "running echo COMPLETE_TASK"),
    ]


def test_tool_results_are_not_shown() -> None:
    lines = [*step(1, "0.01", "I have no command."), "", "User:", "Every response needs a command."]
    assert parse_output(MINI, lines).activities == [(ActivityKind.SAYS, "I have no command.")]


def test_a_missing_model_is_a_usage_error() -> None:
    outcome = parse_output(MINI, [*STACK, "ValueError: No default model set. Please run the setup"], code=1).outcome
    assert outcome.category is Category.USAGE
    assert "[agents.models]" in outcome.detail


@pytest.mark.parametrize("last", ["RepeatedFormatError", "LimitsExceeded", "TimeExceeded"])
def test_a_run_that_gave_up_fails_though_it_exits_0(last: str) -> None:
    outcome = parse_output(MINI, ended(last)).outcome
    assert outcome.category is Category.TASK
    assert outcome.detail == f"it gave up: {last}"


def test_a_run_without_a_result_fails() -> None:
    assert parse_output(MINI, [*ASKED, *FIRST]).outcome.category is Category.TASK


STACK = [
    "\N{BOX DRAWINGS LIGHT ARC DOWN AND RIGHT}\N{BOX DRAWINGS LIGHT HORIZONTAL} Traceback (most recent call last)",
    "\N{BOX DRAWINGS LIGHT VERTICAL}  raise InternalServerError(",
]


@pytest.mark.parametrize(
    ("last", "category"),
    [
        (["litellm.AuthenticationError: AcmeException - Incorrect ", "API key provided"], Category.AUTH),
        (["litellm.RateLimitError: AcmeException - Rate limit ", "reached"], Category.RATE_LIMIT),
        (["litellm.InternalServerError: AcmeException - Oh no"], Category.OVERLOADED),
        (["litellm.InternalServerError: AcmeException - Connection", "error."], Category.NETWORK),
        (["litellm.ContextWindowExceededError: too long"], Category.CONTEXT),
        (["Something odd"], Category.TASK),
    ],
)
def test_the_error_before_a_traceback_explains_the_failure(last: list[str], category: Category) -> None:
    assert parse_output(MINI, [*ended(*last, saved=False), *STACK], code=1).outcome.category is category


def test_a_stack_trace_is_no_part_of_the_message() -> None:
    lines = [*ended("litellm.RateLimitError: limit reached", saved=False)[:-1], *STACK]
    assert parse_output(MINI, lines, code=1).outcome.detail == "litellm.RateLimitError: limit reached"


def test_a_traceback_between_the_lines_of_an_error_is_left_out() -> None:
    first, second = "litellm.InternalServerError: AcmeException - Connection", "error."
    lines = [*ASKED, STACK[0], "Exit:", STACK[1], first, STACK[1], second, "", *STACK]
    found = parse_output(MINI, lines, code=1).outcome
    assert (found.category, found.detail) == (Category.NETWORK, f"{first} {second}")


def test_without_an_exit_message_the_last_line_explains_the_failure() -> None:
    lines = [*STACK, "RateLimitError: litellm.RateLimitError: AcmeException - Rate limit reached"]
    assert parse_output(MINI, lines, code=1).outcome.category is Category.RATE_LIMIT


def test_a_wait_of_its_own_for_a_rate_limit_is_reported() -> None:
    again = "Retrying <unknown> in 16 seconds as it raised RateLimitError: litellm.RateLimitError: AcmeException."
    other = "Retrying <unknown> in 4 seconds as it raised InternalServerError: litellm.InternalServerError: no."
    run = parse_output(MINI, [again, other, *ended()])
    assert run.refused == [RetryAfter(16.0)]
    assert [kind for kind, _ in run.activities][:2] == [ActivityKind.WAITS, ActivityKind.WAITS]
    assert run.outcome.category is Category.OK


def test_a_killed_run_is_killed_whatever_it_printed() -> None:
    assert parse_output(MINI, ended(), code=143).outcome.category is Category.KILLED


@pytest.mark.parametrize(
    "line",
    [
        "mini-swe-agent (step 1, $):",
        "mini-swe-agent (step 99999999999999, $9999999999999999999.99):",
        "mini-swe-agent (step 1, $999999999.99):",
        "Retrying  in  seconds as it raised ",
        "Exit:",
        "Saved trajectory",
        "x" * (1 << 20),
        "\x1b[31m\0\ud800",
    ],
)
def test_nothing_that_it_prints_can_upset_its_listener(line: str) -> None:
    run = parse_output(MINI, [line, line, *ended()])
    assert run.outcome.category is Category.OK
    assert run.outcome.spend.is_valid


class TestMiniContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return MINI

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return ended("All is well.")
