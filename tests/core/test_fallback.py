"""Fallback agents while a provider refuses, and tasks that a provider rejects."""

from __future__ import annotations

import pytest

from plait.core.decisions import AttemptStarted, BreakerClosed, BreakerOpened, Decision, RetryGranted
from plait.core.reports import AttemptSession, AttemptUsed, RateLimited
from plait.core.requests import Feedback, Retry
from plait.core.settings import NO_SPEND, Budget, EngineSettings, Settings, Spend
from plait.core.state import AgentStats
from plait.core.status import Category
from plait.core.task import Attempt, NeedKind, Step, Task
from plait.testing.script import BATCH, Script, started_tasks, task_needing

PROVIDERS = (("claude", "anthropic"), ("codex", "openai"), ("gemini", "google"))
SETTINGS = Settings(agents=("claude",), providers=PROVIDERS, fallback=("codex",), retries=0)


def starts(decisions: list[Decision]) -> list[tuple[str, str]]:
    return [(d.attempt.task, d.agent) for d in decisions if isinstance(d, AttemptStarted)]


def order(decisions: list[Decision]) -> AttemptStarted:
    (found,) = [decision for decision in decisions if isinstance(decision, AttemptStarted)]
    return found


def test_while_the_provider_refuses_another_agent_takes_the_task_afresh() -> None:
    script = Script("a", settings=SETTINGS)
    script.apply(AttemptSession(Attempt(BATCH, "a", Step.WRITE, 1), "s-1"))
    again = order(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=3600.0, spend=Spend(5)))
    assert (again.agent, again.provider, again.session, again.before) == ("codex", "openai", None, NO_SPEND)
    assert script.task("a").counted_retries == 0


def test_after_the_reset_time_the_tasks_own_agent_takes_over_again() -> None:
    script = Script("a", task_needing("b", "a"), settings=SETTINGS)
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == [("a", "codex")]
    script.wait(61)
    assert starts(script.exit_attempt("a")) == [("b", "claude")]


def test_a_busy_agent_has_no_fallback() -> None:
    script = Script(start=False)
    script.state.settings = EngineSettings(agent_limits=(("claude", 1),))
    script.submit("a", "b", settings=SETTINGS)
    assert script.running_tasks() == ["a"]
    assert script.explain("b") == "b is waiting: claude is busy (1 of 1 running)"


def test_without_the_setting_there_is_no_fallback() -> None:
    script = Script("a", settings=Settings(agents=("claude",), providers=PROVIDERS))
    assert started_tasks(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == []


def test_an_agent_of_the_task_goes_before_a_fallback() -> None:
    both = SETTINGS.with_fields(Settings(agents=("claude", "gemini")), ("agents",))
    script = Script("a", settings=both)
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == [("a", "gemini")]
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == [("a", "codex")]


def test_fallbacks_are_taken_in_order_and_skipped_while_they_refuse() -> None:
    two = SETTINGS.with_fields(Settings(fallback=("codex", "gemini")), ("fallback",))
    script = Script("a", settings=two)
    script.apply(RateLimited("openai", script.now + 500))
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=900.0)) == [("a", "gemini")]
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=900.0)
    assert script.explain("a").startswith("a is waiting: anthropic is rate-limited")
    assert starts(script.wait(505)) == [("a", "codex")]


def test_a_task_that_names_its_agent_has_fallbacks() -> None:
    script = Script(Task("a", agent="gemini"), settings=SETTINGS)
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == [("a", "codex")]


def test_an_entrant_of_a_contest_has_no_fallback() -> None:
    entrant = Task("a@gemini", agent="gemini", entrant="a")
    script = Script(entrant, task_needing("a", "a@gemini", kind=NeedKind.ENTRANT), settings=SETTINGS)
    assert starts(script.exit_attempt("a@gemini", Category.RATE_LIMIT, retry_after=60.0)) == []


def test_an_entrant_that_waits_for_its_agent_does_not_hold_up_fallbacks() -> None:
    entrant = Task("a@claude", agent="claude", entrant="a", priority=1)
    others = (
        entrant,
        task_needing("a", "a@claude", kind=NeedKind.ENTRANT),
        Task("b", agent="claude", priority=2),
    )
    script = Script(*others, settings=SETTINGS.with_fields(Settings(max_parallel=1), ("max_parallel",)))
    assert starts(script.exit_attempt("a@claude", Category.RATE_LIMIT, retry_after=60.0)) == [("b", "codex")]


@pytest.mark.parametrize("category", [Category.AUTH, Category.QUOTA])
def test_a_rejected_task_goes_to_another_provider_and_uses_up_no_retry(category: Category) -> None:
    script = Script("a", "b", settings=SETTINGS)
    decisions = script.exit_attempt("a", category, detail="who are you?")
    retry = next(decision for decision in decisions if isinstance(decision, RetryGranted))
    opened = next(decision for decision in decisions if isinstance(decision, BreakerOpened))
    assert (retry.counted, retry.elsewhere) == (False, True)
    assert (opened.provider, opened.rejected, opened.limit) == ("anthropic", True, 1)
    assert 0.9 * 3600 <= opened.until - script.now <= 1.1 * 3600
    assert starts(decisions) == [("a", "codex")]
    assert starts(script.exit_attempt("b", category)) == [("b", "codex")]
    assert script.batch().rejections == 0


def test_a_provider_that_keeps_rejecting_is_tried_less_and_less_often() -> None:
    script = Script("a", task_needing("b", "a"), task_needing("c", "b"), settings=SETTINGS)
    waits = []
    for name in "abc":
        script.exit_attempt(name, Category.AUTH)
        waits.append((script.state.breakers["anthropic"].until or 0.0) - script.now)
        script.wait(waits[-1] + 1)  # its own agent is asked again for the next one
        script.exit_attempt(name)
    assert waits[0] < waits[1] < waits[2]


def test_without_another_provider_a_rejection_is_final() -> None:
    alone = Script("a", settings=Settings(agents=("claude",), providers=PROVIDERS))
    alone.exit_attempt("a", Category.AUTH)
    assert alone.status("a") == "failed"
    same = Script("a", settings=Settings(agents=("claude",), fallback=("twin",), providers=(("twin", "claude"),)))
    same.exit_attempt("a", Category.AUTH)
    assert same.status("a") == "failed"


def test_a_task_that_all_providers_reject_fails() -> None:
    script = Script("a", settings=SETTINGS)
    assert starts(script.exit_attempt("a", Category.AUTH)) == [("a", "codex")]
    script.exit_attempt("a", Category.QUOTA, detail="pay first")
    assert script.explain("a") == "a is failed: the provider's quota is used up: pay first (after 2 attempts)"


def test_a_rejected_fallback_gives_the_task_back() -> None:
    script = Script("a", settings=SETTINGS)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=300.0)
    assert started_tasks(script.exit_attempt("a", Category.AUTH)) == []
    assert starts(script.wait(300)) == [("a", "claude")]


def test_what_a_session_had_spent_is_counted_once() -> None:
    """A tool that counts its session as a whole says 30, then 70, then 100: each attempt is counted for what it took."""
    script = Script("a", settings=Settings(agents=("codex",), verify="make"))
    attempts, reported = [], [Spend(0, 30), Spend(0, 70), Spend(0, 100)]
    last = Spend()
    for n, whole in enumerate(reported, 1):
        attempt = script.task("a").last_write
        assert attempt is not None
        attempts.append(attempt)
        assert attempt.decision.before == last
        script.apply(AttemptSession(Attempt(BATCH, "a", Step.WRITE, n), "s-1"))
        script.apply(AttemptUsed(attempt.name, whole - attempt.decision.before))
        script.exit_attempt("a", spend=whole - attempt.decision.before)
        script.request(lambda name: Feedback(name, BATCH, "a", "once more"))
        script.exit_attempt("a", Category.KILLED)
        last = whole
    assert script.task("a").spent == Spend(0, 100)
    assert script.batch().spent == Spend(0, 100)


def test_a_new_session_starts_with_no_spend() -> None:
    script = Script("a", settings=Settings(agents=("codex",), verify="make"))
    script.exit_attempt("a", spend=Spend(0, 30))
    again = order(script.exit_attempt("a", Category.VERIFY))
    assert (again.session, again.before) == (None, NO_SPEND)


def test_a_request_for_work_tries_a_rejecting_provider_at_once() -> None:
    script = Script("a", settings=SETTINGS)
    script.exit_attempt("a", Category.AUTH)
    script.exit_attempt("a", Category.AUTH)
    assert script.status("a") == "failed"
    decisions = script.request(lambda name: Retry(name, BATCH, "a"))
    assert [d.provider for d in decisions if isinstance(d, BreakerClosed)] == ["anthropic"]
    assert starts(decisions) == [("a", "claude")]


def test_another_batch_tries_a_rejecting_provider_at_once() -> None:
    script = Script("a", settings=SETTINGS)
    script.exit_attempt("a", Category.AUTH)
    alone = Settings(agents=("claude",), providers=PROVIDERS)
    assert starts(script.submit("z", settings=alone, batch="b2")) == [("z", "claude")]
    script.exit_attempt("z", Category.AUTH, batch="b2")
    assert script.status("z", "b2") == "failed"


def test_a_request_does_not_end_a_rate_limit() -> None:
    script = Script("a", settings=SETTINGS)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=3600.0)
    script.exit_attempt("a", Category.TASK)
    assert starts(script.request(lambda name: Retry(name, BATCH, "a"))) == [("a", "codex")]


def test_a_provider_that_rejects_again_after_a_request_waits_longer() -> None:
    script = Script("a", settings=SETTINGS)
    for _ in range(2):
        script.exit_attempt("a", Category.AUTH)
        script.exit_attempt("a", Category.TASK)
        script.request(lambda name: Retry(name, BATCH, "a"))
    opened = next(d for d in script.exit_attempt("a", Category.AUTH) if isinstance(d, BreakerOpened))
    assert opened.until - script.now >= 0.9 * 4 * 3600


def test_the_cost_of_the_fallback_is_what_the_budget_must_allow() -> None:
    paid = SETTINGS.with_fields(Settings(budget=Budget(1_000_000), reserve=Spend(300_000)), ("budget", "reserve"))
    script = Script("a", "b", settings=paid)
    script.state.agent_stats["codex"] = AgentStats(spends=(Spend(900_000),) * 3)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=3600.0)
    assert script.running_tasks() == ["b"]
    assert script.explain("a") == "a is waiting: may cost $0.90, and $0.30 of $1.00 is spent or reserved"
