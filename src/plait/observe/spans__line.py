"""What is done on a batch branch, as spans tell it: how it ended, in which words."""

from __future__ import annotations

from typing import assert_never

from plait.core import decisions as d, reports as r
from plait.core.fast_dataclass import dataclass
from plait.observe.spans__span import Attributes, join_limited

BranchStep = d.MergeStarted | d.RebuildStarted | d.GateStarted | d.PublishStarted


@dataclass(frozen=True, slots=True)
class BranchResult:
    """`error` None: it went well."""

    attributes: Attributes
    error: str | None = None


def step_name(start: BranchStep) -> tuple[str, str]:
    """What it is, and the task that it is about ("": none). Of each, one at most is under way in a batch."""
    match start:
        case d.MergeStarted():
            return "merge", start.task
        case d.RebuildStarted():
            return "rebuild", ""
        case d.GateStarted():
            return "gate", ""
        case d.PublishStarted():
            return "publish", ""
        case _:
            assert_never(start)


def ended_step_name(report: r.BranchReport) -> tuple[str, str]:
    """The name of what it ends."""
    match report:
        case r.MergeDone() | r.MergeConflicted() | r.MergeFailed():
            return "merge", report.task
        case r.RebuildDone() | r.RebuildFailed():
            return "rebuild", ""
        case r.GateDone() | r.GateLost():
            return "gate", ""
        case r.PublishDone() | r.PublishFailed():
            return "publish", ""
        case _:
            assert_never(report)


def branch_result(report: r.BranchReport) -> BranchResult:
    match report:
        case r.MergeDone():
            return BranchResult({"plait.commit": report.commit})
        case r.MergeConflicted():
            return BranchResult({}, f"conflict in {join_limited(report.files)}")
        case r.RebuildDone():
            clashes = join_limited(tuple(clash.task for clash in report.clashes))
            return BranchResult(
                {"plait.merges": len(report.line)}, f"conflicts of {clashes}" if clashes else None
            )
        case r.GateDone():
            return BranchResult({}, None if report.passed else report.detail or "it failed")
        case r.PublishDone():
            url: Attributes = {"plait.url": report.url} if report.url else {}
            return BranchResult({"plait.commit": report.commit, **url})
        case r.MergeFailed() | r.RebuildFailed() | r.GateLost() | r.PublishFailed():
            return BranchResult({}, report.why)
        case _:
            assert_never(report)
