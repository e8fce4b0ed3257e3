"""Who stands in while a provider refuses, and what becomes of tasks that a provider rejects."""

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
    assert script.task("a").tries == 0


def test_when_the_window_reopens_the_tasks_own_agent_takes_over_again() -> None:
    script = Script("a", task_needing("b", "a"), settings=SETTINGS)
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == [("a", "codex")]
    script.wait(61)
    assert starts(script.exit_attempt("a")) == [("b", "claude")]


def test_nobody_stands_in_for_who_is_only_busy() -> None:
    script = Script(start=False)
    script.state.settings = EngineSettings(agent_limits=(("claude", 1),))
    script.submit("a", "b", settings=SETTINGS)
    assert script.running_tasks() == ["a"]
    assert script.explain("b") == "b is waiting: claude is busy (1 of 1 running)"


def test_nobody_stands_in_unless_asked_for() -> None:
    script = Script("a", settings=Settings(agents=("claude",), providers=PROVIDERS))
    assert started_tasks(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == []


def test_an_agent_of_the_tasks_own_goes_before_one_that_stands_in() -> None:
    both = SETTINGS.with_fields(Settings(agents=("claude", "gemini")), ("agents",))
    script = Script("a", settings=both)
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == [("a", "gemini")]
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == [("a", "codex")]


def test_those_who_stand_in_are_taken_in_order_and_not_while_they_refuse_too() -> None:
    two = SETTINGS.with_fields(Settings(fallback=("codex", "gemini")), ("fallback",))
    script = Script("a", settings=two)
    script.apply(RateLimited("openai", script.now + 500))
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=900.0)) == [("a", "gemini")]
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=900.0)
    assert script.explain("a").startswith("a is waiting: anthropic is rate-limited")
    assert starts(script.wait(505)) == [("a", "codex")]


def test_a_task_that_names_its_agent_has_somebody_who_stands_in_too() -> None:
    script = Script(Task("a", agent="gemini"), settings=SETTINGS)
    assert starts(script.exit_attempt("a", Category.RATE_LIMIT, retry_after=60.0)) == [("a", "codex")]


def test_an_entrant_of_a_contest_is_nobody_elses() -> None:
    entrant = Task("a@gemini", agent="gemini", entrant="a")
    script = Script(entrant, task_needing("a", "a@gemini", kind=NeedKind.ENTRANT), settings=SETTINGS)
    assert starts(script.exit_attempt("a@gemini", Category.RATE_LIMIT, retry_after=60.0)) == []


def test_an_entrant_that_waits_for_its_agent_keeps_nobody_from_whoever_stands_in() -> None:
    entrant = Task("a@claude", agent="claude", entrant="a", priority=1)
    others = (
        entrant,
        task_needing("a", "a@claude", kind=NeedKind.ENTRANT),
        Task("b", agent="claude", priority=2),
    )
    script = Script(*others, settings=SETTINGS.with_fields(Settings(max_parallel=1), ("max_parallel",)))
    assert starts(script.exit_attempt("a@claude", Category.RATE_LIMIT, retry_after=60.0)) == [("b", "codex")]


@pytest.mark.parametrize("category", [Category.AUTH, Category.QUOTA])
def test_what_a_provider_rejects_goes_elsewhere_and_uses_up_no_retry(category: Category) -> None:
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


def test_a_provider_that_goes_on_rejecting_is_asked_ever_more_seldom() -> None:
    script = Script("a", task_needing("b", "a"), task_needing("c", "b"), settings=SETTINGS)
    waits = []
    for name in "abc":
        script.exit_attempt(name, Category.AUTH)
        waits.append((script.state.breakers["anthropic"].until or 0.0) - script.now)
        script.wait(waits[-1] + 1)  # its own agent is asked again for the next one
        script.exit_attempt(name)
    assert waits[0] < waits[1] < waits[2]


def test_without_anybody_else_a_rejection_is_as_final_as_ever() -> None:
    alone = Script("a", settings=Settings(agents=("claude",), providers=PROVIDERS))
    alone.exit_attempt("a", Category.AUTH)
    assert alone.status("a") == "failed"
    same = Script("a", settings=Settings(agents=("claude",), fallback=("twin",), providers=(("twin", "claude"),)))
    same.exit_attempt("a", Category.AUTH)
    assert same.status("a") == "failed"


def test_a_task_that_everybody_rejects_fails() -> None:
    script = Script("a", settings=SETTINGS)
    assert starts(script.exit_attempt("a", Category.AUTH)) == [("a", "codex")]
    script.exit_attempt("a", Category.QUOTA, detail="pay first")
    assert script.explain("a") == "a is failed: the provider's quota is used up: pay first (after 2 attempts)"


def test_who_stood_in_and_was_rejected_gives_the_task_back() -> None:
    script = Script("a", settings=SETTINGS)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=300.0)
    assert started_tasks(script.exit_attempt("a", Category.AUTH)) == []
    assert starts(script.wait(300)) == [("a", "claude")]


def test_what_a_session_had_spent_is_told_once() -> None:
    """A tool that counts its session as a whole says 30, then 70, then 100: each attempt is counted for what it took."""
    script = Script("a", settings=Settings(agents=("codex",), verify="make"))
    attempts, told = [], [Spend(0, 30), Spend(0, 70), Spend(0, 100)]
    last = Spend()
    for n, whole in enumerate(told, 1):
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


def test_another_session_begins_at_nothing() -> None:
    script = Script("a", settings=Settings(agents=("codex",), verify="make"))
    script.exit_attempt("a", spend=Spend(0, 30))
    again = order(script.exit_attempt("a", Category.VERIFY))
    assert (again.session, again.before) == (None, NO_SPEND)


def test_whoever_asks_for_work_may_have_logged_in_so_that_it_is_tried_at_once() -> None:
    script = Script("a", settings=SETTINGS)
    script.exit_attempt("a", Category.AUTH)
    script.exit_attempt("a", Category.AUTH)
    assert script.status("a") == "failed"
    decisions = script.request(lambda name: Retry(name, BATCH, "a"))
    assert [d.provider for d in decisions if isinstance(d, BreakerClosed)] == ["anthropic"]
    assert starts(decisions) == [("a", "claude")]


def test_another_batch_of_the_account_does_not_wait_for_hours_before_anybody_is_asked() -> None:
    script = Script("a", settings=SETTINGS)
    script.exit_attempt("a", Category.AUTH)
    alone = Settings(agents=("claude",), providers=PROVIDERS)
    assert starts(script.submit("z", settings=alone, batch="b2")) == [("z", "claude")]
    script.exit_attempt("z", Category.AUTH, batch="b2")
    assert script.status("z", "b2") == "failed"


def test_a_rate_limit_is_not_over_because_somebody_asks() -> None:
    script = Script("a", settings=SETTINGS)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=3600.0)
    script.exit_attempt("a", Category.TASK)
    assert starts(script.request(lambda name: Retry(name, BATCH, "a"))) == [("a", "codex")]


def test_who_rejects_again_after_somebody_asked_is_left_alone_for_longer() -> None:
    script = Script("a", settings=SETTINGS)
    for _ in range(2):
        script.exit_attempt("a", Category.AUTH)
        script.exit_attempt("a", Category.TASK)
        script.request(lambda name: Retry(name, BATCH, "a"))
    opened = next(d for d in script.exit_attempt("a", Category.AUTH) if isinstance(d, BreakerOpened))
    assert opened.until - script.now >= 0.9 * 4 * 3600


def test_what_keeps_it_waiting_is_what_the_one_who_stands_in_may_cost() -> None:
    paid = SETTINGS.with_fields(Settings(budget=Budget(1_000_000), reserve=Spend(300_000)), ("budget", "reserve"))
    script = Script("a", "b", settings=paid)
    script.state.agent_stats["codex"] = AgentStats(spends=(Spend(900_000),) * 3)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=3600.0)
    assert script.running_tasks() == ["b"]
    assert script.explain("a") == "a is waiting: may cost $0.90, and $0.30 of $1.00 is spent or reserved"
