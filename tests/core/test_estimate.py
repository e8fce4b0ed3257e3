"""Forecasts: the scheduler run forward in simulated time."""

from __future__ import annotations

from plait.core.estimate import forecast_batch, guess_duration
from plait.core.reports import CapacityChanged
from plait.core.requests import CancelTask, Pause
from plait.core.settings import Budget, Mode, Settings, Spend
from plait.core.status import Category
from plait.core.task import Task
from plait.testing.script import BATCH, Script, task_needing

TEN = 600.0


def test_a_forecast_overlaps_parallel_tasks_and_not_dependent_ones() -> None:
    script = Script("a", "b", task_needing("c", "a", "b"))
    ahead = forecast_batch(script.state, BATCH, script.now)
    assert ahead.end == script.now + 2 * TEN
    assert ahead.tasks == {"a": script.now + TEN, "b": script.now + TEN, "c": script.now + 2 * TEN}


def test_a_forecast_respects_the_limits() -> None:
    script = Script("a", "b", "c", settings=Settings(max_parallel=1))
    assert forecast_batch(script.state, BATCH, script.now).end == script.now + 3 * TEN


def test_a_forecast_respects_the_capacity() -> None:
    script = Script(start=False)
    script.apply(CapacityChanged(2, "4.0 GiB of memory left"))
    script.submit("a", "b", "c")
    assert forecast_batch(script.state, BATCH, script.now).end == script.now + 2 * TEN


def test_a_forecast_counts_the_time_that_an_attempt_has_run() -> None:
    script = Script("a")
    assert forecast_batch(script.state, BATCH, script.now + 450).end == script.now + TEN
    assert forecast_batch(script.state, BATCH, script.now + 8000).end == script.now + 10_000, "longer than usual"


def test_an_estimate_of_a_task_sets_its_duration() -> None:
    script = Script(Task("a", estimate=42.0))
    assert forecast_batch(script.state, BATCH, script.now).end == script.now + 42


def test_a_forecast_includes_verification_and_the_gate() -> None:
    script = Script(Task("a", estimate=100.0), settings=Settings(verify="v", gate="g"))
    assert forecast_batch(script.state, BATCH, script.now).end == script.now + 100 + 10 + 100
    short = Script(*(Task(name, estimate=6.0) for name in "abcdefghij"), settings=Settings(gate="g", max_parallel=1))
    end = forecast_batch(short.state, BATCH, short.now).end
    assert end is not None
    assert end <= short.now + 2 * 60, "a gate of minutes is not assumed for tasks of seconds"


def test_history_improves_the_forecast() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.now += 60
    script.exit_attempt("a")
    took = script.state.agent_stats["shell"].seconds_per_weight[0]
    assert guess_duration(script.state, Task("x", weight=2.0), "shell") == 2 * took
    assert forecast_batch(script.state, BATCH, script.now).end == script.now + took


def test_a_long_attempt_is_not_timed_out_in_a_forecast() -> None:
    script = Script(Task("a", estimate=9000.0), settings=Settings(timeout=3600, idle_timeout=60))
    assert forecast_batch(script.state, BATCH, script.now).end == script.now + 9000


def test_a_forecast_assumes_approval() -> None:
    script = Script("a", "b", settings=Settings(mode=Mode.QUEUE))
    assert forecast_batch(script.state, BATCH, script.now).end == script.now + 2 * TEN


def test_a_batch_that_waits_for_a_person_has_no_forecast_end() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.exit_attempt("a", Category.QUESTION)
    ahead = forecast_batch(script.state, BATCH, script.now)
    assert ahead.end is None
    assert list(ahead.tasks) == ["b"]
    script.request(lambda name: Pause(name, BATCH))
    assert forecast_batch(script.state, BATCH, script.now).end is None


def test_a_forecast_waits_for_an_open_breaker() -> None:
    script = Script("a", settings=Settings(agents=("claude",)))
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=7200.0)
    assert forecast_batch(script.state, BATCH, script.now).end == script.now + 7200 + TEN


def test_a_forecast_changes_nothing_and_can_be_repeated() -> None:
    settings = Settings(verify="v", gate="g", budget=Budget(10_000_000), reserve=Spend(1_000_000))
    script = Script(Task("a", touches=("x",)), Task("b", touches=("x",)), task_needing("c", "a"), settings=settings)
    script.request(lambda name: CancelTask(name, BATCH, "b"))
    first = forecast_batch(script.state, BATCH, script.now)
    assert forecast_batch(script.state, BATCH, script.now) == first
    script.exit_attempt("a")
    assert script.explain("b") == "b is cancelled: cancelled by request"


def test_the_forecast_of_an_ended_batch_is_its_end() -> None:
    script = Script("a")
    script.exit_attempt("a")
    assert forecast_batch(script.state, BATCH, script.now + 500).end == script.now
