"""Which records change the book, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from plait.core import decisions, reports, requests
from plait.testing.laws import (
    attempt_folds,
    batch_folds,
    batch_folds__limits,
    batch_folds__publish,
    request_folds,
)
from plait.testing.laws.facts__book import Book

# Any: each fold takes its own event; the tables give it nothing else.
Fold = Callable[[Book, Any], None]
TimedFold = Callable[[Book, float, Any], None]

FOLDS: Mapping[type, Fold] = {
    **dict.fromkeys(get_args(requests.Request), request_folds.arrived),
    decisions.RequestGranted: request_folds.granted,
    decisions.RequestRefused: request_folds.refused,
    decisions.AttemptEnding: attempt_folds.ending,
    decisions.StepPassed: attempt_folds.passed,
    decisions.RetryGranted: attempt_folds.granted,
    decisions.BackoffEnded: attempt_folds.backoff_ended,
    decisions.AnswerAwaited: attempt_folds.awaited,
    decisions.TaskInterrupted: attempt_folds.interrupted,
    decisions.TaskEnded: attempt_folds.ended,
    decisions.MergeStarted: batch_folds.merge_started,
    decisions.RebuildStarted: batch_folds.rebuild_started,
    decisions.GateEnding: batch_folds.gate_ending,
    decisions.PublishStarted: batch_folds__publish.started,
    decisions.BreakerClosed: batch_folds__limits.breaker_closed,
    decisions.LimitRaised: batch_folds__limits.limit_raised,
    decisions.DeadlinesMoved: batch_folds__limits.moved,
    decisions.PhaseOpened: batch_folds__limits.phase_opened,
    decisions.BatchPaused: batch_folds__limits.paused,
    decisions.BatchUnpaused: batch_folds__limits.unpaused,
    decisions.BatchHalted: batch_folds__limits.halted,
    decisions.BatchEnded: batch_folds__limits.batch_ended,
    reports.GateDone: batch_folds.gate_over,
    reports.GateLost: batch_folds.gate_over,
    reports.PublishDone: batch_folds__publish.over,
    reports.PublishFailed: batch_folds__publish.over,
    reports.PressureChanged: batch_folds__limits.pressure,
    reports.CapacityChanged: batch_folds__limits.room,
    reports.EngineTaken: batch_folds__limits.taken,
    reports.ClockJumped: batch_folds__limits.jumped,
}

TIMED_FOLDS: Mapping[type, TimedFold] = {
    decisions.AttemptStarted: attempt_folds.started,
    decisions.GateStarted: batch_folds.gate_started,
    decisions.BreakerOpened: batch_folds__limits.breaker_opened,
    reports.RateLimited: batch_folds__limits.rate_limited,
    **dict.fromkeys(get_args(reports.AttemptProgress), attempt_folds.signed),
    **dict.fromkeys(get_args(reports.AttemptEnd), attempt_folds.over),
    reports.MergeDone: batch_folds.merge_over,
    reports.MergeConflicted: batch_folds.merge_over,
    reports.MergeFailed: batch_folds.merge_over,
    reports.RebuildDone: batch_folds.rebuild_over,
    reports.RebuildFailed: batch_folds.rebuild_over,
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
