"""The laws, by the kind of record that could break them. Each reads the book as it was before the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from plait.core import decisions, requests
from plait.testing.laws import (
    batch_laws,
    batch_laws__line,
    batch_laws__publish,
    end_laws,
    end_laws__deadlines,
    end_laws__endings,
    start_laws,
    start_laws__limits,
    start_laws__providers,
)
from plait.testing.laws.facts__book import Facts
from plait.testing.laws.idle_laws__idle import check_start_order
from plait.testing.laws.request_laws import (
    check_request_arrived,
    check_request_granted,
    check_request_refused,
)

# Any: each law takes its own event; the table gives it nothing else.
Law = Callable[[Facts, float, Any], None]

LAWS: Mapping[type, tuple[Law, ...]] = {
    **dict.fromkeys(get_args(requests.Request), (check_request_arrived,)),
    decisions.RequestGranted: (check_request_granted,),
    decisions.RequestRefused: (check_request_refused,),
    decisions.AttemptStarted: (
        start_laws.check_attempt_start,
        start_laws__limits.check_slots,
        start_laws__limits.check_capacity,
        start_laws__limits.check_agent_limit,
        start_laws__limits.check_timeouts,
        start_laws__limits.check_locks,
        start_laws__limits.check_provider_limit,
        start_laws__limits.check_budget,
        check_start_order,
    ),
    decisions.AttemptEnding: (end_laws__deadlines.check_attempt_ending,),
    decisions.StepPassed: (end_laws.check_step_passed,),
    decisions.RetryGranted: (end_laws.check_retry_granted,),
    decisions.BackoffEnded: (end_laws.check_backoff_ended,),
    decisions.AnswerAwaited: (end_laws.check_answer_awaited,),
    decisions.TaskInterrupted: (end_laws.check_task_interrupted,),
    decisions.TaskEnded: (end_laws__endings.check_task_ended,),
    decisions.BatchHalted: (end_laws__endings.check_batch_halted,),
    decisions.MergeStarted: (batch_laws__line.check_merge_started,),
    decisions.RebuildStarted: (batch_laws__line.check_rebuild_started,),
    decisions.GateStarted: (batch_laws__line.check_gate_started,),
    decisions.GateEnding: (end_laws__deadlines.check_gate_ending,),
    decisions.PublishStarted: (batch_laws__publish.check_publish_started,),
    decisions.DeadlinesMoved: (end_laws__deadlines.check_deadlines_moved,),
    decisions.PhaseOpened: (batch_laws.check_phase_opened,),
    decisions.BatchPaused: (batch_laws.check_batch_paused,),
    decisions.BatchUnpaused: (batch_laws.check_batch_unpaused,),
    decisions.BatchEnded: (batch_laws.check_batch_ended,),
    decisions.BreakerOpened: (start_laws__providers.check_breaker_opened,),
    decisions.BreakerClosed: (start_laws__providers.check_breaker_closed,),
    decisions.LimitRaised: (start_laws__providers.check_limit_raised,),
}
