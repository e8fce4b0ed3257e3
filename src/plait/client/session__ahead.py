"""What is asked for and not taken yet, shown as if it were: a batch is there as soon as its request is durable."""

from __future__ import annotations

import time
from collections.abc import Sequence

from plait.core.decisions import RequestGranted
from plait.core.events import Event, Record
from plait.core.reducers.dispatch import evolve
from plait.core.requests import Request, Submit
from plait.core.state import State


def with_pending_submits(state: State, pending: Sequence[Request]) -> State:
    """The state itself where there is nothing to add; else a twin of it."""
    submits = [request for request in pending if isinstance(request, Submit)]
    if not submits:
        return state
    from plait.core.scheduler.request_answers__answer_submit import why_not_submit  # noqa: PLC0415 - seldom needed
    from plait.core.state__fork import copy_state  # noqa: PLC0415

    twin = copy_state(state)
    for submit in submits:
        if why_not_submit(twin, submit) is None:
            _append_event(twin, submit)
            _append_event(twin, RequestGranted(submit.id))
    return twin


def _append_event(twin: State, event: Event) -> None:
    evolve(twin, Record(twin.seq + 1, time.time(), event))
