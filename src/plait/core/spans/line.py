"""What is done on a batch branch, as spans tell it: how it ended, in which words."""

from __future__ import annotations

from typing import assert_never

from plait.core import decisions as d, reports as r
from plait.core.frozen import dataclass
from plait.core.spans.span import Attributes, some

LineStart = d.MergeStarted | d.RebuildStarted | d.GateStarted | d.PublishStarted


@dataclass(frozen=True, slots=True)
class Done:
    """`error` None: it went well."""

    about: Attributes
    error: str | None = None


def name_of(start: LineStart) -> tuple[str, str]:
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


def ends(report: r.LineReport) -> tuple[str, str]:
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


def done(report: r.LineReport) -> Done:
    match report:
        case r.MergeDone():
            return Done({"plait.commit": report.commit})
        case r.MergeConflicted():
            return Done({}, f"conflict in {some(report.files)}")
        case r.RebuildDone():
            clashes = some(tuple(clash.task for clash in report.clashes))
            return Done({"plait.merges": len(report.line)}, f"conflicts of {clashes}" if clashes else None)
        case r.GateDone():
            return Done({}, None if report.passed else report.detail or "it failed")
        case r.PublishDone():
            url: Attributes = {"plait.url": report.url} if report.url else {}
            return Done({"plait.commit": report.commit, **url})
        case r.MergeFailed() | r.RebuildFailed() | r.GateLost() | r.PublishFailed():
            return Done({}, report.why)
        case _:
            assert_never(report)
