"""Claude Code: how it is called, and what its events come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps

import pytest

from plait.agents.drivers.claude import Claude
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting
from plait.agents.retry_after import RetryAfter
from plait.config.agent_keys import Permission
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import PRINTED_AT, AgentContract, make_context, parse_output

SESSION = "5f0c9a3e-1111-4222-8333-944455566677"
CLAUDE = Claude(AgentSpec("claude"))
Event = dict[str, object]


def event(kind: str, **more: object) -> Event:
    return {"type": kind, **more, "session_id": SESSION}


def message(*parts: Event, name: str = "m1", read: int = 1000, **more: object) -> Event:
    usage = {"input_tokens": read, "cache_read_input_tokens": 500, "output_tokens": 1}
    told = {"id": name, "role": "assistant", "model": "opus", "content": list(parts), "usage": usage}
    return event("assistant", message=told, **more)


def text(said: str) -> Event:
    return {"type": "text", "text": said}


def use(tool: str, name: str = "t1", **given: object) -> Event:
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def result(said: object = "Written.", **more: object) -> Event:
    whole = {
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "result": said,
        "total_cost_usd": 0.0125,
        "usage": {"input_tokens": 10, "output_tokens": 5},
        "modelUsage": {
            "opus": {"inputTokens": 2000, "outputTokens": 40, "cacheReadInputTokens": 1000},
            "haiku": {"inputTokens": 100, "outputTokens": 2},
        },
        "permission_denials": [],
    }
    return event("result", **{**whole, **more})


def failure(said: str, status: int | None = None, **more: object) -> Event:
    return result(said, is_error=True, api_error_status=status, total_cost_usd=0, modelUsage={}, **more)


def retry(status: int | None, error: str, delay: float = 1234.5) -> Event:
    return event(
        "system",
        subtype="api_retry",
        attempt=2,
        max_retries=4,
        retry_delay_ms=delay,
        error_status=status,
        error=error,
    )


INIT = event("system", subtype="init", cwd="/work/tree", model="opus", tools=["Write"])
WRITE = message(use("Write", file_path="/work/tree/src/app.py", content="x"))
DONE = [INIT, message(text("I write it.")), WRITE, message(text("Written."), name="m2"), result()]
DENIAL = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": {"file_path": "/work/tree/src/app.py"}}


def test_the_prompt_is_on_standard_input() -> None:
    command = CLAUDE.build_command(make_context())
    assert command.argv == (
        "claude",
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--dangerously-skip-permissions",
    )
    assert command.stdin == "/state/write-1/prompt.md"
    assert dict(command.env) == {
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "4",
    }


def test_plait_does_not_declare_the_machine_a_sandbox() -> None:
    assert "IS_SANDBOX" not in dict(CLAUDE.build_command(make_context()).env)


def test_a_continued_session_uses_the_tasks_model() -> None:
    argv = CLAUDE.build_command(make_context(session=SESSION, model="--settings")).argv
    assert f"--resume={SESSION}" in argv
    assert "--model=--settings" in argv


@pytest.mark.parametrize(
    ("permission", "words"),
    [
        (Permission.FULL, ("--dangerously-skip-permissions",)),
        (Permission.EDITS, ("--permission-mode", "acceptEdits")),
        (Permission.OWN, ()),
    ],
)
def test_its_permissions_become_arguments(permission: Permission, words: tuple[str, ...]) -> None:
    spec = AgentSpec("claude", permission=permission, program="/opt/claude", args=("--add-dir", "/x"))
    argv = Claude(spec).build_command(make_context()).argv
    assert argv == (
        "/opt/claude",
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        *words,
        "--add-dir",
        "/x",
    )


def test_a_successful_run_is_ok() -> None:
    run = parse_output(CLAUDE, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.detail == ""
    assert run.outcome.session == SESSION
    assert run.sessions == [SESSION]
    assert run.outcome.spend == Spend(12_500, 3142)
    assert run.activities == [
        (ActivityKind.SAYS, "I write it."),
        (ActivityKind.EDITS, "editing src/app.py"),
        (ActivityKind.SAYS, "Written."),
    ]
    assert CLAUDE.reports is CostReporting.COST
    assert CLAUDE.provider == "anthropic"


def test_spending_is_reported_while_it_runs_when_it_has_grown() -> None:
    told = [message(text("x"), name=f"m{n}", read=1000) for n in range(100)]
    run = parse_output(CLAUDE, [INIT, *told], code=143)
    assert run.outcome.spend == Spend(tokens=100 * 1501)
    assert 5 < len(run.spends) < 25
    assert run.spends == sorted(run.spends, key=lambda spend: spend.tokens)


@pytest.mark.parametrize(
    ("failed", "category"),
    [
        (failure("API Error: Request rejected (429) · slow down", 429), Category.RATE_LIMIT),
        (failure("You've hit your session limit · resets 3pm", 429), Category.RATE_LIMIT),
        (failure("You've hit your monthly spend limit.", 429), Category.QUOTA),
        (failure("Credit balance is too low", 400), Category.QUOTA),
        (failure("Invalid API key · Fix external API key", 401), Category.AUTH),
        (failure("Failed to authenticate. API Error: 403 Forbidden", 403), Category.AUTH),
        (failure("Not logged in · Please run /login"), Category.AUTH),
        (failure("API Error: 500 oh no. Try again in a moment.", 500), Category.OVERLOADED),
        (failure("API Error: 529 Overloaded.", 529), Category.OVERLOADED),
        (failure("API Error: Unable to connect to API (ECONNRESET)"), Category.NETWORK),
        (failure("API Error: API returned an empty or malformed response (HTTP 200)"), Category.NETWORK),
        (failure("Prompt is too long · the request is large", 400), Category.CONTEXT),
        (failure("Too much", 400, terminal_reason="prompt_too_long"), Category.CONTEXT),
        (failure("Something odd"), Category.TASK),
        (result(None, subtype="error_during_execution", is_error=True, errors=["it broke"]), Category.TASK),
    ],
)
def test_each_failure_has_its_category(failed: Event, category: Category) -> None:
    run = parse_output(CLAUDE, [INIT, failed], code=1)
    assert run.outcome.category is category
    assert run.outcome.session == SESSION


@pytest.mark.parametrize(
    ("tag", "category"),
    [
        ("rate_limit", Category.RATE_LIMIT),
        ("billing_error", Category.QUOTA),
        ("authentication_failed", Category.AUTH),
        ("server_error", Category.OVERLOADED),
        ("model_not_found", Category.USAGE),
        ("unknown", Category.TASK),
    ],
)
def test_an_unknown_error_has_the_category_that_the_tool_names(tag: str, category: Category) -> None:
    said = message(text("Hm."), error=tag)
    assert parse_output(CLAUDE, [INIT, said, failure("Hm.")], code=1).outcome.category is category


@pytest.mark.parametrize("end", ["error_max_turns", "error_max_budget_usd"])
def test_a_limit_set_by_its_arguments_is_named(end: str) -> None:
    told = result(None, subtype=end, is_error=True, errors=["Reached maximum budget ($0.15)"])
    outcome = parse_output(CLAUDE, [told], code=1).outcome
    assert outcome.category is Category.TASK
    assert "of its arguments" in outcome.detail
    assert "($0.15)" in outcome.detail
    assert outcome.spend.microusd == 12_500


def test_a_refusal_is_reported_while_it_waits_and_does_not_fail_it() -> None:
    run = parse_output(CLAUDE, [INIT, retry(429, "rate_limit"), *DONE])
    assert run.refused == [RetryAfter(after=1.234)]
    assert (ActivityKind.WAITS, "waiting 1s for the provider (status 429), try 2 of 4") in run.activities
    assert run.outcome.category is Category.OK


@pytest.mark.parametrize(
    ("status", "error"), [(500, "server_error"), (401, "authentication_failed"), (None, "unknown")]
)
def test_another_error_is_no_refusal(status: int | None, error: str) -> None:
    run = parse_output(CLAUDE, [INIT, retry(status, error)], code=143)
    assert run.refused == []
    assert [doing for doing, _ in run.activities] == [ActivityKind.WAITS]


def test_the_end_of_a_limit_comes_from_the_rate_limit_event() -> None:
    def limit(status: str) -> Event:
        told = {"status": status, "resetsAt": int(PRINTED_AT) + 7200, "rateLimitType": "five_hour"}
        return event("rate_limit_event", rate_limit_info=told)

    run = parse_output(CLAUDE, [INIT, limit("allowed_warning"), limit("rejected"), failure("No.", 429)], code=1)
    assert run.refused == [RetryAfter(at=PRINTED_AT + 7200)]
    assert run.outcome.retry_at == PRINTED_AT + 7200


def test_denied_tools_are_named() -> None:
    outcome = parse_output(CLAUDE, [INIT, WRITE, result(permission_denials=[DENIAL])]).outcome
    assert outcome.category is Category.USAGE
    assert outcome.detail == (
        "it was not allowed to use Write: what it may do unasked is set under [agents.permissions]"
    )


def test_a_denied_tool_does_not_fail_an_attempt_that_made_changes() -> None:
    other = message(use("Bash", "t2", command="pytest -q"))
    outcome = parse_output(
        CLAUDE, [INIT, WRITE, other, result(permission_denials=[{**DENIAL, "tool_use_id": "t2"}])]
    ).outcome
    assert outcome.category is Category.OK


def test_after_skipped_output_a_run_is_not_called_idle() -> None:
    ended = result(permission_denials=[{**DENIAL, "tool_use_id": "t2"}])
    cut = dumps(WRITE)[:-20]
    assert parse_output(CLAUDE, [INIT, cut, ended]).outcome.category is Category.OK
    listener = CLAUDE.create_parser()
    listener.feed(dumps(INIT))
    listener.mark_gap()
    listener.feed(dumps(result(permission_denials=[DENIAL, ASKED])))
    assert listener.finish(0, "", 0.0).category is Category.OK


ASKED = {"tool_name": "AskUserQuestion", "tool_use_id": "t3", "tool_input": {"question": "Which?"}}
ASK = message(
    use(
        "AskUserQuestion",
        questions=[{"question": "Which database?", "options": [{"label": "SQLite"}, {"label": "Postgres"}]}],
    )
)


def test_a_question_waits_for_a_person() -> None:
    run = parse_output(
        CLAUDE,
        [INIT, ASK, result("I wait.", permission_denials=[])],
    )
    assert run.asked == ["Which database? (SQLite, Postgres)"]
    assert run.outcome.category is Category.QUESTION
    assert run.outcome.question == "Which database? (SQLite, Postgres)"


def test_a_question_that_only_the_result_mentions_waits_for_a_person() -> None:
    denial = {"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which?"}]}}
    outcome = parse_output(CLAUDE, [result("Hm.", permission_denials=[denial])]).outcome
    assert (outcome.category, outcome.question) == (Category.QUESTION, "Which?")


def test_a_question_that_the_tool_answers_itself_does_not_wait() -> None:
    denial = {**DENIAL, "tool_name": "AskUserQuestion", "tool_use_id": "t0"}
    ended = result(permission_denials=[denial])
    assert parse_output(CLAUDE, [INIT, ASK, *DONE[:-1], ended]).outcome.category is Category.OK


def test_an_empty_answer_is_reported() -> None:
    outcome = parse_output(CLAUDE, [INIT, result("")]).outcome
    assert (outcome.category, outcome.detail) == (Category.EMPTY, "the model's answer was empty")


def test_the_last_message_of_a_run_without_changes_is_kept() -> None:
    own = Claude(AgentSpec("claude", permission=Permission.OWN))
    assert parse_output(CLAUDE, [INIT, result("Hm.\nWhat now?\n")]).outcome.detail == "it said: What now?"
    assert parse_output(own, [INIT, result("Hm.")]).outcome.detail.startswith("it said: Hm. ([agents.permissions]")


def test_the_current_step_of_its_list_is_a_phase() -> None:
    todos = [
        {"content": "Draw", "status": "completed", "activeForm": "Drawing"},
        {"content": "Paint", "status": "in_progress", "activeForm": "Painting"},
    ]
    run = parse_output(CLAUDE, [INIT, message(use("TodoWrite", todos=todos)), message(use("TodoWrite", todos=todos))])
    assert run.phases == ["Painting"]


@pytest.mark.parametrize(
    "lines",
    [
        [f"No conversation found with session ID: {SESSION}"],
        [
            result(
                None,
                subtype="error_during_execution",
                is_error=True,
                errors=["No conversation found with session ID"],
            )
        ],
    ],
)
def test_a_missing_session_is_forgotten(lines: list[object]) -> None:
    outcome = parse_output(CLAUDE, lines, code=1).outcome
    assert outcome.category is Category.TASK
    assert outcome.session == ""


def test_a_refusal_to_run_as_root_is_explained() -> None:
    line = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"
    outcome = parse_output(CLAUDE, [line], code=1).outcome
    assert outcome.category is Category.USAGE
    assert "IS_SANDBOX=1" in outcome.detail
    assert "[agents.permissions]" in outcome.detail


@pytest.mark.parametrize(
    ("lines", "code", "category"),
    [
        (["error: unknown option '--nope'", "(Did you mean --name?)"], 1, Category.USAGE),
        (DONE, 143, Category.KILLED),
        (DONE[:3], 0, Category.TASK),
        ([], 127, Category.USAGE),
        (["hi there"], 0, Category.OK),  # a person's arguments asked for text
    ],
)
def test_the_outcome_without_a_result_event(lines: list[object], code: int, category: Category) -> None:
    assert parse_output(CLAUDE, lines, code).outcome.category is category


def test_events_are_no_part_of_the_detail() -> None:
    assert parse_output(CLAUDE, DONE[:3], code=3).outcome.detail == "exit status 3"


def test_a_result_event_that_was_cut_off_still_counts() -> None:
    whole = dumps(result("x" * 100_000), separators=(",", ":"))
    run = parse_output(CLAUDE, [INIT, WRITE, whole[:65_536]])
    assert run.outcome.category is Category.OK
    assert parse_output(CLAUDE, [INIT, WRITE, whole[:50]]).outcome.category is Category.TASK
    broken = dumps(failure("API Error: 429 " + "\\" * 100_000, 429), separators=(",", ":"))
    assert [parse_output(CLAUDE, [broken[:end]], 1).outcome.category for end in (65_535, 65_536)] == [
        Category.RATE_LIMIT
    ] * 2


@pytest.mark.parametrize("count", ["1e999", "-1", "1" + "0" * 400, "true", '"7"', "null"])
def test_an_invalid_count_is_zero(count: str) -> None:
    line = f'{{"type":"result","result":"Hm.","total_cost_usd":{count},"usage":{{"input_tokens":{count},"output_tokens":5}}}}'
    assert parse_output(CLAUDE, [line]).outcome.spend == Spend(tokens=5)


@pytest.mark.parametrize("session", ["--mcp-config=x", "", "a b", "x" * 300, 7, None])
def test_an_invalid_session_is_ignored(session: object) -> None:
    assert parse_output(CLAUDE, [{**INIT, "session_id": session}]).sessions == []


class TestClaudeContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return CLAUDE

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [
            ASK,
            retry(429, "rate_limit"),
            result(permission_denials=[DENIAL]),
            message(use("TodoWrite", todos=[{"content": "Draw", "status": "in_progress"}])),
            event("rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1794700000}),
            event("of_a_later_version", what={"ever": [1]}),
        ]
