"""What became of requests, as programs see it: granted, refused and why, or safe and not answered yet."""

from __future__ import annotations

from plait.client.session__asking import RequestAnswer
from plait.core.explain import explain_status
from plait.core.state import State
from plait.core.views import find_batch_status

# The task that a request names (None: it is about the batch), and the answer.
TaskAnswer = tuple[str | None, RequestAnswer]


def answer_json(state: State, batch_id: str, result: TaskAnswer) -> dict[str, object]:
    """`status` and `reason` are what is so now; of a refusal, `reason` says why, and of what no engine can answer, too."""
    name, answer = result
    words = {True: "granted", False: "refused", None: "accepted"}
    status, reason = _find_status(state, batch_id, name or next(iter(answer.tasks), None))
    return {
        "taskId": name,
        "result": words[answer.granted],
        "reason": answer.why or reason,
        "status": status,
        "tasks": answer.tasks,
    }


def _find_status(state: State, batch_id: str, name: str | None) -> tuple[str | None, str | None]:
    batch = state.batches.get(batch_id)
    task = batch.find_task(name) if batch is not None and name is not None else None
    if batch is None:
        return None, None
    if task is None:
        status, reason = find_batch_status(batch)
        return status.value, reason
    stands = explain_status(state, batch, task)
    return stands.status.value, stands.reason
