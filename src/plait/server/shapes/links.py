"""Links of OpenAPI: which operations what one answers is good for. Programs that explore the interface follow them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# OpenAPI's own shape, which has no type.
Links = dict[str, dict[str, Any]]

_OF_BATCH = (
    "getBatch",
    "getStanding",
    "getGraph",
    "getTimeline",
    "getBatchDiff",
    "getPullRequestText",
    "approveBatch",
    "pauseBatch",
    "unpauseBatch",
    "cancelBatch",
    "retryBatch",
    "resumeBatch",
    "publishBatch",
)
_OF_TASK = (
    "getLog",
    "getTaskDiff",
    "explainTask",
    "getConflict",
    "cancelTask",
    "retryTask",
    "dropTask",
    "approveTask",
    "giveFeedback",
)


def _to(operations: tuple[str, ...], parameters: Mapping[str, str]) -> Links:
    found = {name: f"$response.body#/{place}" for name, place in parameters.items()}
    return {name: {"operationId": name, "parameters": found} for name in operations}


OF_BATCH = _to(_OF_BATCH, {"path.batch_id": "id"}) | _to(
    _OF_TASK, {"path.batch_id": "id", "path.task_id": "tasks/0/taskId"}
)
OF_BATCHES = _to(_OF_BATCH, {"path.batch_id": "batches/0/id"})
OF_SOURCES = _to(("getTask",), {"path.task_id": "tasks/0/id"}) | {
    name: {
        "operationId": name,
        "requestBody": {"taskIds": ["$response.body#/tasks/0/id"]},
    }
    for name in ("plan", "createBatch")
}
OF_SOURCE_TASK = _to(("getTask", "editTask"), {"path.task_id": "id"})
OF_PROJECT = _to(("removeProject",), {"path.project_id": "id"})
