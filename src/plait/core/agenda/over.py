"""Whether all of a batch is over but its publishing and its end: every task has ended, and nothing is under way or owed."""

from __future__ import annotations

from plait.core.agenda.gate import ungated
from plait.core.agenda.rebuild import line_stands
from plait.core.owed import Owed
from plait.core.state import BatchState


def over(batch: BatchState) -> bool:
    return batch.unsettled == 0 and not batch.alive and _line_is_quiet(batch) and not _owes(batch)


def _line_is_quiet(batch: BatchState) -> bool:
    return line_stands(batch) and batch.merging is None and batch.gate is None and not ungated(batch)


def _owes(batch: BatchState) -> bool:
    return any(batch.owed[owed] for owed in (Owed.END, Owed.SETTLE, Owed.JUDGE, Owed.FINISH))
