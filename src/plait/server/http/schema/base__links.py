"""Links of OpenAPI: which operations what one answers is good for. Programs that explore the interface follow them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# OpenAPI's own shape, which has no type.
Links = dict[str, dict[str, Any]]

_BATCH_OPERATIONS = (
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
_TASK_OPERATIONS = (
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


def _link_operations(operations: tuple[str, ...], parameters: Mapping[str, str]) -> Links:
    found = {name: f"$response.body#/{place}" for name, place in parameters.items()}
    return {name: {"operationId": name, "parameters": found} for name in operations}


BATCH_LINKS = _link_operations(_BATCH_OPERATIONS, {"path.batch_id": "id"}) | _link_operations(
    _TASK_OPERATIONS, {"path.batch_id": "id", "path.task_id": "tasks/0/taskId"}
)
BATCH_LIST_LINKS = _link_operations(_BATCH_OPERATIONS, {"path.batch_id": "batches/0/id"})
TASK_LIST_LINKS = _link_operations(("getTask",), {"path.task_id": "tasks/0/id"}) | {
    name: {
        "operationId": name,
        "requestBody": {"taskIds": ["$response.body#/tasks/0/id"]},
    }
    for name in ("plan", "createBatch")
}
TASK_LINKS = _link_operations(("getTask", "editTask"), {"path.task_id": "id"})
PROJECT_LINKS = _link_operations(("removeProject",), {"path.project_id": "id"})
