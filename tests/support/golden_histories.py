"""Golden histories: journals of earlier versions, each with its outcome. New code must read the same outcome from them.

`python -m tests.support.golden_histories FOLDER` writes new ones; old ones never change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from plait.core.events import Record
from plait.core.reducers import evolve
from plait.core.state import BatchState, State
from plait.core.views import TaskView, make_batch_view
from plait.store import codec

MAX_RECORDS = 450
SEEDS = range(400)
_EMPTY_VALUES: tuple[object, ...] = (None, "", False, 0, (), [], {}, {"microusd": 0, "tokens": 0})


class TaskEnd(msgspec.Struct, frozen=True, omit_defaults=True):
    status: str
    reason: str
    attempts: int
    tries: int
    microusd: int
    tokens: int
    winner: str = ""
    ballot: str = ""


class BatchEnd(msgspec.Struct, frozen=True, omit_defaults=True):
    status: str
    head: str
    tasks: dict[str, TaskEnd]
    shipped: str = ""
    pr_url: str = ""
    unshipped: str | None = None
    title: str = ""
    body: str = ""


def _summarize_ballot(task: TaskView) -> str:
    ballot = task.ballot
    if ballot is None:
        return ""
    votes = ", ".join(f"{vote.judge}: {vote.failure or vote.ranking[0]}" for vote in ballot.votes)
    return f"{ballot.result}: {votes}"


def replay(lines: Iterable[bytes]) -> State:
    state = State()
    for line in lines:
        evolve(state, codec.decode_record(line))
    return state


def summarize(state: State) -> dict[str, BatchEnd]:
    """The outcome of a history: small enough to read, with enough detail to show a change of meaning."""
    return {name: _summarize_batch(state, batch) for name, batch in state.batches.items()}


def _summarize_batch(state: State, batch: BatchState) -> BatchEnd:
    view = make_batch_view(state, batch)
    tasks = {
        task.id: TaskEnd(
            task.status.value,
            task.reason,
            task.attempt,
            kept.counted_retries,
            task.cost.microusd,
            task.cost.tokens,
            task.winner or "",
            _summarize_ballot(task),
        )
        for task, kept in zip(view.tasks, batch.tasks, strict=True)
    }
    said = batch.pull_request_override
    status = batch.ended or view.status  # as it was decided
    return BatchEnd(status.value, view.head, tasks, view.shipped, view.pr_url, view.unshipped, said.title, said.body)


def write_history(folder: Path, name: str, records: Iterable[Record]) -> None:
    # Decode once: an int in a float field becomes a float.
    lines = [codec.encode_record(codec.decode_record(codec.encode_record(record))) for record in records]
    (folder / f"{name}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    told = msgspec.json.format(msgspec.json.encode(summarize(replay(lines))), indent=1)
    (folder / f"{name}.outcome.json").write_bytes(told + b"\n")


def _choose_journals() -> dict[int, tuple[Record, ...]]:
    """Few storms that together hold every kind of event with every field; the one that adds most comes first."""
    from plait.testing.simulator.engine import simulate  # only for writing new ones
    from plait.testing.simulator.scenario import make_stormy

    journals = {seed: simulate(make_stormy(seed)).journal for seed in SEEDS}
    kinds = {seed: _find_used_fields(journal) for seed, journal in journals.items() if len(journal) <= MAX_RECORDS}
    missing, chosen = set[str]().union(*kinds.values()), dict[int, tuple[Record, ...]]()
    while missing and kinds:
        seed = max(kinds, key=lambda seed: (len(kinds[seed] & missing), -seed))
        if not kinds[seed] & missing:
            break
        chosen[seed] = journals[seed]
        missing -= kinds.pop(seed)
    return chosen


def _find_used_fields(journal: Iterable[Record]) -> set[str]:
    """The kinds of events, and their fields that have other values than the defaults."""
    found = set[str]()
    for event in (record.event for record in journal):
        told = msgspec.to_builtins(event)
        kind = codec.kind_of(event)
        found |= {kind, *(f"{kind}.{name}" for name, value in told.items() if value not in _EMPTY_VALUES)}
    return found


def main(folder: str) -> None:
    for seed, journal in _choose_journals().items():
        write_history(Path(folder), f"v{codec.VERSION}-storm-{seed}", journal)


if __name__ == "__main__":
    main(sys.argv[1])
