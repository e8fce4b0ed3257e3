"""Journals of earlier days fold to what they came to then."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from plait.core.decisions import PublishStarted
from plait.store import codec
from tests.support.golden_histories import BatchEnd, replay, summarize

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.jsonl"))


def lines(name: str) -> list[bytes]:
    return (HERE / f"{name}.jsonl").read_bytes().splitlines()


def told(name: str) -> dict[str, BatchEnd]:
    return msgspec.json.decode((HERE / f"{name}.outcome.json").read_bytes(), type=dict[str, BatchEnd])


@pytest.mark.parametrize("name", NAMES)
def test_a_history_comes_to_the_same(name: str) -> None:
    assert summarize(replay(lines(name))) == told(name)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(f"v{codec.VERSION}-")])
def test_this_version_writes_what_it_wrote(name: str) -> None:
    assert [codec.encode_record(codec.decode_record(line)) for line in lines(name)] == lines(name)


def test_what_was_saved_is_saved() -> None:
    assert replay(lines("v6-storm-395")).saved == {"agent": '"make"'}


def test_what_a_person_said_of_a_pull_request_is_known() -> None:
    newer = [name for name in NAMES if name.startswith("v7-")]
    assert {end.title for name in newer for end in told(name).values()} >= {"", "Walls and a roof"}
    events = [codec.decode_record(line).event for name in newer for line in lines(name)]
    orders = [event for event in events if isinstance(event, PublishStarted)]
    assert {order.body for order in orders} >= {"", "As was agreed."}
    assert {order.renamed for order in orders} == {True, False}


def test_the_histories_hold_every_kind_of_event() -> None:
    seen = {codec.kind_of(codec.decode_record(line).event) for name in NAMES for line in lines(name)}
    assert seen == set(codec.EVENT_TYPES)


@pytest.mark.parametrize(
    "kind", ["task-ended", "retry-granted", "merge-done", "attempt-exited", "publish-done", "ship"]
)
def test_a_change_of_meaning_would_show(kind: str) -> None:
    """A history without one of its facts comes to something else: the comparison above is able to fail."""

    def shows(name: str) -> bool:
        without = [line for line in lines(name) if codec.kind_of(codec.decode_record(line).event) != kind]
        return summarize(replay(without)) != told(name)

    assert any(shows(name) for name in NAMES)
