"""Qwen Code: how it is called, and what its events come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from plait.agents.drivers.qwen import Qwen
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting, Price
from plait.config.agent_keys import Permission
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

SESSION = "4c3b2a19-1111-4222-8333-944455566677"
QWEN = Qwen(AgentSpec("qwen"))
Event = dict[str, object]


def event(kind: str, **more: object) -> Event:
    return {"type": kind, "session_id": SESSION, **more}


def message(part: Event, read: int = 1000, written: int = 20, **more: object) -> Event:
    usage = {"input_tokens": read, "output_tokens": written, "cache_read_input_tokens": 0}
    told = {"role": "assistant", "model": "m1", "content": [part], "usage": usage, **more}
    return event("assistant", message=told)


def text(said: str, read: int = 1000, written: int = 20) -> Event:
    return message({"type": "text", "text": said}, read, written)


def use(tool: str, **given: object) -> Event:
    return message({"type": "tool_use", "id": "c1", "name": tool, "input": given})


def result(said: str = "Written.", read: int = 3000, written: int = 60, **more: object) -> Event:
    usage = {"input_tokens": read, "output_tokens": written, "cache_read_input_tokens": 0}
    whole: Event = {
        "subtype": "success",
        "is_error": False,
        "result": said,
        "usage": usage,
        "permission_denials": [],
    }
    return event("result", **{**whole, **more})


def failure(said: str) -> list[Event]:
    """It says success all the same."""
    return [INIT, text(said, 0, 0), result(said, 0, 0)]


INIT = event("system", subtype="init", cwd="/work/tree", model="m1")
WRITE = use("write_file", file_path="/work/tree/src/app.py", content="x")
DONE = [INIT, text("I write it."), WRITE, text("Written."), result()]


def test_the_prompt_is_on_standard_input() -> None:
    command = QWEN.build_command(make_context())
    assert command.argv == ("qwen", "--output-format=stream-json", "--yolo")
    assert command.stdin == "/state/write-1/prompt.md"
    assert dict(command.env) == {"QWEN_CODE_NO_RELAUNCH": "true", "NO_BROWSER": "true"}


def test_a_continued_session_uses_the_tasks_model() -> None:
    argv = QWEN.build_command(make_context(session=SESSION, model="--sandbox")).argv
    assert argv[-2:] == ("--model=--sandbox", f"--resume={SESSION}")


def test_its_permissions_become_arguments() -> None:
    edits = Qwen(AgentSpec("qwen", permission=Permission.EDITS)).build_command(make_context()).argv
    own = Qwen(AgentSpec("qwen", permission=Permission.OWN)).build_command(make_context()).argv
    assert edits[2:] == ("--approval-mode=auto-edit",)
    assert own[2:] == ()


def test_a_successful_run_is_ok() -> None:
    run = parse_output(QWEN, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.session == SESSION
    assert run.sessions == [SESSION]
    assert run.outcome.spend == Spend(tokens=3060)
    assert run.activities == [
        (ActivityKind.SAYS, "I write it."),
        (ActivityKind.EDITS, "editing src/app.py"),
        (ActivityKind.SAYS, "Written."),
    ]
    assert QWEN.provider == "qwen"


def test_an_attempt_spends_what_its_session_spent_since_it_began() -> None:
    priced = Qwen(AgentSpec("qwen", model="m1", prices=(Price("m1", 2.0, 10.0),)))
    first = parse_output(priced, DONE).outcome.spend
    assert first == Spend(3000 * 2 + 60 * 10, 3060)
    again = [*DONE[:-1], result(read=6500, written=130)]
    assert parse_output(priced, again, before=first).outcome.spend == Spend(3500 * 2 + 70 * 10, 3570)
    assert priced.reports is CostReporting.COST


def test_a_message_reported_twice_is_counted_once() -> None:
    answer = message({"type": "text", "text": "Hm."}, id="m1")
    assert parse_output(QWEN, [INIT, answer, answer], code=143).outcome.spend == Spend(tokens=1020)


def test_the_spending_of_a_run_without_a_result_is_known() -> None:
    assert parse_output(QWEN, DONE[:-1], code=143).outcome.spend == Spend(tokens=3060)


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("[API Error: 429 slow down]", Category.RATE_LIMIT),
        ("[API Error: 429 You exceeded your current quota, please check your plan]", Category.QUOTA),
        ("[API Error: 401 invalid x-api-key]", Category.AUTH),
        ("[API Error: 503 oh no]", Category.OVERLOADED),
        ("[API Error: Connection error. (cause: fetch failed)]", Category.NETWORK),
        ("I write it.[API Error: terminated (cause: other side closed)]", Category.NETWORK),
        ("[API Error: Model stream ended without a finish reason.]", Category.NETWORK),
        ("[API Error: 400 This model's maximum context length is 9 tokens.]", Category.CONTEXT),
        ("[API Error: 404 model not found]", Category.USAGE),
        ("[API Error: Model stream ended with empty response text.]", Category.EMPTY),
        ("[API Error: something odd]", Category.TASK),
    ],
)
def test_a_failure_reported_as_success_has_its_category(said: str, category: Category) -> None:
    outcome = parse_output(QWEN, failure(said)).outcome
    assert outcome.category is category
    assert outcome.detail.startswith("API Error: ")
    assert outcome.session == SESSION


def test_a_message_that_ends_like_an_error_is_a_message() -> None:
    said = "The message now reads [API Error: 429 slow down]"
    assert parse_output(QWEN, [INIT, WRITE, text(said), result(said)]).outcome.category is Category.OK


@pytest.mark.parametrize(
    ("lines", "code", "category", "detail"),
    [
        (["[API Error: 401 invalid x-api-key]"], 1, Category.AUTH, "401"),
        (
            ["Unknown argument: nope", "", "Usage: qwen [options]", "  -h  Show help"],
            1,
            Category.USAGE,
            "nope",
        ),
        (
            [
                result(
                    "",
                    subtype="error_during_execution",
                    is_error=True,
                    error={"message": "No auth type is selected."},
                )
            ],
            1,
            Category.AUTH,
            "No auth type",
        ),
        (DONE, 143, Category.KILLED, "SIGTERM"),
        (DONE[:-1], 0, Category.TASK, "without reporting a result"),
        ([INIT], 124, Category.TASK, "exit status 124"),
    ],
)
def test_the_outcome_of_other_exits(lines: list[object], code: int, category: Category, detail: str) -> None:
    outcome = parse_output(QWEN, lines, code).outcome
    assert outcome.category is category
    assert detail in outcome.detail


def test_denied_tools_are_named() -> None:
    outcome = parse_output(QWEN, [INIT, text("Hm."), result("Hm.", permission_denials=[{"tool_name": "edit"}])]).outcome
    assert outcome.category is Category.USAGE
    assert outcome.detail.startswith("it was not allowed to use edit: ")


def test_a_question_waits_for_a_person() -> None:
    asks = use("ask_user_question", questions=[{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}])
    run = parse_output(QWEN, [INIT, asks, text("I wait."), result("I wait.")])
    assert run.outcome.category is Category.QUESTION
    assert run.asked == ["Which? (A, B)"]


def test_a_missing_session_is_forgotten() -> None:
    outcome = parse_output(QWEN, [f"No saved session found with ID {SESSION}. Run `qwen --resume`."], code=1).outcome
    assert (outcome.category, outcome.session) == (Category.TASK, "")


def test_the_last_message_of_a_run_without_changes_is_kept() -> None:
    outcome = parse_output(QWEN, [INIT, use("todo_write", todos=[]), text("Done."), result("Done.")]).outcome
    assert (outcome.category, outcome.detail) == (Category.OK, "it said: Done.")


class TestQwenContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return QWEN

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [
            use("todo_write", todos=[{"content": "Draw", "status": "in_progress"}]),
            use("ask_user_question", questions=[{"question": "Which?", "options": [{"label": "A"}]}]),
            event("of_a_later_version", what={"ever": [1]}),
        ]
