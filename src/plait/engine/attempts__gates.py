"""The gate: a command on exactly the commit that would be pushed, in the batch's own worktree, run like an attempt."""

from __future__ import annotations

from collections.abc import Callable

from plait.core.decisions import AttemptStarted, GateEnding, GateStarted
from plait.core.reports import GateDone, GateLost, Outcome, Report
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine.attempt_inputs import GATE_TASK
from plait.engine.attempts import ExitHandler

_GATE_AGENT = "gate"  # in the place of an agent's name


def build_gate_order(gate: GateStarted) -> AttemptStarted:
    return AttemptStarted(
        build_gate_attempt(gate),
        _GATE_AGENT,
        _GATE_AGENT,
        gate.timeout,
        gate.timeout,
        base=gate.commit,
        command=gate.command,
    )


def build_gate_attempt(gate: GateStarted | GateEnding) -> Attempt:
    return Attempt(gate.batch, GATE_TASK, Step.VERIFY, gate.n)


def build_gate_exit_handler(
    gate: GateStarted, emit: Callable[[Report], None], setup_failure: Callable[[], str | None]
) -> ExitHandler:
    def exited(outcome: Outcome) -> None:
        why = setup_failure() if outcome.exit_code else None
        if why is not None:  # nobody's change is to blame
            emit(GateLost(gate.batch, gate.n, why))
            return
        passed = outcome.category is Category.OK
        emit(GateDone(gate.batch, gate.n, passed, "" if passed else outcome.detail))

    return ExitHandler(exited, lambda why: emit(GateLost(gate.batch, gate.n, why)), is_silent=True)
