"""The graph of a batch as programs see it: its tasks with where they stand, and every edge with its reason."""

from __future__ import annotations

from plait.core.explain import standing
from plait.core.shape import conflicts, critical_path, edges, waves
from plait.core.state import BatchState, State, TaskState

Json = dict[str, object]


def graph_json(state: State, batch: BatchState) -> Json:
    """An edge leads from the task that is needed to the one that needs it."""
    plan = batch.plan
    levels = waves(plan)
    wave = {name: number for number, ids in enumerate(levels, 1) for name in ids}
    return {
        "batchId": batch.id,
        "nodes": [_node(state, batch, task, wave[task.task.id]) for task in batch.tasks],
        "edges": [
            {
                "from": need.on,
                "to": task.id,
                "kind": need.kind.value,
                "reason": need.reason,
                "at": str(need.at) if need.at else None,
            }
            for task, need in edges(plan)
        ],
        "waves": levels,
        "criticalPath": critical_path(plan),
        "conflicts": [{"file": shared.file, "tasks": shared.tasks} for shared in conflicts(plan)],
    }


def _node(state: State, batch: BatchState, task: TaskState, wave: int) -> Json:
    stands = standing(state, batch, task)
    return {
        "taskId": task.task.id,
        "title": task.task.title,
        "status": stands.status.value,
        "reason": stands.reason,
        "waiting": stands.on.value if stands.on else None,
        "wave": wave,
        "phase": task.task.phase,
        "weight": task.task.weight,
        "rank": batch.plan.ranks[task.place],
        "touches": task.task.touches,
        "entrantOf": task.task.entrant,
    }
