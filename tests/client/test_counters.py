"""The tally: what is counted, and that it follows from the records alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from hypothesis import given, settings, strategies as st

from plait.client.counters import (
    DURATION_BOUNDS_SECONDS,
    MAX_LABELS,
    OTHER_LABEL,
    DurationHistogram,
    JournalCounters,
    LabelSet,
)
from plait.core import reports as r
from plait.core.decisions import BatchEnded, TaskEnded
from plait.core.events import Record
from plait.core.reducers import evolve
from plait.core.requests import Drop, Pause, Retry
from plait.core.settings import NO_SPEND, Isolation, Settings, Spend
from plait.core.state import State
from plait.core.status import BatchStatus, Category, TaskStatus
from plait.core.task import Step, Task
from plait.core.views import find_batch_status
from plait.testing.script import BATCH, Script
from plait.testing.simulator.engine import simulate
from plait.testing.simulator.scenario import make_stormy

ALONE = Settings(agents=("amber",), isolation=Isolation.IN_PLACE)
STORMS = st.integers(0, 60).map(cache(lambda seed: simulate(make_stormy(seed)).journal))
FEW = settings(max_examples=20)


def count_records(records: Iterable[Record]) -> tuple[State, JournalCounters]:
    state, counters = State(), JournalCounters()
    for record in records:
        evolve(state, record)
        counters.apply(state, record)
    return state, counters


def contents(counters: JournalCounters) -> dict[str, object]:
    durations = {key: (took.counts, took.seconds) for key, took in counters.durations.items()}
    return {**{name: value for name, value in vars(counters).items() if name[0] != "_"}, "durations": durations}


def test_attempts_are_counted_by_agent_step_and_how_they_ended() -> None:
    script = Script("a", "b", settings=Settings(agents=("amber",), verify="check", isolation=Isolation.IN_PLACE))
    script.exit_attempt("a")
    script.exit_attempt("b", Category.USAGE)
    _, counters = count_records(script.records)
    assert counters.attempts == {("amber", Step.WRITE, Category.OK): 1, ("amber", Step.WRITE, Category.USAGE): 1}
    assert counters.running == {("verify", Step.VERIFY): 1}
    assert counters.tasks == {TaskStatus.FAILED: 1}


def test_a_repeated_exit_is_counted_once() -> None:
    script = Script("a", settings=ALONE)
    script.exit_attempt("a")
    again = next(each.event for each in script.records if isinstance(each.event, r.AttemptExited))
    script.apply(again)
    _, counters = count_records(script.records)
    assert counters.attempts.total() == 1
    assert sum(sum(took.counts) for took in counters.durations.values()) == 1


def test_a_reopened_batch_counts_as_open_and_ends_twice() -> None:
    script = Script("a", "b", settings=ALONE)
    script.exit_attempt("a", Category.USAGE)
    script.exit_attempt("b")
    state, counters = count_records(script.records)
    assert counters.count_ended(state).batches == {BatchStatus.PARTIAL: 1}
    assert counters.count_ended(state).tasks == {TaskStatus.FAILED: 1, TaskStatus.DONE: 1}
    script.request(lambda name: Retry(name, BATCH, "a"))
    state, counters = count_records(script.records)
    assert (counters.count_ended(state).batches.total(), counters.count_ended(state).tasks.total()) == (0, 0)
    script.exit_attempt("a")
    state, counters = count_records(script.records)
    assert counters.count_ended(state).batches == {BatchStatus.COMPLETED: 1}
    assert counters.count_ended(state).tasks == {TaskStatus.DONE: 2}
    assert counters.batches == {BatchStatus.PARTIAL: 1, BatchStatus.COMPLETED: 1}
    assert counters.tasks == {TaskStatus.FAILED: 1, TaskStatus.DONE: 2}


def test_cost_is_counted_while_it_is_spent_and_only_once() -> None:
    script = Script("a", settings=ALONE)
    attempt = next(iter(script.state.batches[BATCH].alive))
    script.apply(r.AttemptUsed(attempt, Spend(200, 20)))
    assert count_records(script.records)[1].spent == {"amber": Spend(200, 20)}
    script.apply(r.AttemptUsed(attempt, Spend(300, 20)))
    script.apply(r.AttemptExited(attempt, r.Outcome(Category.OK, 0, spend=Spend(350, 30))))
    assert count_records(script.records)[1].spent == {"amber": Spend(350, 30)}


def test_granted_and_refused_requests_are_counted() -> None:
    script = Script("a", settings=ALONE)
    script.request(lambda name: Pause(name, BATCH))
    script.request(lambda name: Drop(name, BATCH, "nobody"))
    assert count_records(script.records)[1].requests == {"granted": 2, "refused": 1}


def test_a_duration_is_counted_up_to_the_bound_that_it_does_not_exceed() -> None:
    took = DurationHistogram()
    for seconds in (
        0.0,
        DURATION_BOUNDS_SECONDS[0],
        DURATION_BOUNDS_SECONDS[0] + 0.1,
        DURATION_BOUNDS_SECONDS[-1] + 1,
    ):
        took.add(seconds)
    assert took.counts == [2, 1, *[0] * (len(DURATION_BOUNDS_SECONDS) - 2), 1]


def test_names_beyond_the_limit_are_counted_as_others() -> None:
    names = LabelSet()
    for number in range(MAX_LABELS + 1):
        names.add(f"n{number}")
    names.add("x" * 1000)
    assert [names(f"n{number}") for number in range(MAX_LABELS)] == [f"n{n}" for n in range(MAX_LABELS)]
    assert {names(f"n{MAX_LABELS}"), names("x" * 1000)} == {OTHER_LABEL}


def test_reading_a_label_adds_none() -> None:
    names = LabelSet()
    for number in range(MAX_LABELS):
        assert names(f"looked at {number}") == OTHER_LABEL
    names.add("at work")
    assert names("at work") == "at work"


@FEW
@given(STORMS)
def test_counting_again_gives_the_same_numbers(journal: tuple[Record, ...]) -> None:
    assert contents(count_records(journal)[1]) == contents(count_records(journal)[1])


@FEW
@given(STORMS, st.floats(0, 1))
def test_the_counters_agree_with_the_state_at_every_record(journal: tuple[Record, ...], share: float) -> None:
    state, counters = count_records(journal[: round(len(journal) * share)])
    alive = [attempt for batch in state.batches.values() for attempt in batch.alive.values()]
    assert counters.running.total() == len(alive)
    used = sum((attempt.used for attempt in alive), NO_SPEND)
    spent = sum((batch.spent for batch in state.batches.values()), NO_SPEND)
    assert sum(counters.spent.values(), NO_SPEND) == spent + used
    over = [batch for batch in state.batches.values() if batch.ended is not None]
    ended = counters.count_ended(state)
    assert ended.batches == Counter(find_batch_status(batch)[0] for batch in over)
    statuses = (task.status for batch in over for task in batch.tasks if task.task.entrant is None)
    assert ended.tasks == Counter(statuses)


@FEW
@given(STORMS)
def test_counters_never_decrease(journal: tuple[Record, ...]) -> None:
    state, counters, before = State(), JournalCounters(), Counter[object]()
    for record in journal:
        evolve(state, record)
        counters.apply(state, record)
        now = _numbers(counters)
        assert all(now[key] >= count for key, count in before.items())
        before = now
    ends = [each.event for each in journal if isinstance(each.event, BatchEnded)]
    assert counters.batches.total() == len(ends)
    entrants = {
        (batch.id, task.task.id)
        for batch in state.batches.values()
        for task in batch.tasks
        if task.task.entrant is not None
    }
    tasks = [each.event for each in journal if isinstance(each.event, TaskEnded)]
    assert counters.tasks.total() == len([end for end in tasks if (end.batch, end.task) not in entrants])


# Any: keys of several kinds.
def _numbers(tally: JournalCounters) -> Counter[object]:
    counters: tuple[Counter[Any], ...] = (
        tally.attempts,
        tally.retries,
        tally.tasks,
        tally.batches,
        tally.branch_operations,
        tally.breaker_openings,
    )
    found = Counter[object]({(n, key): value for n, each in enumerate(counters) for key, value in each.items()})
    for key, took in tally.durations.items():
        found.update({(key, n): count for n, count in enumerate(took.counts)})
    for agent, spend in tally.spent.items():
        found.update({(agent, "usd"): spend.microusd, (agent, "tokens"): spend.tokens})
    return found


def test_merges_gates_and_publishes_are_counted_by_how_they_ended() -> None:
    script = Script(Task("a"), settings=Settings(agents=("amber",), gate="make gate"))
    script.exit_attempt("a")
    script.finish_gate(True)  # noqa: FBT003 - as it is said
    _, counters = count_records(script.records)
    assert counters.branch_operations == {("merge", "done"): 1, ("gate", "passed"): 1}
