"""`plait logs --gate`: what a batch's gates print."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from plait.client.batch_lookup import find_batch_and_tasks
from plait.client.history import choose_gate, find_deciding_gate
from plait.client.session import Session
from plait.core.errors import WorldError
from plait.core.explain import explain_in_words
from plait.core.state import BatchState, TaskState
from plait.store import project_files


def find_gate(desk: Session, words: Sequence[str], number: int | None) -> tuple[BatchState, int]:
    """The newest gate of a batch, the one of this number, or the one that decided about a task."""
    target = find_batch_and_tasks(desk.preview_state(), words)
    batch = target.batch
    chosen = choose_gate(batch, number)
    if target.tasks and number is None:
        return batch, _find_deciding_gate(desk, batch, target.tasks[0])
    return batch, chosen


def _find_deciding_gate(desk: Session, batch: BatchState, task: TaskState) -> int:
    with closing(project_files.open_project_journal(desk.place)) as reader:
        found = find_deciding_gate(reader.read(), batch.id, task.task.id)
    if found is None:
        raise WorldError(
            f"no gate has decided about {task.task.id}",
            hint=f"{explain_in_words(desk.preview_state(), batch, task)}.",
        )
    return found.decision.n
