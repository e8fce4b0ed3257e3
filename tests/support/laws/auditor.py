"""Checks a journal record by record against the laws; raises Violation at the first one broken.

A law reads the facts as they were before the record; then the record is folded into them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn, get_args

from plait.core import decisions, reports, requests
from plait.core.events import Event, Record
from plait.core.state import State
from plait.core.status import TaskStatus
from plait.store.codec import kind_of
from tests.support.laws import attempt_folds, batch_folds, batch_laws, end_laws, request_folds, start_laws
from tests.support.laws.attempt_folds import restart_unmet
from tests.support.laws.facts import CommitContents, Facts
from tests.support.laws.idle_laws import (
    check_no_starvation,
    check_nothing_due,
    check_start_order,
    check_wait_for_person,
    check_wake_time,
    check_work_time,
)
from tests.support.laws.request_laws import (
    check_request_arrived,
    check_request_granted,
    check_request_refused,
)

# Any: each law or fold takes its own event; the tables give it nothing else.
Law = Callable[[Facts, float, Any], None]
LAWS: Mapping[type, tuple[Law, ...]] = {
    **dict.fromkeys(get_args(requests.Request), (check_request_arrived,)),
    decisions.RequestGranted: (check_request_granted,),
    decisions.RequestRefused: (check_request_refused,),
    decisions.AttemptStarted: (
        start_laws.check_attempt_start,
        start_laws.check_slots,
        start_laws.check_capacity,
        start_laws.check_agent_limit,
        start_laws.check_timeouts,
        start_laws.check_locks,
        start_laws.check_provider_limit,
        start_laws.check_budget,
        check_start_order,
    ),
    decisions.AttemptEnding: (end_laws.check_attempt_ending,),
    decisions.CommitStarted: (start_laws.check_commit_started,),
    decisions.StepPassed: (end_laws.check_step_passed,),
    decisions.RetryGranted: (end_laws.check_retry_granted,),
    decisions.BackoffEnded: (end_laws.check_backoff_ended,),
    decisions.AnswerAwaited: (end_laws.check_answer_awaited,),
    decisions.TaskInterrupted: (end_laws.check_task_interrupted,),
    decisions.TaskEnded: (end_laws.check_task_ended,),
    decisions.BatchHalted: (end_laws.check_batch_halted,),
    decisions.MergeStarted: (batch_laws.check_merge_started,),
    decisions.RebuildStarted: (batch_laws.check_rebuild_started,),
    decisions.GateStarted: (batch_laws.check_gate_started,),
    decisions.GateEnding: (end_laws.check_gate_ending,),
    decisions.PublishStarted: (batch_laws.check_publish_started,),
    decisions.DeadlinesMoved: (end_laws.check_deadlines_moved,),
    decisions.PhaseOpened: (batch_laws.check_phase_opened,),
    decisions.BatchPaused: (batch_laws.check_batch_paused,),
    decisions.BatchUnpaused: (batch_laws.check_batch_unpaused,),
    decisions.BatchEnded: (batch_laws.check_batch_ended,),
    decisions.BreakerOpened: (start_laws.check_breaker_opened,),
    decisions.BreakerClosed: (start_laws.check_breaker_closed,),
    decisions.LimitRaised: (start_laws.check_limit_raised,),
}

FOLDS: Mapping[type, Law] = {
    event: fold
    for union, fold in (
        (requests.Request, request_folds.fold_request),
        (decisions.RequestDecision, request_folds.fold_answer),
        (decisions.AttemptDecision, attempt_folds.fold_attempt_decision),
        (decisions.TaskDecision, attempt_folds.fold_task_decision),
        (decisions.BranchDecision, batch_folds.fold_branch_decision),
        (decisions.LimitDecision, batch_folds.fold_limit_decision),
        (decisions.BatchDecision, batch_folds.fold_batch_decision),
        (reports.AttemptProgress, attempt_folds.fold_attempt_progress),
        (reports.AttemptEnd, attempt_folds.fold_attempt_end),
        (reports.CommitReport, attempt_folds.fold_commit_report),
        (reports.BranchReport, batch_folds.fold_branch_report),
        (reports.MachineReport, batch_folds.fold_machine_report),
    )
    for event in get_args(union)
}
# Events that can undo a need of a task, or end what the task had under way meanwhile.
MAY_UNSETTLE_NEEDS = frozenset(
    {
        decisions.RequestGranted,
        decisions.TaskEnded,
        decisions.StepPassed,
        decisions.RetryGranted,
        decisions.AnswerAwaited,
        decisions.TaskInterrupted,
        reports.RebuildDone,
        reports.MergeDone,
    }
)


class Auditor:
    """`contents` says which tasks' changes are in a commit; `expected` are the batches that must come and end."""

    def __init__(self, contents: CommitContents, expected: Collection[str] = ()) -> None:
        self.facts = Facts(contents)
        self.kinds: Counter[str] = Counter()
        self._expected = tuple(expected)
        self._last = 0

    def observe(self, record: Record) -> None:
        """Raise Violation if this record breaks a law."""
        event = record.event
        kind = type(event)
        self._remember(record)
        if record.seq != self._last + 1:
            raise self.facts.violation("order", f"record {record.seq} follows {self._last}")
        self._last = record.seq
        for law in LAWS.get(kind, ()):
            law(self.facts, record.at, event)
        if kind in FOLDS:
            FOLDS[kind](self.facts, record.at, event)
        if kind in MAY_UNSETTLE_NEEDS:
            for batch in self.facts.batches.values():
                restart_unmet(self.facts, batch)
        self.kinds[kind_of(event)] += 1

    def check_idle(self, at: float, wake: float | None, state: State) -> None:
        """The core decides nothing more until `wake`: raise if something is due, could start, or waits unsaid."""
        check_nothing_due(self.facts, at)
        check_no_starvation(self.facts)
        check_wake_time(self.facts, at, wake)
        check_wait_for_person(self.facts, state)
        check_work_time(self.facts, state)

    def fail_stuck(self, why: str) -> NoReturn:
        """The run is over, and not everything has ended."""
        left = {
            name: [task.spec.id for task in batch.tasks.values() if task.ended is None]
            for name, batch in self.facts.batches.items()
            if not batch.ended
        }
        raise self.facts.violation("stuck", f"{why}, and these have not ended: {left}")

    @property
    def is_finished(self) -> bool:
        batches = self.facts.batches
        return all(name in batches for name in self._expected) and all(
            batch.ended and batch.publishing is None for batch in batches.values()
        )

    def end_statuses(self) -> dict[tuple[str, str], TaskStatus | None]:
        """How every task ended, for comparing one run with another."""
        batches = self.facts.batches.values()
        return {(batch.id, name): task.status for batch in batches for name, task in batch.tasks.items()}

    def _remember(self, record: Record) -> None:
        for story in self._find_logs(record.event):
            story.append(record)

    def _find_logs(self, event: Event) -> list[deque[Record]]:
        """The logs that a record belongs to: its task's, else its batch's, and the log of the newest records."""
        about = getattr(event, "attempt", event)
        batch = self.facts.batches.get(getattr(about, "batch", ""))
        if batch is None:
            return [self.facts.recent_records]
        task = batch.tasks.get(getattr(about, "task", None) or "")
        return [batch.recent_records if task is None else task.recent_records]
