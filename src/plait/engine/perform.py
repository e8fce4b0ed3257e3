"""Performing decisions: the only match on them. Performing one twice does what performing it once does.

After a restart: every decision whose result is not on disk is looked up in the world.

What has ended is reported, what runs is adopted, and what never began is performed again. There is no other recovery.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from plait.core.decisions import (
    AnswerAwaited,
    AttemptEnding,
    AttemptStarted,
    BackoffEnded,
    BatchEnded,
    BatchHalted,
    BatchPaused,
    BatchUnpaused,
    BreakerClosed,
    BreakerOpened,
    DeadlinesMoved,
    Decision,
    GateEnding,
    GateStarted,
    LimitRaised,
    MergeStarted,
    PhaseOpened,
    PublishStarted,
    RebuildStarted,
    RequestGranted,
    RequestRefused,
    RetryGranted,
    StepPassed,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.events import Record
from plait.core.requests import Drop, Feedback, Resume, Retry, Ship
from plait.core.scheduler.rules import list_outstanding
from plait.core.state import State
from plait.engine import attempts
from plait.engine.attempt_inputs import GATE_TASK, JobBuilder
from plait.engine.attempt_workspaces import AttemptWorkspaces
from plait.engine.attempts import AttemptStarter, AttemptWatcher
from plait.engine.merge_queue import MergeQueue
from plait.runtime.executor import Executor, ExitedProcess, LostProcess, RunningProcess
from plait.system import log
from plait.system.interfaces import SharedState


class Performer:
    def __init__(  # noqa: PLR0913, PLR0917 - its parts
        self,
        state: State,
        executor: Executor,
        launcher: JobBuilder,
        starter: AttemptStarter,
        commons: SharedState,
        grounds: AttemptWorkspaces,
        line: MergeQueue,
    ) -> None:
        self._state = state
        self._executor = executor
        self._job_builder = launcher
        self._starter = starter
        self._shared = commons
        self._workspaces = grounds
        self._merge_queue = line

    def perform(self, record: Record) -> None:
        """Requests and reports are performed by nobody: they have happened."""
        if isinstance(record.event, Decision):
            self.perform_decision(record.event)
        elif isinstance(record.event, Resume | Retry | Feedback | Drop | Ship):
            # Whoever asks for this may have handed over another environment.
            self._job_builder.reload_environment(record.event.batch)

    def sweep(self) -> int:
        """How many processes that outlived their attempts are still to be ended."""
        try:
            return self._executor.end_leftovers()
        except OSError as error:
            log.write_line(f"warning: what attempts left behind can't be found: {error}")
            return 0

    def delete_stale_environments(self, wanted: Collection[str]) -> None:
        """No secrets of batches stay but of those that are wanted."""
        self._job_builder.delete_stale_environments(wanted)

    def expect(self, order: AttemptStarted | GateStarted) -> AttemptWatcher:
        return self._starter.expect(order)

    def perform_decision(self, decision: Decision) -> None:  # noqa: C901, PLR0912 - there is one case for each kind
        match decision:
            case AttemptStarted():
                self._starter.start(decision)
            case AttemptEnding():
                self._executor.terminate(decision.attempt, at_once=decision.now)
            case BreakerOpened():
                if not decision.rejected:  # others may be logged in otherwise
                    self._shared.report_refusal(decision.provider, decision.until)
            case TaskEnded():
                self._shared.release_ports(decision.batch, decision.task)
                if self._starter.is_isolated(decision.batch):
                    self._workspaces.release(decision.batch, decision.task)
            case BatchEnded():
                self._end_batch(decision)
            case MergeStarted():
                self._merge_queue.merge(decision)
            case RebuildStarted():
                self._merge_queue.rebuild(decision)
            case PublishStarted():
                self._merge_queue.publish(decision)
            case GateStarted():
                self._starter.start_gate(decision)
            case GateEnding():
                self._executor.terminate(attempts.build_gate_attempt(decision), at_once=False)
            case (
                RequestGranted()
                | RequestRefused()
                | StepPassed()
                | RetryGranted()
                | BackoffEnded()
                | AnswerAwaited()
                | TaskInterrupted()
                | PhaseOpened()
                | BreakerClosed()
                | LimitRaised()
                | BatchPaused()
                | BatchUnpaused()
                | BatchHalted()
                | DeadlinesMoved()
            ):
                pass  # what they mean is in the state already
            case _:
                assert_never(decision)

    def _end_batch(self, decision: BatchEnded) -> None:
        self._job_builder.forget_batch(decision.batch)
        self.sweep()
        if self._starter.is_isolated(decision.batch):
            self._shared.release_ports(decision.batch, GATE_TASK)
            self._workspaces.release_ended(self._state.batches[decision.batch])
        log.write_line(f"batch {decision.batch} is {decision.status.value}: {decision.reason}")


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
    attempt = order.attempt if isinstance(order, AttemptStarted) else attempts.build_gate_attempt(order)
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
