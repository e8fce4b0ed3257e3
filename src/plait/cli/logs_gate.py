"""`plait logs --gate`: what a batch's gates print."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from plait import wiring
from plait.core.errors import WorldError
from plait.core.explain import explain
from plait.core.state import BatchState, TaskState
from plait.front.desk import Desk
from plait.front.gates import choose_gate, deciding
from plait.front.names import find


def find_gate(desk: Desk, words: Sequence[str], number: int | None) -> tuple[BatchState, int]:
    """The newest gate of a batch, the one of this number, or the one that decided about a task."""
    meant = find(desk.ahead(), words)
    batch = meant.batch
    chosen = choose_gate(batch, number)
    if meant.tasks and number is None:
        return batch, _of_task(desk, batch, meant.tasks[0])
    return batch, chosen


def _of_task(desk: Desk, batch: BatchState, task: TaskState) -> int:
    with closing(wiring.journal_reader(desk.place)) as reader:
        found = deciding(reader.read(), batch.id, task.task.id)
    if found is None:
        raise WorldError(
            f"no gate has decided about {task.task.id}", hint=f"{explain(desk.ahead(), batch, task)}."
        )
    return found.order.n
