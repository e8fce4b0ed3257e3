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
from plait.testing.laws.facts__book import Book
from plait.testing.laws.idle_laws__idle import in_order
from plait.testing.laws.request_laws import arrived, granted, refused

# Any: each law takes its own event; the table gives it nothing else.
Law = Callable[[Book, float, Any], None]

LAWS: Mapping[type, tuple[Law, ...]] = {
    **dict.fromkeys(get_args(requests.Request), (arrived,)),
    decisions.RequestGranted: (granted,),
    decisions.RequestRefused: (refused,),
    decisions.AttemptStarted: (
        start_laws.may_start,
        start_laws__limits.within_slots,
        start_laws__limits.within_room,
        start_laws__limits.within_agents,
        start_laws__limits.within_timeouts,
        start_laws__limits.within_holds,
        start_laws__limits.within_provider,
        start_laws__limits.within_budget,
        in_order,
    ),
    decisions.AttemptEnding: (end_laws__deadlines.ending,),
    decisions.StepPassed: (end_laws.passed,),
    decisions.RetryGranted: (end_laws.granted,),
    decisions.BackoffEnded: (end_laws.backoff_ended,),
    decisions.AnswerAwaited: (end_laws.awaited,),
    decisions.TaskInterrupted: (end_laws.interrupted,),
    decisions.TaskEnded: (end_laws__endings.ended,),
    decisions.BatchHalted: (end_laws__endings.halted,),
    decisions.MergeStarted: (batch_laws__line.merge_started,),
    decisions.RebuildStarted: (batch_laws__line.rebuild_started,),
    decisions.GateStarted: (batch_laws__line.gate_started,),
    decisions.GateEnding: (end_laws__deadlines.gate_ending,),
    decisions.PublishStarted: (batch_laws__publish.started,),
    decisions.DeadlinesMoved: (end_laws__deadlines.moved,),
    decisions.PhaseOpened: (batch_laws.phase_opened,),
    decisions.BatchPaused: (batch_laws.paused,),
    decisions.BatchUnpaused: (batch_laws.unpaused,),
    decisions.BatchEnded: (batch_laws.ended,),
    decisions.BreakerOpened: (start_laws__providers.breaker_opened,),
    decisions.BreakerClosed: (start_laws__providers.breaker_closed,),
    decisions.LimitRaised: (start_laws__providers.limit_raised,),
}
