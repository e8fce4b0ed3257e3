"""The `model` agent as the engine sees it: its command, and the parser of its output."""

from __future__ import annotations

import sys
from json import dumps
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from plait.agents.drivers.model_agent import ModelAgent
from plait.agents.interface import ActivityKind, AgentSpec, AttemptContext, CostReporting, Price, SpendUpdated
from plait.agents.model_jobs.job_spec import decode_spec, encode_options
from plait.agents.table import load_agent
from plait.client.agent_specs import explain_missing
from plait.config.agent_keys import ModelConfig
from plait.core.settings import Spend
from plait.core.status import Category
from plait.core.task import Attempt, ModelJob, Step, Task
from plait.runtime.agent_process import JobError
from plait.runtime.model_job.chat_client import ChatClient
from plait.runtime.model_job.job_output import JobReporter

OPTIONS = encode_options(ModelConfig(base_url="https://api.example.org/v1", key="K"))
SPEC = AgentSpec("model", model="coder", options=OPTIONS)


def brief(task: Task, feedback: str = "") -> AttemptContext:
    attempt = Attempt("b", task.id, Step.WRITE, 1)
    return AttemptContext(attempt, task, "/work", "/f/task.md", "/f/prompt.md", "/f", feedback=feedback)


def event(kind: str, **more: object) -> str:
    return dumps({"type": kind, **more})


def test_the_command_is_this_python_with_a_spec_file() -> None:
    agent = load_agent(SPEC)
    job = ModelJob("a.py")
    command = agent.build_command(brief(Task("j", "Title", "Body", job=job, touches=("a.py",))))
    assert command.argv == (sys.executable, "-E", "-P", "-m", "plait.runtime.model_job", "/f/job.json")
    ((name, text),) = command.files
    result = decode_spec(text)
    assert name == "job.json"
    assert (result.job, result.instructions, result.model, result.workspace) == (job, "Body", "coder", "/work")
    assert result.settings == ModelConfig(base_url="https://api.example.org/v1", key="K")
    assert (command.stdin, command.env) == (None, ())


def test_a_tasks_own_model_has_precedence() -> None:
    ((_, text),) = ModelAgent(SPEC).build_command(brief(Task("j", model="other"))).files
    assert decode_spec(text).model == "other"


def test_feedback_comes_with_the_prompt() -> None:
    assert ModelAgent(SPEC).build_command(brief(Task("j"), "better")).stdin == "/f/prompt.md"


def test_the_provider_is_the_server() -> None:
    assert ModelAgent(SPEC).provider == "api.example.org"
    assert ModelAgent(AgentSpec("model")).provider == "localhost:11434"
    assert ModelAgent(AgentSpec("model", account="mine")).provider == "mine"


def test_tokens_with_a_price_are_spending() -> None:
    assert ModelAgent(SPEC).reports is CostReporting.TOKENS
    priced = AgentSpec("model", model="coder", prices=(Price("cod*", 1, 2),))
    assert ModelAgent(priced).reports is CostReporting.COST


def test_each_model_is_counted_at_its_own_price() -> None:
    listener = ModelAgent(AgentSpec("model", prices=(Price("a", 1, 1), Price("b", 10, 10)))).create_parser()
    listener.feed(event("usage", model="a", input=100, output=10, cached=0))
    assert listener.feed(event("usage", model="b", input=5, output=0, cached=0)) == (SpendUpdated(Spend(160, 115)),)
    listener.feed(event("result", status="passed"))
    assert listener.finish(0, "", 0).spend == Spend(160, 115)


@pytest.mark.parametrize("category", [Category.AUTH, Category.CONTEXT, Category.VERIFY, Category.TASK])
def test_a_failure_has_the_category_that_the_process_reports(category: Category) -> None:
    listener = ModelAgent(SPEC).create_parser()
    (signal,) = listener.feed(event("error", category=category.value, status=None, message="it broke"))
    assert signal.kind is ActivityKind.FAILS  # type: ignore[union-attr]
    ended = listener.finish(1, "", 0)
    assert (ended.category, ended.detail) == (category, "it broke")


def test_a_rate_limit_is_reported_with_its_wait() -> None:
    listener = ModelAgent(SPEC).create_parser()
    listener.feed(event("error", category="rate_limit", status=429, message="slow down", retry_after=12.5))
    ended = listener.finish(1, "", 0)
    assert (ended.category, ended.retry_after) == (Category.RATE_LIMIT, 12.5)


def test_a_process_without_a_result_has_failed() -> None:
    assert ModelAgent(SPEC).create_parser().finish(0, "", 0).category is Category.TASK
    assert ModelAgent(SPEC).create_parser().finish(143, "", 0).category is Category.KILLED


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
_NAMES = st.sampled_from(
    ["type", "name", "text", "doing", "model", "input", "output", "category", "status", "retry_after"]
)


@given(st.sampled_from(["phase", "activity", "usage", "result", "error", "x"]), st.dictionaries(_NAMES, _ANY))
def test_the_parser_accepts_any_output(kind: str, more: dict[str, object]) -> None:
    listener = ModelAgent(SPEC).create_parser()
    listener.feed(dumps({**more, "type": kind}))
    assert listener.finish(1, "", 0).category is not Category.OK


def test_a_missing_client_library_is_reported_with_the_way_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(JobError, match=r"pip install 'plait\[model\]'") as caught:
        ChatClient(ModelConfig(), "", JobReporter(tmp_path))
    assert caught.value.category is Category.USAGE


def test_a_batch_is_refused_without_the_client_library(monkeypatch: pytest.MonkeyPatch) -> None:
    assert explain_missing(AgentSpec("model")) is None
    monkeypatch.setitem(sys.modules, "openai", None)
    assert explain_missing(AgentSpec("model")) == (
        "the agent model needs the openai client, which is not installed",
        "Install it: pip install 'plait[model]'.",
    )
    assert explain_missing(AgentSpec("shell")) is None
