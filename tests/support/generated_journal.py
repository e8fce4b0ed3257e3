"""The records of a whole batch in which every step succeeds at once: for tests that need a long journal."""

from __future__ import annotations

from collections import deque

from plait.core.decisions import AttemptStarted, Decision, GateStarted, MergeStarted
from plait.core.events import Record
from plait.core.graph import build_checked_plan
from plait.core.plan import Plan
from plait.core.reports import AttemptExited, GateDone, MergeDone, Outcome, Report
from plait.core.requests import Submit
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import EngineSettings, Settings
from plait.core.state import State
from plait.core.status import Category
from plait.core.task import Task


def batch_of(count: int) -> Plan:
    """A plan of independent tasks."""
    plan = build_checked_plan([Task(f"t{number}") for number in range(count)]).plan
    assert plan is not None
    return plan


def records_of(plan: Plan, settings: Settings, batch: str = "b") -> list[Record]:
    """From its submission to its end; the first task fails once."""
    state, now = State(), 0.0
    state.settings = EngineSettings(parallel_limit=0)
    made = fold_incoming(state, [Submit(f"r-{batch}", batch, plan, settings, base="0")], now)
    coming: deque[Report] = deque()
    while True:
        decided, wake = decide_due(state, now)
        made += decided
        coming.extend(filter(None, map(_make_report, (record.event for record in decided))))  # type: ignore[arg-type]
        if not coming and wake is None:
            return made
        now += 1.0
        if coming:
            made += fold_incoming(state, [coming.popleft()], now)
        elif wake is not None:
            now = wake


def _make_report(decision: Decision) -> Report | None:
    match decision:
        case AttemptStarted(attempt=attempt):
            failed = attempt.task == "t0" and attempt.n == 1
            return AttemptExited(attempt, Outcome(Category.TASK if failed else Category.OK, tip=str(attempt.n)))
        case MergeStarted():
            return MergeDone(decision.batch, decision.task, decision.n, decision.task)
        case GateStarted():
            return GateDone(decision.batch, decision.n, passed=True)
        case _:
            return None
