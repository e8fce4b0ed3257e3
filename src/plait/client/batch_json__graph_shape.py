"""The graph of a batch as programs see it: its tasks with where they stand, and every edge with its reason."""

from __future__ import annotations

from plait.core.explain import explain_status
from plait.core.graph__shape import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.state import BatchState, State, TaskState

GraphJson = dict[str, object]


def graph_json(state: State, batch: BatchState) -> GraphJson:
    """An edge leads from the task that is needed to the one that needs it."""
    plan = batch.plan
    levels = group_waves(plan)
    wave = {name: number for number, ids in enumerate(levels, 1) for name in ids}
    return {
        "batchId": batch.id,
        "nodes": [_node_json(state, batch, task, wave[task.task.id]) for task in batch.tasks],
        "edges": [
            {
                "from": need.on,
                "to": task.id,
                "kind": need.kind.value,
                "reason": need.reason,
                "at": str(need.at) if need.at else None,
            }
            for task, need in list_edges(plan)
        ],
        "waves": levels,
        "criticalPath": find_critical_path(plan),
        "conflicts": [{"file": shared.file, "tasks": shared.tasks} for shared in find_file_conflicts(plan)],
    }


def _node_json(state: State, batch: BatchState, task: TaskState, wave: int) -> GraphJson:
    stands = explain_status(state, batch, task)
    return {
        "taskId": task.task.id,
        "title": task.task.title,
        "status": stands.status.value,
        "reason": stands.reason,
        "waiting": stands.waiting.value if stands.waiting else None,
        "wave": wave,
        "phase": task.task.phase,
        "weight": task.task.weight,
        "rank": batch.plan.ranks[task.place],
        "touches": task.task.touches,
        "entrantOf": task.task.entrant,
    }
