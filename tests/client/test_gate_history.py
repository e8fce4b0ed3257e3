"""Gates as the journal tells them."""

from __future__ import annotations

from collections.abc import Iterable

from plait.client.history import GateRun, read_history
from plait.core.events import Record
from plait.core.reports import MergeDone
from plait.core.requests import Drop
from plait.core.settings import Settings
from plait.testing.script import BATCH, Script

GATED = Settings(gate="make test", max_parallel=0, retries=0)


def gates(records: Iterable[Record], batch: str) -> list[GateRun]:
    return read_history(records, batch).gates


def gated(*names: str) -> Script:
    """All of them are merged before the gate begins."""
    script = Script(*names, settings=GATED)
    script.answers_merges = False
    for name in names:
        script.exit_attempt(name)
    script.answers_merges = True
    first = script.batch().tasks[script.batch().merging or 0]
    script.apply(MergeDone(BATCH, first.task.id, first.merging or 0, f"base+{first.task.id}"))
    return script


def test_the_history_has_each_gate_with_its_commit_and_result() -> None:
    script = gated("a", "b", "c")
    script.finish_gate(passed=False)
    script.finish_gate(passed=True)
    first, second, third = gates(script.records, BATCH)
    assert (first.decision.size, first.passed) == (3, False)
    assert (second.decision.size, second.passed) == (1, True)
    assert (third.decision.size, third.passed, third.ended_at) == (2, None, None)
    assert gates(script.records, "another") == []


def test_a_task_failed_by_a_gate_keeps_that_gate_after_a_later_pass() -> None:
    script = gated("a", "b")
    script.finish_gate(passed=False)  # both
    script.finish_gate(passed=True)  # the first alone: so it is the second
    assert script.status("b") == "failed"
    found = read_history(script.records, BATCH).find_deciding_gate("b")
    assert found is not None
    assert (found.decision.n, found.passed) == (1, False)
    good = read_history(script.records, BATCH).find_deciding_gate("a")
    assert good is not None
    assert (good.decision.n, good.passed) == (2, True)


def test_a_task_that_no_gate_decided_has_no_gate() -> None:
    script = gated("a", "b")
    assert read_history(script.records, BATCH).find_deciding_gate("a") is None
    script.request(lambda name: Drop(name, BATCH, "b"))
    assert script.status("b") == "skipped"
    assert read_history(script.records, BATCH).find_deciding_gate("b") is None


def test_a_gate_on_an_outdated_branch_has_no_verdict() -> None:
    script = gated("a", "b")
    script.request(lambda name: Drop(name, BATCH, "b"))
    script.finish_gate(passed=False)
    first = gates(script.records, BATCH)[0]
    assert first.ended_at is not None
    assert first.passed is None
