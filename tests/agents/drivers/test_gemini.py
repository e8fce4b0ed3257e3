"""Gemini CLI: how it is called, and what its events and the text beside them come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from plait.agents.drivers.gemini import Gemini
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting, Price
from plait.agents.retry_after import RetryAfter
from plait.config.agent_keys import Permission
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

SESSION = "0b9c8d7e-1111-4222-8333-944455566677"
GEMINI = Gemini(AgentSpec("gemini"))
Event = dict[str, object]


def event(kind: str, **more: object) -> Event:
    return {"type": kind, "timestamp": "2026-11-15T01:33:18.701Z", **more}


def says(piece: str) -> Event:
    return event("message", role="assistant", content=piece, delta=True)


def use(tool: str, **given: object) -> Event:
    return event("tool_use", tool_name=tool, tool_id=f"{tool}_1", parameters=given)


def used(read: int, written: int, cached: int = 0, thought: int = 0) -> Event:
    total = read + written + thought
    return {"total_tokens": total, "input_tokens": read, "output_tokens": written, "cached": cached}


def result(status: str = "success", **more: object) -> Event:
    models = {"pro": used(1000, 20, 400, thought=30), "flash": used(100, 2)}
    return event("result", status=status, stats={**used(1100, 22), "models": models}, **more)


def failure(said: str) -> Event:
    stats = {**used(0, 0), "models": {"pro": used(0, 0)}}
    return event("result", status="error", error={"type": "unknown", "message": said}, stats=stats)


INIT = event("init", session_id=SESSION, model="pro")
NOISE = [
    "Warning: Basic terminal detected (TERM=dumb). Visual rendering will be limited.",
    "YOLO mode is enabled. All tool calls will be automatically approved.",
    "Ripgrep is not available. Falling back to GrepTool.",
    "[STARTUP] Phase 'cleanup_ops' was started but never ended. Skipping metrics.",
]
WRITE = use("write_file", file_path="/a/work/tree/src/app.py", content="x")
RESULT = event("tool_result", tool_id="write_file_1", status="success")
DONE = [
    *NOISE,
    INIT,
    event("message", role="user", content="Do it. API Error: 429"),
    says("I wr"),
    says("ite it."),
    WRITE,
    RESULT,
    says("Written."),
    result(),
]
REPORT = [
    "Error when talking to Gemini API Full report available at: /tmp/x.json _ApiError: {}",
    "    at throwErrorIfNotOK (file:///x/y.js:1:2)",
    "  status: 429",
    "}",
]


def test_the_prompt_is_on_standard_input() -> None:
    command = GEMINI.build_command(make_context())
    assert command.argv == ("gemini", "--output-format=stream-json", "--yolo")
    assert command.stdin == "/state/write-1/prompt.md"
    assert dict(command.env) == {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}


def test_a_continued_session_uses_the_tasks_model() -> None:
    argv = GEMINI.build_command(make_context(session=SESSION, model="--sandbox")).argv
    assert argv[-2:] == ("--model=--sandbox", f"--resume={SESSION}")


def test_its_permissions_become_arguments() -> None:
    edits = Gemini(AgentSpec("gemini", permission=Permission.EDITS)).build_command(make_context()).argv
    own = Gemini(AgentSpec("gemini", permission=Permission.OWN)).build_command(make_context()).argv
    assert edits[2:] == ("--approval-mode=auto_edit",)
    assert own[2:] == ()


def test_a_successful_run_is_ok() -> None:
    run = parse_output(GEMINI, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.session == SESSION
    assert run.sessions == [SESSION]
    assert run.outcome.spend == Spend(tokens=1152)
    assert run.activities == [
        (ActivityKind.SAYS, "I wr"),
        (ActivityKind.SAYS, "I write it."),
        (ActivityKind.EDITS, "editing …/tree/src/app.py"),
        (ActivityKind.SAYS, "Written."),
    ]
    assert GEMINI.provider == "google"


def test_each_model_has_its_price_and_thoughts_count_as_output() -> None:
    priced = Gemini(AgentSpec("gemini", model="pro", prices=(Price("pro", 2.0, 10.0, 1.0), Price("*", 1.0, 4.0))))
    assert parse_output(priced, DONE).outcome.spend == Spend(600 * 2 + 400 + 50 * 10 + 100 + 2 * 4, 1152)
    assert priced.reports is CostReporting.COST
    assert GEMINI.reports is CostReporting.TOKENS


@pytest.mark.parametrize(
    ("said", "code", "category"),
    [
        (
            "[API Error: slow down\nSuggested retry after 1s.]\nPlease wait and try again later.",
            173,
            Category.RATE_LIMIT,
        ),
        ("[API Error: hm]", 173, Category.RATE_LIMIT),
        ("[API Error: You exceeded your current quota, please check your plan.]", 173, Category.QUOTA),
        ('[API Error: {"error":{"code":401,"message":"no","status":"UNAUTHENTICATED"}}]', 145, Category.AUTH),
        (
            '[API Error: {"error":{"code":400,"message":"API key not valid.","status":"INVALID"}}]',
            144,
            Category.AUTH,
        ),
        ("[API Error: hm]", 147, Category.AUTH),
        (
            '[API Error: {"error":{"code":500,"message":"oh no","status":"INTERNAL"}}]',
            244,
            Category.OVERLOADED,
        ),
        ("[API Error: hm]", 247, Category.OVERLOADED),
        (
            "[API Error: The input token count (9) exceeds the maximum number of tokens]",
            144,
            Category.CONTEXT,
        ),
        ("[API Error: exception TypeError: fetch failed sending request]", 1, Category.NETWORK),
        ("[API Error: terminated]", 1, Category.NETWORK),
        ("[API Error: Incomplete JSON segment at the end]", 1, Category.NETWORK),
        ("[API Error: model not found]", 1, Category.USAGE),
        ("[API Error: hm]", 152, Category.TASK),  # 408, although a signal would leave the same
        ("Something odd", 1, Category.TASK),
    ],
)
@pytest.mark.parametrize("beside", [[], REPORT])
def test_each_failure_has_its_category(said: str, code: int, category: Category, beside: list[str]) -> None:
    for lines in ([INIT, failure(said), *beside], [*beside, INIT, failure(said)]):
        outcome = parse_output(GEMINI, lines, code).outcome
        assert outcome.category is category
        assert outcome.session == SESSION


def test_the_providers_retry_after_is_reported() -> None:
    outcome = parse_output(GEMINI, [INIT, failure("[API Error: slow down\nSuggested retry after 17s.]")], 173).outcome
    assert outcome.retry_after == 17.0
    assert outcome.detail == "API Error: slow down Suggested retry after 17s."


@pytest.mark.parametrize(
    ("lines", "refused", "words"),
    [
        (
            ["Attempt 1 failed: slow down", "Suggested retry after 1s.. Retrying after 5922ms..."],
            [RetryAfter(after=5.922)],
            "waiting 6s for the provider, which refuses for now",
        ),
        (
            ["Attempt 2 failed: You have exhausted your capacity.. Retrying after 12000ms..."],
            [RetryAfter(after=12.0)],
            "waiting 12s for the provider, which refuses for now",
        ),
        (
            ['Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"message":"slow down"}}'],
            [RetryAfter()],
            "waiting to try again: slow down",
        ),
        (
            ['Attempt 1 failed with status 500. Retrying with backoff... _ApiError: {"error":{"message":"oh no"}}'],
            [],
            "waiting to try again: oh no",
        ),
        (
            ["Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed"],
            [],
            "waiting to try again: Error: exception TypeError: fetch failed",
        ),
    ],
)
def test_waiting_for_the_provider_is_reported(lines: list[str], refused: list[RetryAfter], words: str) -> None:
    run = parse_output(GEMINI, [INIT, *lines, "    at x (file:///y.js:1:2) {", "  status: 429", "}", *DONE])
    assert run.refused == refused
    assert run.activities[0] == (ActivityKind.WAITS, words)
    assert run.activities[1] == (ActivityKind.SAYS, "I wr")
    assert run.outcome.category is Category.OK


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("Model stream ended without a finish reason.", Category.NETWORK),
        ("The model returned an empty response with no text or thoughts.", Category.EMPTY),
    ],
)
def test_a_failed_result_without_a_message_has_the_last_error(said: str, category: Category) -> None:
    complaint = event("error", severity="error", message=said)
    outcome = parse_output(GEMINI, [INIT, complaint, result("error")]).outcome
    assert (outcome.category, outcome.detail) == (category, said)


@pytest.mark.parametrize(
    ("lines", "code", "category", "detail"),
    [
        (["You must specify GEMINI_API_KEY.", "Try again!"], 41, Category.AUTH, "You must specify"),
        (
            ["Unknown argument: nope", "", "Usage: gemini [options]", "  -h  Show help"],
            1,
            Category.USAGE,
            "nope",
        ),
        (["It is no input."], 42, Category.USAGE, "It is no input."),
        ([], 55, Category.USAGE, "does not trust"),
        ([INIT, failure("Reached max session turns.")], 53, Category.TASK, "turns"),
        (DONE, 143, Category.KILLED, "SIGTERM"),
        (DONE[:-1], 0, Category.TASK, "without reporting a result"),
        (["{", '  "response": "x"', "}"], 0, Category.OK, ""),  # a person's arguments asked for another form
        ([], 0, Category.OK, "it printed nothing"),
    ],
)
def test_the_outcome_without_a_result_event(lines: list[object], code: int, category: Category, detail: str) -> None:
    outcome = parse_output(GEMINI, lines, code).outcome
    assert outcome.category is category
    assert detail in outcome.detail


def test_a_missing_session_is_forgotten() -> None:
    line = f'Error resuming session: Invalid session identifier "{SESSION}".'
    outcome = parse_output(GEMINI, [line, "Use --list-sessions."], code=42).outcome
    assert (outcome.category, outcome.session) == (Category.TASK, "")
    assert outcome.detail == line


def test_a_question_waits_for_a_person() -> None:
    run = parse_output(GEMINI, [INIT, use("ask_user", questions=[{"question": "Which?"}]), says("I wait."), result()])
    assert run.outcome.category is Category.QUESTION
    assert run.asked == ["Which?"]


def test_an_empty_answer_is_reported() -> None:
    assert parse_output(GEMINI, [INIT, result()]).outcome.category is Category.EMPTY


def test_the_last_message_of_a_run_without_tools_is_kept() -> None:
    own = Gemini(AgentSpec("gemini", permission=Permission.OWN))
    outcome = parse_output(own, [INIT, says("I may not write."), result()]).outcome
    assert outcome.category is Category.OK
    assert outcome.detail.startswith("it said: I may not write. ([agents.permissions]")


def test_a_message_in_a_million_pieces_is_kept_short() -> None:
    listener = GEMINI.create_parser()
    for _ in range(3000):
        listener.feed('{"type":"message","role":"assistant","content":"' + "x" * 500 + '"}')
    assert len(listener.last_message) <= 4000  # type: ignore[attr-defined]


class TestGeminiContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return GEMINI

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [
            failure("[API Error: odd]"),
            use("write_todos", todos=[{"description": "Draw", "status": "in_progress"}]),
            event("error", severity="warning", message="Loop detected"),
            event("of_a_later_version", what={"ever": [1]}),
        ]


@pytest.mark.parametrize(
    "line",
    [
        "Attempt 1 failed",
        "Attempt 99999999999999 failed with status 429",
        "Attempt 1 failed: " + "{" * 100_000,
        "x" * (1 << 20),
    ],
)
def test_no_text_breaks_the_parser(line: str) -> None:
    assert parse_output(GEMINI, [line, line[:-1], *DONE]).outcome.category is Category.OK
