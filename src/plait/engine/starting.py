"""From a decision to a running attempt, and from its end to a report: in the checkout, or in a workspace of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from plait.agents.prompt import House
from plait.core.decisions import AttemptStarted, GateStarted
from plait.core.errors import Fault, PlaitError, in_words
from plait.core.policy import check
from plait.core.reports import AttemptExited, AttemptLost, Outcome, Report
from plait.core.settings import Isolation
from plait.core.state import State
from plait.core.status import Category
from plait.engine import gates, log
from plait.engine.grounds import Ground, Grounds
from plait.engine.launch import GATE, Launcher
from plait.engine.watch import Sequel, Watch
from plait.kit import KitError
from plait.ports import Executor


class Starter:
    """`state` is read only."""

    def __init__(  # noqa: PLR0913, PLR0917 - its parts
        self,
        state: State,
        executor: Executor,
        launcher: Launcher,
        watch: Watch,
        grounds: Grounds,
        news: Callable[[Report], None],
    ) -> None:
        self._state = state
        self._executor = executor
        self._launcher = launcher
        self._watch = watch
        self._grounds = grounds
        self._news = news

    def isolated(self, batch: str) -> bool:
        """Whether its tasks have workspaces of their own."""
        known = self._state.batches.get(batch)
        return known is not None and known.settings.isolation is Isolation.WORKTREE

    def start(self, order: AttemptStarted) -> None:
        batch = order.attempt.batch
        with self._answering(order):
            listener = self._launcher.listener(order)
            self._watch.expect(order, self._path(order), listener, self._sequel(order))
            if self.isolated(batch):
                self._prepare(order)
            else:
                job = self._launcher.job(order, self._launcher.top(batch), self._house(order))
                self._executor.start(job)

    def start_gate(self, gate: GateStarted) -> None:
        self.expect(gate)
        self._prepare(gates.order_of(gate))

    def expect(self, order: AttemptStarted | GateStarted) -> Watch:
        """Make ready to hear of what is about to be started, or of what an earlier engine started."""
        if isinstance(order, GateStarted):
            gate = gates.order_of(order)
            sequel = gates.sequel(order, self._news, lambda: self._launcher.outfit_failure(gate.attempt))
            self._watch.expect(
                gate, self._grounds.path(gate), self._launcher.check_listener(order.batch), sequel
            )
        else:
            self._watch.expect(order, self._path(order), self._launcher.recall(order), self._sequel(order))
        return self._watch

    def _path(self, order: AttemptStarted) -> str:
        """Where it works; nowhere, if nobody knows any more."""
        if self.isolated(order.attempt.batch):
            return self._grounds.path(order)
        with suppress(PlaitError):
            return self._launcher.top(order.attempt.batch)
        return ""

    def _prepare(self, order: AttemptStarted) -> None:
        self._grounds.prepare(
            order,
            lambda ground: self._begin(order, ground),
            lambda error: self._fail(order, error),
        )

    def _begin(self, order: AttemptStarted, ground: Ground) -> None:
        """Its workspace is ready; somebody may have thought better of it meanwhile."""
        if self._watch.expects(order.attempt):
            with self._answering(order):
                job = self._launcher.job(order, ground.path, self._house(order), bare=ground.bare)
                self._executor.start(job)

    def _house(self, order: AttemptStarted) -> House:
        batch = self._state.batches.get(order.attempt.batch)
        task = batch.task(order.attempt.task) if batch is not None else None
        verify = check(batch, task) if batch is not None and task is not None else None
        return House(self.isolated(order.attempt.batch), verify)

    def _sequel(self, order: AttemptStarted) -> Sequel | None:
        """What an attempt left in a workspace of its own is seen to before anybody is told of its end."""
        attempt = order.attempt
        if not self.isolated(attempt.batch):
            return None

        def told(outcome: Outcome) -> None:
            self._news(AttemptExited(attempt, outcome))

        def lost(why: str) -> None:
            self._news(AttemptLost(attempt, why))

        def exited(outcome: Outcome) -> None:
            why = self._launcher.outfit_failure(attempt) if outcome.exit_code else None
            if why is not None:
                told(Outcome(Category.USAGE, outcome.exit_code, why))
            else:
                self._grounds.finish(order, outcome, told)

        return Sequel(exited, lost)

    @contextmanager
    def _answering(self, order: AttemptStarted) -> Iterator[None]:
        """One task's defect must not end all others: each engine would meet it again."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self._refuse(order, error)

    def _fail(self, order: AttemptStarted, error: Exception) -> None:
        """Its workspace can't be had; whoever ended it meanwhile does not mind."""
        if self._watch.expects(order.attempt):
            self._refuse(order, error)

    def _refuse(self, order: AttemptStarted, error: Exception) -> None:
        """What is the world's fault may pass; what is anybody else's would be refused again."""
        if not isinstance(error, PlaitError | OSError):
            log.say_trace(error)
        message = self._launcher.discretion(order.attempt.batch)(in_words(error))
        log.say(f"{order.attempt} could not be started: {message}")
        passing = isinstance(error, OSError) or (
            isinstance(error, PlaitError) and error.fault is Fault.WORLD and not isinstance(error, KitError)
        )
        if passing or order.attempt.task == GATE:
            self._watch.lost(order.attempt, f"it could not be started: {message}")
        else:
            self._watch.drop(order.attempt)
            self._news(AttemptExited(order.attempt, Outcome(Category.USAGE, detail=message)))
