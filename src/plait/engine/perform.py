"""Performing decisions, and performing them again after a restart. A decision that is performed twice has effect once.

Recovery: every decision whose result is not in the journal is looked up. What has ended is reported, what runs is
adopted, and what never started is performed again.
"""

from __future__ import annotations

from typing import assert_never

from plait.core import decisions
from plait.core.events import Event, Record
from plait.core.reports import AttemptLost, CommitFailed, GateLost, MergeFailed
from plait.core.requests import Drop, Feedback, Recheck, Resolve, Resume, Retry, Ship
from plait.core.scheduler.rules import list_outstanding
from plait.core.settings import Isolation
from plait.core.state import BatchState
from plait.core.task import make_gate_attempt
from plait.engine.attempts import Attempts
from plait.engine.context import EngineContext
from plait.engine.merge_queue import MergeQueue
from plait.system import log
from plait.system.shared_state import SharedState


def _find_failed_batch(event: Event) -> str:
    """Return the batch of an event that a lost commit may have caused; "" for any other event."""
    match event:
        case AttemptLost(outage=False) | CommitFailed():
            return event.attempt.batch
        case MergeFailed() | GateLost(outage=False):
            return event.batch
        case _:
            return ""


class Performer:
    def __init__(
        self, context: EngineContext, attempts: Attempts, merge_queue: MergeQueue, shared: SharedState
    ) -> None:
        self._state = context.state
        self._attempts = attempts
        self._executors = attempts.executors
        self._merge_queue = merge_queue
        self._shared = shared

    def recover(self) -> int:
        """Perform again every decision that has no result in the journal. Return how many attempts were found running."""
        adopted = 0
        for decision in list_outstanding(self._state):
            if isinstance(decision, decisions.AttemptStarted | decisions.GateStarted):
                adopted += self._attempts.adopt(decision)
            else:
                self.perform_decision(decision)
        for batch in self._state.batches.values():
            if batch.settings.isolation is Isolation.WORKTREE:
                self._release_workspaces(batch)
        return adopted

    def perform(self, record: Record) -> None:
        if isinstance(record.event, decisions.Decision):
            self.perform_decision(record.event)
        elif isinstance(record.event, Resume | Retry | Recheck | Resolve | Feedback | Drop | Ship):
            self._attempts.reload_batch(record.event.batch)
        elif (batch := self._state.open.get(_find_failed_batch(record.event))) is not None:
            self._merge_queue.restore(batch)

    def sweep(self) -> int:
        """Return how many processes that outlived their attempts are still being ended."""
        try:
            return self._executors.end_leftovers()
        except OSError as error:
            log.write_line(f"warning: can't look for processes that outlived their attempts: {error}")
            return 0

    def perform_decision(self, decision: decisions.Decision) -> None:  # noqa: C901, PLR0912 - there is one case for each kind
        match decision:
            case decisions.AttemptStarted() | decisions.GateStarted():
                self._attempts.start(decision)
            case decisions.AttemptEnding():
                self._executors.of(decision.attempt.batch).terminate(decision.attempt, at_once=decision.now)
            case decisions.BreakerOpened():
                if not decision.rejected:  # other engines may have other credentials
                    self._shared.report_refusal(decision.provider, decision.until)
            case decisions.CommitStarted():
                self._attempts.result_commits.commit(decision)
            case decisions.TaskEnded():
                self._shared.release_ports(decision.batch, decision.task)
                self._end_task(decision)
            case decisions.BatchEnded():
                self._end_batch(decision)
            case decisions.MergeStarted():
                self._merge_queue.merge(decision)
            case decisions.RebuildStarted():
                self._merge_queue.rebuild(decision)
            case decisions.PublishStarted():
                self._merge_queue.publish(decision)
            case decisions.GateEnding():
                self._executors.of(decision.batch).terminate(
                    make_gate_attempt(decision.batch, decision.n), at_once=False
                )
            case decisions.RequestGranted():
                self._merge_queue.cancel_unwanted_work()
            case (
                decisions.RequestRefused()
                | decisions.StepPassed()
                | decisions.RetryGranted()
                | decisions.BackoffEnded()
                | decisions.AnswerAwaited()
                | decisions.TaskInterrupted()
                | decisions.PhaseOpened()
                | decisions.BreakerClosed()
                | decisions.LimitRaised()
                | decisions.BatchPaused()
                | decisions.BatchUnpaused()
                | decisions.BatchHalted()
                | decisions.DeadlinesMoved()
            ):
                pass  # they only change the state
            case _:
                assert_never(decision)

    def _end_task(self, decision: decisions.TaskEnded) -> None:
        """Release the task's workspace, unless it is the only place where a finished result is."""
        self._attempts.result_commits.cancel(decision.batch, decision.task)
        _, task = self._state.find_task(decision.batch, decision.task)
        if self._attempts.is_isolated(decision.batch) and (task is None or task.uncommitted is None):
            self._executors.workspaces_of(decision.batch).release(decision.batch, decision.task)

    def _release_workspaces(self, batch: BatchState) -> None:
        if not self._executors.may_have_workspaces(batch.id):
            return
        ended = [task.task.id for task in batch.tasks if task.status is not None and task.uncommitted is None]
        self._executors.workspaces_of(batch.id).release_batch(batch.id, ended, has_ended=batch.ended is not None)

    def _end_batch(self, decision: decisions.BatchEnded) -> None:
        self.sweep()
        self._attempts.masker.forget_batch(decision.batch)
        if self._attempts.is_isolated(decision.batch):
            self._shared.release_ports(decision.batch, "")  # the gate's
            self._release_workspaces(self._state.batches[decision.batch])
        log.write_line(f"batch {decision.batch} is {decision.status.value}: {decision.reason}")
