"""What came of a task, as `plait explain` tells it."""

from __future__ import annotations

from collections.abc import Iterator

from plait.cli.format import format_diffstat, get_minus_sign, list_names, shorten_commit
from plait.client.explain__results import TaskResultDetails
from plait.client.history import GateRun
from plait.core.state import BatchState

_ResultLine = tuple[str, str]  # what, and the words about it


def describe_result(batch: BatchState, found: TaskResultDetails) -> Iterator[_ResultLine]:
    if found.workspace:
        yield "workspace", found.workspace
    if found.diffstat is not None:
        files = f" in {list_names(found.files)}" if found.files else ""
        yield "changed", f"{format_diffstat(found.diffstat, get_minus_sign())}{files}"
    if found.tip:
        yield "branch", f"{found.branch} at {shorten_commit(found.tip)}"
    elif found.kept:
        yield "branch", f"{found.branch} is gone; {found.kept} has its work"
    if found.merged:
        yield (
            "merged",
            f"as {shorten_commit(found.merged)}, {found.place} of {len(batch.merges)} in {batch.branch}",
        )
    running = batch.gate
    if running is not None and not running.stale and 0 < found.place <= running.size:
        yield "gate", f"gate {running.n} runs on it now: plait logs {batch.id} --gate -f"
    elif found.gate is not None:
        yield "gate", _describe_gate(found.gate)
    if found.published:
        url = batch.published.url if batch.published is not None else ""
        yield "published", url or f"pushed, with the batch branch at {shorten_commit(found.published)}"


def _describe_gate(gate: GateRun) -> str:
    order = gate.decision
    why = f": {gate.detail}" if gate.detail else ""
    said = "passed" if gate.passed else f"failed{why}"
    return f"gate {order.n} ({order.command}), on {shorten_commit(order.commit)}, {said}"
