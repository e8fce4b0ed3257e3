"""A night with a provider that allows 20 requests in five hours: everything gets done, and next to no time is lost."""

from __future__ import annotations

from math import ceil

import pytest

from plait.core.decisions import AttemptStarted, BreakerClosed, BreakerOpened, RetryGranted, TaskEnded
from plait.core.status import BatchStatus
from tests.support.rate_limit_sim import RateLimit, RateLimitRun

MINUTE, HOUR = 60.0, 3600.0
TASKS = 100


def ideal(run: RateLimitRun) -> float:
    """Every window is used from its first moment, and the last tasks are worked as many at once as may be."""
    windows = ceil(run.tasks / run.terms.requests)
    last = run.tasks - (windows - 1) * run.terms.requests
    return (windows - 1) * run.terms.window + ceil(last / run.parallel) * run.task_seconds


def told(run: RateLimitRun, kind: type) -> int:
    return sum(isinstance(record.event, kind) for record in run.records)


@pytest.mark.parametrize("anchored", [True, False], ids=["windows-begin-when-used", "windows-follow"])
@pytest.mark.parametrize("says", [True, False], ids=["says-when", "does-not-say"])
@pytest.mark.parametrize(
    ("parallel", "lasts", "tells"),
    [
        (4, 10 * MINUTE, True),
        (4, 10 * MINUTE, False),
        (8, 3 * MINUTE, False),
        (4, 40 * MINUTE, True),
        (20, 30 * MINUTE, True),
    ],
)
def test_a_hundred_tasks_share_a_rate_limit(
    *, parallel: int, lasts: float, tells: bool, says: bool, anchored: bool
) -> None:
    run = RateLimitRun(
        TASKS,
        parallel,
        lasts,
        RateLimit(tells_reset=says, starts_at_first_request=anchored),
        reports_usage=tells,
    )
    provider = run.run()
    batch = run.state.batches["night"]
    assert batch.ended is BatchStatus.COMPLETED
    assert told(run, TaskEnded) == TASKS
    assert run.resumed == 0

    # No retry is used up, whatever was refused.
    assert all(task.counted_retries == 0 for task in batch.tasks)
    assert not any(isinstance(record.event, RetryGranted) and record.event.counted for record in run.records)

    assert run.time.now <= 1.05 * ideal(run), run.time.now / ideal(run)

    # Nobody goes round in circles: who is refused starts once more, and each start costs a handful of records.
    openings = told(run, BreakerOpened)
    starts = told(run, AttemptStarted)
    assert starts == TASKS + provider.refused
    assert provider.refused <= (openings + 4) * parallel if says else provider.refused <= openings + 4 * parallel
    assert openings <= (2 * 4 if says else 45 * 4)
    assert told(run, BreakerClosed) <= openings
    assert len(run.records) <= 12 * starts + 2 * openings + 10
    assert run.turns <= 8 * starts + 4 * openings + 10


def test_nothing_starts_before_the_announced_window() -> None:
    run = RateLimitRun(TASKS, 4, 10 * MINUTE, RateLimit())
    run.run()
    closed_until = 0.0
    for record in run.records:
        match record.event:
            case BreakerOpened(until=until):
                closed_until = until
            case AttemptStarted():
                assert record.at >= closed_until
            case _:
                pass


def test_a_provider_without_a_reset_time_is_asked_one_request_at_a_time() -> None:
    run = RateLimitRun(TASKS, 20, 30 * MINUTE, RateLimit(tells_reset=False))
    provider = run.run()
    openings = told(run, BreakerOpened)
    assert provider.refused < openings + 4 * 20


def test_a_provider_without_a_reset_time_is_asked_less_and_less() -> None:
    run = RateLimitRun(40, 4, 10 * MINUTE, RateLimit(window=7 * 24 * HOUR, tells_reset=False))
    provider = run.run()
    assert provider.refused < 150
    assert 5 <= run.resumed <= 7 * 24 / 6  # a person is asked at most every six hours
    assert run.time.now <= 1.05 * ideal(run)


@pytest.mark.parametrize("tells", [True, False], ids=["tells-of-tokens", "tells-nothing"])
@pytest.mark.parametrize("says", [True, False], ids=["says-when", "does-not-say"])
def test_many_more_tasks_run_than_a_window_allows(*, says: bool, tells: bool) -> None:
    """Somebody is refused in every window, and somebody served: neither is anybody's failure, nor a refusal without end."""
    run = RateLimitRun(300, 20, 5 * MINUTE, RateLimit(requests=5, window=HOUR, tells_reset=says), reports_usage=tells)
    run.run()
    batch = run.state.batches["night"]
    assert batch.ended is BatchStatus.COMPLETED
    assert run.resumed == 0
    assert all(task.counted_retries == 0 for task in batch.tasks)
    assert run.time.now <= 1.25 * ideal(run), run.time.now / ideal(run)
