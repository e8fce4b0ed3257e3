"""Which records change the book, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from plait.core import decisions, reports, requests
from plait.testing.audit.book import Book, attempts, limits, line, people, publish

# Any: each fold takes its own event; the tables give it nothing else.
Fold = Callable[[Book, Any], None]
TimedFold = Callable[[Book, float, Any], None]

FOLDS: Mapping[type, Fold] = {
    **dict.fromkeys(get_args(requests.Request), people.arrived),
    decisions.RequestGranted: people.granted,
    decisions.RequestRefused: people.refused,
    decisions.AttemptEnding: attempts.ending,
    decisions.StepPassed: attempts.passed,
    decisions.RetryGranted: attempts.granted,
    decisions.BackoffEnded: attempts.backoff_ended,
    decisions.AnswerAwaited: attempts.awaited,
    decisions.TaskInterrupted: attempts.interrupted,
    decisions.TaskEnded: attempts.ended,
    decisions.MergeStarted: line.merge_started,
    decisions.RebuildStarted: line.rebuild_started,
    decisions.GateEnding: line.gate_ending,
    decisions.PublishStarted: publish.started,
    decisions.BreakerClosed: limits.breaker_closed,
    decisions.LimitRaised: limits.limit_raised,
    decisions.DeadlinesMoved: limits.moved,
    decisions.PhaseOpened: limits.phase_opened,
    decisions.BatchPaused: limits.paused,
    decisions.BatchUnpaused: limits.unpaused,
    decisions.BatchHalted: limits.halted,
    decisions.BatchEnded: limits.batch_ended,
    reports.GateDone: line.gate_over,
    reports.GateLost: line.gate_over,
    reports.PublishDone: publish.over,
    reports.PublishFailed: publish.over,
    reports.PressureChanged: limits.pressure,
    reports.CapacityChanged: limits.room,
    reports.EngineTaken: limits.taken,
    reports.ClockJumped: limits.jumped,
}

TIMED_FOLDS: Mapping[type, TimedFold] = {
    decisions.AttemptStarted: attempts.started,
    decisions.GateStarted: line.gate_started,
    decisions.BreakerOpened: limits.breaker_opened,
    reports.RateLimited: limits.rate_limited,
    **dict.fromkeys(get_args(reports.AttemptProgress), attempts.signed),
    **dict.fromkeys(get_args(reports.AttemptEnd), attempts.over),
    reports.MergeDone: line.merge_over,
    reports.MergeConflicted: line.merge_over,
    reports.MergeFailed: line.merge_over,
    reports.RebuildDone: line.rebuild_over,
    reports.RebuildFailed: line.rebuild_over,
}

# What can take a need away from a task, or end what the task had under way while it has lost one.
UNSETTLING = frozenset(
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
