"""After a restart: every decision whose result is not on disk is looked up in the world.

What has ended is reported, what runs is adopted, and what never began is performed again. There is no other recovery.
"""

from __future__ import annotations

from typing import assert_never

from plait.core.decisions import AttemptStarted, GateStarted
from plait.core.probe import outstanding
from plait.core.state import State
from plait.engine import gates
from plait.engine.perform import Performer
from plait.ports import Executor, Exited, Gone, Running


def recover(state: State, executor: Executor, performer: Performer) -> int:
    """How many attempts were found running."""
    adopted = 0
    for decision in outstanding(state):
        if isinstance(decision, AttemptStarted | GateStarted):
            adopted += _adopt(decision, executor, performer)
        else:
            performer.act(decision)
    return adopted


def _adopt(order: AttemptStarted | GateStarted, executor: Executor, performer: Performer) -> bool:
    watch = performer.expect(order)
    attempt = order.attempt if isinstance(order, AttemptStarted) else gates.name_of(order)
    found = executor.adopt(attempt)
    match found:
        case Running(pid):
            watch.launched(attempt, pid)
            return True
        case Exited(code):
            watch.exited(attempt, code)
        case Gone(why):
            watch.lost(attempt, why)
        case None:
            performer.act(order)
        case _:
            assert_never(found)
    return False
