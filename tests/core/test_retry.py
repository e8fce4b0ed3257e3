"""After an attempt: retry now, retry later, fail, or continue with the next step."""

from __future__ import annotations

import pytest

from plait.core.decisions import (
    AttemptEnding,
    AttemptStarted,
    BreakerClosed,
    BreakerOpened,
    LimitRaised,
    RetryGranted,
    TaskEnded,
)
from plait.core.reports import (
    AttemptActive,
    AttemptAsked,
    AttemptExited,
    AttemptLost,
    AttemptSession,
    AttemptUsed,
    CapacityChanged,
    ClockJumped,
    Outcome,
    PressureChanged,
    RateLimited,
)
from plait.core.requests import ChangeSettings, Feedback, Unpause
from plait.core.retry_policy import MAX_SUSPECT_REFUSALS, YIELD_SECONDS
from plait.core.settings import Backoff, Budget, Order, Settings, Spend
from plait.core.status import Category, EndWhy, PauseCause, WaitReason
from plait.core.task import Attempt, Step, Task
from plait.testing.script import BATCH, Script, started_tasks, task_needing

STEADY = Backoff(base=10, factor=2, cap=100, jitter=0)


def granted(decisions: list[object]) -> RetryGranted:
    return next(decision for decision in decisions if isinstance(decision, RetryGranted))


def test_a_transient_failure_waits_longer_each_time_and_then_fails_for_good() -> None:
    script = Script("a", settings=Settings(backoff=STEADY, retries=2))
    for wait in (10, 20):
        retry = granted([*script.exit_attempt("a", Category.NETWORK, detail="no route")])
        assert retry.at == script.now + wait
        assert script.explain("a") == "a is waiting: retrying soon: the network failed: no route"
        assert started_tasks(script.wait(wait - 0.5)) == []
        assert started_tasks(script.wait(1)) == ["a"]
    script.exit_attempt("a", Category.NETWORK, detail="no route")
    assert script.explain("a") == "a is failed: the network failed: no route (after 3 attempts)"


def test_a_retry_waits_as_long_as_the_provider_asks() -> None:
    script = Script("a", settings=Settings(backoff=STEADY))
    assert granted([*script.exit_attempt("a", Category.OVERLOADED, retry_after=77.0)]).at == script.now + 77
    script = Script("a", settings=Settings(backoff=STEADY))
    assert granted([*script.exit_attempt("a", Category.OVERLOADED, retry_at=5000.0)]).at == 5000.0


def test_jitter_spreads_the_delays_and_replays_the_same() -> None:
    settings = Settings(backoff=Backoff(base=100, jitter=0.5))
    script = Script(*"abcd", settings=settings)
    waits = [granted([*script.exit_attempt(name, Category.NETWORK)]).at - script.now for name in "abcd"]
    assert len(set(waits)) == 4
    assert all(50 <= wait < 150 for wait in waits)
    again = Script(*"abcd", settings=settings)
    assert [granted([*again.exit_attempt(name, Category.NETWORK)]).at - again.now for name in "abcd"] == waits


@pytest.mark.parametrize("category", [Category.AUTH, Category.QUOTA, Category.USAGE, Category.CONTEXT])
def test_a_failure_that_can_not_succeed_is_not_retried(category: Category) -> None:
    script = Script("a")
    script.exit_attempt("a", category)
    assert script.status("a") == "failed"


def test_a_task_may_have_its_own_retries() -> None:
    script = Script(Task("a", retries=0), settings=Settings(retries=5))
    script.exit_attempt("a", Category.TASK)
    assert script.status("a") == "failed"


def test_a_failed_verification_is_retried_at_once_with_feedback() -> None:
    script = Script("a", settings=Settings(verify="make test"))
    assert [decision.attempt.step for decision in script.exit_attempt("a") if isinstance(decision, AttemptStarted)] == [
        Step.VERIFY
    ]
    assert script.status("a") == "verifying"
    again = script.exit_attempt("a", Category.VERIFY, detail="2 tests failed")
    write = next(decision for decision in again if isinstance(decision, AttemptStarted))
    assert (write.attempt.step, write.attempt.n) == (Step.WRITE, 2)
    assert write.feedback == "verification failed: 2 tests failed"


@pytest.mark.parametrize("code", [126, 127])
def test_a_verify_command_that_is_not_found_is_not_the_agents_failure(code: int) -> None:
    script = Script("a", settings=Settings(verify="make test"))
    script.exit_attempt("a")
    after = script.exit_attempt("a", Category.USAGE, exit_code=code, detail="it was not found: make")
    assert not [decision for decision in after if isinstance(decision, AttemptStarted | RetryGranted)]
    assert script.explain("a") == ("a is failed: verification failed: the command can't be run: it was not found: make")


def test_a_setup_that_fails_before_verification_may_be_the_agents_failure() -> None:
    script = Script("a", settings=Settings(verify="make test"))
    script.exit_attempt("a")
    after = script.exit_attempt("a", Category.USAGE, exit_code=78, detail="setup failed")
    assert [decision.attempt.step for decision in after if isinstance(decision, AttemptStarted)] == [Step.WRITE]


def test_a_retry_continues_the_session_in_the_same_workspace() -> None:
    script = Script("a", "b", settings=Settings(verify="make test", agents=("claude",)))
    script.apply(AttemptSession(Attempt(BATCH, "a", Step.WRITE, 1), "s-1"))
    script.exit_attempt("b")
    script.exit_attempt("b")  # merged: the branch has moved on
    script.exit_attempt("a")
    again = script.exit_attempt("a", Category.VERIFY)
    write = next(decision for decision in again if isinstance(decision, AttemptStarted))
    assert (write.session, write.base) == ("s-1", "base")


def test_a_lost_session_is_not_continued() -> None:
    script = Script("a", settings=Settings(verify="make test", agents=("claude",)))
    script.exit_attempt("a", session="s-1")
    again = script.exit_attempt("a", Category.VERIFY)
    assert [one.session for one in again if isinstance(one, AttemptStarted)] == ["s-1"]
    script.exit_attempt("a", Category.TASK, session="")
    later = script.wait(3600)
    assert [one.session for one in later if isinstance(one, AttemptStarted)] == [None]


def test_an_empty_change_fails_unless_the_task_allows_it() -> None:
    script = Script("a", settings=Settings(retries=0))
    script.exit_attempt("a", tip=None)
    assert script.explain("a") == "a is failed: nothing was changed"
    script = Script(Task("a", allow_empty=True))
    script.exit_attempt("a", tip=None)
    assert script.explain("a") == "a is done: nothing to change"


def test_a_change_that_an_attempt_reverted_is_not_merged() -> None:
    """It was written, found wanting, and taken back: nothing is left of it."""
    script = Script(Task("a", allow_empty=True), settings=Settings(verify="make"))
    script.exit_attempt("a")
    script.exit_attempt("a", Category.VERIFY)
    script.exit_attempt("a", Category.EMPTY)
    script.exit_attempt("a")
    assert script.explain("a") == "a is done: nothing to change"
    assert script.batch().merges == []


def test_a_tip_that_is_the_base_is_no_change() -> None:
    script = Script("a", Task("b", allow_empty=True), settings=Settings(retries=0))
    script.exit_attempt("a", tip="base")
    script.exit_attempt("b", tip="base")
    assert script.explain("a") == "a is failed: nothing was changed"
    assert script.explain("b") == "b is done: nothing to change"


def test_a_lost_attempt_uses_up_no_retry_a_few_times() -> None:
    script = Script("a", settings=Settings(retries=0, backoff=STEADY))
    for n in (1, 2, 3):
        retry = granted([*script.apply(AttemptLost(Attempt(BATCH, "a", Step.WRITE, n), "its machine died"))])
        assert not retry.counted
        script.wait(100)
    script.apply(AttemptLost(Attempt(BATCH, "a", Step.WRITE, 4), "its machine died"))
    assert script.explain("a") == "a is failed: the attempt was lost: its machine died (after 4 attempts)"


def test_an_outage_uses_up_neither_retries_nor_losses() -> None:
    script = Script("a", settings=Settings(retries=0, backoff=STEADY))
    for n in range(1, 9):
        lost = AttemptLost(Attempt(BATCH, "a", Step.WRITE, n), "the cluster can't be reached", outage=True)
        retry = granted([*script.apply(CapacityChanged(0, "the cluster can't be reached", WaitReason.SLOT), lost)])
        assert not retry.counted
        script.wait(100)
        assert script.explain("a") == "a is queued: the cluster can't be reached"
        script.apply(CapacityChanged(4))
    task = script.batch().find_task("a")
    assert task is not None
    assert task.lost_attempts == 0
    assert script.status("a") == "running"


def test_reports_that_come_late_or_twice_change_nothing() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.exit_attempt("a")
    before = script.status("b")
    gone = Attempt(BATCH, "a", Step.WRITE, 1)
    assert script.apply(AttemptExited(gone, Outcome(Category.TASK)), AttemptLost(gone, "?"), AttemptActive(gone)) == []
    assert script.status("a") == "done"
    assert script.status("b") == before


def test_a_question_waits_for_a_person_and_the_next_attempt_gets_the_answer() -> None:
    script = Script("a")
    script.exit_attempt("a", Category.QUESTION, question="which port?")
    assert script.explain("a") == "a is waiting: needs an answer: which port? (answer with feedback)"
    decisions = script.request(lambda name: Feedback(name, BATCH, "a", "8080"))
    write = next(decision for decision in decisions if isinstance(decision, AttemptStarted))
    assert write.feedback == "8080"


def test_feedback_ends_the_running_attempt_and_is_given_to_the_next() -> None:
    script = Script("a")
    decisions = script.request(lambda name: Feedback(name, BATCH, "a", "use tabs"))
    assert AttemptEnding(Attempt(BATCH, "a", Step.WRITE, 1), EndWhy.FEEDBACK) in decisions
    write = next(
        decision for decision in script.exit_attempt("a", Category.KILLED) if isinstance(decision, AttemptStarted)
    )
    assert (write.attempt.n, write.feedback) == (2, "use tabs")
    assert script.task("a").counted_retries == 0


def test_an_attempt_ends_at_its_deadline_and_the_task_times_out() -> None:
    script = Script("a", settings=Settings(timeout=60, idle_timeout=600, retries=0))
    assert script.wait(59) == []
    assert script.wait(2) == [AttemptEnding(Attempt(BATCH, "a", Step.WRITE, 1), EndWhy.TIMEOUT)]
    assert script.explain("a") == "a is running: ending attempt 1: timed out after 1m"
    script.exit_attempt("a", Category.KILLED)
    assert script.explain("a") == "a is timed out: timed out after 1m"


def test_an_attempt_that_prints_nothing_is_ended_and_the_reason_says_for_how_long() -> None:
    script = Script("a", settings=Settings(timeout=9000, idle_timeout=5400, retries=0))
    script.wait(5401)
    assert script.explain("a") == "a is running: ending attempt 1: no output for 1h 30m"
    script.exit_attempt("a", Category.KILLED, detail="whatever it printed")
    assert script.explain("a") == "a is timed out: no output for 1h 30m"


def test_an_attempt_that_finished_while_it_was_being_ended_counts() -> None:
    script = Script("a", settings=Settings(timeout=60))
    script.wait(61)
    script.exit_attempt("a")
    assert script.status("a") == "done"


def test_output_extends_the_idle_timeout_and_not_the_deadline() -> None:
    script = Script("a", settings=Settings(timeout=100, idle_timeout=30))
    for _ in range(3):
        assert script.wait(25) == []
        script.apply(AttemptActive(Attempt(BATCH, "a", Step.WRITE, 1)))
    assert script.wait(30) == [AttemptEnding(Attempt(BATCH, "a", Step.WRITE, 1), EndWhy.TIMEOUT)]
    script = Script("a", settings=Settings(timeout=100, idle_timeout=30))
    assert script.wait(31) == [AttemptEnding(Attempt(BATCH, "a", Step.WRITE, 1), EndWhy.IDLE)]


def test_a_suspended_machine_times_nothing_out() -> None:
    script = Script("a", settings=Settings(timeout=60))
    script.now += 3600
    script.apply(ClockJumped(3600))
    assert script.wait(57) == []
    assert script.wait(2) == [AttemptEnding(Attempt(BATCH, "a", Step.WRITE, 1), EndWhy.TIMEOUT)]


LIMITED = Settings(agents=("claude",), providers=(("claude", "anthropic"),), max_parallel=4, retries=0)


def test_a_rate_limit_opens_a_breaker_and_uses_up_no_retry() -> None:
    script = Script(*"abcdef", settings=LIMITED)
    decisions = script.exit_attempt("a", Category.RATE_LIMIT, retry_after=300.0)
    opened = next(decision for decision in decisions if isinstance(decision, BreakerOpened))
    assert (opened.provider, opened.until, opened.limit) == ("anthropic", script.now + 300, 2)
    assert started_tasks(decisions) == []
    assert script.explain("a") == "a is waiting: anthropic is rate-limited (the provider refused)"
    assert script.task("a").counted_retries == 0
    assert started_tasks(script.exit_attempt("b")) == []
    waited = script.wait(301)
    assert BreakerClosed("anthropic") in waited
    assert started_tasks(waited) == []  # two are still at work, and two is what it is given now


def test_after_a_refusal_concurrency_is_halved_and_grows_back() -> None:
    script = Script(*"abcdefgh", settings=LIMITED)
    for name in "abcd":
        script.exit_attempt(name, Category.RATE_LIMIT, retry_after=60.0)
    assert script.running_tasks() == []
    assert script.state.breakers["anthropic"].limit == 2
    script.wait(61)
    assert len(script.running_tasks()) == 2
    raised = [d for name in script.running_tasks() for d in script.exit_attempt(name) if isinstance(d, LimitRaised)]
    assert [decision.limit for decision in raised] == [3, None]
    assert len(script.running_tasks()) == 4


def test_a_provider_without_a_reset_time_is_tried_less_and_less_often() -> None:
    script = Script("a", settings=LIMITED)
    waits = []
    for _ in range(3):
        script.exit_attempt("a", Category.RATE_LIMIT)
        waits.append((script.state.breakers["anthropic"].until or 0) - script.now)
        script.wait(waits[-1] + YIELD_SECONDS + 1)
    assert waits[0] < waits[1] < waits[2]


def test_another_engine_can_report_a_rate_limit() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.apply(RateLimited("shell", script.now + 100))
    assert started_tasks(script.exit_attempt("a")) == []
    assert started_tasks(script.wait(100)) == ["b"]


def test_another_agent_takes_the_tasks_of_a_limited_one() -> None:
    script = Script("a", settings=Settings(agents=("claude", "codex")))
    decisions = script.exit_attempt("a", Category.RATE_LIMIT, retry_after=999.0)
    assert next(decision.agent for decision in decisions if isinstance(decision, AttemptStarted)) == "codex"


def test_running_attempts_are_reserved_so_that_the_budget_holds() -> None:
    settings = Settings(budget=Budget(microusd=10_000_000), reserve=Spend(4_000_000), max_parallel=4)
    script = Script("a", "b", "c", settings=settings)
    assert script.running_tasks() == ["a", "b"]
    assert script.explain("c") == "c is waiting: may cost $4.00, and $8.00 of $10.00 is spent or reserved"
    script.apply(AttemptUsed(Attempt(BATCH, "a", Step.WRITE, 1), Spend(6_000_000)))
    assert started_tasks(script.exit_attempt("b", spend=Spend(1_000_000))) == []
    # What the agent took lately is what the next attempt may cost: 1 + 6 + 6 would be too much.
    script.exit_attempt("a", spend=Spend(6_000_000))
    assert script.batch().paused is not None
    assert script.explain("c") == (
        "c is waiting: the batch is paused: $7.00 of $10.00 is spent, and c may cost $6.00: raise the budget to continue"
    )
    refused = script.request(lambda name: Unpause(name, BATCH))
    assert "raise the budget" in str(refused)
    more = Settings(budget=Budget(microusd=13_000_000))
    assert started_tasks(script.request(lambda name: ChangeSettings(name, BATCH, more, ("budget",)))) == ["c"]


def test_a_dependent_is_blocked_with_the_cause_and_other_tasks_continue() -> None:
    script = Script("a", task_needing("b", "a"), task_needing("c", "b"), "d", settings=Settings(retries=0))
    decisions = script.exit_attempt("a", Category.TASK)
    ends = {decision.task: (decision.status, decision.by) for decision in decisions if isinstance(decision, TaskEnded)}
    assert ends == {"a": ("failed", None), "b": ("blocked", "a"), "c": ("blocked", "a")}
    assert script.explain("c") == "c is blocked: needs b, which is blocked by a"
    assert script.running_tasks() == ["d"]


def test_stop_on_fail_skips_what_has_not_started_and_lets_the_rest_finish() -> None:
    script = Script("a", "b", "c", settings=Settings(max_parallel=2, retries=0, stop_on_fail=True))
    script.exit_attempt("a", Category.TASK)
    assert script.explain("c") == "c is skipped: the batch stopped because a failed"
    script.exit_attempt("b")
    assert script.status("b") == "done"
    assert script.batch().ended == "failed"


def test_feedback_stays_until_an_attempt_with_it_has_passed() -> None:
    script = Script("a", settings=Settings(backoff=STEADY, verify="v"))
    script.request(lambda name: Feedback(name, BATCH, "a", "use tabs"))
    script.exit_attempt("a", Category.KILLED)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=5.0)
    (again,) = [d for d in script.wait(10) if isinstance(d, AttemptStarted)]
    assert again.feedback == "use tabs"
    script.exit_attempt("a")
    (after,) = [d for d in script.exit_attempt("a", Category.VERIFY, detail="red") if isinstance(d, AttemptStarted)]
    assert after.feedback == "verification failed: red"


def test_a_question_stays_open_after_the_attempt_timed_out() -> None:
    script = Script("a", settings=Settings(retries=0))
    script.apply(AttemptAsked(Attempt(BATCH, "a", Step.WRITE, 1), "which port?"))
    script.wait(1801)
    script.exit_attempt("a", Category.KILLED)
    assert script.explain("a") == "a is waiting: needs an answer: which port? (answer with feedback)"


def test_a_verification_that_times_out_says_so() -> None:
    script = Script("a", settings=Settings(verify="v", verify_timeout=60, retries=0))
    script.exit_attempt("a")
    script.wait(61)
    script.exit_attempt("a", Category.TASK)
    assert script.explain("a") == "a is failed: verification failed: timed out after 1m"


def test_a_provider_that_refuses_repeatedly_is_not_tried_at_once() -> None:
    script = Script("a", settings=LIMITED)
    for _ in range(7):
        script.exit_attempt("a", Category.RATE_LIMIT, retry_at=script.now - 100)
        script.wait(1000)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_at=script.now - 100)
    until = script.state.breakers["anthropic"].until
    assert until is not None
    assert until - script.now > 300


def test_a_breaker_never_stays_open_for_ever() -> None:
    script = Script("a", settings=LIMITED)
    script.exit_attempt("a", Category.RATE_LIMIT, retry_at=1.7e12)
    assert started_tasks(script.wait(9 * 86_400)) == ["a"]


def test_a_clock_that_is_set_back_makes_no_wait_longer() -> None:
    script = Script("a", "b", settings=Settings(backoff=STEADY, agents=("claude",), max_parallel=1))
    script.exit_attempt("a", Category.NETWORK)
    script.now -= 400
    script.apply(ClockJumped(-400))
    script.wait(30)
    assert script.task("a").not_before is None
    script.exit_attempt("b", Category.RATE_LIMIT, retry_after=60.0)
    script.now -= 400
    script.apply(ClockJumped(-400))
    assert started_tasks(script.wait(120)) == ["a"]


def test_started_tasks_continue_while_the_budget_is_used_up() -> None:
    settings = Settings(budget=Budget(microusd=10), reserve=Spend(8), verify="v", gate="g")
    script = Script("a", "b", settings=settings)
    script.exit_attempt("a", spend=Spend(5))
    assert script.status("a") == "verifying"
    script.exit_attempt("a")
    script.finish_gate(passed=True)
    assert script.status("a") == "done"
    assert script.batch().paused is not None
    assert script.status("b") == "waiting"


def test_an_affordable_agent_is_preferred_to_an_idle_one() -> None:
    settings = Settings(agents=("claude", "codex"), budget=Budget(microusd=19), reserve=Spend(1), max_parallel=1)
    script = Script(*"abcdefg", settings=settings)
    for _ in range(4):
        name = script.running_tasks()[0]
        agent = next(iter(script.task(name).alive.values())).agent
        script.exit_attempt(name, spend=Spend(6 if agent == "claude" else 1))
    assert [a.agent for a in script.batch().alive.values()] == ["codex"]


def test_a_batch_is_paused_after_repeated_rejections() -> None:
    script = Script(*"abcd", settings=Settings(max_parallel=1))
    script.exit_attempt("a", Category.AUTH, detail="no key")
    script.exit_attempt("b", Category.AUTH, detail="no key")
    assert script.running_tasks() == []
    assert script.explain("c") == (
        "c is waiting: the batch is paused: the provider rejected 2 tasks in a row: fix the cause and resume"
    )
    assert started_tasks(script.request(lambda name: Unpause(name, BATCH))) == ["c"]


def test_a_removed_verify_command_is_not_waited_for() -> None:
    script = Script("a", "b", settings=Settings(verify="v", max_parallel=1))
    script.apply(PressureChanged("memory"))
    script.exit_attempt("a")
    script.request(lambda name: ChangeSettings(name, BATCH, Settings(verify=None), ("verify",)))
    script.apply(PressureChanged(None))
    assert script.status("a") == "done"


def test_repeated_refusals_of_one_task_alone_count_as_its_failure() -> None:
    """A tool whose own server says 429, or a misread line, would go round for ever."""
    others = [f"o{n}" for n in range(40)]
    settings = Settings(agents=("claude",), max_parallel=1, retries=1, order=Order.FIFO)
    script = Script("a", *others, settings=settings)
    for _ in range(400):
        if script.task("a").status is not None:
            break
        if script.running_tasks() == ["a"]:
            script.exit_attempt("a", Category.RATE_LIMIT, detail="429")
        elif script.running_tasks():
            script.exit_attempt(script.running_tasks()[0])
        else:
            script.wait(60)
    assert script.status("a") == "failed"
    assert script.task("a").reason.startswith("the provider's rate limit: 429 (other tasks were served")
    assert (
        script.task("a").attempt_counts[Step.WRITE] == MAX_SUSPECT_REFUSALS + 3
    )  # the first shows nothing, and one retry is left then


def test_a_provider_that_refuses_all_tasks_uses_up_no_retry() -> None:
    script = Script("a", settings=Settings(agents=("claude",), retries=0))
    for _ in range(50):
        script.exit_attempt("a", Category.RATE_LIMIT)
        while not script.running_tasks():
            if script.batch().paused is not None:
                script.request(lambda name: Unpause(name, BATCH))
            script.wait(60)
    assert script.task("a").counted_retries == 0


def refuse(script: Script, hours: float, retry_after: float | None = None) -> None:
    """Everything is refused for so long, or until the batch is paused."""
    end = script.now + hours * 3600
    while script.now < end and script.batch().paused is None:
        for name in script.running_tasks():
            script.exit_attempt(name, Category.RATE_LIMIT, retry_after=retry_after)
        script.wait(30)


def test_a_rate_limit_that_keeps_recurring_asks_a_person() -> None:
    script = Script("a", "b", settings=LIMITED)
    refuse(script, 5.5)
    assert script.batch().paused is None  # it may be a window of five hours
    refuse(script, 1.5)
    paused = script.batch().paused
    assert paused is not None
    assert paused.cause is PauseCause.PROVIDER
    assert "anthropic has refused" in paused.why
    assert "done no work for 6h" in paused.why


def test_a_provider_that_does_not_keep_its_reset_times_asks_after_an_hour() -> None:
    script = Script("a", settings=LIMITED)
    refuse(script, 0.95, retry_after=20.0)
    assert script.batch().paused is None
    refuse(script, 0.5, retry_after=20.0)
    assert script.batch().paused is not None


def test_long_limits_that_the_provider_keeps_to_ask_nobody() -> None:
    script = Script("a", settings=LIMITED)
    for _ in range(20):
        script.exit_attempt("a", Category.RATE_LIMIT, retry_after=5 * 3600.0)
        script.wait(5.1 * 3600)
        script.apply(AttemptUsed(next(iter(script.task("a").alive)), Spend(1)))  # it works for a while
    assert script.batch().paused is None


def test_a_person_who_resumes_has_the_provider_tried_at_once_and_is_not_asked_again_at_once() -> None:
    script = Script("a", settings=LIMITED)
    refuse(script, 2, retry_after=20.0)
    assert script.batch().paused is not None
    assert started_tasks(script.request(lambda name: Unpause(name, BATCH))) == ["a"]
    refuse(script, 0.95, retry_after=20.0)
    assert script.batch().paused is None


def test_a_recurring_rate_limit_does_not_stop_what_others_can_do() -> None:
    both = LIMITED.with_fields(Settings(fallback=("codex",)), ("fallback",))
    script = Script("a", settings=both)
    for _ in range(30):
        script.apply(RateLimited("anthropic", script.now + 20))
        script.wait(601)
    assert script.running_tasks() == ["a"]
    assert script.batch().paused is None
