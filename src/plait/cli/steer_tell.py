"""What became of requests: granted and where things stand now, refused and why, or safe and not answered yet."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from plait.cli.say import FAILED, OK, Page, harmless, write_json
from plait.cli.show import listed
from plait.core.explain import explain
from plait.core.state import BatchState, State
from plait.core.views import batch_standing
from plait.front.answers import Result, answer_json
from plait.front.asking import Answer
from plait.front.desk import PATIENCE

_UNANSWERED = (
    f"it is accepted and safe, but no engine has answered within {PATIENCE:.0f} seconds; "
    "`plait status` shows when it is so"
)


def tell(state: State, batch_id: str, results: Sequence[Result], *, as_json: bool) -> int:
    """The exit code: whether all was granted."""
    if as_json:
        write_json(
            {"batchId": batch_id, "results": [answer_json(state, batch_id, result) for result in results]}
        )
    else:
        _show(state, batch_id, results)
    return OK if all(answer.granted for _, answer in results) else FAILED


def _show(state: State, batch_id: str, results: Sequence[Result]) -> None:
    page = Page()
    if not results:
        page.line(f"Nothing of batch {batch_id} has failed, timed out, conflicted or was cancelled.")
    for name, answer in results:
        if answer.granted:
            page.line(_granted(state, batch_id, name, answer))
    page.show()
    sys.stdout.flush()
    for name, answer in results:
        if not answer.granted:
            said = answer.why if answer.granted is False else f"{name or f'batch {batch_id}'}: {_UNANSWERED}"
            print(f"plait: {harmless(said)}", file=sys.stderr)  # noqa: T201 - as errors are told


def _granted(state: State, batch_id: str, name: str | None, answer: Answer) -> str:
    batch = state.batches[batch_id]
    about = answer.tasks if name is None else (name,)
    others = [task for task in answer.tasks if task not in about]
    beside = f"; with it {listed(others)}" if others else ""
    if not about:
        return _of_batch(batch)
    task = batch.task(about[0])
    return f"{explain(state, batch, task)}{beside}" if task is not None else _of_batch(batch)


def _of_batch(batch: BatchState) -> str:
    if batch.cancelled and batch.ended is None:
        return f"batch {batch.id} is being cancelled: {len(batch.alive)} at work are asked to end"
    status, reason = batch_standing(batch)
    return f"batch {batch.id} is {status.value}: {reason}"
