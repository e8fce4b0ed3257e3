"""The simulator in its short form: `make sim` runs many more of the same."""

from __future__ import annotations

import pytest

from plait.core.decisions import AttemptStarted, BatchEnded
from plait.core.reports import EngineReleased, EngineTaken
from plait.store.codec import encode_record
from plait.testing.simulator.engine import CrashOnce, NoCrashes, RandomCrashes
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.observer import Violation
from plait.testing.simulator.scenario import make_calm, make_stormy
from plait.testing.simulator.seeded_random import SeededRandom
from tests.support.simulation.__main__ import main
from tests.support.simulation.campaign import CampaignResult, SimulationJob, audit_run, format_result, replay, run_job

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_law_is_broken_in_a_storm(seed: int) -> None:
    journal = audit_run(make_stormy(seed)).journal
    assert isinstance(journal[-1].event, EngineReleased)
    ended = {record.event.batch for record in journal if isinstance(record.event, BatchEnded)}
    assert ended == {submit.batch for submit in make_stormy(seed).submits}


@pytest.mark.parametrize("seed", [3, 6])
def test_the_same_seed_gives_the_same_journal(seed: int) -> None:
    first, second = audit_run(make_stormy(seed)), audit_run(make_stormy(seed))
    assert list(map(encode_record, first.journal)) == list(map(encode_record, second.journal))


def test_another_seed_gives_another_journal() -> None:
    assert audit_run(make_stormy(1)).journal != audit_run(make_stormy(2)).journal


@pytest.mark.parametrize("seed", [1, 4])
def test_a_crash_after_any_record_changes_no_outcome(seed: int) -> None:
    tally = run_job(SimulationJob("crash", range(seed, seed + 1)))
    assert not tally.violations
    assert tally.crash_points == len(audit_run(make_calm(seed), NoCrashes()).journal)


def test_a_crash_loses_no_durable_record_and_brings_another_engine() -> None:
    whole = audit_run(make_calm(4), NoCrashes()).journal
    point = len(whole) // 2
    crashed = audit_run(make_calm(4), CrashOnce(point)).journal
    assert crashed[:point] == whole[:point]
    assert sum(isinstance(record.event, EngineTaken) for record in crashed) == 2


def test_no_attempt_is_started_twice_by_a_crash() -> None:
    for point in range(5, 60, 9):
        journal = audit_run(make_calm(4), CrashOnce(point)).journal
        started = [record.event.attempt for record in journal if isinstance(record.event, AttemptStarted)]
        assert len(started) == len(set(started))


def test_chance_depends_on_names_and_not_on_order() -> None:
    one, two = SeededRandom(7), SeededRandom(7)
    assert (one.roll("a"), one.roll("b")) == (two.roll("a"), two.roll("b"))
    assert two.roll("b") == one.roll("b")
    assert one.roll("a") != SeededRandom(8).roll("a")
    assert one.stream("x").random() == two.stream("x").random()


def test_crashes_come_at_the_requested_rate() -> None:
    crashes, length, deaths = RandomCrashes(SeededRandom(1), rate=20), 0, 0
    while (length := crashes.next_crash(length + 1) or 0) < 10_000:
        deaths += 1
    assert 150 < deaths < 250


def test_equal_times_keep_their_order_and_infinite_ones_never_come() -> None:
    time, seen = EventQueue(), list[str]()
    for when, what in ((2.0, "c"), (1.0, "a"), (1.0, "b"), (float("inf"), "never")):
        time.schedule_at(when, lambda said=what: seen.append(said))  # type: ignore[misc]
    while time.next_time() is not None:
        time.step()
    assert (seen, time.now) == (["a", "b", "c"], 2.0)


def test_a_violation_is_counted_and_says_how_to_replay_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise Violation("needs", "b started before a")

    monkeypatch.setattr("tests.support.simulation.campaign.simulate", broken)
    tally = run_job(SimulationJob("storm", range(41, 42)))
    said = format_result(tally, 1.0, complete=False)
    assert "needs: b started before a\n  replay: python -m tests.support.simulation --seed 41" in said
    assert said.endswith("1 violation")
    assert isinstance(replay("storm", 41, None)[1], Violation)


def test_event_kinds_that_never_occur_are_listed() -> None:
    said = format_result(CampaignResult(), 1.0, complete=True)
    assert "never seen: submit, cancel-batch" in said
    assert said.endswith("0 violations")


def test_one_run_can_be_traced(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "4", "--kind", "calm", "--crash", "9", "--trace"]) == 0
    out = capsys.readouterr().out
    assert out.count("engine-taken") == 2
    assert "no violation" in out.splitlines()[-1]


def test_many_runs_print_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seeds", "1-3"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("0 violations")
