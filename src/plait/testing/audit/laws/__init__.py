"""The laws, by the kind of record that could break them. Each reads the book as it was before the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from plait.core import decisions, requests
from plait.testing.audit.book import Book
from plait.testing.audit.idle import in_order
from plait.testing.audit.laws import (
    batches,
    deadlines,
    endings,
    limits,
    line,
    providers,
    publish,
    retries,
    starts,
)
from plait.testing.audit.laws.requests import arrived, granted, refused

# Any: each law takes its own event; the table gives it nothing else.
Law = Callable[[Book, float, Any], None]

LAWS: Mapping[type, tuple[Law, ...]] = {
    **dict.fromkeys(get_args(requests.Request), (arrived,)),
    decisions.RequestGranted: (granted,),
    decisions.RequestRefused: (refused,),
    decisions.AttemptStarted: (
        starts.may_start,
        limits.within_slots,
        limits.within_room,
        limits.within_agents,
        limits.within_timeouts,
        limits.within_holds,
        limits.within_provider,
        limits.within_budget,
        in_order,
    ),
    decisions.AttemptEnding: (deadlines.ending,),
    decisions.StepPassed: (retries.passed,),
    decisions.RetryGranted: (retries.granted,),
    decisions.BackoffEnded: (retries.backoff_ended,),
    decisions.AnswerAwaited: (retries.awaited,),
    decisions.TaskInterrupted: (retries.interrupted,),
    decisions.TaskEnded: (endings.ended,),
    decisions.BatchHalted: (endings.halted,),
    decisions.MergeStarted: (line.merge_started,),
    decisions.RebuildStarted: (line.rebuild_started,),
    decisions.GateStarted: (line.gate_started,),
    decisions.GateEnding: (deadlines.gate_ending,),
    decisions.PublishStarted: (publish.started,),
    decisions.DeadlinesMoved: (deadlines.moved,),
    decisions.PhaseOpened: (batches.phase_opened,),
    decisions.BatchPaused: (batches.paused,),
    decisions.BatchUnpaused: (batches.unpaused,),
    decisions.BatchEnded: (batches.ended,),
    decisions.BreakerOpened: (providers.breaker_opened,),
    decisions.BreakerClosed: (providers.breaker_closed,),
    decisions.LimitRaised: (providers.limit_raised,),
}
