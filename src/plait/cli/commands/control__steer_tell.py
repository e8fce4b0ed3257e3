"""What became of requests: granted and where things stand now, refused and why, or safe and not answered yet."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from plait.cli.format import list_names
from plait.cli.output import FAILED, OK, Page, print_json, replace_control_chars
from plait.client.session import ANSWER_TIMEOUT_SECONDS
from plait.client.session__asking import RequestAnswer
from plait.client.task_actions__answers import TaskAnswer, answer_json
from plait.core.explain import explain_in_words
from plait.core.state import BatchState, State
from plait.core.views import find_batch_status

_UNANSWERED_MESSAGE = (
    f"it is accepted and safe, but no engine has answered within {ANSWER_TIMEOUT_SECONDS:.0f} seconds; "
    "`plait status` shows when it is so"
)


def print_answers(state: State, batch_id: str, results: Sequence[TaskAnswer], *, as_json: bool) -> int:
    """The exit code: whether all was granted."""
    if as_json:
        print_json(
            {"batchId": batch_id, "results": [answer_json(state, batch_id, result) for result in results]}
        )
    else:
        _print_results(state, batch_id, results)
    return OK if all(answer.granted for _, answer in results) else FAILED


def _print_results(state: State, batch_id: str, results: Sequence[TaskAnswer]) -> None:
    page = Page()
    if not results:
        page.add_line(f"Nothing of batch {batch_id} has failed, timed out, conflicted or was cancelled.")
    for name, answer in results:
        if answer.granted:
            page.add_line(_describe_granted(state, batch_id, name, answer))
    page.show()
    sys.stdout.flush()
    for name, answer in results:
        if not answer.granted:
            said = (
                answer.why
                if answer.granted is False
                else f"{name or f'batch {batch_id}'}: {_UNANSWERED_MESSAGE}"
            )
            print(f"plait: {replace_control_chars(said)}", file=sys.stderr)  # noqa: T201 - as errors are told


def _describe_granted(state: State, batch_id: str, name: str | None, answer: RequestAnswer) -> str:
    batch = state.batches[batch_id]
    about = answer.tasks if name is None else (name,)
    others = [task for task in answer.tasks if task not in about]
    beside = f"; with it {list_names(others)}" if others else ""
    if not about:
        return _describe_batch(batch)
    task = batch.find_task(about[0])
    return f"{explain_in_words(state, batch, task)}{beside}" if task is not None else _describe_batch(batch)


def _describe_batch(batch: BatchState) -> str:
    if batch.cancelled and batch.ended is None:
        return f"batch {batch.id} is being cancelled: {len(batch.alive)} at work are asked to end"
    status, reason = find_batch_status(batch)
    return f"batch {batch.id} is {status.value}: {reason}"
