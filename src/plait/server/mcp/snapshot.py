"""A batch's status in short, and polling to detect its changes."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from plait.client.batch_json import BatchHead, BatchTask
from plait.core.explain import explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, State
from plait.core.task import Step
from plait.core.views import find_batch_status, waits_for_person
from plait.server.http.routes.batches import get_batch
from plait.server.lookup import resolve_batch
from plait.server.mcp.results import BatchStatusResult
from plait.server.mcp.tool import ToolCall
from plait.server.project_session import ProjectSession

# Of each task: its status, what it waits on, and its attempt.
TaskStates = Mapping[str, tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """A batch in short, made quickly however many tasks it has. `needs_person`: it waits for a person."""

    batch: str
    status: str
    reason: str
    ended: bool
    needs_person: bool
    publishing: bool
    settled: int
    total: int
    working: int


@dataclass(frozen=True, slots=True)
class BatchSnapshot:
    """A batch at one moment. `fingerprint` is the same as long as nothing has changed."""

    summary: BatchSummary
    tasks: TaskStates

    @property
    def fingerprint(self) -> str:
        summary = self.summary
        text = repr(
            (summary.batch, summary.status, summary.needs_person, summary.publishing, sorted(self.tasks.items()))
        )
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def changed_since(self, since: BatchSnapshot) -> list[str]:
        return [name for name, state in self.tasks.items() if since.tasks.get(name) != state]


async def read_batch_summary(session: ProjectSession, batch: str) -> BatchSummary:
    return await session.query(
        lambda client: summarize_batch(state := client.preview_state(), resolve_batch(state, batch))
    )


async def read_batch_snapshot(session: ProjectSession, batch: str | None) -> BatchSnapshot:
    """Read a batch, or with None the newest one. Raises NotFoundError."""
    return await session.query(
        lambda client: build_batch_snapshot(state := client.preview_state(), resolve_batch(state, batch))
    )


def summarize_batch(state: State, batch: BatchState) -> BatchSummary:
    status, reason = find_batch_status(batch)
    ended = [task.status is not None for task in batch.tasks if task.task.entrant is None]
    return BatchSummary(
        batch.id,
        status.value,
        reason,
        ended=batch.ended is not None,
        needs_person=batch.ended is None and waits_for_person(state, batch),
        publishing=batch.requested_publish is not None or batch.publishing is not None,
        settled=sum(ended),
        total=len(ended),
        working=len(batch.alive),
    )


def build_batch_snapshot(state: State, batch: BatchState) -> BatchSnapshot:
    tasks = dict[str, tuple[str, str, int]]()
    for task in batch.tasks:
        explained = explain_status(state, batch, task)
        attempt = task.attempt_counts.get(Step.WRITE, 0)
        tasks[task.task.id] = (explained.status.value, explained.waiting.value if explained.waiting else "", attempt)
    return BatchSnapshot(summarize_batch(state, batch), tasks)


async def describe_batch(
    session: ProjectSession, batch: str | None
) -> tuple[BatchSnapshot, BatchStatusResult, list[BatchTask]]:
    """Describe a batch as a tool result, and its tasks as in the HTTP API. Raises NotFoundError."""
    snapshot = await read_batch_snapshot(session, batch)
    described, _ = await get_batch(session, snapshot.summary.batch)
    return snapshot, build_batch_result(described, snapshot), described.tasks


def build_batch_result(batch: BatchHead, snapshot: BatchSnapshot) -> BatchStatusResult:
    fields = {name: getattr(batch, name) for name in BatchStatusResult.model_fields if hasattr(batch, name)}
    fields |= {
        "reason": snapshot.summary.reason,
        "needs_person": snapshot.summary.needs_person,
        "mark": snapshot.fingerprint,
    }
    return BatchStatusResult.model_validate(fields)


T = TypeVar("T")
WAIT_TOOL_SECONDS = 45  # hosts give up on a tool after a minute
MAX_WAIT_TOOL_SECONDS = 600
MIN_WAIT_POLL_SECONDS = 0.2  # between two looks at a busy batch
POLL_COST_FACTOR = 4  # the pause after a look, in multiples of its duration
MAX_WAIT_POLL_SECONDS = 5.0  # between two looks at an idle batch


async def poll_until(call: ToolCall, look: Callable[[], Awaitable[T]], holds: Callable[[T], bool], seconds: float) -> T:
    """Call `look` until `holds`, the time is over, or the server shuts down; return the last result."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        result = await look()
        took, remaining = time.monotonic() - began, deadline - time.monotonic()
        if holds(result) or remaining <= 0 or call.closing.is_set():
            return result
        await _wait_for_change(call, min(remaining, MAX_WAIT_POLL_SECONDS))
        await asyncio.sleep(min(remaining, MAX_WAIT_POLL_SECONDS, max(MIN_WAIT_POLL_SECONDS, POLL_COST_FACTOR * took)))


async def _wait_for_change(call: ToolCall, seconds: float) -> None:
    if call.session.error is not None:
        raise call.session.error
    futures = [asyncio.ensure_future(future) for future in (call.session.wait_for_change(), call.closing.wait())]
    try:
        await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for future in futures:
            future.cancel()
