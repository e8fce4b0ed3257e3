"""Performing decisions: the only match on them. Performing one twice does what performing it once does."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
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
    RebuildStarted,
    RequestGranted,
    RequestRefused,
    RetryGranted,
    StepPassed,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.errors import Fault, PlaitError
from plait.core.events import Record
from plait.core.reports import AttemptExited, GateLost, MergeFailed, Outcome, RebuildFailed, Report
from plait.core.requests import Drop, Feedback, Resume, Retry
from plait.core.status import Category
from plait.engine import log
from plait.engine.launch import Launcher
from plait.engine.watch import Watch
from plait.kit import KitError
from plait.ports import Commons, Executor

NO_MERGING = "this version of plait merges nothing: batches work in place"


class Performer:
    def __init__(
        self,
        executor: Executor,
        launcher: Launcher,
        watch: Watch,
        commons: Commons,
        news: Callable[[Report], None],
    ) -> None:
        self._executor = executor
        self._launcher = launcher
        self._watch = watch
        self._commons = commons
        self._news = news

    def perform(self, record: Record) -> None:
        """Requests and reports are performed by nobody: they have happened."""
        if isinstance(record.event, Decision):
            self.act(record.event)
        elif isinstance(record.event, Resume | Retry | Feedback | Drop):
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

    def expect(self, order: AttemptStarted) -> Watch:
        """Make ready to hear of an attempt that an earlier engine started."""
        self._watch.expect(order, *self._launcher.recall(order), time.monotonic())
        return self._watch

    def act(self, decision: Decision) -> None:
        match decision:
            case AttemptStarted():
                self._start(decision)
            case AttemptEnding():
                self._executor.end(decision.attempt, now=decision.now)
            case BreakerOpened():
                self._commons.refused(decision.provider, decision.until)
            case TaskEnded():
                self._commons.give_back(decision.batch, decision.task)
            case BatchEnded():
                self._launcher.forget(decision.batch)
                self.sweep()
                log.say(f"batch {decision.batch} is {decision.status.value}: {decision.reason}")
            case MergeStarted():
                self._news(MergeFailed(decision.batch, decision.task, decision.n, NO_MERGING))
            case RebuildStarted():
                self._news(RebuildFailed(decision.batch, decision.n, NO_MERGING))
            case GateStarted() | GateEnding():
                self._news(GateLost(decision.batch, decision.n, NO_MERGING))
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

    def _start(self, order: AttemptStarted) -> None:
        try:
            job = self._launcher.job(order)
            self._watch.expect(order, job.cwd, self._launcher.listener(order), time.monotonic())
            self._executor.start(job)
        except PlaitError as error:
            self._refuse(order, error)
        except OSError as error:
            self._watch.lost(order.attempt, f"it could not be started: {error}")
        except Exception as error:  # noqa: BLE001 - one task's defect must not end all others: each engine would meet it again
            log.say_trace(error)
            self._refuse(order, PlaitError(f"{type(error).__name__}: {error}"))

    def _refuse(self, order: AttemptStarted, error: PlaitError) -> None:
        """What is the world's fault may pass; what is anybody else's would be refused again."""
        log.say(f"{order.attempt} could not be started: {error.message}")
        if error.fault is Fault.WORLD and not isinstance(error, KitError):
            self._watch.lost(order.attempt, f"it could not be started: {error.message}")
        else:
            self._watch.drop(order.attempt)
            self._news(AttemptExited(order.attempt, Outcome(Category.USAGE, detail=error.message)))
