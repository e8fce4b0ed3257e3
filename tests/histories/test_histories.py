"""Journals of earlier versions replay to the same outcome."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from plait.core.decisions import AttemptStarted, PublishStarted
from plait.store import codec
from tests.support.golden_histories import BatchEnd, replay, summarize

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.jsonl"))


def read_lines(name: str) -> list[bytes]:
    return (HERE / f"{name}.jsonl").read_bytes().splitlines()


def read_outcome(name: str) -> dict[str, BatchEnd]:
    return msgspec.json.decode((HERE / f"{name}.outcome.json").read_bytes(), type=dict[str, BatchEnd])


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_history_replays_to_the_same_outcome(name: str) -> None:
    assert summarize(replay(read_lines(name))) == read_outcome(name)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(f"v{codec.VERSION}-")])
def test_this_version_encodes_records_unchanged(name: str) -> None:
    assert [codec.encode_record(codec.decode_record(line)) for line in read_lines(name)] == read_lines(name)


def test_saved_settings_are_replayed() -> None:
    assert replay(read_lines("v6-storm-395")).saved == {"agent": '"make"'}


def test_titles_and_bodies_of_pull_requests_are_replayed() -> None:
    newer = [name for name in NAMES if name.startswith("v7-")]
    assert {end.title for name in newer for end in read_outcome(name).values()} >= {"", "Walls and a roof"}
    events = [codec.decode_record(line).event for name in newer for line in read_lines(name)]
    orders = [event for event in events if isinstance(event, PublishStarted)]
    assert {order.body for order in orders} >= {"", "As was agreed."}
    assert {order.renamed for order in orders} == {True, False}


def test_the_histories_hold_every_kind_of_event() -> None:
    seen = {codec.kind_of(codec.decode_record(line).event) for name in NAMES for line in read_lines(name)}
    assert seen == set(codec.EVENT_TYPES)


@pytest.mark.parametrize(
    "kind", ["task-ended", "retry-granted", "merge-done", "attempt-exited", "publish-done", "ship"]
)
def test_leaving_out_a_kind_of_record_changes_the_outcome(kind: str) -> None:
    """A history without one of its facts comes to something else: the comparison above is able to fail."""

    def shows(name: str) -> bool:
        without = [line for line in read_lines(name) if codec.kind_of(codec.decode_record(line).event) != kind]
        return summarize(replay(without)) != read_outcome(name)

    assert any(shows(name) for name in NAMES)


def test_votes_of_judges_are_replayed() -> None:
    newer = [name for name in NAMES if name.startswith("v9-")]
    ballots = {
        task.ballot.partition(":")[0]
        for name in newer
        for end in read_outcome(name).values()
        for task in end.tasks.values()
    }
    assert ballots >= {"", "majority", "all_rejected"}
    orders = [codec.decode_record(line).event for name in newer for line in read_lines(name)]
    assert any(order.votes for order in orders if isinstance(order, AttemptStarted))
