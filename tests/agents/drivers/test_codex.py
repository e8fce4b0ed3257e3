"""Codex: how it is called, and what its events come to."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from plait.agents.drivers.codex import Codex
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting, Price
from plait.agents.retry_after import RetryAfter
from plait.config.agent_keys import Permission
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

THREAD = "019a1dcb-0000-7aaa-8bbb-0123456789ab"
CODEX = Codex(AgentSpec("codex"))
Event = dict[str, object]


def item(kind: str, stage: str = "completed", **more: object) -> Event:
    return {"type": f"item.{stage}", "item": {"id": "item_1", "type": kind, **more}}


def ran(command: str, stage: str, status: str = "in_progress") -> Event:
    return item("command_execution", stage, command=command, aggregated_output="", status=status)


def completed(read: int = 2000, written: int = 50, cached: int = 500) -> Event:
    usage = {"input_tokens": read, "cached_input_tokens": cached, "output_tokens": written}
    return {"type": "turn.completed", "usage": usage}


def error(said: str) -> Event:
    return {"type": "error", "message": said}


def failed(said: str) -> list[Event]:
    return [error(said), {"type": "turn.failed", "error": {"message": said}}]


BEGUN: list[Event] = [
    {"type": "thread.started", "thread_id": THREAD},
    item("error", message="Model metadata for `m1` not found. Defaulting to fallback metadata."),
    {"type": "turn.started"},
]
SHELL = "/bin/bash -lc 'pytest -q \"tests/a b\"'"
DONE = [
    "Reading additional input from stdin...",
    *BEGUN,
    item("agent_message", text="I write it."),
    ran(SHELL, "started"),
    ran(SHELL, "completed", "completed"),
    item("file_change", changes=[{"path": "/work/tree/src/app.py", "kind": "update"}], status="completed"),
    item("agent_message", text="Written."),
    completed(),
]


def trust(argv: tuple[str, ...]) -> str:
    return next((word for word in argv if word.startswith("projects=")), "")


def test_the_prompt_is_on_standard_input() -> None:
    command = CODEX.build_command(make_context())
    assert command.argv == (
        "codex",
        "exec",
        "--json",
        "--skip-git-repo-check",
        "-c",
        "analytics.enabled=false",
        "--dangerously-bypass-approvals-and-sandbox",
        "-c",
        'projects={"/work/tree"={trust_level="trusted"}}',
        "-",
    )
    assert command.stdin == "/state/write-1/prompt.md"
    assert command.env == ()


def test_the_resume_subcommand_comes_after_arguments_from_the_settings() -> None:
    spec = AgentSpec("codex", args=("--add-dir", "/x"))
    argv = Codex(spec).build_command(make_context(session=THREAD, model="m1")).argv
    assert argv[-6:] == ("--model=m1", "--add-dir", "/x", "resume", THREAD, "-")


@pytest.mark.parametrize("folder", ["/work/tree", '/a "b"/c\\d', "/Wörk 🌳/x", "/it's"])
def test_the_folder_is_trusted_for_this_run_only(folder: str) -> None:
    argv = CODEX.build_command(replace(make_context(), workspace=folder)).argv
    assert tomllib.loads(trust(argv)) == {"projects": {folder: {"trust_level": "trusted"}}}


@pytest.mark.parametrize("folder", ["/a\nb", "/a\x7fb", "/a\udc80b"])
def test_a_workspace_with_an_unprintable_name_is_not_trusted(folder: str) -> None:
    assert trust(CODEX.build_command(replace(make_context(), workspace=folder)).argv) == ""


def test_its_permissions_become_arguments() -> None:
    edits = Codex(AgentSpec("codex", permission=Permission.EDITS)).build_command(make_context()).argv
    own = Codex(AgentSpec("codex", permission=Permission.OWN)).build_command(make_context()).argv
    assert edits[6:8] == ("--sandbox", "workspace-write")
    assert own == ("codex", "exec", "--json", "--skip-git-repo-check", "-c", "analytics.enabled=false", "-")


def test_a_successful_run_is_ok() -> None:
    run = parse_output(CODEX, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.session == THREAD
    assert run.sessions == [THREAD]
    assert run.outcome.spend == Spend(tokens=2050)
    assert run.activities == [
        (ActivityKind.SAYS, "I write it."),
        (ActivityKind.RUNS, 'running pytest -q "tests/a b"'),
        (ActivityKind.EDITS, "editing …/tree/src/app.py"),
        (ActivityKind.SAYS, "Written."),
    ]
    assert CODEX.provider == "openai"


def test_an_attempt_spends_what_its_session_spent_since_it_began() -> None:
    priced = Codex(AgentSpec("codex", model="m1", prices=(Price("m1", 2.0, 10.0, 1.0),)))
    first = parse_output(priced, DONE).outcome.spend
    assert first == Spend(1500 * 2 + 500 + 50 * 10, 2050)
    second = parse_output(priced, [*DONE[:-1], completed(5000, 80, 500)], before=first).outcome.spend
    assert second == Spend(3000 * 2 + 30 * 10, 3030)
    assert priced.reports is CostReporting.COST
    assert CODEX.reports is CostReporting.TOKENS


def test_a_count_that_restarted_is_used_as_it_is() -> None:
    assert parse_output(CODEX, DONE, before=Spend(tokens=9999)).outcome.spend == Spend(tokens=2050)


LONG = '{"error": {"message": "Too many tokens.", "type": "invalid", "code": "context_length_exceeded"}}'


@pytest.mark.parametrize(
    ("said", "category", "detail"),
    [
        ("exceeded retry limit, last status: 429 Too Many Requests", Category.RATE_LIMIT, "exceeded retry"),
        ("You've hit your usage limit. Try again in 3 hours.", Category.RATE_LIMIT, "You've hit"),
        ("Quota exceeded. Check your plan and billing details.", Category.QUOTA, "Quota"),
        ("unexpected status 401 Unauthorized: Missing bearer, url: http://x", Category.AUTH, "unexpected"),
        ("We\u2019re currently experiencing high demand.", Category.OVERLOADED, "We"),
        ("unexpected status 503 Service Unavailable: , url: http://x", Category.OVERLOADED, "unexpected"),
        ("stream disconnected before completion: error sending request", Category.NETWORK, "stream"),
        (LONG, Category.CONTEXT, "Too many tokens. (context_length_exceeded invalid)"),
        ("unexpected status 402 : no money, url: http://x", Category.QUOTA, "unexpected"),
        ("model not found (m9)", Category.USAGE, "model not found"),
        ("Something odd", Category.TASK, "Something odd"),
    ],
)
def test_each_failure_has_its_category(said: str, category: Category, detail: str) -> None:
    outcome = parse_output(CODEX, [*BEGUN, *failed(said)], code=1).outcome
    assert outcome.category is category
    assert outcome.detail.startswith(detail)
    assert outcome.session == THREAD


def test_the_providers_retry_after_is_reported() -> None:
    outcome = parse_output(CODEX, [*BEGUN, *failed("You've hit your usage limit. Try again in 3 hours.")], 1).outcome
    assert outcome.retry_after == 3 * 3600


def test_a_refusal_is_reported_while_it_waits_and_does_not_fail_it() -> None:
    again = error("Reconnecting... 2/5 (exceeded retry limit, last status: 429 Too Many Requests)")
    run = parse_output(CODEX, [*BEGUN, again, *DONE])
    assert run.refused == [RetryAfter()]
    assert run.activities[0] == (
        ActivityKind.WAITS,
        "reconnecting, 2/5: exceeded retry limit, last status: 429 Too Many Requests",
    )
    assert run.outcome.category is Category.OK


WAITING = error("Reconnecting... waiting for network (Connection failed: error sending request)")


def test_waiting_for_a_network_is_shown_and_explains_the_failure() -> None:
    run = parse_output(CODEX, [*BEGUN, WAITING, WAITING], code=1)
    assert run.refused == []
    assert set(run.activities) == {
        (ActivityKind.WAITS, "reconnecting, waiting for network: Connection failed: error sending request")
    }
    assert run.outcome.category is Category.NETWORK
    assert run.outcome.detail == "Connection failed: error sending request"


def test_a_run_killed_while_it_waits_says_what_it_waited_for() -> None:
    outcome = parse_output(CODEX, [*BEGUN, WAITING], code=143).outcome
    assert outcome.category is Category.KILLED
    assert "waiting for network" in outcome.detail


def test_an_error_that_the_tool_recovered_from_is_ignored() -> None:
    assert parse_output(CODEX, [*BEGUN, error("Something odd"), *DONE]).outcome.category is Category.OK


def test_a_declined_command_is_named() -> None:
    outcome = parse_output(CODEX, [*BEGUN, ran("ls", "completed", "declined"), completed()]).outcome
    assert outcome.category is Category.USAGE
    assert "[agents.permissions]" in outcome.detail


def test_an_empty_answer_is_reported() -> None:
    assert parse_output(CODEX, [*BEGUN, completed()]).outcome.category is Category.EMPTY


def test_the_last_message_of_a_run_without_changes_is_kept() -> None:
    outcome = parse_output(CODEX, [*BEGUN, item("agent_message", text="What now?"), completed()]).outcome
    assert (outcome.category, outcome.detail) == (Category.OK, "it said: What now?")


def test_the_current_step_of_its_list_is_a_phase() -> None:
    items = [{"text": "Draw", "completed": True}, {"text": "Paint", "completed": False}]
    assert parse_output(CODEX, [item("todo_list", "updated", items=items)]).phases == ["Paint"]


@pytest.mark.parametrize(
    ("lines", "code", "category", "detail"),
    [
        (["error: unexpected argument '--nope' found"], 2, Category.USAGE, "--nope"),
        (["Error loading config.toml: no such thing", "in `a.b`"], 1, Category.USAGE, "no such thing"),
        (["Not inside a trusted directory and so on."], 1, Category.USAGE, "trusted"),
        (DONE, 143, Category.KILLED, "SIGTERM"),
        (DONE[:-1], 0, Category.TASK, "without reporting a result"),
        (DONE[:-1], 101, Category.TASK, "exit status 101"),
    ],
)
def test_the_outcome_without_a_result_event(lines: list[object], code: int, category: Category, detail: str) -> None:
    outcome = parse_output(CODEX, lines, code).outcome
    assert outcome.category is category
    assert detail in outcome.detail


def test_a_missing_session_is_forgotten() -> None:
    line = f"Error: thread/resume: thread/resume failed: no rollout found for thread id {THREAD} (code -32600)"
    outcome = parse_output(CODEX, [line], code=1).outcome
    assert (outcome.category, outcome.session) == (Category.TASK, "")


def test_its_log_is_no_activity() -> None:
    lines = [
        "2026-11-15T15:23:57.77Z ERROR codex_api::x: failed",
        "WARNING: proceeding, even though we could not",
    ]
    assert parse_output(CODEX, lines).activities == []


class TestCodexContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return CODEX

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [
            *failed("odd"),
            WAITING,
            item("todo_list", items=[{"text": "Draw", "completed": False}]),
            item("mcp_tool_call", "started", server="s", tool="t"),
            item("web_search", query="q"),
            item("reasoning", text="hm"),
            item("of_a_later_version", what={"ever": [1]}),
        ]
