"""After a restart: every decision whose result is not on disk is looked up in the world.

What has ended is reported, what runs is adopted, and what never began is performed again. There is no other recovery.
"""

from __future__ import annotations

from typing import assert_never

from plait.core.decisions import AttemptStarted, GateStarted
from plait.core.scheduler.rules__probe import list_outstanding
from plait.core.state import State
from plait.engine import attempts__gates
from plait.engine.perform import Performer
from plait.store.interfaces import Executor, ExitedProcess, LostProcess, RunningProcess


def recover(state: State, executor: Executor, performer: Performer) -> int:
    """How many attempts were found running."""
    adopted = 0
    for decision in list_outstanding(state):
        if isinstance(decision, AttemptStarted | GateStarted):
            adopted += _adopt_attempt(decision, executor, performer)
        else:
            performer.perform_decision(decision)
    return adopted


def _adopt_attempt(order: AttemptStarted | GateStarted, executor: Executor, performer: Performer) -> bool:
    watch = performer.expect(order)
    attempt = (
        order.attempt if isinstance(order, AttemptStarted) else attempts__gates.build_gate_attempt(order)
    )
    found = executor.adopt(attempt)
    match found:
        case RunningProcess(pid):
            watch.on_launched(attempt, pid)
            return True
        case ExitedProcess(code):
            watch.on_exited(attempt, code)
        case LostProcess(why):
            watch.on_lost(attempt, why)
        case None:
            performer.perform_decision(order)
        case _:
            assert_never(found)
    return False
