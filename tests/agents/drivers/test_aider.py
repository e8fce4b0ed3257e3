"""Aider: how it is called, and what its text comes to."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.agents.drivers.aider import Aider
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting, Price
from plait.agents.output_parser import MAX_ACTIVITY_CHARS
from plait.agents.retry_after import RetryAfter
from plait.config.agent_keys import Permission
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

AIDER = Aider(AgentSpec("aider"))

BEGIN = ["Aider v0.0", "Model: acme/m1 with diff edit format", "Git repo: .git with 3 files", ""]
SPENT = "Tokens: 2.5k sent, 24 received. Cost: $0.01 message, $0.03 session."
DONE = [*BEGIN, "I change it.", "", SPENT, "", "src/app.py", "Applied edit to src/app.py"]
# It breaks its lines.
LIMITED = [
    "litellm.RateLimitError: RateLimitError: AcmeException - Rate limit reached for",
    "this model",
    "The API provider has rate limited you. Try again later or check your quotas.",
]


def words(agent: Aider = AIDER) -> tuple[str, ...]:
    return agent.build_command(make_context(model="acme/m1")).argv


def test_the_prompt_is_a_file_and_histories_stay_out_of_the_workspace() -> None:
    argv = words()
    assert argv[4:7] == ("aider", "--message-file", "/state/write-1/prompt.md")
    assert "--model=acme/m1" in argv
    assert argv[argv.index("--chat-history-file") + 1].startswith("/state/write-1/")
    assert argv[argv.index("--input-history-file") + 1].startswith("/state/write-1/")


def test_the_tool_does_not_commit() -> None:
    assert {"--no-auto-commits", "--no-dirty-commits", "--no-gitignore"} <= set(words())


def test_its_permissions_become_arguments() -> None:
    edits = words(Aider(AgentSpec("aider", permission=Permission.EDITS)))
    assert "--no-suggest-shell-commands" in edits
    assert "--yes-always" in edits
    assert "--yes-always" not in words(Aider(AgentSpec("aider", permission=Permission.OWN)))


def test_its_cache_in_the_workspace_is_ignored_by_git(tmp_path: Path) -> None:
    """A stand-in that leaves what Aider leaves, started by the words that start Aider."""
    program = tmp_path / "bin" / "aider"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nmkdir -p .aider.tags.cache.v4\necho x > .aider.tags.cache.v4/cache.db\nexit 3\n")
    program.chmod(0o755)
    tree = tmp_path / "tree"
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    agent = Aider(AgentSpec("aider", program=str(program)))
    ran = subprocess.run(agent.build_command(make_context()).argv, cwd=tree, check=False, env=dict(os.environ))
    left = subprocess.run(["git", "status", "--porcelain"], cwd=tree, check=True, capture_output=True, text=True)
    assert ran.returncode == 3
    assert (tree / ".aider.tags.cache.v4" / "cache.db").exists()
    assert left.stdout == ""


def test_a_successful_run_is_ok() -> None:
    run = parse_output(AIDER, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.spend == Spend(30_000, 2524)
    assert (ActivityKind.EDITS, "editing src/app.py") in run.activities
    assert (ActivityKind.SAYS, "I change it.") in run.activities


def test_tokens_of_all_messages_add_up() -> None:
    cached = "Tokens: 1,200 sent, 1k cache write, 2k cache hit, 1.1k received."
    run = parse_output(AIDER, [cached, cached])
    assert run.outcome.spend == Spend(0, 2 * 5300)


def test_prices_from_the_settings_apply_where_the_tool_reports_no_cost() -> None:
    agent = Aider(AgentSpec("aider", model="acme/m1", prices=(Price("acme/*", 1.0, 2.0),)))
    assert parse_output(agent, ["Tokens: 1.0k sent, 500 received."]).outcome.spend == Spend(2000, 1500)
    assert parse_output(agent, [SPENT]).outcome.spend == Spend(30_000, 2524)
    assert (AIDER.reports, agent.reports) == (CostReporting.TOKENS, CostReporting.COST)


@pytest.mark.parametrize(
    ("lines", "category"),
    [
        (LIMITED, Category.RATE_LIMIT),
        (["litellm.AuthenticationError: AuthenticationError: Incorrect API key"], Category.AUTH),
        (["litellm.InternalServerError: InternalServerError: AcmeException - Oh no"], Category.OVERLOADED),
        (["litellm.InternalServerError: AcmeException - Connection ", "error."], Category.NETWORK),
        (["Tokens: 2.5k sent, 0 received.", "", "Model acme/m1 has hit a token limit!"], Category.CONTEXT),
        (["Empty response received from LLM. Check?", "Tokens: 2.5k sent, 0 received."], Category.EMPTY),
        (["No LLM model was specified and no API keys were provided.", "Open a browser."], Category.AUTH),
        (["litellm.BadRequestError: Something odd"], Category.TASK),
        ([], Category.TASK),
    ],
)
def test_its_text_tells_why_it_failed_though_it_exits_0(lines: list[str], category: Category) -> None:
    assert parse_output(AIDER, [*BEGIN, *lines, "", "https://example.org/help", ""]).outcome.category is category


def test_a_wrapped_error_is_reported_as_a_whole() -> None:
    outcome = parse_output(AIDER, [*BEGIN, *LIMITED]).outcome
    assert outcome.detail.endswith("Rate limit reached for this model")


@pytest.mark.parametrize("said", ["First I read the fil", "`", "x" * 5000])
def test_an_error_that_interrupts_the_answer_counts_from_where_it_begins(said: str) -> None:
    """The answer is streamed, so the error is on the same line."""
    interrupted = [said + LIMITED[0], *LIMITED[1:], "Retrying in 0.5 seconds..."]
    run = parse_output(AIDER, [*BEGIN, "I change it.", *interrupted])
    assert run.outcome.category is Category.RATE_LIMIT
    assert run.outcome.detail.endswith("RateLimitError: AcmeException - Rate limit reached for this model")
    assert "fil" not in run.outcome.detail
    assert run.refused == [RetryAfter(0.5)]


def test_an_answer_that_quotes_an_error_is_an_answer() -> None:
    said = ["It raises litellm.RateLimitError: Rate limit reached", "and then", SPENT, "Applied edit to src/app.py"]
    assert parse_output(AIDER, [*BEGIN, *said]).outcome.category is Category.OK


def test_a_wait_of_its_own_for_a_rate_limit_is_reported() -> None:
    run = parse_output(AIDER, [*LIMITED, "Retrying in 0.5 seconds...", *LIMITED, "Retrying in 8.0 seconds...", *DONE])
    assert run.refused == [RetryAfter(0.5), RetryAfter(8.0)]
    assert run.outcome.category is Category.OK


def test_a_message_about_rate_limits_is_no_rate_limit() -> None:
    said = ["litellm.RateLimitError: is what a client raises when a limit is reached."]
    assert parse_output(AIDER, [*BEGIN, *said, "", SPENT]).outcome.category is Category.OK


def test_a_wrong_option_is_a_usage_error() -> None:
    assert (
        parse_output(AIDER, ["aider: error: unrecognized arguments: --nope"], code=2).outcome.category is Category.USAGE
    )


@pytest.mark.parametrize("code", [130, 137, 143])
def test_a_killed_run_is_killed_whatever_it_printed(code: int) -> None:
    assert parse_output(AIDER, [*LIMITED], code=code).outcome.category is Category.KILLED


@pytest.mark.parametrize(
    "line",
    [
        "Tokens: ",
        "Tokens: , received.",
        "Tokens: ..k sent, ... received. Cost: $. session",
        "Tokens: 9" + "9" * 400 + "M sent, 1 received.",
        "Retrying in  seconds",
        "Applied edit to ",
        "litellm.",
        "x" * (1 << 20),
        "litellm.RateLimitError: " + "x" * (1 << 20),
        "\x1b[31m\0\ud800",
    ],
)
def test_nothing_that_it_prints_can_upset_its_listener(line: str) -> None:
    run = parse_output(AIDER, [line, line, "", *DONE])
    assert run.outcome.category is Category.OK
    assert all(len(text) <= MAX_ACTIVITY_CHARS for _, text in run.activities)


class TestAiderContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return AIDER

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE
