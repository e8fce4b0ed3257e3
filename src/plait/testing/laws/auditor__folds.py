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
from plait.testing.laws.facts__book import Facts

# Any: each fold takes its own event; the tables give it nothing else.
Fold = Callable[[Facts, Any], None]
TimedFold = Callable[[Facts, float, Any], None]

FOLDS: Mapping[type, Fold] = {
    **dict.fromkeys(get_args(requests.Request), request_folds.fold_request_arrived),
    decisions.RequestGranted: request_folds.fold_request_granted,
    decisions.RequestRefused: request_folds.fold_request_refused,
    decisions.AttemptEnding: attempt_folds.fold_attempt_ending,
    decisions.StepPassed: attempt_folds.fold_step_passed,
    decisions.RetryGranted: attempt_folds.fold_retry_granted,
    decisions.BackoffEnded: attempt_folds.fold_backoff_ended,
    decisions.AnswerAwaited: attempt_folds.fold_answer_awaited,
    decisions.TaskInterrupted: attempt_folds.fold_task_interrupted,
    decisions.TaskEnded: attempt_folds.fold_task_ended,
    decisions.MergeStarted: batch_folds.fold_merge_started,
    decisions.RebuildStarted: batch_folds.fold_rebuild_started,
    decisions.GateEnding: batch_folds.fold_gate_ending,
    decisions.PublishStarted: batch_folds__publish.fold_publish_started,
    decisions.BreakerClosed: batch_folds__limits.fold_breaker_closed,
    decisions.LimitRaised: batch_folds__limits.fold_limit_raised,
    decisions.DeadlinesMoved: batch_folds__limits.fold_deadlines_moved,
    decisions.PhaseOpened: batch_folds__limits.fold_phase_opened,
    decisions.BatchPaused: batch_folds__limits.fold_batch_paused,
    decisions.BatchUnpaused: batch_folds__limits.fold_batch_unpaused,
    decisions.BatchHalted: batch_folds__limits.fold_batch_halted,
    decisions.BatchEnded: batch_folds__limits.fold_batch_ended,
    reports.GateDone: batch_folds.fold_gate_over,
    reports.GateLost: batch_folds.fold_gate_over,
    reports.PublishDone: batch_folds__publish.fold_publish_over,
    reports.PublishFailed: batch_folds__publish.fold_publish_over,
    reports.PressureChanged: batch_folds__limits.fold_pressure_changed,
    reports.CapacityChanged: batch_folds__limits.fold_room_changed,
    reports.EngineTaken: batch_folds__limits.fold_engine_taken,
    reports.ClockJumped: batch_folds__limits.fold_clock_jumped,
}

TIMED_FOLDS: Mapping[type, TimedFold] = {
    decisions.AttemptStarted: attempt_folds.fold_attempt_started,
    decisions.GateStarted: batch_folds.fold_gate_started,
    decisions.BreakerOpened: batch_folds__limits.fold_breaker_opened,
    reports.RateLimited: batch_folds__limits.fold_rate_limited,
    **dict.fromkeys(get_args(reports.AttemptProgress), attempt_folds.fold_attempt_sign),
    **dict.fromkeys(get_args(reports.AttemptEnd), attempt_folds.fold_attempt_over),
    reports.MergeDone: batch_folds.fold_merge_over,
    reports.MergeConflicted: batch_folds.fold_merge_over,
    reports.MergeFailed: batch_folds.fold_merge_over,
    reports.RebuildDone: batch_folds.fold_rebuild_over,
    reports.RebuildFailed: batch_folds.fold_rebuild_over,
}

# What can take a need away from a task, or end what the task had under way while it has lost one.
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
