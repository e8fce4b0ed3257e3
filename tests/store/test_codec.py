"""What was written once is read for ever; what is newer or no record at all is refused, never guessed at."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from plait.core.decisions import AttemptStarted, Change, PublishStarted, RetryGranted, TaskEnded
from plait.core.events import Event, Record
from plait.core.plan import Plan
from plait.core.reports import AttemptExited, CapacityChanged, ConflictPredicted, Outcome
from plait.core.requests import Pause, SaveSettings, Ship, Submit
from plait.core.settings import Backoff, Budget, Publish, Settings, Spend
from plait.core.status import Category, TaskStatus, WaitReason
from plait.core.task import Attempt, Need, NeedKind, Origin, Phase, Step, Task
from plait.store import codec
from plait.store.codec import Json, NewerFormatError, UnreadableEventError

TASK = Task(
    "a",
    "Ä title",
    needs=(Need("b", NeedKind.CHAIN, "said so", Origin("TODO.md", 3)),),
    touches=("src/x.py",),
    phase="one",
    estimate=1.5,
    env=(("K", "V"),),
)
EVENTS: list[Event] = [
    Submit(
        "r",
        "b1",
        Plan((TASK,), ((),), (("file:src/x.py",),), (2.5,), (Phase("one", total=1),)),
        Settings(budget=Budget(5), reserve=Spend(1, 2), backoff=Backoff(1, 2, 3, 0)),
        seed=7,
    ),
    AttemptExited(Attempt("b1", "a", Step.WRITE, 2), Outcome(Category.RATE_LIMIT, retry_after=0.1, files=("x",))),
    CapacityChanged(2, "2 of your 4 slots are taken by another engine", WaitReason.SLOT),
    RetryGranted("b1", "a", Step.WRITE, 1800000000.123456, Category.NETWORK, "why", counted=True),
    TaskEnded("b1", "a", TaskStatus.DONE, "merged"),
    Ship("r", "b1", Publish.DRAFT),
    Ship("r", "b1", Publish.PR, "Wände & Dach", ""),
    PublishStarted("b1", 2, "c0ffee", Publish.PR, title="Wände", body="As\nagreed", renamed=True),
    PublishStarted("b1", 2, "c0ffee", Publish.PR, expected="0ld"),
    AttemptStarted(Attempt("b1", "a", Step.WRITE, 2), "shell", "shell", 60.0, 6.0, repairs=Change("a", "base", "tip")),
    AttemptExited(Attempt("b1", "a", Step.WRITE, 2), Outcome(Category.OK, tip="t", diffstat=(1, 20, 3))),
    ConflictPredicted("b1", "a", "", ("x.py",)),
    SaveSettings("r", (("verify", '"make"'), ("gate", None))),
]


@pytest.mark.parametrize("event", EVENTS, ids=codec.kind_of)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    assert codec.decode_event(codec.kind_of(event), codec.encode_event(event)) == event


@given(st.integers(1, 2**53), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(EVENTS))
def test_a_record_comes_back_as_it_was(seq: int, at: float, event: Event) -> None:
    record = Record(seq, at, event)
    assert codec.decode_record(codec.encode_record(record)) == record


def test_every_event_type_has_its_own_name() -> None:
    assert len(set(codec.EVENT_TYPES.values())) == len(codec.EVENT_TYPES)


def test_a_newer_format_is_refused() -> None:
    newer = codec.VERSION + 1
    told = rf"written by a newer plait \(record format {newer}; this one knows {codec.VERSION}\)"
    with pytest.raises(NewerFormatError, match=told) as caught:
        codec.decode_event("pause", b'{"id":"r","batch":"b"}', version=newer)
    assert caught.value.hint == "upgrade plait, or use the version that wrote it"


@given(
    st.sampled_from(sorted(codec.EVENT_TYPES)) | st.text(),
    st.binary() | st.from_type(dict[str, int]).map(lambda d: json.dumps(d).encode()),
)
def test_no_bytes_raise_anything_else(kind: str, data: bytes) -> None:
    try:
        codec.decode_event(kind, data)
    except UnreadableEventError as error:
        assert "kind" in error.message  # noqa: PT017 - either is right, and nothing else


@given(st.binary())
def test_no_line_raises_anything_else(line: bytes) -> None:
    with pytest.raises(UnreadableEventError):
        codec.decode_record(line)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(UnreadableEventError):
        codec.decode_event("submit", b"[" * 200_000)


def test_a_field_added_later_has_its_default_in_old_records() -> None:
    event = codec.decode_event("task-ended", b'{"batch":"b","task":"a","status":"done","reason":"merged"}')
    assert event == TaskEnded("b", "a", TaskStatus.DONE, "merged")


def test_old_versions_are_upcast_step_by_step() -> None:
    def to_two(kind: str, shape: Json) -> tuple[str, Json]:
        return kind, {"batch": shape.pop("run"), **shape}

    def to_three(kind: str, shape: Json) -> tuple[str, Json]:
        return {"halt": "pause"}.get(kind, kind), shape

    lifted = codec.decode_event("halt", b'{"id":"r","run":"b"}', 1, upcasters={1: to_two, 2: to_three}, newest=3)
    assert lifted == Pause("r", "b")


def test_an_old_exit_record_has_no_peak_memory() -> None:
    old = b'{"attempt":{"batch":"b","task":"a","step":"write","n":1},"outcome":{"category":"ok","exit_code":0}}'
    exited = codec.decode_event("attempt-exited", old, 2)
    assert exited == AttemptExited(Attempt("b", "a", Step.WRITE, 1), Outcome(Category.OK, 0, peak=0))


def test_every_older_version_has_an_upcaster() -> None:
    assert sorted(codec.UPCASTERS) == list(range(1, codec.VERSION))


def test_the_plan_in_the_journal_has_nothing_that_only_agents_read() -> None:
    task = Task("a", body="the secret is 1234", run="rm -rf /", env=(("TOKEN", "5678"),))
    plan = Plan((task,), ((),), ((),), (1.0,)).without_texts()
    written = codec.encode_event(Submit("r", "b", plan, Settings()))
    assert not any(secret in written for secret in (b"1234", b"rm -rf", b"5678"))


def test_an_old_publish_record_has_no_title_override() -> None:
    old = b'{"id":"r","batch":"b","publish":"pr"}'
    assert codec.decode_event("ship", old, 6) == Ship("r", "b", Publish.PR, title=None, body=None)
    old = b'{"batch":"b","n":1,"commit":"c","publish":"pr","expected":""}'
    assert codec.decode_event("publish-started", old, 6) == PublishStarted("b", 1, "c", Publish.PR)
