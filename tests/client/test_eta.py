"""ETAs are asked for seldom: a forecast costs as much as there is left to do."""

from __future__ import annotations

from plait.client.eta import EtaEstimator
from plait.core.settings import Isolation, Settings
from plait.core.task import Task
from plait.testing.script import BATCH, Script

ONE = Settings(isolation=Isolation.IN_PLACE, max_parallel=1)


def minutes(*lengths: float) -> Script:
    tasks = (Task(f"t{n}", estimate=60 * length) for n, length in enumerate(lengths))
    return Script(*tasks, settings=ONE)


def test_a_forecast_is_kept_for_some_seconds() -> None:
    script = minutes(1, 2)
    eta = EtaEstimator(interval=5)
    first = eta.estimate_end(script.state, BATCH, script.now)
    assert first == script.now + 180
    script.exit_attempt("t1")  # sooner than it was thought to be
    assert eta.estimate_end(script.state, BATCH, script.now) == first
    assert eta.estimate_end(script.state, BATCH, script.now + 4) == script.now + 60


def test_a_guess_is_no_forecast() -> None:
    script = Script("a", "b", settings=ONE)
    assert EtaEstimator().estimate_end(script.state, BATCH, script.now) is None
    script.wait(29)
    script.exit_attempt("a")  # now it is known how long one takes
    assert EtaEstimator().estimate_end(script.state, BATCH, script.now) == script.now + 30


def test_a_clock_that_was_set_back_does_not_keep_an_old_forecast_alive() -> None:
    script = minutes(1)
    eta = EtaEstimator(interval=5)
    eta.estimate_end(script.state, BATCH, script.now + 10_000)
    assert eta.estimate_end(script.state, BATCH, script.now) == script.now + 60


def test_an_ended_unknown_or_too_large_batch_has_no_forecast() -> None:
    script = minutes(1, 1)
    assert EtaEstimator(max_tasks=1).estimate_end(script.state, BATCH, script.now) is None
    assert EtaEstimator(max_tasks=2).estimate_end(script.state, BATCH, script.now) is not None
    assert EtaEstimator().estimate_end(script.state, "nobody", script.now) is None
    eta = EtaEstimator()
    assert eta.estimate_end(script.state, BATCH, script.now) is not None
    script.exit_attempt("t0")
    script.exit_attempt("t1")
    assert eta.estimate_end(script.state, BATCH, script.now) is None


def test_a_batch_in_its_gate_has_no_forecast() -> None:
    script = Script(Task("a", estimate=60.0), settings=Settings(gate="make test"))
    assert EtaEstimator().estimate_end(script.state, BATCH, script.now) is not None
    script.exit_attempt("a")
    assert script.batch().gate is not None
    assert EtaEstimator().estimate_end(script.state, BATCH, script.now) is None
