"""Performing decisions: the only match on them. Performing one twice does what performing it once does."""

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
from plait.core.state import State
from plait.engine import gates, log
from plait.engine.grounds import Grounds
from plait.engine.launch import GATE, Launcher
from plait.engine.line import Line
from plait.engine.starting import Starter
from plait.engine.watch import Watch
from plait.ports import Commons, Executor


class Performer:
    def __init__(  # noqa: PLR0913, PLR0917 - its parts
        self,
        state: State,
        executor: Executor,
        launcher: Launcher,
        starter: Starter,
        commons: Commons,
        grounds: Grounds,
        line: Line,
    ) -> None:
        self._state = state
        self._executor = executor
        self._launcher = launcher
        self._starter = starter
        self._commons = commons
        self._grounds = grounds
        self._line = line

    def perform(self, record: Record) -> None:
        """Requests and reports are performed by nobody: they have happened."""
        if isinstance(record.event, Decision):
            self.act(record.event)
        elif isinstance(record.event, Resume | Retry | Feedback | Drop | Ship):
            # Whoever asks for this may have handed over another environment.
            self._launcher.refresh(record.event.batch)

    def sweep(self) -> int:
        """How many processes that outlived their attempts are still to be ended."""
        try:
            return self._executor.sweep()
        except OSError as error:
            log.say(f"warning: what attempts left behind can't be found: {error}")
            return 0

    def tidy(self, wanted: Collection[str]) -> None:
        """No secrets of batches stay but of those that are wanted."""
        self._launcher.tidy(wanted)

    def expect(self, order: AttemptStarted | GateStarted) -> Watch:
        return self._starter.expect(order)

    def act(self, decision: Decision) -> None:  # noqa: C901, PLR0912 - there is one case for each kind
        match decision:
            case AttemptStarted():
                self._starter.start(decision)
            case AttemptEnding():
                self._executor.end(decision.attempt, now=decision.now)
            case BreakerOpened():
                if not decision.rejected:  # others may be logged in otherwise
                    self._commons.refused(decision.provider, decision.until)
            case TaskEnded():
                self._commons.give_back(decision.batch, decision.task)
                if self._starter.isolated(decision.batch):
                    self._grounds.release(decision.batch, decision.task)
            case BatchEnded():
                self._end(decision)
            case MergeStarted():
                self._line.merge(decision)
            case RebuildStarted():
                self._line.rebuild(decision)
            case PublishStarted():
                self._line.publish(decision)
            case GateStarted():
                self._starter.start_gate(decision)
            case GateEnding():
                self._executor.end(gates.name_of(decision), now=False)
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

    def _end(self, decision: BatchEnded) -> None:
        self._launcher.forget(decision.batch)
        self.sweep()
        if self._starter.isolated(decision.batch):
            self._commons.give_back(decision.batch, GATE)
            self._grounds.release_ended(self._state.batches[decision.batch])
        log.say(f"batch {decision.batch} is {decision.status.value}: {decision.reason}")
