"""The gate: a command on exactly the commit that would be pushed, in the batch's own worktree, run like an attempt."""

from __future__ import annotations

from collections.abc import Callable

from plait.core.decisions import AttemptStarted, GateEnding, GateStarted
from plait.core.reports import GateDone, GateLost, Outcome, Report
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine.launch import GATE
from plait.engine.watch import Sequel

_NOBODY = "gate"  # in the place of an agent's name


def order_of(gate: GateStarted) -> AttemptStarted:
    return AttemptStarted(
        name_of(gate),
        _NOBODY,
        _NOBODY,
        gate.timeout,
        gate.timeout,
        base=gate.commit,
        command=gate.command,
    )


def name_of(gate: GateStarted | GateEnding) -> Attempt:
    return Attempt(gate.batch, GATE, Step.VERIFY, gate.n)


def sequel(
    gate: GateStarted, news: Callable[[Report], None], outfit_failure: Callable[[], str | None]
) -> Sequel:
    def exited(outcome: Outcome) -> None:
        why = outfit_failure() if outcome.exit_code else None
        if why is not None:  # nobody's change is to blame
            news(GateLost(gate.batch, gate.n, why))
            return
        passed = outcome.category is Category.OK
        news(GateDone(gate.batch, gate.n, passed, "" if passed else outcome.detail))

    return Sequel(exited, lambda why: news(GateLost(gate.batch, gate.n, why)), silent=True)
