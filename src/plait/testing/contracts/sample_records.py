"""Simple records, all different, and a strategy for random events."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, settings, strategies as st

from plait.core.decisions import TaskEnded
from plait.core.events import Event, Record
from plait.core.reports import AttemptActive, EngineTaken
from plait.core.requests import Feedback, Pause, Request
from plait.core.status import TaskStatus
from plait.core.task import Attempt, Step


def number_records(facts: Sequence[tuple[float, Event]], after: int = 0) -> list[Record]:
    return [Record(seq, at, event) for seq, (at, event) in enumerate(facts, after + 1)]


def make_records(first: int, last: int) -> list[Record]:
    """Make the records from `first` to `last`, both included. A record's content follows from its seq."""
    return [Record(seq, seq / 8, EngineTaken(seq, "host")) for seq in range(first, last + 1)]


# Few examples, each of which may write to a disk.
FEW_EXAMPLES = settings(max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck))
_texts = st.text(max_size=20)
_attempts = st.builds(Attempt, _texts, _texts, st.sampled_from(Step), st.integers(1, 9))
requests: st.SearchStrategy[Request] = st.one_of(
    st.builds(Pause, id=_texts, batch=_texts),
    st.builds(Feedback, id=_texts, batch=_texts, task=_texts, text=st.text(max_size=500)),
)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(EngineTaken, st.integers(0, 2**53), _texts, _texts),
    st.builds(AttemptActive, _attempts),
    st.builds(TaskEnded, _texts, _texts, st.sampled_from(TaskStatus), st.text(max_size=5_000)),
    requests,
)
times = st.floats(allow_nan=False)
facts = st.tuples(times, events)
